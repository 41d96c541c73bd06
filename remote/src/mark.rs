//! What identifies the content of an object, from the first request on.

use std::sync::OnceLock;

use object_store::ObjectMeta;

/// What identifies a content in all responses: its ETag, once that is known, or where there is none the time.
pub(super) struct Mark {
    etag: OnceLock<Option<String>>,
    /// `None` if the ETag is known from the listing.
    said: Option<Said>,
}

/// What a listing, or the response to a first request, says of a content.
struct Said {
    etag: Option<String>,
    /// Seconds from 1970 on.
    modified: i64,
}

impl Mark {
    pub(super) fn of_etag(etag: String) -> Mark {
        Mark { etag: OnceLock::from(Some(etag)), said: None }
    }

    /// That of a content of which a response says this.
    pub(super) fn found(found: &ObjectMeta) -> Mark {
        let said = Said { etag: None, modified: found.last_modified.timestamp() };
        Mark { etag: OnceLock::from(found.e_tag.clone()), said: Some(said) }
    }

    /// That of a content that a store lists with this ETag and this time.
    ///
    /// Not all stores list ETags in the form of their headers, so no request can be made to depend on one: the first response
    /// has to agree with the listing, and all others with that response.
    pub(super) fn listed(etag: Option<String>, modified: i64) -> Mark {
        Mark { etag: OnceLock::new(), said: Some(Said { etag, modified }) }
    }

    /// The ETag that a request can require.
    pub(super) fn required(&self) -> Option<String> {
        // A weak one is never equal to one.
        self.etag.get()?.clone().filter(|etag| !etag.starts_with("W/"))
    }

    /// Whether `found`, of a response, is about the content.
    pub(super) fn is_of(&self, found: &ObjectMeta) -> bool {
        let is_as_said = || self.said.as_ref().is_none_or(|said| said.is_of(found));
        let has_etag = matches!(self.etag.get(), Some(Some(_)));
        if !has_etag && !is_as_said() {
            return false;
        }
        // Of responses that come at the same time, one decides.
        unquoted(self.etag.get_or_init(|| found.e_tag.clone())) == unquoted(&found.e_tag)
    }
}

impl Said {
    /// Whether `found` has the ETag, or else the time: stores list fractions of seconds, and headers have none.
    fn is_of(&self, found: &ObjectMeta) -> bool {
        let has_etag = self.etag.is_some() && unquoted(&self.etag) == unquoted(&found.e_tag);
        has_etag || self.modified == found.last_modified.timestamp()
    }
}

/// An ETag without its quotes, which not all stores write everywhere.
fn unquoted(etag: &Option<String>) -> Option<&str> {
    etag.as_deref().map(|etag| etag.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use object_store::path::Path;

    use super::*;

    /// What a header says of an object, by its ETag and the seconds of the time.
    fn found(etag: &str, seconds: i64) -> ObjectMeta {
        let time = format!("2026-11-23T10:00:{seconds:02}Z");
        let (location, e_tag) = (Path::from("a"), Some(etag.to_owned()));
        let last_modified = time.parse().unwrap();
        ObjectMeta { location, last_modified, size: 1, e_tag, version: None }
    }

    /// That of what is listed without quotes.
    fn listed() -> Mark {
        Mark::listed(Some("a".to_owned()), found("", 1).last_modified.timestamp())
    }

    #[test]
    fn the_first_response_agrees_with_the_listing_and_all_others_with_it() {
        for (etag, seconds, is_listed) in
            [("\"a\"", 1, true), ("\"a\"", 2, true), ("\"b\"", 1, true), ("\"b\"", 2, false)]
        {
            let mark = listed();
            assert_eq!(mark.required(), None);
            assert_eq!(mark.is_of(&found(etag, seconds)), is_listed, "{etag} {seconds}");
            assert_eq!(mark.required(), is_listed.then(|| etag.to_owned()));
            if is_listed {
                // It is settled, whatever was listed.
                assert!(mark.is_of(&found(etag, 9)));
                assert!(!mark.is_of(&found("\"c\"", 1)));
            }
        }
    }

    #[test]
    fn what_was_looked_at_has_its_etag() {
        let mark = Mark::found(&found("\"a\"", 1));
        assert_eq!(mark.required().unwrap(), "\"a\"");
        assert!(mark.is_of(&found("a", 2)) && !mark.is_of(&found("b", 1)));
        let weak = Mark::of_etag("W/\"a\"".to_owned());
        assert!(weak.required().is_none() && weak.is_of(&found("W/\"a\"", 1)));
    }

    #[test]
    fn without_an_etag_the_time_decides() {
        let without = |seconds| ObjectMeta { e_tag: None, ..found("", seconds) };
        let (looked, listed) =
            (Mark::found(&without(1)), Mark::listed(None, without(1).last_modified.timestamp()));
        for mark in [looked, listed] {
            assert!(
                mark.is_of(&without(1)) && mark.is_of(&without(1)) && mark.required().is_none()
            );
            assert!(!mark.is_of(&without(2)) && !mark.is_of(&found("a", 1)));
        }
    }
}
