//! Which URLs of a site have the same content, by all evidence there is; and which content says nothing about its URLs.

use super::page;

/// What a row says of the URL with this number, by the labels of a [`super::record::Row`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Evidence {
    pub(super) url: u32,
    /// Of the digest of its content.
    pub(super) same: u64,
    /// Of the URL that the page names as its canonical one.
    pub(super) names: u64,
    /// Of the URL that it redirects to.
    pub(super) leads: u64,
}

/// The content of the URLs of a site.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// For each URL the number of its content, or [`NONE`].
    pub(super) of: Vec<u32>,
    /// URLs that had different contents at different times.
    pub(super) volatile: u64,
    /// Of each URL whether it is one of those.
    pub(super) is_volatile: Vec<bool>,
    /// Contents that stand under many URLs for another reason than that these are one page, and their URLs.
    pub(super) shared: u64,
    pub(super) shared_urls: u64,
    /// Of each URL whether its content is one of those.
    pub(super) is_shared: Vec<bool>,
    /// Of each URL whether it leads nowhere ([`Ends`]): that it has another content than a page speaks against what joins both, and that two
    /// have the same speaks for nothing.
    pub(super) leads_nowhere: Vec<bool>,
    /// URLs that redirect to another one of the site, each with that.
    pub(super) redirects: Vec<(u32, u32)>,
}

/// Not a content.
pub(super) const NONE: u32 = u32::MAX;

/// A content under URLs with more reduced paths than these is not that of one page.
const MOST_NAMES: usize = 5;

/// A content under more URLs than these, and more than this share of all URLs of the site, is not counted: it could be that of
/// an error or a log-in page, and if it is not, one page less is counted.
const MANY_URLS: usize = 50;
const LARGE_SHARE: usize = 10;

impl Contents {
    /// The contents of `urls`, which are sorted, by `evidence`. `own` is the label of a URL as the target of others.
    pub(super) fn new(
        urls: &[&[u8]],
        mut evidence: Vec<Evidence>,
        own: impl Fn(&[u8]) -> u64,
    ) -> Contents {
        evidence.sort_unstable();
        evidence.dedup();
        let names: Vec<u64> = urls.iter().map(|url| page::number(url)).collect();
        let is_volatile = volatile(urls.len(), &evidence);
        let ends = Ends::new(urls, &evidence, &own);
        // What changes joins nothing, or all that it was at some time would be one page.
        evidence.retain(|row| !is_volatile[row.url as usize]);
        let mut labels = labels_of(urls, &evidence, own);
        let mut found = Contents { is_shared: vec![false; urls.len()], ..Contents::default() };
        found.volatile = is_volatile.iter().filter(|&&is| is).count() as u64;
        found.drop_shared(&mut labels, &names);
        // Content that is the same by several labels together.
        let mut pairs: Vec<(u64, u32)> = Vec::new();
        let classes = unite(urls.len(), &labels);
        let has_end = ends.of(&classes, &found.is_shared);
        found.leads_nowhere = vec![false; urls.len()];
        for (url, class) in (0..).zip(classes) {
            if class != NONE && !has_end[class as usize] {
                found.leads_nowhere[url as usize] = true;
            } else if class != NONE && !is_volatile[url as usize] {
                pairs.push((u64::from(class), url));
            }
        }
        found.redirects = ends.redirects;
        found.is_volatile = is_volatile;
        pairs.sort_unstable();
        found.drop_shared(&mut pairs, &names);
        found.of = vec![NONE; urls.len()];
        pairs.sort_unstable_by_key(|&(_, url)| url);
        let (mut numbers, mut next) = (std::collections::HashMap::new(), 0);
        for (class, url) in pairs {
            found.of[url as usize] = *numbers.entry(class).or_insert_with(|| {
                next += 1;
                next - 1
            });
        }
        found
    }

    /// Removes the labels, of which each is with its URLs, that say nothing about these.
    fn drop_shared(&mut self, labels: &mut Vec<(u64, u32)>, names: &[u64]) {
        let mut kept = Vec::with_capacity(labels.len());
        for group in labels.chunk_by(|a, b| a.0 == b.0) {
            if is_shared(group, names) {
                self.shared += 1;
                for &(_, url) in group {
                    self.shared_urls += u64::from(!self.is_shared[url as usize]);
                    self.is_shared[url as usize] = true;
                }
            } else {
                kept.extend_from_slice(group);
            }
        }
        *labels = kept;
    }
}

/// Where redirects end: at a page, or nowhere. URLs in a circle, or that lead to a URL without evidence, need not be one page.
struct Ends {
    /// Redirects within the site: a URL, and the one that it leads to.
    redirects: Vec<(u32, u32)>,
    /// URLs that no row calls a redirect, and which have a page, as far as rows say that of any.
    is_page: Vec<bool>,
}

impl Ends {
    fn new(urls: &[&[u8]], evidence: &[Evidence], own: &impl Fn(&[u8]) -> u64) -> Ends {
        let mut found = Ends { redirects: Vec::new(), is_page: vec![true; urls.len()] };
        if evidence.iter().all(|row| row.leads == 0) {
            return found;
        }
        let has_page = |row: &Evidence| row.same != 0 || row.names != 0;
        if evidence.iter().any(has_page) {
            found.is_page = vec![false; urls.len()];
            for row in evidence.iter().filter(|row| has_page(row)) {
                found.is_page[row.url as usize] = true;
            }
        }
        let mut labels: Vec<(u64, u32)> = urls.iter().map(|url| own(url)).zip(0..).collect();
        labels.sort_unstable();
        for row in evidence.iter().filter(|row| row.leads != 0) {
            found.is_page[row.url as usize] = false;
            // Of what another site has, nothing is known here.
            if let Ok(at) = labels.binary_search_by_key(&row.leads, |&(label, _)| label) {
                found.redirects.push((row.url, labels[at].1));
            }
        }
        found
    }

    /// For each of the `classes` of URLs whether it has an end; a page with a content of many is none.
    fn of(&self, classes: &[u32], is_shared: &[bool]) -> Vec<bool> {
        let mut found = vec![false; classes.len()];
        for (url, &class) in classes.iter().enumerate().filter(|(_, class)| **class != NONE) {
            found[class as usize] |= self.is_page[url] && !is_shared[url];
        }
        found
    }
}

/// Whether the URLs of a content have too many names, or are too many.
fn is_shared(group: &[(u64, u32)], names: &[u64]) -> bool {
    if group.len() > MANY_URLS && group.len() * LARGE_SHARE > names.len() {
        return true;
    }
    let mut seen: Vec<u64> = Vec::with_capacity(MOST_NAMES + 1);
    for &(_, url) in group {
        let name = names[url as usize];
        if !seen.contains(&name) {
            seen.push(name);
            if seen.len() > MOST_NAMES {
                return true;
            }
        }
    }
    false
}

/// The labels of URLs, sorted: that of the URL which one redirects to, or names as its canonical one, or else that of its digest; and
/// its own, if another one names it.
///
/// A page that points to another one says nothing else: by its digest a third page could make two pages one whose digests differ.
fn labels_of(urls: &[&[u8]], evidence: &[Evidence], own: impl Fn(&[u8]) -> u64) -> Vec<(u64, u32)> {
    let (mut labels, mut targets) = (Vec::new(), Vec::new());
    for rows in evidence.chunk_by(|a, b| a.url == b.url) {
        let url = rows[0].url;
        let target = |row: &Evidence| if row.leads == 0 { row.names } else { row.leads };
        let named = rows.iter().map(target).filter(|&label| label != 0);
        let here = own(urls[url as usize]);
        let before = labels.len();
        for label in named {
            targets.push(label);
            labels.extend((label != here).then_some((label, url)));
        }
        if labels.len() == before {
            let digests = rows.iter().map(|row| row.same).filter(|&label| label != 0);
            labels.extend(digests.map(|label| (label, url)));
        }
    }
    targets.sort_unstable();
    targets.dedup();
    if !targets.is_empty() {
        for (number, url) in (0..).zip(urls) {
            let label = own(url);
            if targets.binary_search(&label).is_ok() {
                labels.push((label, number));
            }
        }
    }
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// For each URL whether rows contradict each other about it.
fn volatile(count: usize, evidence: &[Evidence]) -> Vec<bool> {
    let mut found = vec![false; count];
    for rows in evidence.chunk_by(|a, b| a.url == b.url) {
        let differ = |label: fn(&Evidence) -> u64| {
            let mut labels = rows.iter().map(label).filter(|&label| label != 0);
            let first = labels.next();
            first.is_some() && labels.any(|label| Some(label) != first)
        };
        let has_page = rows.iter().any(|row| row.leads == 0 && row.same != 0);
        let leads = rows.iter().any(|row| row.leads != 0);
        // What a page names is its own word, whatever else it shows.
        let is_named = rows.iter().all(|row| row.names != 0) && !differ(|row| row.names);
        let is_changed = !is_named && differ(|row| row.same) || differ(|row| row.names);
        found[rows[0].url as usize] = is_changed || differ(|row| row.leads) || has_page && leads;
    }
    found
}

/// The class of each URL, which is its least URL, or [`NONE`]: URLs with a common label, also by way of others, are of the same.
pub(super) fn unite(count: usize, labels: &[(u64, u32)]) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..count as u32).collect();
    let mut has_label = vec![false; count];
    for group in labels.chunk_by(|a, b| a.0 == b.0) {
        for &(_, url) in group {
            has_label[url as usize] = true;
            let ends = [root(&mut parents, group[0].1), root(&mut parents, url)];
            parents[ends[0].max(ends[1]) as usize] = ends[0].min(ends[1]);
        }
    }
    let class = |url: u32| if has_label[url as usize] { root(&mut parents, url) } else { NONE };
    (0..count as u32).map(class).collect()
}

fn root(parents: &mut [u32], mut at: u32) -> u32 {
    while parents[at as usize] != at {
        let above = parents[parents[at as usize] as usize];
        parents[at as usize] = above;
        at = above;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(url: &[u8]) -> u64 {
        1000 + u64::from(url[url.len() - 1])
    }

    fn row(url: u32, same: u64, names: u64, leads: u64) -> Evidence {
        Evidence { url, same, names, leads }
    }

    #[test]
    fn digests_canonical_links_and_redirects_join_urls() {
        let urls: [&[u8]; 6] = [
            b"http://h/a",
            b"http://h/b",
            b"http://h/c",
            b"http://h/d",
            b"http://h/e",
            b"http://h/f",
        ];
        let rows = vec![
            row(0, 1, 0, 0),
            row(1, 1, 0, 0),
            // Names the first one, and has another digest.
            row(2, 2, own(urls[0]), 0),
            // Leads to the one that names the first one.
            row(3, 0, 0, own(urls[2])),
            row(4, 3, 0, 0),
            row(5, 0, 0, 0),
        ];
        let found = Contents::new(&urls, rows, own);
        assert_eq!(found.of, [0, 0, 0, 0, 1, NONE]);
        assert_eq!((found.volatile, found.shared), (0, 0));
    }

    #[test]
    fn pages_that_change_do_not_count() {
        let urls: [&[u8]; 4] = [b"http://h/a", b"http://h/b", b"http://h/c", b"http://h/d"];
        let rows = vec![
            row(0, 1, 0, 0),
            row(0, 2, 0, 0),
            row(1, 1, 0, 0),
            row(2, 5, 0, 0),
            row(2, 0, 0, own(urls[1])),
            // It changes, and says what it is.
            row(3, 6, own(urls[1]), 0),
            row(3, 7, own(urls[1]), 0),
        ];
        let found = Contents::new(&urls, rows, own);
        assert_eq!((found.of, found.volatile), (vec![NONE, 0, NONE, 0], 2));
    }

    #[test]
    fn a_redirect_counts_if_it_ends_at_a_page() {
        let urls: [&[u8]; 6] = [
            b"http://h/a",
            b"http://h/b",
            b"http://h/c",
            b"http://h/d",
            b"http://h/e",
            b"http://h/f",
        ];
        let (to, away) = (|at: usize| own(urls[at]), 77);
        for (rows, expected) in [
            // A circle, a way into one, and a target without evidence.
            (vec![row(0, 0, 0, to(1)), row(1, 0, 0, to(0))], [NONE, NONE, NONE, NONE]),
            (
                vec![row(0, 0, 0, to(1)), row(1, 0, 0, to(2)), row(2, 0, 0, to(1))],
                [NONE, NONE, NONE, NONE],
            ),
            (
                vec![row(0, 0, 0, to(2)), row(1, 0, 0, to(2)), row(3, 1, 0, 0)],
                [NONE, NONE, NONE, 0],
            ),
            // Without any digest, that nothing calls it a redirect is enough.
            (vec![row(0, 0, 0, to(2)), row(1, 0, 0, to(2))], [0, 0, 0, NONE]),
            (vec![row(0, 0, 0, to(2)), row(1, 0, 0, to(2)), row(2, 1, 0, 0)], [0, 0, 0, NONE]),
            // What changes is a page; of what another site has nothing is known.
            (
                vec![row(0, 0, 0, to(2)), row(1, 0, 0, to(2)), row(2, 1, 0, 0), row(2, 2, 0, 0)],
                [0, 0, NONE, NONE],
            ),
            (vec![row(0, 0, 0, away), row(1, 0, 0, away), row(3, 1, 0, 0)], [NONE, NONE, NONE, 0]),
        ] {
            let found = Contents::new(&urls, rows.clone(), own);
            assert_eq!(found.of[..4], expected, "{rows:?}");
        }
    }

    #[test]
    fn a_redirect_to_a_page_of_errors_does_not_count() {
        let all: Vec<String> = (10..40).map(|i| format!("http://h/p{i}")).collect();
        let urls: Vec<&[u8]> = all.iter().map(|url| url.as_bytes()).collect();
        let own = |url: &[u8]| 1000 + u64::from(url[9] - b'0') * 10 + u64::from(url[10] - b'0');
        let mut rows: Vec<Evidence> = (0..20).map(|url| row(url, 1, 0, 0)).collect();
        rows.extend([row(20, 0, 0, own(urls[0])), row(21, 0, 0, own(urls[0])), row(22, 2, 0, 0)]);
        let found = Contents::new(&urls, rows, own);
        assert_eq!((found.of[20], found.of[21], found.of[22]), (NONE, NONE, 0));
    }

    #[test]
    fn a_page_of_errors_does_not_count() {
        let all: Vec<String> = (10..40).map(|i| format!("http://h/p{i}")).collect();
        let urls: Vec<&[u8]> = all.iter().map(|url| url.as_bytes()).collect();
        let rows =
            (0..30).map(|url| row(url, if url < 8 { 1 } else { u64::from(url) / 2 + 2 }, 0, 0));
        let found = Contents::new(&urls, rows.collect(), own);
        assert!(found.of[..8].iter().all(|&content| content == NONE));
        assert_eq!((found.of[8], found.of[9], found.shared, found.shared_urls), (0, 0, 1, 8));
    }
}
