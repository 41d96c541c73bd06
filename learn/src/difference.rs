//! The edits that could make two URLs of a host the same: where hypotheses come from. Whether they are right is found out by
//! counting, so an edit that is missed here is a rule that is not found, and no more.

use super::edit::Edit;
use uriscan_core::rules::{DECODED, decode, fold, host_in, name_of};
use uriscan_core::uri::{Split, split};

/// Bytes of URLs, and parameters of them, that are looked at: the time for two is that of a product of these.
const MOST_BYTES: usize = 8 << 10;
const MOST_IN_QUERY: usize = 64;

/// Parameters that two URLs may differ in, each a hypothesis of its own.
const MOST_PARAMS: usize = 6;

/// Edits of a path that two URLs may differ in.
const MOST_EDITS: u32 = 4;

/// The smallest set of edits, sorted, that may make `a` and `b` the same: canonical `http` or `https` URLs whose hosts are taken
/// for the same. `None` if there is none.
pub(super) fn between(a: &[u8], b: &[u8]) -> Option<Vec<Edit>> {
    if a.len().max(b.len()) > MOST_BYTES {
        return None;
    }
    let (a, b) = (split(a), split(b));
    if port(&a) != port(&b) {
        return None;
    }
    let mut edits = Vec::new();
    if a.scheme != b.scheme {
        edits.push(Edit::Https);
    }
    of_paths(a.path, b.path, &mut edits)?;
    of_queries(a.query, b.query, &mut edits)?;
    edits.sort_unstable();
    edits.dedup();
    (!edits.is_empty()).then_some(edits)
}

/// What follows the host in the authority, and what precedes it.
fn port<'t>(url: &Split<'t>) -> (&'t [u8], &'t [u8]) {
    let authority = url.authority.unwrap_or_default();
    let (start, end) = host_in(authority);
    (&authority[..start], &authority[end..])
}

/// Whether an edit can change a path.
type Test<'a> = &'a dyn Fn(&[u8]) -> bool;

/// Adds the edits of two paths.
fn of_paths(a: &[u8], b: &[u8], edits: &mut Vec<Edit>) -> Option<()> {
    if a == b {
        return Some(());
    }
    let mut all = Vec::new();
    let (first, last) = ([a, b].map(first_segment), [a, b].map(last_segment));
    if first[0] != first[1] {
        all.extend(first.into_iter().flatten().filter_map(Edit::prefix));
    }
    if last[0] != last[1] {
        all.extend(last.into_iter().filter_map(Edit::index));
        all.extend(last.into_iter().filter_map(Edit::extension));
    }
    let either = |has: &dyn Fn(&[u8]) -> bool| has(a) || has(b);
    let tests: [(Edit, Test<'_>); 5] = [
        (Edit::Slashes, &|path| memchr::memmem::find(path, b"//").is_some()),
        (Edit::Session, &|path| memchr::memchr2(b';', b'(', path).is_some()),
        (Edit::Slash, &|path| path.len() > 1),
        (Edit::Decode, &|path| memchr::memchr(b'%', path).is_some()),
        (Edit::Case, &|path| path.iter().any(u8::is_ascii_uppercase)),
    ];
    all.extend(tests.into_iter().filter(|(_, has)| either(has)).map(|(edit, _)| edit));
    all.sort_unstable();
    all.dedup();
    let chosen = |mask: u32| -> Vec<Edit> {
        let is_in = |(i, _): &(u32, &Edit)| mask >> i & 1 != 0;
        (0..).zip(&all).filter(is_in).map(|(_, edit)| edit.clone()).collect()
    };
    let is_enough = |edits: &[Edit]| reduced(a, edits) == reduced(b, edits);
    // The smallest sets come first, and of these the safest.
    for count in 1..=MOST_EDITS {
        let masks = (1..1u32 << all.len()).filter(|mask| mask.count_ones() == count);
        if let Some(found) = masks.map(chosen).find(|edits| is_enough(edits)) {
            edits.extend(found);
            return Some(());
        }
    }
    None
}

/// The first segment of a path that has more.
fn first_segment(path: &[u8]) -> Option<&[u8]> {
    let rest = path.strip_prefix(b"/")?;
    let end = memchr::memchr(b'/', rest)?;
    Some(&rest[..end])
}

fn last_segment(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// `path` after `edits`, about as the rules change it.
fn reduced(path: &[u8], edits: &[Edit]) -> Vec<u8> {
    let has = |edit: &Edit| edits.contains(edit);
    let mut path = path.to_vec();
    if has(&Edit::Decode) {
        let typed = std::mem::take(&mut path);
        decode(&typed, DECODED.as_bytes(), &mut path);
    }
    if has(&Edit::Session) {
        path = without_parameters(&path);
    }
    if has(&Edit::Slashes) {
        path.dedup_by(|a, b| (*a, *b) == (b'/', b'/'));
    }
    if has(&Edit::Case) {
        path.make_ascii_lowercase();
    }
    // A name in a rule is compared as it is, unless the case of paths means nothing: or two spellings of a page would be index pages.
    let is = |segment: &[u8], name: &[u8]| match has(&Edit::Case) {
        true => segment.eq_ignore_ascii_case(name),
        false => segment == name,
    };
    for edit in edits {
        if let Edit::Prefix(segment) = edit
            && first_segment(&path).is_some_and(|first| is(first, segment))
        {
            path.drain(..segment.len() + 1);
        }
    }
    let is_index = |edit: &Edit, last: &[u8]| matches!(edit, Edit::Index(page) if is(last, page));
    let has_extension = |edit: &Edit, last: &[u8]| match (edit, Edit::extension(last)) {
        (Edit::Extension(one), Some(Edit::Extension(it))) => is(&it, one),
        _ => false,
    };
    // Each may bring out another one.
    loop {
        let last = last_segment(&path);
        let len = if last.is_empty() {
            path.len() - usize::from(has(&Edit::Slash) && path.len() > 1)
        } else if edits.iter().any(|edit| is_index(edit, last)) {
            path.len() - last.len()
        } else if edits.iter().any(|edit| has_extension(edit, last)) {
            memchr::memrchr(b'.', &path).unwrap_or(path.len())
        } else {
            break;
        };
        if len == path.len() {
            break;
        }
        path.truncate(len);
    }
    path
}

/// `path` without what follows a `;` in its segments, and without segments in brackets.
fn without_parameters(path: &[u8]) -> Vec<u8> {
    let segments = path.split(|&byte| byte == b'/');
    let kept = segments.filter(|segment| !segment.starts_with(b"("));
    let stems = kept.map(|segment| segment.split(|&byte| byte == b';').next().unwrap_or_default());
    stems.collect::<Vec<_>>().join(&b'/')
}

/// Adds the edits of two queries.
fn of_queries(a: Option<&[u8]>, b: Option<&[u8]>, edits: &mut Vec<Edit>) -> Option<()> {
    if a == b {
        return Some(());
    }
    let [mut a, mut b] = [a, b].map(|query| params(query.unwrap_or_default()));
    if a.len().max(b.len()) > MOST_IN_QUERY {
        edits.push(Edit::AnyParam);
        return Some(());
    }
    let mut differing = differing_names(&a, &b);
    let (lower_a, lower_b);
    let has_upper = |name: &&[u8]| name.iter().any(u8::is_ascii_uppercase);
    let mut has_case = false;
    if differing.iter().any(has_upper) {
        (lower_a, lower_b) = (with_lower_names(&a), with_lower_names(&b));
        let [of_a, of_b] = [&lower_a, &lower_b]
            .map(|all: &Vec<Vec<u8>>| all.iter().map(|it| &it[..]).collect::<Vec<&[u8]>>());
        let differing_then = differing_names(&of_a, &of_b);
        has_case = differing_then.len() < differing.len();
        if has_case {
            edits.push(Edit::NameCase);
            (a, b, differing) = (of_a, of_b, differing_then);
        }
    }
    if differing.len() > MOST_PARAMS {
        edits.push(Edit::AnyParam);
        return Some(());
    }
    a.retain(|param| !differing.contains(&name_of(param)));
    b.retain(|param| !differing.contains(&name_of(param)));
    if a != b {
        edits.push(Edit::Sort);
    } else if differing.is_empty() && !has_case {
        edits.push(Edit::EmptyQuery);
    }
    for name in differing {
        edits.push(match name {
            b"" => Edit::EmptyParam,
            name => Edit::param(name)?,
        });
    }
    Some(())
}

/// The names whose parameters differ.
fn differing_names<'q>(a: &[&'q [u8]], b: &[&'q [u8]]) -> Vec<&'q [u8]> {
    let mut differing = Vec::new();
    for param in a.iter().chain(b) {
        let name = name_of(param);
        let of_name = |params: &[&'q [u8]]| -> Vec<&'q [u8]> {
            params.iter().filter(|it| name_of(it) == name).copied().collect()
        };
        if !differing.contains(&name) && of_name(a) != of_name(b) {
            differing.push(name);
        }
    }
    differing
}

/// The `params` as the rule leaves them.
fn with_lower_names(params: &[&[u8]]) -> Vec<Vec<u8>> {
    let lower = |param: &&[u8]| {
        let (name, rest) = param.split_at(name_of(param).len());
        let mut lower = Vec::with_capacity(param.len());
        fold(name, &mut lower);
        lower.extend_from_slice(rest);
        lower
    };
    params.iter().map(lower).collect()
}

/// The parameters of a query; none of an empty one.
fn params(query: &[u8]) -> Vec<&[u8]> {
    if query.is_empty() {
        return Vec::new();
    }
    query.split(|&byte| byte == b'&').collect()
}

#[cfg(test)]
mod tests {
    use super::super::edit::rules_of;
    use super::*;
    use uriscan_core::rules::Scratch;

    #[test]
    fn what_differs_is_named_and_the_rules_make_it_the_same() {
        for (a, b, names) in [
            ("http://h/a?x=1", "http://h/a", "drop-param=x"),
            ("http://h/a?x=1&y=2&z=3", "http://h/a?x=2&z=3&y=1", "drop-param=x drop-param=y"),
            ("http://h/a?x=1&y=2", "http://h/a?y=2&x=1", "sort-query"),
            ("http://h/a?ID=1&x=2", "http://h/a?id=1&x=2", "param-case"),
            ("http://h/a?Id=1&s=2&y", "http://h/a?y&ID=1", "param-case sort-query drop-param=s"),
            ("http://h/a?%C3%9CA", "http://h/a?%C3%9Ca", "param-case"),
            ("http://h/a?A=1", "http://h/a?a=2", "param-case drop-param=a"),
            ("http://h/a?", "http://h/a", "empty-query"),
            ("http://h/a?x&&y", "http://h/a?x&y", "empty-param"),
            ("http://h/a/", "http://h/a", "trailing-slash"),
            ("http://h/a/i.php", "http://h/a/", "index-page=i.php"),
            ("http://h/a/i.php", "http://h/a", "index-page=i.php trailing-slash"),
            ("http://h/a/i.php", "http://h/a/i.htm", "extension=htm extension=php"),
            ("http://h/a.html", "http://h/a", "extension=html"),
            ("http://h/a.html", "http://h/a.php", "extension=html extension=php"),
            ("http://h/a.html", "http://h/a/", "extension=html trailing-slash"),
            ("http://h/A/b", "http://h/a/b", "path-case"),
            ("http://h/a/Index?x", "http://h/a/index?x", "path-case"),
            ("http://h/EN/a?x", "http://h/en/a?x", "path-case"),
            ("http://h/a/I.php?x", "http://h/a/?x", "index-page=I.php"),
            ("http://h/A/I.php", "http://h/a/", "index-page=I.php path-case"),
            ("http://h/en/a", "http://h/a", "path-prefix=/en/"),
            ("http://h/en/a", "http://h/de/a", "path-prefix=/de/ path-prefix=/en/"),
            (
                "http://h/en/A/",
                "https://h/a?s=1",
                "drop-param=s trailing-slash https path-case path-prefix=/en/",
            ),
            ("http://h/a//b", "http://h/a/b", "duplicate-slash"),
            ("http://h/a%2Cb", "http://h/a,b", "path-decode"),
            ("http://h/a;jsessionid=0123456789ABCDEF0123456789ABCDEF", "http://h/a", "session-id"),
            ("https://h/a", "http://h/a", "https"),
        ] {
            for (a, b) in [(a, b), (b, a)] {
                let edits = between(a.as_bytes(), b.as_bytes()).unwrap();
                let typed: Vec<String> = edits.iter().map(Edit::typed).collect();
                assert_eq!(typed.join(" "), names, "{a} {b}");
                let rules = rules_of(&edits);
                let form =
                    |url: &str| rules.apply(url.as_bytes(), &mut Scratch::default()).0.to_vec();
                assert_eq!(form(a), form(b), "{a} {b}");
            }
        }
        for (a, b) in [
            ("http://h/a/x/c", "http://h/b/y/c"),
            ("http://h:1/a", "http://h/a"),
            ("http://h/a", "http://h/a"),
        ] {
            assert_eq!(between(a.as_bytes(), b.as_bytes()), None, "{a} {b}");
        }
        let many =
            |value: u8| (0..9).map(|i| format!("p{i}={value}")).collect::<Vec<_>>().join("&");
        let [a, b] = [1, 2].map(|value| format!("http://h/a?{}", many(value)));
        assert_eq!(between(a.as_bytes(), b.as_bytes()), Some(vec![Edit::AnyParam]));
    }
}
