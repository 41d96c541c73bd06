//! What a rule may change: the hypotheses, each as a rule that a rules file can hold.

use std::borrow::Cow;
use std::sync::LazyLock;

use uriscan_core::rules::{Builder, RuleSet, RulesFile, quoted};

/// A change of URLs of a host. The order is that in which they are tried, safer ones first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Edit {
    /// An empty query is dropped.
    EmptyQuery,
    /// Parameters without a byte are dropped.
    EmptyParam,
    /// Slashes in a row become one.
    Slashes,
    /// Names of parameters become lower case.
    NameCase,
    /// Parameters are sorted.
    Sort,
    /// The parameter of this name is dropped.
    Param(Vec<u8>),
    /// Session ids of known shapes are dropped.
    Session,
    /// This extension of the last segment is dropped.
    Extension(Vec<u8>),
    /// The last segment is dropped if it is this one.
    Index(Vec<u8>),
    /// A slash at the end is dropped.
    Slash,
    /// `http` becomes `https`.
    Https,
    /// Encoded characters that a segment may hold are decoded.
    Decode,
    /// The path becomes lower case.
    Case,
    /// The first segment is dropped if it is this one.
    Prefix(Vec<u8>),
    /// All parameters are dropped.
    AnyParam,
    /// Parameters of these names are dropped below the first segment.
    Below { segment: Vec<u8>, names: Vec<Vec<u8>> },
    /// Parameters of these names are dropped beside a parameter with its value.
    Given { param: Vec<u8>, names: Vec<Vec<u8>> },
}

/// Where a table for parameters applies: a field of it and its value.
type Condition = (&'static str, String);

/// Bytes of the longest name in a rule, and of the longest extension.
const LONGEST_NAME: usize = 100;
const LONGEST_EXTENSION: usize = 8;

impl Edit {
    /// Dropping the parameter `name`; `None` if no rule can do that, as for those that follow.
    pub(super) fn param(name: &[u8]) -> Option<Edit> {
        Edit::Param(name.to_vec()).named(name)
    }

    /// Dropping the index page `segment`.
    pub(super) fn index(segment: &[u8]) -> Option<Edit> {
        Edit::Index(segment.to_vec()).named(segment).filter(|_| !segment.contains(&b','))
    }

    /// Dropping the extension of the last `segment`; `None` if it has none.
    pub(super) fn extension(segment: &[u8]) -> Option<Edit> {
        let dot = memchr::memrchr(b'.', segment).filter(|&dot| dot > 0)?;
        let extension = &segment[dot + 1..];
        let fits = extension.len() <= LONGEST_EXTENSION
            && extension.iter().all(u8::is_ascii_alphanumeric)
            && extension.iter().any(u8::is_ascii_alphabetic);
        fits.then(|| Edit::Extension(extension.to_vec()))
    }

    /// Dropping parameters of these `names` below `segment`.
    pub(super) fn below(segment: &[u8], names: Vec<Vec<u8>>) -> Option<Edit> {
        Edit::Below { segment: segment.to_vec(), names }.named(segment)
    }

    /// Dropping parameters of these `names` beside `param`.
    pub(super) fn given(param: &[u8], names: Vec<Vec<u8>>) -> Option<Edit> {
        Edit::Given { param: param.to_vec(), names }.named(param)
    }

    /// Dropping the first segment.
    pub(super) fn prefix(segment: &[u8]) -> Option<Edit> {
        Edit::Prefix(segment.to_vec()).named(segment).filter(|_| !segment.contains(&b','))
    }

    /// This edit if rules can do it, and `name`, which it is about, is neither empty nor long.
    fn named(self, name: &[u8]) -> Option<Edit> {
        let fits = (1..=LONGEST_NAME).contains(&name.len());
        Some(self).filter(|edit| fits && edit.is_rule())
    }

    fn is_rule(&self) -> bool {
        add_to(self, &mut RuleSet::builder()).is_some()
    }

    /// What a table for parameters has besides its hosts, and the patterns that it drops; `None` if this is a rule of any other kind.
    pub(super) fn conditional(&self) -> Option<(Condition, Vec<String>)> {
        let patterns = |names: &[Vec<u8>]| names.iter().map(|name| escaped(name)).collect();
        match self {
            Edit::Below { segment, names } => {
                Some((("paths", format!("/{}/", text_of(segment))), patterns(names)))
            }
            Edit::Given { param, names } => {
                Some((("given", text_of(param).into_owned()), patterns(names)))
            }
            _ => None,
        }
    }

    /// The pattern for the names of parameters that are dropped, as `drop` of a rules file takes it.
    pub(super) fn pattern(&self) -> Option<String> {
        match self {
            Edit::Param(name) => Some(escaped(name)),
            Edit::AnyParam => Some("*".to_owned()),
            _ => None,
        }
    }

    /// The rule as it is typed.
    pub(super) fn typed(&self) -> String {
        let text = |name: &[u8]| text_of(name).into_owned();
        let dropped = |names: &[Vec<u8>]| {
            let names = names.iter().map(|name| format!("drop-param={}", escaped(name)));
            names.collect::<Vec<_>>().join(", ")
        };
        match self {
            Edit::EmptyQuery => "empty-query".to_owned(),
            Edit::EmptyParam => "empty-param".to_owned(),
            Edit::Slashes => "duplicate-slash".to_owned(),
            Edit::NameCase => "param-case".to_owned(),
            Edit::Sort => "sort-query".to_owned(),
            Edit::Param(name) => format!("drop-param={}", escaped(name)),
            Edit::Session => "session-id".to_owned(),
            Edit::Index(page) => format!("index-page={}", text(page)),
            Edit::Extension(extension) => format!("extension={}", text(extension)),
            Edit::Slash => "trailing-slash".to_owned(),
            Edit::Https => "https".to_owned(),
            Edit::Decode => "path-decode".to_owned(),
            Edit::Case => "path-case".to_owned(),
            Edit::Prefix(segment) => format!("path-prefix=/{}/", text(segment)),
            Edit::AnyParam => "drop-param=*".to_owned(),
            Edit::Below { segment, names } => {
                format!("{} below /{}/", dropped(names), text(segment))
            }
            Edit::Given { param, names } => format!("{} given {}", dropped(names), text(param)),
        }
    }
}

/// A name of a canonical URI, which is ASCII.
fn text_of(name: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(name)
}

/// Adds the rule of `edit`, for all hosts; `None` if rules cannot say it.
fn add_to(edit: &Edit, builder: &mut Builder) -> Option<()> {
    let Some((condition, patterns)) = edit.conditional() else {
        return builder.rule(&edit.typed()).ok();
    };
    let table = params(None, &condition, &patterns);
    let rules_file = RulesFile::parse(&table, "learned", &mut |_, _| Err(String::new())).ok()?;
    builder.rules_file(&rules_file);
    Some(())
}

/// A table that drops parameters: on a list of `hosts`, as it is written, or on all.
pub(super) fn params(hosts: Option<&str>, (field, value): &Condition, drop: &[String]) -> String {
    let hosts = hosts.map_or(String::new(), |hosts| format!("hosts = [{hosts}]\n"));
    let drop = drop.iter().map(|pattern| quoted(pattern)).collect::<Vec<_>>().join(", ");
    format!("[[param]]\n{hosts}{field} = [{}]\ndrop = [{drop}]\n", quoted(value))
}

/// The pattern that `name`, and nothing else, matches. Names of canonical URIs are ASCII.
fn escaped(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for &byte in name {
        if matches!(byte, b'*' | b'?' | b'\\' | b',') {
            text.push('\\');
        }
        text.push(char::from(byte));
    }
    text
}

/// The rules of all `edits`, for all hosts.
pub(super) fn rules_of<'e>(edits: impl IntoIterator<Item = &'e Edit>) -> Cow<'static, RuleSet> {
    let mut edits: Vec<&Edit> = edits.into_iter().collect();
    if edits.is_empty() {
        return Cow::Borrowed(&NO_RULES);
    }
    edits.sort_unstable();
    edits.dedup();
    let mut builder: Builder = RuleSet::builder();
    for edit in edits {
        add_to(edit, &mut builder).expect("edits are rules");
    }
    Cow::Owned(builder.build().expect("no two edits have the same pattern"))
}

/// No rules: as of most sites there is nothing to learn, they are built once.
pub(super) static NO_RULES: LazyLock<RuleSet> =
    LazyLock::new(|| RuleSet::builder().build().expect("nothing contradicts itself"));

#[cfg(test)]
mod tests {
    use super::*;
    use uriscan_core::rules::Scratch;

    #[test]
    fn names_that_look_like_patterns_match_themselves_only() {
        for name in ["a*", "?", "*", "a,b", "x%5B%5D"] {
            let edit = Edit::param(name.as_bytes()).unwrap();
            let rules = rules_of([&edit]);
            let applied =
                |url: &str| rules.apply(url.as_bytes(), &mut Scratch::default()).0.to_vec();
            assert_eq!(applied(&format!("http://h/?{name}=1&b=2")), b"http://h/?b=2", "{name}");
            assert_eq!(applied("http://h/?ab=1&z=2"), b"http://h/?ab=1&z=2", "{name}");
        }
        assert_eq!(Edit::param(b""), None);
        assert_eq!(Edit::param(&[b'a'; 101]), None);
        assert_eq!(Edit::index(b"a,b"), None);
        assert_eq!(Edit::prefix(b".."), None);
    }

    #[test]
    fn parameters_are_dropped_only_where_they_may_be() {
        let names = vec![b"s".to_vec(), b"a*".to_vec()];
        let below = Edit::below(b"x,\"", names.clone());
        assert_eq!(below, None, "not a segment");
        let below = Edit::below(b"x,y", names.clone()).unwrap();
        let given = Edit::given(b"view=a*", names).unwrap();
        let rules = rules_of([&below, &given]);
        for (url, form) in [
            ("http://h/x,y/a?s=1&a*=2&b", "http://h/x,y/a?b"),
            ("http://h/x/a?s=1&a*=2", "http://h/x/a?s=1&a*=2"),
            ("http://h/x/a?s=1&view=a*", "http://h/x/a?view=a*"),
            ("http://h/x/a?s=1&view=ab", "http://h/x/a?s=1&view=ab"),
            ("http://h/x,y/a?ab=1", "http://h/x,y/a?ab=1"),
        ] {
            let mut scratch = Scratch::default();
            let (found, _) = rules.apply(url.as_bytes(), &mut scratch);
            assert_eq!(String::from_utf8_lossy(found), form);
        }
        assert_eq!(below.typed(), "drop-param=s, drop-param=a\\* below /x,y/");
        for segment in [&b"a.b.html"[..], b".html", b"html", b"a.1", b"a.b_c", b"a.longlonglong"] {
            assert_eq!(Edit::extension(segment).is_some(), segment == b"a.b.html");
        }
    }
}
