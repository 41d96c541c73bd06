//! A small corpus of input that breaks readers and parsers, always the same bytes.

use super::draw::Draw;

/// Self-explanatory lines; each is followed by a LF.
const LINES: [&[u8]; 76] = [
    b"",
    b" ",
    b"\t\t",
    b"\x0b\x0c",
    b"\r",
    b"  http://leading.example/",
    b"http://trailing.example/ \t",
    b"\x0chttp://both.example/\x0b\r",
    b"http://crlf.example/\r",
    b"http://crlf.example/",
    b"http://two-cr.example/\r\r",
    b"http://lone.example/\rhttp://cr.example/",
    b"http://lone.example/\r \r#x",
    b"http://nul.example/\0",
    b"\0",
    b"\0http://nul.example/",
    b"http://nul\0.example/a\0b",
    b"http://bytes.example/\xff\xfe",
    b"\xc3",
    b"http://half.example/\xc3",
    b"http://over.example/\xc0\xaf\xe0\x80\xaf",
    b"http://surrogate.example/\xed\xa0\x80",
    b"http://\xff.example/",
    b"\xef\xbb\xbfhttp://bom-inside.example/",
    b"http://b\xc3\xbccher.example/",
    b"http://x.example/\x7f\x01\x1b[0m",
    b":",
    b"//",
    b"///",
    b"////",
    b"/",
    b"?",
    b"#",
    b"?#",
    b"##",
    b"a:",
    b"1:",
    b"%",
    b"%%",
    b"%4",
    b"%zz",
    b"a%",
    b"://",
    b"http:",
    b"http:/",
    b"http://",
    b"http:///",
    b"http://:",
    b"http://@",
    b"http://@:",
    b"http://:80/",
    b"http://h:65536/",
    b"http://h:4294967376/",
    b"http://h:00000000000000000000000080/",
    b"http://h:8 0/",
    b"http://h:-1/",
    b"http://a@b@c/",
    b"http://a:b:c@d:e@f/",
    b"HTTP://H",
    b"hTtP://h:80?",
    b"http://h#?#",
    b"http://h/?",
    b"http://h/#",
    b"a:/.//b",
    b"a:/..//b",
    b"/.//b",
    b"/..//",
    b"./a:b",
    b"a%3Ab:c",
    b"a/..//../b",
    b".",
    b"..",
    b"../../..",
    b"http://h/%2e%2E/%2e",
    b"http://h/%25%34%31",
    b"http://h/a%2f..",
];

/// Texts between `[` and `]` of a host, valid and invalid.
const LITERALS: [&str; 40] = [
    "::",
    "::1",
    "1::",
    "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7::",
    "::2:3:4:5:6:7:8",
    "1::3:4:5:6:7:8",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "::ffff:1.2.3.4",
    "::FFFF:1.2.3.4",
    "1:2:3:4:5:6:1.2.3.4",
    "::1.2.3.4",
    "::1.2.3",
    "::1.2.3.256",
    "::01.2.3.4",
    "1.2.3.4::",
    "1.2.3.4",
    "1:2:3:4:5:6:7:1.2.3.4",
    ":::",
    "1:::2",
    "1::2::3",
    ":1",
    "1:",
    "",
    ":",
    "12345::",
    "0000::0000",
    "g::",
    "fe80::1%25eth0",
    "fe80::1%eth0",
    "v1.x",
    "V1.x",
    "v1.:",
    "v.x",
    "v1.",
    "v1",
    "vF.a%41",
    "2001:DB8:0:0:1:0:0:1",
    "[::1]",
];

/// The bytes of `corpora/hostile.txt`: a byte order mark first, no LF at the end, below 64 KiB.
pub(crate) fn text() -> Vec<u8> {
    let mut out = b"\xef\xbb\xbfhttp://after-bom.example/\n".to_vec();
    for line in LINES {
        put(&mut out, &[line]);
    }
    for literal in LITERALS {
        put(&mut out, &[b"http://[", literal.as_bytes(), b"]/"]);
    }
    for line in [
        "http://[::1",
        "http://::1]/",
        "http://[::1]x/",
        "http://[::1]:80/",
        "http://[::1]:x/",
        "http://a[::1]/",
        "http://u@[::1]",
    ] {
        put(&mut out, &[line.as_bytes()]);
    }
    // One more and one less than the widths of blocks and registers.
    for len in [15, 16, 17, 31, 32, 33, 62, 63, 64, 65, 66, 127, 128, 129, 255, 256, 257] {
        put(&mut out, &[b"http://h/", "a".repeat(len - 9).as_bytes()]);
        put(&mut out, &[b"http://h/", "a".repeat(len - 12).as_bytes(), b"%41"]);
        put(&mut out, &[b"HTTP://h/", ".".repeat(len - 9).as_bytes()]);
    }
    put(&mut out, &["%".repeat(4096).as_bytes()]);
    put(&mut out, &[b"http://h/", "%41".repeat(1500).as_bytes()]);
    put(&mut out, &[b"http://h/", "%25".repeat(300).as_bytes()]);
    put(&mut out, &[b"http://h", "/..".repeat(2000).as_bytes()]);
    put(
        &mut out,
        &[b"http://h", "/a".repeat(1000).as_bytes(), "/..".repeat(1000).as_bytes(), b"/b"],
    );
    put(&mut out, &[b"http://h", "/%2e/.".repeat(500).as_bytes()]);
    put(&mut out, &["../".repeat(700).as_bytes()]);
    put(&mut out, &[b"http://", "/".repeat(1000).as_bytes()]);
    put(&mut out, &[b"http://", "A.".repeat(600).as_bytes(), b"example/"]);
    put(&mut out, &["a".repeat(3000).as_bytes(), b"://h/"]);
    put(&mut out, &[b"http://h:", "0".repeat(2000).as_bytes(), b"80/"]);
    put(&mut out, &[b"http://", "[".repeat(500).as_bytes(), "]".repeat(500).as_bytes()]);
    put(&mut out, &[b"http://", "@".repeat(500).as_bytes()]);
    put(&mut out, &[b"http://h/?", "?#".repeat(500).as_bytes()]);
    put(&mut out, &[" ".repeat(2000).as_bytes(), b"http://h/far", "\t".repeat(500).as_bytes()]);
    out.extend_from_slice("\n".repeat(300).as_bytes());
    out.extend_from_slice("\r\n".repeat(100).as_bytes());
    put_noise(&mut out);
    out.extend_from_slice(b"HTTP://No-Final-Newline.example:80");
    out
}

fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
    out.push(b'\n');
}

/// Short lines of the bytes that matter to the grammar, and some of arbitrary bytes.
fn put_noise(out: &mut Vec<u8>) {
    let mut draw = Draw::new(3986);
    for line in 0..400 {
        for _ in 0..draw.below(24) {
            let byte = if line % 8 == 0 {
                draw.below(256) as u8
            } else {
                draw.one_of(b"aB0:/?#[]@%.4e1F-;= vV")
            };
            out.push(byte);
        }
        out.push(b'\n');
    }
}
