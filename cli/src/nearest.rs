//! What a name that does not exist was probably meant to be.

/// `; did you mean NAME?`, to be put after a message about `typed`; nothing if none of `names` is like it.
pub(crate) fn did_you_mean<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    // Of a short name one letter, of others a third.
    let most = (typed.chars().count() / 3).max(1);
    match nearest(typed, names).filter(|name| distance(typed, name) <= most) {
        Some(name) => format!("; did you mean {name}?"),
        None => String::new(),
    }
}

/// The first of the most similar `names`, however different from `typed` they are.
pub(crate) fn nearest<'n>(
    typed: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    names.into_iter().min_by_key(|name| distance(typed, name))
}

/// The number of edits between them; a transposition counts as one edit.
fn distance(typed: &str, name: &str) -> usize {
    strsim::osa_distance(typed, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_like_a_name_is_taken_for_it() {
        let names = ["www", "https", "sort-query", "empty-query"];
        for (typed, expected) in [
            ("wwww", "; did you mean www?"),
            ("htpps", "; did you mean https?"),
            ("sort-qeury", "; did you mean sort-query?"),
            ("wwv", "; did you mean www?"),
            ("sortquery", "; did you mean sort-query?"),
            ("", ""),
            ("w", ""),
            ("lowercase", ""),
        ] {
            assert_eq!(did_you_mean(typed, names), expected, "{typed}");
        }
    }
}
