//! How good rules are on URLs whose content is known.

use serde::{Deserialize, Serialize};

use super::contents::NONE;
use uriscan_core::key::Hasher;
use uriscan_core::rules::{RuleSet, Scratch};

counts! {
    /// What rules do to URLs whose content is known.
    ///
    /// A page is what has one content. Rules join URLs in groups; a group is right if all of it is one page.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[non_exhaustive]
    pub struct Score {
        /// URLs with known content.
        pub urls: u64,
        /// Pages: different contents.
        pub pages: u64,
        /// Groups of two or more URLs that rules join and that have the same content.
        pub right: u64,
        /// Groups with several contents.
        pub wrong: u64,
        /// Fetches that are saved: URLs that are joined, less one for each group.
        pub saved: u64,
        /// Pages that are lost: those of groups, less one for each group.
        pub lost: u64,
        /// Fetches that the best rules would save: URLs, less one for each page.
        pub possible: u64,
    }
}

impl Score {
    /// The share of groups that are right; `None` if there are none.
    pub fn precision(&self) -> Option<f64> {
        share(self.right, self.right + self.wrong)
    }

    /// The share of the fetches that the best rules would save which are saved without losing a page; `None` if there are none.
    pub fn recall(&self) -> Option<f64> {
        share(self.saved - self.lost, self.possible)
    }

    /// That of `rules` on canonical `urls`, each with the number of its content.
    pub(super) fn of<'u>(
        rules: &RuleSet,
        urls: impl Iterator<Item = (&'u [u8], u32)>,
        hasher: &Hasher,
    ) -> Score {
        let (mut scratch, mut placed) = (Scratch::default(), Vec::new());
        for (url, content) in urls.filter(|(_, content)| *content != NONE) {
            placed.push((hasher.key(rules.apply(url, &mut scratch).0).0, content));
        }
        placed.sort_unstable();
        let mut score = Score { urls: placed.len() as u64, ..Score::default() };
        for group in placed.chunk_by(|a, b| a.0 == b.0) {
            let pages = group.chunk_by(|a, b| a.1 == b.1).count() as u64;
            score.saved += group.len() as u64 - 1;
            score.lost += pages - 1;
            score.right += u64::from(group.len() > 1 && pages == 1);
            score.wrong += u64::from(pages > 1);
        }
        placed.sort_unstable_by_key(|&(_, content)| content);
        score.pages = placed.chunk_by(|a, b| a.1 == b.1).count() as u64;
        score.possible = score.urls - score.pages;
        score
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_pages_are_counted() {
        let mut builder = RuleSet::builder();
        builder.rule("drop-param=x").unwrap();
        let rules = builder.build().unwrap();
        let urls = [
            ("http://h/a?x=1", 0),
            ("http://h/a?x=2", 0),
            ("http://h/a", 0),
            ("http://h/b?x=1", 1),
            ("http://h/b", 2),
            ("http://h/c?y", 2),
            ("http://h/d", NONE),
        ];
        let urls = urls.iter().map(|&(url, content)| (url.as_bytes(), content));
        let score = Score::of(&rules, urls, &Hasher::random());
        let expected =
            Score { urls: 6, pages: 3, right: 1, wrong: 1, saved: 3, lost: 1, possible: 3 };
        assert_eq!(score, expected);
        assert_eq!((score.precision(), score.recall()), (Some(0.5), Some(2.0 / 3.0)));
        assert_eq!((Score::default().precision(), Score::default().recall()), (None, None));
    }
}
