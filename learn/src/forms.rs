//! URLs under rules: which forms they have, what content these have, and what more rules would join.

use std::collections::HashMap;

use super::contents::NONE;
use super::page;
use uriscan_core::key::Hasher;

/// What is known of the content of the URLs with a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Unknown,
    /// That of many pages, as of errors and log-in pages, in the place of one that is unknown.
    Shared,
    /// All that is known is this one.
    One(u32),
    /// Different ones: what joined these URLs was not right here, or the page changes. It says nothing about further rules.
    Mixed,
}

impl Content {
    pub(super) fn of(number: u32, is_shared: bool) -> Content {
        match (number, is_shared) {
            (NONE, false) => Content::Unknown,
            (NONE, true) => Content::Shared,
            (number, _) => Content::One(number),
        }
    }

    fn and(self, other: Content) -> Content {
        match (self, other) {
            (Content::Unknown, it) | (it, Content::Unknown) => it,
            (one, two) if one == two => self,
            _ => Content::Mixed,
        }
    }
}

/// A URL as rules leave it, with its content, and the one of the input that it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Url<'a, 'u> {
    pub(super) text: &'a [u8],
    pub(super) content: Content,
    pub(super) seen: &'u [u8],
}

/// The distinct forms of some URLs, sorted.
#[derive(Debug, Default)]
pub(super) struct Forms<'u> {
    text: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
    /// For each a URL of the input that has it, whose content is known if that of any is.
    seen: Vec<&'u [u8]>,
    pub(super) content: Vec<Content>,
    numbers: HashMap<u128, u32>,
}

/// What more rules would join.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Trial {
    /// Groups of forms that would be joined and have the same content: pages.
    pub(super) right: u64,
    /// Groups with different contents.
    pub(super) wrong: u64,
    /// Pages that are lost in these: contents, less one for each group.
    pub(super) lost: u64,
    /// Groups of one content and that of many pages: which of them a crawler would get is chance.
    pub(super) doubtful: u64,
    /// Forms with known content in the groups that are right, less one for each: what need not be fetched.
    pub(super) saved: u64,
    /// How many of these the largest group has.
    pub(super) largest: u64,
    /// Groups of forms with content that changes: nobody knows whether they are one page.
    pub(super) changing: u64,
    /// The forms in each group that says nothing and has more than two: their content is unknown, or changes.
    pub(super) silent: Vec<u32>,
    /// Two forms that are joined rightly, and two that are joined wrongly.
    pub(super) example: Option<(u32, u32)>,
    pub(super) counterexample: Option<(u32, u32)>,
}

impl<'u> Forms<'u> {
    /// The forms that `map` gives of `urls`; `map` appends a form to a buffer.
    pub(super) fn new<'a>(
        urls: impl Iterator<Item = Url<'a, 'u>>,
        hasher: &Hasher,
        mut map: impl FnMut(&[u8], &mut Vec<u8>),
    ) -> Forms<'u> {
        let (mut text, mut spans) = (Vec::new(), Vec::new());
        for url in urls {
            let start = text.len();
            map(url.text, &mut text);
            spans.push((start..text.len(), url.content, url.seen));
        }
        spans.sort_by(|a, b| text[a.0.clone()].cmp(&text[b.0.clone()]));
        let mut forms = Forms::default();
        for same in spans.chunk_by(|a, b| text[a.0.clone()] == text[b.0.clone()]) {
            let form = &text[same[0].0.clone()];
            forms.text.extend_from_slice(form);
            forms.ends.push(forms.text.len());
            let content = same.iter().fold(Content::Unknown, |all, (_, one, _)| all.and(*one));
            forms.content.push(content);
            let known = same.iter().find(|(_, content, _)| matches!(content, Content::One(_)));
            forms.seen.push(known.unwrap_or(&same[0]).2);
            forms.numbers.insert(hasher.key(form).0, forms.ends.len() as u32 - 1);
        }
        forms
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// A URL of the input that has the form.
    pub(super) fn seen(&self, number: u32) -> &'u [u8] {
        self.seen[number as usize]
    }

    /// The number of the form `url`.
    pub(super) fn find(&self, url: &[u8], hasher: &Hasher) -> Option<u32> {
        self.numbers.get(&hasher.key(url).0).copied()
    }

    /// Groups of forms that become one by `map`, which appends a form to a buffer; forms that stay as they are and alone are in none.
    /// A group may have one member, which becomes a form that was not there.
    pub(super) fn joined(
        &self,
        hasher: &Hasher,
        mut map: impl FnMut(&[u8], &mut Vec<u8>),
    ) -> Vec<Vec<u32>> {
        let (mut changed, mut form) = (Vec::new(), Vec::new());
        for number in 0..self.len() as u32 {
            form.clear();
            let before = self.get(number);
            map(before, &mut form);
            if form != before {
                changed.push((hasher.key(&form).0, number));
            }
        }
        let mut moved = vec![false; self.len()];
        changed.iter().for_each(|&(_, number)| moved[number as usize] = true);
        changed.sort_unstable();
        let mut groups = Vec::new();
        for same in changed.chunk_by(|a, b| a.0 == b.0) {
            let mut group: Vec<u32> = same.iter().map(|&(_, number)| number).collect();
            let there = self.numbers.get(&same[0].0).copied();
            group.extend(there.filter(|&number| !moved[number as usize]));
            group.sort_unstable();
            groups.push(group);
        }
        groups.sort_unstable();
        groups
    }

    /// What the `group` says alone.
    pub(super) fn trial_of(&self, group: &[u32]) -> Trial {
        let mut trial = Trial::default();
        trial.add(group, &self.content, &|group| self.is_evidence(group));
        trial
    }

    /// Whether equal contents of the `group` speak for what joins it. What pages are made of is served whatever the query is, and hosts
    /// that share it may share no page.
    fn is_evidence(&self, group: &[u32]) -> bool {
        !group.iter().all(|&number| page::is_part(self.get(number)))
    }

    /// Counts what `map` joins; of groups of one content only those that `counts` selects. `fetch` receives a URL for each group that would say something if the content of that URL were
    /// known, too, and whether it is one of the input, or else the form that they would have.
    pub(super) fn trial(
        &self,
        hasher: &Hasher,
        mut map: impl FnMut(&[u8], &mut Vec<u8>),
        counts: &dyn Fn(&[u32]) -> bool,
        fetch: &mut dyn FnMut(&[u8], bool),
    ) -> Trial {
        let counts = |group: &[u32]| counts(group) && self.is_evidence(group);
        let (mut trial, mut form) = (Trial::default(), Vec::new());
        for group in self.joined(hasher, &mut map) {
            if trial.add(&group, &self.content, &counts) || !counts(&group) {
                continue;
            }
            let of = |number: &&u32| self.content[**number as usize];
            let Some(&one) = group.iter().find(|it| matches!(of(it), Content::One(_))) else {
                continue;
            };
            if let Some(&other) = group.iter().find(|it| of(it) == Content::Unknown) {
                fetch(self.seen(other), true);
                continue;
            }
            form.clear();
            map(self.get(one), &mut form);
            if self.find(&form, hasher).is_none() {
                fetch(&form, false);
            }
        }
        trial
    }
}

impl Trial {
    /// Adds what other groups say.
    pub(super) fn sum(&mut self, other: &Trial) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.lost += other.lost;
        self.doubtful += other.doubtful;
        self.saved += other.saved;
        self.largest = self.largest.max(other.largest);
        self.changing += other.changing;
        self.silent.extend_from_slice(&other.silent);
    }

    /// Pages that may be lost: those that are, or are the page behind that of many, and all forms that would be joined in larger groups than
    /// any of one page has.
    pub(super) fn risk(&self) -> u64 {
        let beyond = |&size: &u32| u64::from(size).saturating_sub(self.largest.max(2));
        let changing = if self.changing > self.right / 4 { self.changing } else { 0 };
        self.lost + self.doubtful + changing + self.silent.iter().map(beyond).sum::<u64>()
    }

    /// Adds a group of forms, which counts as right if `counts` selects it; `false` if it says nothing.
    fn add(
        &mut self,
        group: &[u32],
        contents: &[Content],
        counts: &dyn Fn(&[u32]) -> bool,
    ) -> bool {
        let mut known: Vec<(u32, u32)> = Vec::new();
        let (mut has_shared, mut mixed) = (false, 0);
        for &number in group {
            match contents[number as usize] {
                Content::One(content) => known.push((content, number)),
                Content::Shared => has_shared = true,
                Content::Mixed => mixed += 1,
                Content::Unknown => {}
            }
        }
        self.changing += u64::from(known.len() < 2 && mixed > 1);
        if known.len() < 2 && !has_shared && group.len() > 2 {
            self.silent.push(group.len() as u32);
        }
        let Some(&(first_content, first)) = known.first() else { return false };
        if let Some(&(_, other)) = known.iter().find(|(content, _)| *content != first_content) {
            known.sort_unstable();
            self.wrong += 1;
            self.lost += known.chunk_by(|a, b| a.0 == b.0).count() as u64 - 1;
            self.counterexample.get_or_insert((first, other));
            return true;
        }
        if has_shared {
            self.doubtful += 1;
            return true;
        }
        let Some(&(_, second)) = known.get(1) else { return false };
        if counts(group) {
            self.right += 1;
            self.saved += known.len() as u64 - 1;
            self.largest = self.largest.max(known.len() as u64);
            self.example.get_or_insert((first, second));
        }
        true
    }

    /// How many groups say something.
    pub(super) fn pages(&self) -> u64 {
        self.right + self.wrong
    }
}
