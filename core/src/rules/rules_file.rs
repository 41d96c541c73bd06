//! Rules files: rules in a TOML file.
//!
//! ```toml
//! name = "our rules"
//! version = 3
//! include = ["tracking", "shops.toml"]   # built-in rules files, or files in the same directory
//! rules = ["fragment", "https"]          # for all hosts, as on a command line
//!
//! [[param]]                              # no hosts: for all hosts
//! drop = ["ref", "src_*"]
//! allow = ["src_lang"]                   # kept, whatever earlier patterns say
//! why = "where a reader came from"
//!
//! [[param]]
//! hosts = ["shop.example", "site:example.com", "*.example.*"]
//! except = ["api.example.com"]
//! keep = ["id", "page"]                  # all others are dropped
//!
//! [[param]]
//! paths = ["/forum/"]                    # below these paths only
//! given = ["view=print"]                 # only where a query has one of these parameters; for drop
//! drop = ["sid"]
//!
//! [[site]]                               # rules of these hosts
//! hosts = ["m.shop.example", "shop.example"]
//! host = "www.shop.example"              # what they become
//! rules = ["path-case", "path-prefix=/en/"]
//! without = ["fragment"]
//! drop = ["sid"]                         # as in [[param]]
//! ```
//!
//! The last pattern that matches a name decides: included rules files come before the file's own tables,
//! which follow in order; within a table keep, drop, allow.

use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::param::Unit;
use super::scope::Scope;
use super::site::Site;
use super::tables::{Places, RulesFileError, SiteTable, Table, scope, site, unit};

/// A parsed rules file with all rules files that it includes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RulesFile {
    /// Its name, or else its source.
    pub name: Arc<str>,
    /// The author's version number; 0 if there is none.
    pub version: u32,
    /// Its purpose, in the author's words.
    pub meaning: Option<String>,
    pub(super) scope: Scope,
    pub(super) units: Vec<Unit>,
    pub(super) sites: Vec<Site>,
}

/// A rules file that another one includes.
///
/// ```
/// use uriscan::rules::Included;
/// let rules_file = Included::new("shops.toml", "name = 'shops'");
/// assert_eq!(rules_file.source, "shops.toml");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Included {
    /// Its name in messages, such as a path.
    pub source: String,
    /// Its content.
    pub text: String,
}

impl Included {
    /// The rules file `text`, which messages call `source`.
    pub fn new(source: impl Into<String>, text: impl Into<String>) -> Included {
        Included { source: source.into(), text: text.into() }
    }
}

/// Maximum number of levels of rules files that include each other.
const DEPTH: usize = 8;

/// Maximum number of rules files that a rules file includes, all levels together: each level could multiply them.
const MOST_INCLUDED: usize = 256;

/// Bytes of all included rules files together: compiled, they take up to a hundred times as many.
const MOST_INCLUDED_BYTES: usize = 4 << 20;

/// The built-in rules files: name and text.
const BUILT_IN: [(&str, &str); 1] = [("tracking", include_str!("packs/tracking.toml"))];

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Document {
    name: Option<String>,
    version: Option<u32>,
    meaning: Option<String>,
    include: Vec<Spanned<String>>,
    rules: Vec<Spanned<String>>,
    param: Vec<Spanned<Table>>,
    site: Vec<Spanned<SiteTable>>,
}

impl RulesFile {
    /// The built-in rules file with this `name`.
    ///
    /// ```
    /// use uriscan::rules::RulesFile;
    /// assert!(RulesFile::built_in("tracking").is_some());
    /// assert!(RulesFile::built_in("no such").is_none());
    /// ```
    pub fn built_in(name: &str) -> Option<RulesFile> {
        let (name, text) = BUILT_IN.into_iter().find(|(known, _)| *known == name)?;
        let rules_file = RulesFile::parse(text, name, &mut |_, _| Err("not built in".to_owned()));
        Some(rules_file.expect("built-in rules files are tested"))
    }

    /// The names of the built-in rules files.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.into_iter().map(|(name, _)| name)
    }

    /// Parses the TOML `text` of a rules file, which messages call `source`.
    ///
    /// `open` is called for each included rules file that is not built in, with its name as written and
    /// the source that includes it.
    ///
    /// ```
    /// use uriscan::rules::RulesFile;
    /// let mut open = |name: &str, _: &str| Err(format!("cannot open {name}"));
    /// let rules_file = RulesFile::parse("[[param]]\ndrop = ['ref']", "mine.toml", &mut open).unwrap();
    /// assert_eq!(&*rules_file.name, "mine.toml");
    /// let error = RulesFile::parse("[[param]]\ndorp = ['ref']", "mine.toml", &mut open).unwrap_err();
    /// assert!(error.to_string().starts_with("mine.toml:2:1: unknown field `dorp`"));
    /// ```
    ///
    /// # Errors
    /// With the position in the file.
    pub fn parse(
        text: &str,
        source: &str,
        open: &mut dyn FnMut(&str, &str) -> Result<Included, String>,
    ) -> Result<RulesFile, RulesFileError> {
        parse_within(text, &mut vec![source.to_owned()], &mut [0; 2], open)
    }
}

/// Parses a rules file; `sources` are those that include it, followed by its own. So many have been `included`, and so many bytes of them.
fn parse_within(
    text: &str,
    sources: &mut Vec<String>,
    included: &mut [usize; 2],
    open: &mut dyn FnMut(&str, &str) -> Result<Included, String>,
) -> Result<RulesFile, RulesFileError> {
    let source: Arc<str> = sources.last().map_or("", String::as_str).into();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let places = Places::new(Arc::clone(&source), text);
    let document: Document = toml::from_str(text).map_err(|error| {
        places.error(error.span().unwrap_or_default(), in_words_of_toml(error.message()))
    })?;
    let mut rules_file = RulesFile {
        name: document.name.map_or_else(|| Arc::clone(&source), Arc::from),
        version: document.version.unwrap_or(0),
        meaning: document.meaning,
        scope: Scope::default(),
        units: Vec::new(),
        sites: Vec::new(),
    };
    for name in &document.include {
        let fail = |message: String| places.error(name.span(), message);
        included[0] += 1;
        if included[0] > MOST_INCLUDED {
            return Err(fail(format!("more than {MOST_INCLUDED} rules files are included")));
        }
        if let Some(other) = RulesFile::built_in(name.get_ref()) {
            rules_file.extend(other);
            continue;
        }
        let opened = open(name.get_ref(), &source).map_err(fail)?;
        if sources.contains(&opened.source) {
            return Err(fail(format!("{} includes itself", opened.source)));
        }
        if sources.len() >= DEPTH {
            return Err(fail(format!(
                "rules files include each other more than {DEPTH} levels deep"
            )));
        }
        included[1] += opened.text.len();
        if included[1] > MOST_INCLUDED_BYTES {
            let most = MOST_INCLUDED_BYTES >> 20;
            return Err(fail(format!(
                "the included rules files have more than {most} MiB together"
            )));
        }
        sources.push(opened.source);
        rules_file.extend(parse_within(&opened.text, sources, included, open)?);
        sources.pop();
    }
    rules_file.scope.extend(&scope(&document.rules, &places)?);
    // Tables apply in the order of the file, whatever their kind.
    let mut units = Vec::new();
    for table in document.param {
        units.push((table.span().start, unit(table, &places)?));
    }
    for table in document.site {
        let start = table.span().start;
        let (site, own) = site(table, &places)?;
        let number = Some(rules_file.sites.len());
        rules_file.sites.push(site);
        units.extend(own.map(|unit| (start, Unit { site: number, ..unit })));
    }
    units.sort_by_key(|(start, _)| *start);
    rules_file.units.extend(units.into_iter().map(|(_, unit)| unit));
    Ok(rules_file)
}

/// The `message` of a deserializer on one line, with what a list looks like if it misses one.
fn in_words_of_toml(message: &str) -> String {
    let message = message.trim().replace('\n', "; ");
    let is_list = message.ends_with("expected a sequence");
    message
        + if is_list { ": write [\"a\", \"b\"], and [[param]] or [[site]] for a table" } else { "" }
}

impl RulesFile {
    /// Adds the rules of `other`, which come after its own.
    fn extend(&mut self, other: RulesFile) {
        self.scope.extend(&other.scope);
        extend(&mut self.units, &mut self.sites, other.units, other.sites);
    }
}

/// Adds units and sites, which these units number from 0.
pub(super) fn extend(
    units: &mut Vec<Unit>,
    sites: &mut Vec<Site>,
    more_units: Vec<Unit>,
    more_sites: Vec<Site>,
) {
    let first = sites.len();
    let placed = |unit: Unit| Unit { site: unit.site.map(|site| first + site), ..unit };
    units.extend(more_units.into_iter().map(placed));
    sites.extend(more_sites);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<RulesFile, RulesFileError> {
        let mut open = |name: &str, from: &str| match name {
            "other.toml" => Ok(Included {
                source: "other.toml".to_owned(),
                text: format!("include = ['{}']\n[[param]]\ndrop = ['o']", "mine.toml"),
            }),
            "mine.toml" => Ok(Included { source: "mine.toml".to_owned(), text: String::new() }),
            "many" => Ok(Included {
                source: format!("{from}+"),
                text: "include = ['many', 'many', 'many']".to_owned(),
            }),
            "deep" => {
                Ok(Included { source: format!("{from}+"), text: "include = ['deep']".to_owned() })
            }
            "good.toml" => Ok(Included {
                source: name.to_owned(),
                text: "[[param]]\nallow = ['g']\n".to_owned(),
            }),
            name => Err(format!("{name}: no such file (from {from})")),
        };
        RulesFile::parse(text, "mine.toml", &mut open)
    }

    #[test]
    fn built_in_rules_files_parse_and_describe_each_parameter() {
        for name in RulesFile::built_in_names() {
            let rules_file = RulesFile::built_in(name).unwrap();
            assert_eq!((&*rules_file.name, rules_file.version), (name, 2));
            assert!(rules_file.meaning.is_some());
            assert!(rules_file.units.iter().all(|unit| unit.why.is_some()));
            // They are applied before all others, where conflicts within them would be confusing.
            let mut globs: Vec<&str> = Vec::new();
            for named in rules_file.units.iter().flat_map(|unit| &unit.patterns) {
                assert!(!globs.contains(&&*named.text), "{}", named.text);
                // A star would match names that were not reviewed.
                assert!(named.glob.literal().is_some(), "{}", named.text);
                globs.push(&named.text);
            }
        }
    }

    #[test]
    fn included_rules_files_come_first() {
        let rules_file =
            parse("include = ['good.toml', 'tracking']\n[[param]]\ndrop=['x']").unwrap();
        let tracking = RulesFile::built_in("tracking").unwrap().units.len();
        assert_eq!(rules_file.units.len(), tracking + 2);
        assert_eq!(rules_file.units[0].patterns[0].place.to_string(), "good.toml:2:10");
        assert_eq!(rules_file.units[tracking + 1].patterns[0].place.to_string(), "mine.toml:3:7");
    }

    #[test]
    fn errors_have_position_and_reason() {
        for (text, expected) in [
            ("[[param]]\ndrop = ['a', 'b&']", "mine.toml:2:14: `b&`: `&` ends a parameter"),
            (
                "[[param]]\n  hosts = ['h:80']\ndrop=['a']",
                "mine.toml:2:12: `h:80`: a host without port",
            ),
            (
                "[[param]]\nhosts = ['site:co.uk']\ndrop=['a']",
                "mine.toml:2:10: `site:co.uk` is a public",
            ),
            ("\n[[param]]\nwhy = 'x'", "mine.toml:2:1: a [[param]] needs keep, drop or allow"),
            ("[[param]]\nhosts = []\ndrop=['a']", "mine.toml:1:1: `hosts` names no host"),
            (
                "[[param]]\nhosts=['h']\nexcept=['H.']\ndrop=['a']",
                "mine.toml:1:1: `h` is in hosts and",
            ),
            (
                "[[param]]\ndrop = ['a']\nallow = ['b', 'a']",
                "mine.toml:3:15: `a` is in allow here and in drop at line 2",
            ),
            (
                "[[param]]\ndrop = 'a'",
                "mine.toml:2:8: invalid type: string \"a\", expected a sequence: write [\"a\", \"b\"]",
            ),
            (
                "[param]\ndrop = ['a']",
                "mine.toml:1:1: invalid type: map, expected a sequence: write [\"a\", \"b\"], and [[param]]",
            ),
            (
                "[rules]\nwww = true",
                "mine.toml:1:1: invalid type: map, expected a sequence: write [",
            ),
            ("[[params]]\n", "mine.toml:1:3: unknown field `params`"),
            ("drop = [", "mine.toml:1:"),
            ("include = ['no.toml']", "mine.toml:1:12: no.toml: no such file (from mine.toml)"),
            ("include = ['other.toml']", "other.toml:1:12: mine.toml includes itself"),
            ("include = ['deep']", "mine.toml+++++++:1:12: rules files include each other"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
            assert!(!error.contains('\n'));
        }
    }

    #[test]
    fn the_number_of_included_rules_files_is_limited() {
        let include = |names: usize| format!("include = [{}]", "'good.toml', ".repeat(names));
        assert_eq!(parse(&include(MOST_INCLUDED)).unwrap().units.len(), MOST_INCLUDED);
        for text in
            [include(MOST_INCLUDED + 1), format!("include = [{}]", "'tracking',".repeat(300))]
        {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.contains("more than 256 rules files are included"), "{error}");
        }
        assert!(parse("include = ['many']").is_err());
    }

    #[test]
    fn the_bytes_of_included_rules_files_are_limited_together() {
        let mut open = |name: &str, _: &str| {
            let text = format!("# {}\n[[param]]\ndrop = ['x']\n", "y".repeat(2 << 20));
            Ok(Included { source: name.to_owned(), text })
        };
        assert!(RulesFile::parse("include = ['a']", "mine.toml", &mut open).is_ok());
        let found = RulesFile::parse("include = ['a', 'b']", "mine.toml", &mut open);
        let error = found.unwrap_err().to_string();
        assert!(
            error.contains("mine.toml:1:17: the included rules files have more than 4 MiB"),
            "{error}"
        );
    }
}
