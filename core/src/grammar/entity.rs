//! Character references of HTML, with their semicolon: `&amp;`, `&#38;`, `&#x26;`.
//!
//! Known by name are the characters of ASCII, those of Latin-1, and spaces and invisible characters: what URLs hold. A
//! text is decoded once, so `&amp;amp;` is `&amp;`. What is not a reference stays.

/// The longest reference, in bytes; a longer number is not one.
const LONGEST: usize = 32;

/// Names of characters other than those of Latin-1.
const NAMES: [(&str, char); 70] = [
    ("amp", '&'),
    ("AMP", '&'),
    ("lt", '<'),
    ("LT", '<'),
    ("gt", '>'),
    ("GT", '>'),
    ("quot", '"'),
    ("QUOT", '"'),
    ("apos", '\''),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("excl", '!'),
    ("num", '#'),
    ("dollar", '$'),
    ("percnt", '%'),
    ("lpar", '('),
    ("rpar", ')'),
    ("ast", '*'),
    ("midast", '*'),
    ("plus", '+'),
    ("comma", ','),
    ("period", '.'),
    ("sol", '/'),
    ("colon", ':'),
    ("semi", ';'),
    ("equals", '='),
    ("quest", '?'),
    ("commat", '@'),
    ("lsqb", '['),
    ("lbrack", '['),
    ("bsol", '\\'),
    ("rsqb", ']'),
    ("rbrack", ']'),
    ("Hat", '^'),
    ("lowbar", '_'),
    ("UnderBar", '_'),
    ("grave", '`'),
    ("DiacriticalGrave", '`'),
    ("lcub", '{'),
    ("lbrace", '{'),
    ("verbar", '|'),
    ("vert", '|'),
    ("VerticalLine", '|'),
    ("rcub", '}'),
    ("rbrace", '}'),
    ("NonBreakingSpace", '\u{A0}'),
    ("ensp", '\u{2002}'),
    ("emsp", '\u{2003}'),
    ("emsp13", '\u{2004}'),
    ("emsp14", '\u{2005}'),
    ("numsp", '\u{2007}'),
    ("puncsp", '\u{2008}'),
    ("thinsp", '\u{2009}'),
    ("ThinSpace", '\u{2009}'),
    ("hairsp", '\u{200A}'),
    ("VeryThinSpace", '\u{200A}'),
    ("ZeroWidthSpace", '\u{200B}'),
    ("zwnj", '\u{200C}'),
    ("zwj", '\u{200D}'),
    ("lrm", '\u{200E}'),
    ("rlm", '\u{200F}'),
    ("hyphen", '\u{2010}'),
    ("dash", '\u{2010}'),
    ("ndash", '\u{2013}'),
    ("mdash", '\u{2014}'),
    ("lsquo", '\u{2018}'),
    ("rsquo", '\u{2019}'),
    ("ldquo", '\u{201C}'),
    ("rdquo", '\u{201D}'),
    ("NoBreak", '\u{2060}'),
];

/// The names of the characters of Latin-1, from U+00A0.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 \
    sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml \
    Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml \
    times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil \
    egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash \
    ugrave uacute ucirc uuml yacute thorn yuml";

/// The character that the reference at the start of `text` represents, and the bytes of the reference.
///
/// ```
/// use uriscan_core::grammar::character_reference;
/// assert_eq!(character_reference(b"&amp;b"), Some(('&', 5)));
/// assert_eq!(character_reference(b"&#x26;"), Some(('&', 6)));
/// assert_eq!(character_reference(b"&b=1"), None);
/// ```
///
/// Numbers of control characters, except for tab and line ends, are not references here; nor are those that no
/// character has.
pub fn character_reference(text: &[u8]) -> Option<(char, usize)> {
    let rest = text.strip_prefix(b"&")?;
    let head = &rest[..rest.len().min(LONGEST)];
    let end = head.iter().position(|&byte| !byte.is_ascii_alphanumeric() && byte != b'#')?;
    if head[end] != b';' {
        return None;
    }
    let name = str::from_utf8(&head[..end]).ok()?;
    let is_number = |digits: &str| !digits.is_empty() && !digits.contains('#');
    let c = match name.strip_prefix('#') {
        Some(number) => {
            let (digits, radix) = match number.strip_prefix(['x', 'X']) {
                Some(digits) => (digits, 16),
                None => (number, 10),
            };
            let code = u32::from_str_radix(digits, radix).ok().filter(|_| is_number(digits))?;
            let c = char::from_u32(code)?;
            (!c.is_control() || matches!(c, '\t' | '\n' | '\r')).then_some(c)?
        }
        None => named(name)?,
    };
    Some((c, end + 2))
}

fn named(name: &str) -> Option<char> {
    if let Some((_, c)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some(*c);
    }
    let number = LATIN.split_ascii_whitespace().position(|known| known == name)?;
    char::from_u32(0xA0 + number as u32)
}

/// Whether `text` has a character reference.
pub fn has_reference(text: &[u8]) -> bool {
    memchr::memchr_iter(b'&', text).any(|at| character_reference(&text[at..]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_those_of_html() {
        let names = NAMES.iter().map(|&(name, c)| (name, c));
        let latin = LATIN.split_ascii_whitespace().zip('\u{A0}'..='\u{FF}');
        assert_eq!(latin.clone().count(), 96);
        for (name, c) in names.chain(latin) {
            let typed = format!("&{name};");
            assert_eq!(character_reference(typed.as_bytes()), Some((c, typed.len())), "{typed}");
            #[cfg(feature = "bulk")]
            assert_eq!(htmlize::unescape(&typed), c.to_string(), "{typed}");
        }
        for (typed, c) in [
            ("&#38;", '&'),
            ("&#x26;x", '&'),
            ("&#X26;", '&'),
            ("&#0000038;", '&'),
            ("&#160;", '\u{A0}'),
            ("&#x1F600;", '\u{1F600}'),
            ("&#10;", '\n'),
        ] {
            let len = typed.find(';').unwrap() + 1;
            assert_eq!(character_reference(typed.as_bytes()), Some((c, len)), "{typed}");
        }
        for typed in [
            "",
            "&",
            "&;",
            "&#;",
            "&#x;",
            "&#xg;",
            "&#+38;",
            "&#-1;",
            "&#3#8;",
            "&#0;",
            "&#128;",
            "&#x1B;",
            "&#xD800;",
            "&#x110000;",
            "&#99999999999;",
            "&amp",
            "&amp =",
            "&Amp;",
            "&ampx;",
            "&id=2;",
            "amp;",
            "&#000000000000000000000000000000000038;",
        ] {
            assert_eq!(character_reference(typed.as_bytes()), None, "{typed}");
        }
        assert!(has_reference(b"a&b&lt;") && !has_reference(b"a&b=1;&c"));
    }
}
