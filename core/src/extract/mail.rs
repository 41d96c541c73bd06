//! Mailboxes (RFC 4155): messages with a line `From ... DATE` before each.
//!
//! Such a line separates messages whatever is before it, as long as it has a time and a year: body
//! lines that begin with `From ` are not always quoted. The `>` of those that are is left in place;
//! it is part of no link.

use super::fault::Document;
use super::how::How;
use super::{Links, mime};
use crate::chunk::Padded;
use crate::grammar::byte_words;

/// Maximum number of bytes of a separator.
const LONGEST_SEPARATOR: usize = 1 << 10;

/// What a separator begins with.
const FROM: &[u8] = b"From ";

/// The same after a line end.
const NEXT: &[u8] = b"\nFrom ";

/// Appends the links of the messages of `text` to `links`.
pub(super) fn mailbox(how: How<'_>, text: Padded<'_>, links: &mut Links) {
    let mut start = 0;
    while start < text.len() && !links.is_full(start) {
        let end = next_message(text.content(), start).unwrap_or(text.len());
        let document = || Document { at: Some(start as u32), ..Document::default() };
        links.search(document, end - start, |links| {
            mime::message(how, text, start..end, links);
        });
        start = end;
    }
}

/// Offset of the first message in `text` that begins after `from`, which is the start of a line.
fn next_message(text: &[u8], from: usize) -> Option<usize> {
    memchr::memmem::find_iter(&text[from..], NEXT)
        .map(|at| from + at + 1)
        .find(|&at| is_separator(line(&text[at..])))
}

/// Offset of the last message of `text` but the first, whose separator is whole.
pub fn last_message(text: &[u8]) -> Option<usize> {
    let is_whole = |at: &usize| {
        let line = line(&text[*at..]);
        at + line.len() < text.len() && is_separator(line)
    };
    memchr::memmem::rfind_iter(text, NEXT).map(|at| at + 1).find(is_whole)
}

/// The end of the message that began before `text`: where the next one begins, or may begin at the
/// end of `text`. `at_line` is whether `text` begins with a line.
pub fn message_end(text: &[u8], at_line: bool) -> Option<usize> {
    let may_begin = |at: &usize| {
        let rest = &text[*at..];
        let line = line(rest);
        is_separator(line) || line.len() == rest.len() && line.len() < LONGEST_SEPARATOR
    };
    let first = (at_line && text.starts_with(FROM)).then_some(0);
    let later = memchr::memmem::find_iter(text, NEXT).map(|at| at + 1);
    first.into_iter().chain(later).find(may_begin).or_else(|| {
        let last = memchr::memrchr(b'\n', text)? + 1;
        (last < text.len() && FROM.starts_with(&text[last..])).then_some(last)
    })
}

/// The first line of `text`, without its end.
fn line(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())]
}

/// Whether `line` begins with `From ` and has a time and a year.
fn is_separator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(FROM).filter(|_| line.len() < LONGEST_SEPARATOR) else {
        return false;
    };
    let (mut has_time, mut has_year) = (false, false);
    for word in rest.split(u8::is_ascii_whitespace) {
        has_time |= is_time(word);
        has_year |= matches!(word, [b'1' | b'2', digits @ ..] if digits.len() == 3 && digits.iter().all(u8::is_ascii_digit));
    }
    has_time && has_year
}

/// Whether `word` is a time of day, such as `9:05` or `10:00:00`.
fn is_time(word: &[u8]) -> bool {
    let mut numbers = word.split(|&byte| byte == b':');
    let is_number =
        |number: &[u8]| matches!(number.len(), 1..=2) && number.iter().all(u8::is_ascii_digit);
    numbers.clone().count() >= 2 && numbers.all(is_number)
}

/// Whether a source that begins with `head` is a mailbox: a separator, and after it the header of a
/// message.
pub(super) fn is_mailbox(head: &[u8]) -> bool {
    let first = line(head);
    is_separator(first)
        && head.get(first.len() + 1..).is_some_and(|rest| mime::field_name(line(rest)).is_some())
}

/// Whether a source that begins with `head` is a message: fields that only mail has, or the usual
/// ones of a letter.
pub(super) fn is_message(head: &[u8]) -> bool {
    const OF_MAIL: [&[u8]; 8] = byte_words(
        "received return-path message-id mime-version delivered-to dkim-signature newsgroups \
         x-received",
    );
    const USUAL: [&[u8]; 4] = [b"from", b"date", b"subject", b"to"];
    let (mut of_mail, mut usual) = ([false; OF_MAIL.len()], [false; USUAL.len()]);
    for (number, line) in head.split(|&byte| byte == b'\n').enumerate() {
        if number > 0 && matches!(line.first(), Some(b' ' | b'\t')) {
            continue;
        }
        let Some(name) = mime::field_name(line) else { break };
        let is = |known: &&[u8]| known.eq_ignore_ascii_case(name);
        if let Some(found) = OF_MAIL.iter().position(is) {
            of_mail[found] = true;
        } else if let Some(found) = USUAL.iter().position(is) {
            usual[found] = true;
        }
    }
    let count = |found: &[bool]| found.iter().filter(|&&is_there| is_there).count();
    match (count(&of_mail), count(&usual)) {
        (2.., _) | (1, 2..) => true,
        (_, all) => all >= 3 && usual[0] && usual[1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_have_a_time_and_a_year() {
        for line in [
            "From joe@example.com Mon Sep 17 00:00:00 2001",
            "From MAILER-DAEMON Thu Jan  1 9:05 1970\r",
            "From joe at example.com  Tue, 12 Jan 2010 10:00:00 +0000",
        ] {
            assert!(is_separator(line.as_bytes()), "{line}");
        }
        for line in [
            "From here to there",
            "From 1990 on",
            "From 10:00 to 11:00",
            ">From a Mon Sep 17 00:00:00 2001",
            "From: a Mon Sep 17 00:00:00 2001",
            "",
        ] {
            assert!(!is_separator(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn messages_end_before_the_next() {
        let one = "From a Mon Sep 17 00:00:00 2001\nSubject: x\n\nFrom here\n";
        let text = [one, one, one].concat();
        assert_eq!(next_message(text.as_bytes(), 0), Some(one.len()));
        assert_eq!(last_message(text.as_bytes()), Some(2 * one.len()));
        let cut = &text.as_bytes()[..2 * one.len() + 20];
        assert_eq!(last_message(cut), Some(one.len()), "a separator may go on");
        assert_eq!(message_end(cut, true), Some(0));
        assert_eq!(message_end(cut, false), Some(one.len()));
        assert_eq!(message_end(&cut[one.len() + 1..], false), Some(one.len() - 1));
        assert_eq!(message_end(b"a\nFr", false), Some(2));
        assert_eq!(message_end(b"a\nFrom here\nb", false), None);
    }

    #[test]
    fn messages_are_distinguished_by_their_fields() {
        for head in [
            "Return-Path: <a@b>\nReceived: from x\n\tby y\n",
            "From: a\nTo: b\nDate: c\nSubject: d\n\nHello",
            "Subject: a\nMIME-Version: 1.0\nFrom: b",
        ] {
            assert!(is_message(head.as_bytes()), "{head}");
        }
        for head in [
            "",
            "From: a\nTo: b\n\nhttp://h/",
            "Date: x\nServer: y\nContent-Type: text/html\n",
            "see http://h/\nReceived: x\nReturn-Path: y\n",
            " Received: x\nReturn-Path: y\n",
        ] {
            assert!(!is_message(head.as_bytes()), "{head}");
        }
        assert!(is_mailbox(b"From a@b Mon Sep 17 00:00:00 2001\nX-Y: z\n"));
        assert!(!is_mailbox(b"From a@b Mon Sep 17 00:00:00 2001\nhello\n"));
    }
}
