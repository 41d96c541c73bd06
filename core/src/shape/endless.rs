//! Shapes of which a site may have any number of URLs: crawler traps.

use super::kind::{CLASS, DIGIT};
use crate::grammar::byte_words;
use crate::uri::parse;

named! {
    /// Why a shape may have URLs without end.
    ///
    /// ```
    /// use uriscan::shape::{Endless, endless};
    /// assert_eq!(endless(b"http://h/a/b/a/b/a/b"), Some(Endless::Repeats));
    /// assert_eq!(endless(b"http://h/calendar/{date}"), Some(Endless::Calendar));
    /// assert_eq!(endless(b"http://h/list?offset={int}"), Some(Endless::Counter));
    /// assert_eq!(endless(b"http://h/item/{int}"), None);
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Endless {
        /// Segments follow each other again and again, as relative links make them: `/a/a/a`.
        Repeats = "repeats",
        /// A date or number of a calendar, which has a next page for each.
        Calendar = "calendar",
        /// The number of a page, of which there may be one more.
        Counter = "counter",
    }
}

/// How often a run of segments follows itself at least, and the longest run that is looked for.
const LEAST_REPEATS: usize = 3;
const LONGEST_RUN: usize = 8;

/// Words for calendars in paths and names of parameters.
static CALENDARS: Words<15> = Words::new(
    "agenda archive archives cal calendar calendario calendrier date day event events kalender month week year",
);

/// Names of parameters that count pages.
static COUNTERS: Words<15> = Words::new(
    "from offset p page pagenumber paged pageno pagenum pagina pg seite skip start startindex startrow",
);

/// Segments that the number of a page follows.
static PAGES: Words<4> = Words::new("page pages pagina seite");

/// Words in lower case, and what is quickly seen of a word that is none of them.
struct Words<const COUNT: usize> {
    words: [&'static [u8]; COUNT],
    /// For each first letter, by its low five bits, one bit for each length of a word.
    lengths: [u32; 32],
}

impl<const COUNT: usize> Words<COUNT> {
    const fn new(text: &'static str) -> Words<COUNT> {
        let words = byte_words(text);
        let (mut lengths, mut at) = ([0; 32], 0);
        while at < COUNT {
            lengths[words[at][0] as usize % 32] |= 1 << words[at].len();
            at += 1;
        }
        Words { words, lengths }
    }

    /// Whether `word` is one of them, written with or without `-` and `_`, or ends with one after these: `page_number`,
    /// `event-calendar`.
    fn has(&self, word: &[u8]) -> bool {
        let last = word.iter().rposition(is_joint);
        let end = last.map(|last| &word[last + 1..]).filter(|end| end.len() > 1);
        self.has_joined(word) || end.is_some_and(|end| self.has_plain(end))
    }

    /// Whether `word` without `-` and `_` is one of them.
    fn has_joined(&self, word: &[u8]) -> bool {
        let joined = || word.iter().filter(|byte| !is_joint(byte));
        let is = |it: &[u8]| joined().map(u8::to_ascii_lowercase).eq(it.iter().copied());
        self.may_have(joined().next(), joined().count()) && self.words.iter().any(|it| is(it))
    }

    /// Whether `word` is one of them.
    #[inline]
    fn has_plain(&self, word: &[u8]) -> bool {
        self.may_have(word.first(), word.len())
            && self.words.iter().any(|it| it.eq_ignore_ascii_case(word))
    }

    /// Whether one of them has this first letter and this length.
    #[inline]
    fn may_have(&self, first: Option<&u8>, len: usize) -> bool {
        let lengths = first.map_or(0, |&first| self.lengths[first as usize % 32]);
        len < 32 && lengths >> len & 1 == 1
    }
}

fn is_joint(byte: &u8) -> bool {
    b"-_".contains(byte)
}

/// Why `shape`, as [`super::shape()`] makes it, may have URLs without end; `None` if nothing points to that. It is a
/// guess: that there are many URLs of a shape of the last two kinds is what makes it likely.
pub fn endless(shape: &[u8]) -> Option<Endless> {
    let (whole, query) = match memchr::memchr(b'?', shape) {
        Some(at) => (&shape[..at], &shape[at + 1..]),
        None => (shape, &b""[..]),
    };
    let start = memchr::memmem::find(whole, b"://").map_or(0, |at| at + 3);
    let path = memchr::memchr(b'/', &whole[start..]).map_or(&b""[..], |at| &whole[start + at..]);
    if is_repeating(path) {
        return Some(Endless::Repeats);
    }
    let segments = || path.split(|&byte| byte == b'/');
    let params = || query.split(|&byte| byte == b'&').map(pair);
    let is_number = |text: &[u8]| text.starts_with(b"{int}") || text.starts_with(b"{date}");
    let is_named = |(name, value): (&[u8], &[u8])| CALENDARS.has(name) && is_number(value);
    let has_number = || segments().any(is_number) || params().any(|(_, value)| is_number(value));
    let has_word = || segments().any(|segment| CALENDARS.has(segment));
    if params().any(is_named) || has_word() && has_number() {
        return Some(Endless::Calendar);
    }
    let counts = |(name, value): (&[u8], &[u8])| COUNTERS.has(name) && value == b"{int}";
    let is_page = |(word, number): (&[u8], &[u8])| PAGES.has(word) && number == b"{int}";
    let is_counter = params().any(counts) || segments().zip(segments().skip(1)).any(is_page);
    is_counter.then_some(Endless::Counter)
}

/// What a byte is between words: 2 for one that ends a word, 1 for a joint, 0 for any other.
static BETWEEN: [u8; 256] = {
    let mut table = [0; 256];
    (table[b'/' as usize], table[b'?' as usize]) = (2, 2);
    (table[b'&' as usize], table[b'=' as usize]) = (2, 2);
    (table[b'-' as usize], table[b'_' as usize]) = (1, 1);
    table
};

/// Whether `uri` has a word for which [`endless`] looks in a shape; a quick test.
pub fn may_be_endless(uri: &[u8]) -> bool {
    let is_one = |word: &[u8], has_joint: bool| match has_joint {
        true => CALENDARS.has(word) || COUNTERS.has(word) || PAGES.has(word),
        false => CALENDARS.has_plain(word) || COUNTERS.has_plain(word) || PAGES.has_plain(word),
    };
    let (mut start, mut seen) = (0, 0);
    for (at, &byte) in uri.iter().enumerate() {
        seen |= BETWEEN[usize::from(byte)];
        if seen > 1 {
            if is_one(&uri[start..at], seen & 1 == 1) {
                return true;
            }
            (start, seen) = (at + 1, 0);
        }
    }
    is_one(&uri[start..], seen == 1)
}

/// The numbers of which `uri`, whose shape may be endless because of `why`, is one of many: two pages of a counter or
/// of a calendar differ in them. `None` if it has none.
pub fn numbers(uri: &[u8], why: Endless) -> Option<Vec<u8>> {
    let parts = parse(uri).ok()?;
    let is_number = |text: &[u8]| {
        text.first().is_some_and(u8::is_ascii_digit)
            && text.iter().all(|byte| byte.is_ascii_digit() || b"-_.:TZ+".contains(byte))
    };
    let params = || parts.query(uri).unwrap_or_default().split(|&byte| byte == b'&').map(pair);
    let of_names = |is_one: fn(&[u8]) -> bool| {
        params().filter(move |&(name, value)| is_one(name) && is_number(value)).map(|it| it.1)
    };
    let mut found: Vec<&[u8]> = match why {
        Endless::Repeats => return None,
        Endless::Counter => {
            let segments = || parts.path(uri).split(|&byte| byte == b'/');
            let pages = segments().zip(segments().skip(1)).filter(|(word, _)| PAGES.has(word));
            of_names(|name| COUNTERS.has(name))
                .chain(pages.map(|(_, number)| number).filter(|it| is_number(it)))
                .collect()
        }
        Endless::Calendar => {
            let segments = parts.path(uri).split(|&byte| byte == b'/');
            let below = segments.skip_while(|segment| !CALENDARS.has(segment));
            of_names(|name| CALENDARS.has(name))
                .chain(below.filter(|segment| is_number(segment)))
                .collect()
        }
    };
    if found.is_empty() {
        found = params().map(|it| it.1).filter(|value| is_number(value)).collect();
    }
    (!found.is_empty()).then(|| found.join(&b','))
}

/// The name and the value of a parameter.
fn pair(param: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'=', param) {
        Some(at) => (&param[..at], &param[at + 1..]),
        None => (param, b""),
    }
}

/// Whether a run of segments of `path`, of which one is a word, follows itself often enough.
pub fn is_repeating(path: &[u8]) -> bool {
    let segments: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
    (1..=LONGEST_RUN).any(|len| {
        // Segments that are those of the run before them, in a row.
        let mut same = 0;
        (len..segments.len()).any(|at| {
            let is_same = segments[at] == segments[at - len] && !segments[at].is_empty();
            same = if is_same { same + 1 } else { 0 };
            let run = &segments[at + 1 - len.min(at + 1)..=at];
            same >= (LEAST_REPEATS - 1) * len && run.iter().any(|segment| is_word(segment))
        })
    })
}

/// Whether a segment is a word, and not a type or a number.
fn is_word(segment: &[u8]) -> bool {
    !segment.starts_with(b"{") && segment.iter().any(|&byte| CLASS[usize::from(byte)] != DIGIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_follow_each_other_again_and_again_are_a_trap() {
        for (path, is_trap) in [
            ("a/a/a", true),
            ("a/a", false),
            ("x/a/b/a/b/a/b/y", true),
            ("x/a/b/a/b/a/y", false),
            ("{int}/{int}/{int}/{int}", false),
            ("a/{int}/a/{int}/a/{int}", true),
            ("///", false),
            ("a/b/c/d/e/f/g/h/i/j", false),
        ] {
            let shape = format!("http://h/{path}");
            let found = endless(shape.as_bytes()) == Some(Endless::Repeats);
            assert_eq!(found, is_trap, "{path}");
        }
        assert_eq!(endless(b"http://a.a.a"), None);
        assert_eq!(endless(b"mailto:{email}"), None);
    }

    #[test]
    fn the_quick_test_misses_no_word() {
        let words = CALENDARS.words.iter().chain(&COUNTERS.words).chain(&PAGES.words);
        for word in words.map(|word| String::from_utf8_lossy(word).to_uppercase()) {
            let (head, tail) = word.split_at(word.len() / 2);
            for text in [
                word.clone(),
                format!("a/{word}/b"),
                format!("a?{word}=1"),
                format!("a?b&c={word}"),
                format!("x/{head}-{tail}"),
                format!("x/_{head}{tail}_?y"),
            ] {
                assert!(may_be_endless(text.as_bytes()), "{text}");
            }
            // A letter is one by itself only.
            assert_eq!(may_be_endless(format!("x-{word}").as_bytes()), word.len() > 1, "{word}");
        }
        for text in ["", "/", "a/b-c?d_e=f&g", "http://h/xpage?pagex=1", "agendas-a"] {
            assert!(!may_be_endless(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn dates_and_numbers_of_pages_may_go_on_without_end() {
        for (shape, expected) in [
            ("http://h/events?month={date}", Some(Endless::Calendar)),
            ("http://h/cal?day={int}&x={text}", Some(Endless::Calendar)),
            ("http://h/kalender/{int}/{int}", Some(Endless::Calendar)),
            ("http://h/blog/{date}", None),
            ("http://h/calendar", None),
            ("http://h/?Page={int}", Some(Endless::Counter)),
            ("http://h/?page={text}", None),
            ("http://h/page/{int}", Some(Endless::Counter)),
            ("http://h/page/about/{int}", None),
            ("http://h/p/{int}", None),
            ("http://h/?pageNumber={int}", Some(Endless::Counter)),
            ("http://h/?page_number={int}", Some(Endless::Counter)),
            ("http://h/?comment-page={int}", Some(Endless::Counter)),
            ("http://h/?x_p={int}", None),
            ("http://h/cal/{int}/{int}/{int}", Some(Endless::Calendar)),
            ("http://h/events/{date}/?view={text}", Some(Endless::Calendar)),
            ("http://h/event-calendar?date={date}", Some(Endless::Calendar)),
            ("http://h/events?date={date}", Some(Endless::Calendar)),
            ("http://h/archive/{int}/{int}", Some(Endless::Calendar)),
            ("http://h/update/{int}", None),
        ] {
            assert_eq!(endless(shape.as_bytes()), expected, "{shape}");
        }
    }

    #[test]
    fn pages_of_a_counter_or_of_a_calendar_differ_in_their_numbers() {
        use Endless::{Calendar, Counter, Repeats};
        for (uri, why, expected) in [
            ("http://h/topic/77?sort=2&page=31&offset=40", Counter, Some("31,40")),
            ("http://h/list?Page=3", Counter, Some("3")),
            ("http://h/user/7/calendar/2031/05?view=1", Calendar, Some("2031,05")),
            ("http://h/user/7/events?month=2031-05&id=3", Calendar, Some("2031-05")),
            ("http://h/calendar?d=20310501&x=y", Calendar, Some("20310501")),
            ("http://h/calendar", Calendar, None),
            ("http://h/l?page=1&start=12ab34cd", Counter, Some("1")),
            ("http://h/t/7/page/31/?s=2", Counter, Some("31")),
            ("http://h/7/events?date=2031-05-01", Calendar, Some("2031-05-01")),
            ("http://h/a/a/a?page=1", Repeats, None),
        ] {
            let found = numbers(uri.as_bytes(), why);
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{uri}");
        }
    }
}
