//! The other way round: a URL that a hypothesis would make of another one, to be fetched.

use super::edit::Edit;
use uriscan_core::uri::{Split, split};

/// A URL that `edits` may change to `url`, a canonical one; parameters get the values that they have in `sample`. `None` if it is not
/// known how.
pub(super) fn undone(edits: &[Edit], url: &[u8], sample: &[u8]) -> Option<Vec<u8>> {
    let Split { scheme, authority, path, query, .. } = split(url);
    let mut scheme = scheme?.to_vec();
    let (mut path, mut query) = (path.to_vec(), query.map(<[u8]>::to_vec));
    for edit in edits {
        match edit {
            Edit::Param(name) => add_param(&mut query, param_of(sample, name)?),
            Edit::EmptyParam => add_param(&mut query, b""),
            Edit::EmptyQuery if query.is_none() => query = Some(Vec::new()),
            Edit::Sort => {
                let mut params: Vec<&[u8]> = query.as_ref()?.split(|&byte| byte == b'&').collect();
                params.reverse();
                query = Some(params.join(&b'&'));
            }
            Edit::Https if scheme == b"https" => scheme = b"http".to_vec(),
            Edit::Index(page) => {
                if !path.ends_with(b"/") {
                    path.push(b'/');
                }
                path.extend_from_slice(page);
            }
            Edit::Extension(extension) if !path.ends_with(b"/") => {
                path.push(b'.');
                path.extend_from_slice(extension);
            }
            Edit::Below { names, .. } | Edit::Given { names, .. } => {
                for name in names {
                    add_param(&mut query, param_of(sample, name)?);
                }
            }
            Edit::Slash if edits.iter().any(|edit| matches!(edit, Edit::Index(_))) => {}
            Edit::Slash if !path.ends_with(b"/") => path.push(b'/'),
            Edit::Prefix(segment) => {
                path.splice(0..0, [&b"/"[..], segment].concat());
            }
            _ => return None,
        }
    }
    let query = query.map_or(Vec::new(), |query| [&b"?"[..], &query].concat());
    Some([&scheme, &b"://"[..], authority?, &path, &query].concat())
}

fn add_param(query: &mut Option<Vec<u8>>, param: &[u8]) {
    match query {
        Some(query) if !query.is_empty() => {
            query.push(b'&');
            query.extend_from_slice(param);
        }
        _ => *query = Some(param.to_vec()),
    }
}

/// The parameter called `name` in `sample`: a server may take a value that it does not know for any other.
fn param_of<'s>(sample: &'s [u8], name: &[u8]) -> Option<&'s [u8]> {
    let query = split(sample).query.unwrap_or_default();
    let is_it = |param: &&[u8]| param.split(|&byte| byte == b'=').next() == Some(name);
    query.split(|&byte| byte == b'&').find(is_it)
}

#[cfg(test)]
mod tests {
    use super::super::edit::rules_of;
    use super::*;
    use uriscan_core::rules::Scratch;

    #[test]
    fn rules_make_of_what_is_undone_what_it_was() {
        let edit = |text: &str| Edit::param(text.as_bytes()).unwrap();
        for (edits, url, undone_to) in [
            (vec![edit("a")], "http://h/x", "http://h/x?a=7"),
            (vec![edit("a"), Edit::Slash], "http://h/x?c", "http://h/x/?c&a=7"),
            (vec![Edit::Slash], "http://h/x", "http://h/x/"),
            (vec![Edit::Https], "https://h/x", "http://h/x"),
            (vec![Edit::Index(b"i.php".to_vec()), Edit::Slash], "http://h/x", "http://h/x/i.php"),
            (vec![Edit::Prefix(b"en".to_vec())], "http://h/x", "http://h/en/x"),
            (vec![Edit::Extension(b"htm".to_vec())], "http://h/x", "http://h/x.htm"),
            (
                vec![Edit::given(b"c=1", vec![b"a".to_vec()]).unwrap()],
                "http://h/x?c=1",
                "http://h/x?c=1&a=7",
            ),
            (
                vec![Edit::below(b"x", vec![b"a".to_vec()]).unwrap()],
                "http://h/x/y",
                "http://h/x/y?a=7",
            ),
            (vec![Edit::Sort], "http://h/x?a&b", "http://h/x?b&a"),
            (vec![Edit::EmptyQuery], "http://h/x", "http://h/x?"),
        ] {
            let found = undone(&edits, url.as_bytes(), b"http://h/y?a=7").unwrap();
            assert_eq!(String::from_utf8(found.clone()).unwrap(), undone_to);
            assert_eq!(rules_of(&edits).apply(&found, &mut Scratch::default()).0, url.as_bytes());
        }
        for (edits, url) in [
            (vec![Edit::Case], "http://h/x"),
            (vec![Edit::Https], "http://h/x"),
            (vec![Edit::Slash], "http://h/"),
            (vec![edit("b")], "http://h/x"),
        ] {
            assert_eq!(undone(&edits, url.as_bytes(), b""), None);
        }
    }
}
