//! Section 5 transcribed to strings, as literally as the language allows.

use uriscan::uri::{parse, split};

/// 5.2.4, sentence by sentence, on an input and an output buffer; records the state after each
/// step.
pub(crate) fn remove_dot_segments(path: &str, mut note: impl FnMut(char, &str, &str)) -> String {
    let (mut output, mut input) = (String::new(), path.to_owned());
    while !input.is_empty() {
        let step = if input.starts_with("../") {
            input.replace_range(..3, "");
            'A'
        } else if input.starts_with("./") {
            input.replace_range(..2, "");
            'A'
        } else if input.starts_with("/./") {
            input.replace_range(..3, "/");
            'B'
        } else if input == "/." {
            input = "/".to_owned();
            'B'
        } else if input.starts_with("/../") || input == "/.." {
            let len = input.len().min(4);
            input.replace_range(..len, "/");
            output.truncate(output.rfind('/').unwrap_or(0));
            'C'
        } else if input == "." || input == ".." {
            input.clear();
            'D'
        } else {
            let from = usize::from(input.starts_with('/'));
            let end = input[from..].find('/').map_or(input.len(), |slash| from + slash);
            output.extend(input.drain(..end));
            'E'
        };
        note(step, &output, &input);
    }
    output
}

/// The pseudocode of 5.2.2, with 5.2.3, 5.2.4 and 5.3, on strings; `None` for an invalid reference.
/// The only line that is not from the RFC keeps a path from becoming an authority.
pub(crate) fn transcribed(base: &str, reference: &str, strict: bool) -> Option<String> {
    parse(reference.as_bytes()).ok()?;
    let text = |part: Option<&[u8]>| part.map(|part| String::from_utf8(part.to_vec()).unwrap());
    let (b, r) = (split(base.as_bytes()), split(reference.as_bytes()));
    let (base_path, r_path) = (text(Some(b.path))?, text(Some(r.path))?);
    let mut r_scheme = text(r.scheme);
    if !strict
        && r_scheme.as_ref().map(|s| s.to_lowercase()) == text(b.scheme).map(|s| s.to_lowercase())
    {
        r_scheme = None;
    }
    let remove = |path: &str| remove_dot_segments(path, |_, _, _| {});
    let (scheme, authority, mut path, query);
    if r_scheme.is_some() {
        scheme = r_scheme;
        authority = text(r.authority);
        path = remove(&r_path);
        query = text(r.query);
    } else {
        if r.authority.is_some() {
            authority = text(r.authority);
            path = remove(&r_path);
            query = text(r.query);
        } else {
            if r_path.is_empty() {
                path = base_path;
                query = if r.query.is_some() { text(r.query) } else { text(b.query) };
            } else {
                if r_path.starts_with('/') {
                    path = remove(&r_path);
                } else {
                    path = if b.authority.is_some() && base_path.is_empty() {
                        format!("/{r_path}")
                    } else {
                        let end = base_path.rfind('/').map_or(0, |slash| slash + 1);
                        format!("{}{r_path}", &base_path[..end])
                    };
                    path = remove(&path);
                }
                query = text(r.query);
            }
            authority = text(b.authority);
        }
        scheme = text(b.scheme);
    }
    if authority.is_none() && path.starts_with("//") {
        path.insert_str(0, "/.");
    }
    let mut result = String::new();
    if let Some(scheme) = scheme {
        result += &(scheme + ":");
    }
    if let Some(authority) = authority {
        result += &("//".to_owned() + &authority);
    }
    result += &path;
    if let Some(query) = query {
        result += &("?".to_owned() + &query);
    }
    if let Some(fragment) = text(r.fragment) {
        result += &("#".to_owned() + &fragment);
    }
    Some(result)
}
