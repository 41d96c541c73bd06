//! The search for secrets in a reference: one pass over the text without its percent-encoding ([`Layers`]), so that what is
//! nested in a path, a parameter or a fragment is found as what is not.
//!
//! Nothing is parsed but what bounds a secret: the authority of the reference, where path and query end, and what begins and
//! ends parameters, JSON strings and userinfo. A delimiter that is encoded more often than what it would end is content.
//!
//! The search looks forward only, and backward no further than the end of the last secret; hence it takes linear time, and
//! finds the same in a text whose secrets are masked.

use core::cell::Cell;
use core::ops::Range;

use super::host::is_special;
use super::layers::{Layers, MOST};
use super::secret::{Kind, MASK};
use super::userinfo::{Authority, slashes};
use super::{json, names, shape};
use crate::grammar::class::{ALPHA, ByteClass, DIGIT, SCHEME};

/// Calls `each` for the ranges of `text` that are secret, in order.
pub(super) fn each(text: &[u8], mut each: impl FnMut(Range<usize>, Kind)) {
    let layers = Layers::of(text);
    let mut places = layers.places();
    let mut search = Search::new(&layers, |range: Range<usize>, kind| {
        let start = places.of(range.start);
        each(start..places.of(range.end), kind);
    });
    search.run();
}

/// Bytes of a scheme that are looked at.
const LONGEST_SCHEME: usize = 32;

/// Where the name of a parameter begins.
#[derive(Clone, Copy)]
struct Name {
    start: usize,
    /// Whether a parameter may begin there: in a path, none follows a slash.
    is_parameter: bool,
}

struct Search<'l, 't, F> {
    layers: &'l Layers<'t>,
    bytes: &'l [u8],
    /// The end of the last secret.
    floor: usize,
    /// The end of the last authority.
    authority_end: usize,
    /// Of parameters in each layer.
    names: [Name; MOST + 1],
    /// Inside a string of JSON or the like.
    is_quoted: bool,
    /// Whether parameters named `code` and `state` are an answer of OAuth, in the component that ends there.
    answer: Option<(usize, bool)>,
    each: F,
}

impl<'l, 't, F: FnMut(Range<usize>, Kind)> Search<'l, 't, F> {
    fn new(layers: &'l Layers<'t>, each: F) -> Search<'l, 't, F> {
        let names = [Name { start: 0, is_parameter: false }; MOST + 1];
        Search {
            layers,
            bytes: layers.bytes(),
            floor: 0,
            authority_end: 0,
            names,
            is_quoted: false,
            answer: None,
            each,
        }
    }

    fn run(&mut self) {
        let mut at = self.head();
        self.begin_names(at, 0, false);
        while let Some(&byte) = self.bytes.get(at) {
            at = if self.is_passed(at, byte) { at + 1 } else { self.step(at, byte) };
        }
    }

    /// Whether [`Search::step`] does nothing at `at`, where `byte` is.
    #[inline(always)]
    fn is_passed(&self, at: usize, byte: u8) -> bool {
        static IS_LOOKED_AT: [bool; 256] = ByteClass::of(b"=&;?#/\\:\"*").table();
        let may_be_token = shape::is_first(byte) && shape::may_begin(&self.bytes[at..]);
        !IS_LOOKED_AT[usize::from(byte)] && !may_be_token
    }

    /// Searches at `at`, where `byte` is; returns where to go on.
    #[inline]
    fn step(&mut self, at: usize, byte: u8) -> usize {
        const PLAIN: ByteClass = ALPHA.or(DIGIT);
        if PLAIN.has(byte) {
            return match shape::end_of(self.bytes, at) {
                Some(end) if at >= self.floor => self.found(at..end, Kind::Token),
                _ => at + 1,
            };
        }
        match byte {
            b'=' => {
                let next = self.parameter(at);
                self.begin_names(at + 1, self.layers.depth(at), true);
                return next;
            }
            b'&' | b';' | b'?' | b'#' => {
                self.begin_names(at + 1, self.layers.depth(at), true);
            }
            b'/' | b'\\' => {
                if byte == b'/' && at < self.layers.path_end {
                    self.begin_names(at + 1, self.layers.depth(at), false);
                }
                return self.slashes(at);
            }
            b':' => return self.colon(at),
            b'"' => self.is_quoted = !self.is_quoted,
            b'*' if self.bytes[at..].starts_with(MASK) => {
                self.end_secret(at + MASK.len());
                return at + MASK.len();
            }
            _ => {}
        }
        at + 1
    }

    /// Names of parameters that are encoded in `depth` layers or more begin at `start`.
    fn begin_names(&mut self, start: usize, depth: usize, is_parameter: bool) {
        let start = start.max(self.floor);
        self.names[depth..].fill(Name { start, is_parameter });
    }

    /// Reports a secret; returns its end.
    fn found(&mut self, secret: Range<usize>, kind: Kind) -> usize {
        let end = secret.end;
        (self.each)(secret, kind);
        self.end_secret(end);
        end
    }

    /// Nothing before `end` is looked at any more.
    fn end_secret(&mut self, end: usize) {
        self.floor = end;
        self.names.iter_mut().for_each(|name| name.start = name.start.max(end));
    }

    /// Searches scheme and authority; returns where the path begins.
    fn head(&mut self) -> usize {
        let (bytes, layers) = (self.bytes, self.layers);
        let is_plain = |at: usize| layers.depth(at) == 0;
        let len = bytes.iter().position(|&byte| !SCHEME.has(byte)).unwrap_or(bytes.len());
        let has_scheme = bytes.first().is_some_and(|&first| ALPHA.has(first))
            && bytes.get(len) == Some(&b':')
            && (0..=len).all(is_plain);
        let start = if has_scheme { len + 1 } else { 0 };
        let slashes = slashes(bytes, start, self.layers.path_end);
        // One that is encoded is part of the authority.
        let plain = (start..start + slashes).take_while(|&at| is_plain(at)).count();
        let is_authority = plain == 2 && bytes[start..].starts_with(b"//");
        let from = start + if is_authority { plain } else { slashes };
        if is_authority {
            self.userinfo(Authority { from, slashes: plain, is_own: true });
            let end = self.authority_end;
            self.floor = self.floor.max(from);
            // `http://http://...`: by the grammar a host with an empty port.
            return if end > from && bytes[end - 1] == b':' { self.scheme(end - 1) } else { end };
        }
        if if has_scheme { is_scheme(&bytes[..len], slashes) } else { slashes > 1 } {
            return self.userinfo(Authority { from, slashes, is_own: false });
        }
        from
    }

    /// What begins at `at` with a slash: perhaps the authority of a reference without a scheme, as the value of a parameter.
    fn slashes(&mut self, at: usize) -> usize {
        let before = at.checked_sub(1).map(|before| self.bytes[before]);
        let begins = before.is_none_or(|byte| b"=?#&\"'".contains(&byte));
        if !begins || at < self.floor {
            return at + 1;
        }
        // Counted only where a run of slashes begins, once.
        match slashes(self.bytes, at, self.layers.component_end(at)) {
            0 | 1 => at + 1,
            slashes => self.userinfo(Authority { from: at + slashes, slashes, is_own: false }),
        }
    }

    /// What the colon at `at` ends: the name of a member of JSON, or a scheme.
    fn colon(&mut self, at: usize) -> usize {
        if let Some(name) = json::name_before(&self.bytes[self.floor..at])
            && names::is_secret_name(name)
            && let Some(value) = json::value_after(self.layers, at)
        {
            // A string is left where it ends.
            self.is_quoted |= self.bytes[value.start - 1] == b'"';
            return self.found(value, Kind::Value);
        }
        self.scheme(at)
    }

    /// What follows the colon at `at` if it ends a scheme.
    fn scheme(&mut self, at: usize) -> usize {
        let from = self.floor.max(at.saturating_sub(LONGEST_SCHEME));
        let before = &self.bytes[from..at];
        let start = before.iter().rposition(|&byte| !SCHEME.has(byte)).map_or(0, |at| at + 1);
        let scheme = &before[start..];
        let slashes = slashes(self.bytes, at + 1, self.layers.component_end(at));
        // `host:` in an authority has an empty port. With a slash it may be a scheme: what follows one need not be an authority.
        if !is_scheme(scheme, slashes) || at < self.authority_end && slashes == 0 {
            return at + 1;
        }
        self.userinfo(Authority { from: at + 1 + slashes, slashes, is_own: false })
    }

    /// Searches the userinfo of `authority`; returns where to go on.
    fn userinfo(&mut self, authority: Authority) -> usize {
        let found = authority.search(self.layers);
        self.authority_end = found.end;
        let Some((mut secret, kind)) = found.secret else { return authority.from };
        if secret.start > authority.from && self.has_secret(authority.from..secret.start - 1) {
            secret.start = authority.from;
        }
        self.found(secret, kind)
    }

    /// Whether a secret begins in `name`, which precedes the colon of a userinfo: with the name of a parameter, or a token. It has
    /// nothing of what ends an authority in its layer, so what is nested in it is nested deeper, and no deeper than all layers.
    fn has_secret(&mut self, name: Range<usize>) -> bool {
        let has_one = Cell::new(false);
        let mut note = |secret: Range<usize>, _| {
            has_one.set(has_one.get() || secret.start < name.end);
        };
        let each: &mut dyn FnMut(Range<usize>, Kind) = &mut note;
        let mut search = Search {
            floor: name.start,
            authority_end: name.start,
            is_quoted: self.is_quoted,
            answer: self.answer,
            names: [Name { start: name.start, is_parameter: true }; MOST + 1],
            ..Search::new(self.layers, each)
        };
        let mut at = name.start;
        while at < name.end && !has_one.get() {
            at = search.step(at, self.bytes[at]);
        }
        self.answer = search.answer;
        has_one.get()
    }

    /// The parameter with its `=` at `equals`.
    fn parameter(&mut self, equals: usize) -> usize {
        let depth = self.layers.depth(equals);
        let Name { start, is_parameter } = self.names[depth];
        let name = &self.bytes[start..equals];
        // What begins a parameter may be encoded more often than its `=`.
        let is_parameter = is_parameter
            || equals >= self.layers.path_end
            || name.iter().any(|byte| b"&;?#".contains(byte));
        if !is_parameter || !self.is_secret(name, equals) {
            return equals + 1;
        }
        let end = self.value_end(equals, depth);
        if end > equals + 1 { self.found(equals + 1..end, Kind::Value) } else { end }
    }

    /// Whether the value of the parameter `name` is secret.
    fn is_secret(&mut self, name: &[u8], equals: usize) -> bool {
        let word = last_word(name);
        if names::is_secret_name(name) || word.len() < name.len() && names::is_secret_name(word) {
            return true;
        }
        let is_nested = self.layers.depth(equals) > 0 || word.len() < name.len();
        let is_query = equals > self.layers.path_end || is_nested;
        is_query && names::is_of_oauth_answer(word) && self.is_oauth_answer(equals)
    }

    /// The end of the value that begins after `equals`.
    fn value_end(&self, equals: usize, depth: usize) -> usize {
        const ENDS: ByteClass = ByteClass::of(b"&;/#\"");
        let end = self.layers.component_end(equals);
        let is_end = |at: usize| {
            let own = self.layers.depth(at);
            own <= depth
                && match self.bytes[at] {
                    b'&' => true,
                    // Otherwise it is part of the value, as it is of that of `a=b;c`.
                    b';' => self.is_parameter(at + 1, end, depth),
                    b'/' => own == 0 && at < self.layers.path_end,
                    b'#' => own > 0,
                    _ => self.is_quoted && self.ends_string(at),
                }
        };
        let mut rest = (equals + 1..end).filter(|&at| ENDS.has(self.bytes[at]));
        rest.find(|&at| is_end(at)).unwrap_or(end)
    }

    /// Whether the quote at `at` ends a string of JSON by what follows; any other one is content.
    fn ends_string(&self, at: usize) -> bool {
        let after = self.bytes[at + 1..].trim_ascii_start();
        after.first().is_some_and(|byte| b",}]".contains(byte))
    }

    /// Whether a name and `=` follow at `at`.
    fn is_parameter(&self, at: usize, end: usize, depth: usize) -> bool {
        const NAME: ByteClass = ALPHA.or(DIGIT).or(ByteClass::of(b"-._~$[]*"));
        let len = self.bytes[at..end].iter().position(|&byte| !NAME.has(byte));
        len.is_some_and(|len| {
            len > 0 && self.bytes[at + len] == b'=' && self.layers.depth(at + len) <= depth
        })
    }

    /// Whether the component of the byte at `at` has both parameters of an OAuth answer.
    fn is_oauth_answer(&mut self, at: usize) -> bool {
        let end = self.layers.component_end(at);
        if self.answer.is_none_or(|(known, _)| known != end) {
            let start = if end <= self.layers.path_end {
                0
            } else if end <= self.layers.query_end {
                self.layers.path_end
            } else {
                self.layers.query_end
            };
            self.answer = Some((end, self.has_oauth_answer(start..end)));
        }
        self.answer.is_some_and(|(_, is_answer)| is_answer)
    }

    /// Whether `component` has both parameters of an OAuth answer, in whatever layers: a separator may be encoded more often.
    fn has_oauth_answer(&self, component: Range<usize>) -> bool {
        let (mut start, mut found) = (component.start, [false; 2]);
        for at in component {
            match self.bytes[at] {
                b'=' => {
                    names::note_oauth_answer(last_word(&self.bytes[start..at]), &mut found);
                    start = at + 1;
                }
                b'&' | b';' | b'?' | b'#' => start = at + 1,
                _ => {}
            }
        }
        found == [true; 2]
    }
}

/// Whether `text` is a scheme, before so many slashes.
fn is_scheme(text: &[u8], slashes: usize) -> bool {
    // `C:/` is a directory.
    text.iter().any(|&byte| ALPHA.has(byte))
        && (slashes > 1 || slashes == 1 && text.len() > 1 || is_special(text))
}

/// What `name` ends with: the name itself, if the bytes before it are those of a list or of another notation.
fn last_word(name: &[u8]) -> &[u8] {
    const APART: ByteClass = ByteClass::of(b" \t\r\n\"'(),:<>{|}/\\&;?#=");
    let before = name.iter().rposition(|&byte| APART.has(byte));
    before.map_or(name, |before| &name[before + 1..])
}
