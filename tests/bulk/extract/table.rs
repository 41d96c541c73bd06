//! Tests the cases of `links.txt`, line by line, on every backend.

use uriscan::Kernels;
use uriscan::PaddedBuf;
use uriscan::extract::{Finder, Links, Options, Schemes};

use super::oracle;

/// A text, the ranges of the links in it, and their URIs.
struct Case {
    options: Options,
    text: String,
    places: Vec<std::ops::Range<usize>>,
    uris: Vec<String>,
}

fn options(words: &str) -> Options {
    let mut options = Options::default();
    for word in words.split_whitespace() {
        match word {
            "unicode" => options.unicode = true,
            "unwrap" => options.unwrap = true,
            "bare-hosts" => options.bare_hosts = true,
            "email" => options.email = true,
            "refang" => options.refang = true,
            "unsplit" => options.unsplit = true,
            "any" => options.schemes = Schemes::Any,
            _ => {
                let list = word.strip_prefix("scheme=").unwrap();
                options.schemes = Schemes::List(list.split(',').map(str::to_owned).collect());
            }
        }
    }
    options
}

/// The text of a line, and the offsets of its marks.
fn unmarked(line: &str) -> (String, Vec<usize>) {
    let (mut text, mut marks) = (String::new(), Vec::new());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            '|' => marks.push(text.len()),
            '\\' => match rest.next().unwrap() {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                'u' => {
                    let digits: String = rest.by_ref().skip(1).take_while(|&c| c != '}').collect();
                    text.push(char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap());
                }
                c => text.push(c),
            },
            c => text.push(c),
        }
    }
    (text, marks)
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut current = Options::default();
    for line in include_str!("links.txt").lines() {
        if line.is_empty() || (line.starts_with("# ") && !line.starts_with("# |")) {
            continue;
        }
        if let Some(words) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'))
            && !line.contains(['|', ':'])
        {
            current = options(words);
            continue;
        }
        let (line, uris) = match line.split_once(" => ") {
            Some((line, uris)) => (line, Some(uris)),
            None => (line, None),
        };
        let (text, marks) = unmarked(line);
        assert!(marks.len().is_multiple_of(2), "{line}");
        let places: Vec<_> = marks.chunks(2).map(|pair| pair[0]..pair[1]).collect();
        let uris = match uris {
            Some(uris) => uris.split(' ').map(str::to_owned).collect(),
            None => places.iter().map(|place| text[place.clone()].to_owned()).collect(),
        };
        cases.push(Case { options: current.clone(), text, places, uris });
    }
    cases
}

#[test]
fn every_text_gives_the_links_marked_in_it() {
    let cases = cases();
    assert!(cases.len() >= 200, "{} texts", cases.len());
    let mut faults = String::new();
    for case in &cases {
        let finder = Finder::new(case.options.clone());
        for kernels in Kernels::available() {
            let buf = PaddedBuf::from_content(case.text.as_bytes());
            let mut links = Links::new();
            finder.find_all(kernels, buf.padded(), &mut links);
            let found: Vec<String> = links
                .iter(case.text.as_bytes())
                .map(|(_, uri)| String::from_utf8_lossy(uri).into_owned())
                .collect();
            let places = finder.find(kernels, case.text.as_bytes());
            if found != case.uris || places != case.places {
                let backend = kernels.backend();
                faults +=
                    &format!("{:?} on {backend:?}:\n  {found:?}\n  {:?}\n", case.text, case.uris);
                break;
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn the_oracle_agrees_with_the_table() {
    for case in cases() {
        let Options { bare_hosts, email, refang, .. } = case.options;
        if !(bare_hosts || email || refang) {
            assert_eq!(
                oracle::links(&case.options, case.text.as_bytes()),
                case.places,
                "{:?}",
                case.text
            );
        }
    }
}

#[test]
fn links_do_not_depend_on_their_position() {
    // The same texts one after the other, at every offset to the blocks.
    let whole: Vec<Case> =
        cases().into_iter().filter(|case| case.options == Options::default()).collect();
    let finder = Finder::default();
    for shift in 0..67 {
        let (mut text, mut places) = (" ".repeat(shift), Vec::new());
        for case in &whole {
            places.extend(
                case.places.iter().map(|place| place.start + text.len()..place.end + text.len()),
            );
            text += &case.text;
            text += "\n\n";
        }
        for kernels in Kernels::available() {
            assert_eq!(
                finder.find(kernels, text.as_bytes()),
                places,
                "{:?} {shift}",
                kernels.backend()
            );
        }
    }
}

#[test]
fn appendix_c_has_three_uris() {
    let text = "Yes, Jim, I found it under \"http://www.w3.org/Addressing/\",\n      but you can probably pick it up from <ftp://foo.example.\n      com/rfc/>.  Note the warning in <http://www.ics.uci.edu/pub/\n      ietf/uri/historical.html#WARNING>.\n";
    let finder = Finder::new(Options::default().unwrap(true));
    let buf = PaddedBuf::from_content(text.as_bytes());
    let mut links = Links::new();
    finder.find_all(Kernels::detect(), buf.padded(), &mut links);
    let found: Vec<&[u8]> = links.iter(text.as_bytes()).map(|(_, uri)| uri).collect();
    let expected: [&[u8]; 3] = [
        b"http://www.w3.org/Addressing/",
        b"ftp://foo.example.com/rfc/",
        b"http://www.ics.uci.edu/pub/ietf/uri/historical.html#WARNING",
    ];
    assert_eq!(found, expected);
}
