//! Tests by what sources are recognized.

use uriscan::extract::{ExtractorOptions, Format};

use super::formats::links;

#[test]
fn arrays_are_json_wherever_their_lines_break() {
    for text in [
        "[\n {\"u\":\"https:\\/\\/h.example\\/a?x=1\\u0026y=2\"}\n]",
        "[ {\"u\":\"https:\\/\\/h.example\\/a?x=1\\u0026y=2\"} ]",
        "[[\"https:\\/\\/h.example\\/a?x=1\\u0026y=2\"]]",
        "[\r\n\r\n[\r\n\"https:\\/\\/h.example\\/a?x=1\\u0026y=2\"\r\n]\r\n]",
        "[1, 2.5e3, null, \"https:\\/\\/h.example\\/a?x=1\\u0026y=2\"]",
        "[null,\n\"https:\\/\\/h.example\\/a?x=1\\u0026y=2\"]",
        "[[], [[1]], {\"u\": \"https:\\/\\/h.example\\/a?x=1\\u0026y=2\"}]",
        "\u{FEFF}[\n\t\"https:\\/\\/h.example\\/a?x=1\\u0026y=2\"\n]",
        "[\n  true,\n  -1,\n  \"https:\\/\\/h.example\\/a?x=1\\u0026y=2\"\n]\n",
    ] {
        assert_eq!(Format::of_head(text.as_bytes()), Format::Json, "{text}");
        let (found, _) = links(ExtractorOptions::default(), Format::Json, text.as_bytes());
        assert_eq!(found, ["field https://h.example/a?x=1&y=2"], "{text}");
    }
}

#[test]
fn brackets_of_logs_and_prose_are_not_arrays() {
    for text in [
        "[2020-01-01 10:00:00] http://h/a\n",
        "[12:00] <joe> http://h/a\n",
        "[1] http://h/a\n[2] http://h/b\n",
        "[x](http://h/a)\n",
        "[[Main Page]] http://h/\n",
        "[ ] todo http://h/\n",
        "[] todo http://h/\n",
        "[INFO] http://h/a\n",
        "[1, 2] and more\n",
        "[1, see http://h/]\n",
        "[http://h/a]\n",
        "[client 1.2.3.4] http://h/\n",
    ] {
        assert_eq!(Format::of_head(text.as_bytes()), Format::Text, "{text}");
    }
}

#[test]
fn one_line_does_not_decide_against_json() {
    let lines = "{\"u\":\"http:\\/\\/h\\/a\"}\n".repeat(3);
    for first in [
        "# exported 2020",
        "==> a.json <==",
        "d\":\"http:\\/\\/h\\/0\"}",
        "-- x",
        "\u{FEFF}",
        ")]}'",
    ] {
        let text = format!("{first}\n{lines}");
        assert_eq!(Format::of_head(text.as_bytes()), Format::Json, "{text}");
    }
    for text in ["see {\"a\":1}\n", "a\nb\n{\"u\":1}\n", "", "x {\"a\":1}\ny {\"b\":2}\n"] {
        assert_eq!(Format::of_head(text.as_bytes()), Format::Text, "{text}");
    }
}

#[test]
fn files_of_json_have_names() {
    for name in [
        "a.json",
        "a.JSONL",
        "b.ndjson",
        "c.geojson.gz",
        "d.webmanifest",
        "e.ipynb",
        "f.jsonld",
        "g.js.map",
    ] {
        assert_eq!(Format::of_source(name, b"// a comment\n\"x\""), Format::Json, "{name}");
    }
    assert_eq!(Format::of_source("a.har", b"{\"x\":1}"), Format::Har);
    assert_eq!(Format::of_source("a.js", b"var x"), Format::Text);
}

#[test]
fn bookmarks_of_browsers_are_pages() {
    let text = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<!-- a file -->\n<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html\">\n\
        <TITLE>Bookmarks</TITLE>\n<DL><p>\n<DT><A HREF=\"http://h/?a&amp;b\" ICON=\"data:image/png;base64,x\">http://no/</A>\n</DL>";
    for text in
        [text.to_owned(), text.to_lowercase(), format!("\n{text}"), format!("<!-- x -->{text}")]
    {
        assert_eq!(Format::of_head(text.as_bytes()), Format::Html, "{text}");
        let (found, _) = links(ExtractorOptions::default(), Format::Html, text.as_bytes());
        assert_eq!(found, ["href http://h/?a&b"]);
    }
}

#[test]
fn folded_lines_are_joined() {
    let ics = "BEGIN:VCALENDAR\r\nURL:http://h.exa\r\n mple/a\r\nDESCRIPTION:see http://h/?a\\,b\\nhttp://h/c\r\nEND:VCALENDAR\r\n";
    let vcf = "BEGIN:VCARD\nVERSION:2.1\nURL;ENCODING=QUOTED-PRINTABLE:http://h.exa=\nmple/a\nNOTE:http://h/?a\\,b http:\n\t//h/c\nEND:VCARD\n";
    let ldif = "version: 1\ndn: cn=x\nlabeledURI: http://h.exa\n mple/a\ndescription:: aHR0cDovL2gv\n P2EsYiA=\nseeAlso: http://h/c\n";
    for text in [ics, vcf, ldif, &ics.to_lowercase(), &format!("# x\n{ldif}")] {
        assert_eq!(Format::of_head(text.as_bytes()), Format::Folded, "{text}");
        let (found, _) = links(ExtractorOptions::default(), Format::Folded, text.as_bytes());
        assert_eq!(
            found,
            ["field http://h.example/a", "field http://h/?a,b", "field http://h/c"],
            "{text}"
        );
    }
    assert_eq!(Format::of_source("a.ics", b"x"), Format::Folded);
    assert_eq!(Format::of_head(b"see\n http://h/\n"), Format::Text);
}

#[test]
fn flowed_lines_of_mail_are_joined() {
    let message = |kind: &str, body: &str| {
        format!("From: a\nMIME-Version: 1.0\nContent-Type: {kind}\n\n{body}")
    };
    let body = "see http://h.exa \nmple/a and\n> http://h/ \n> b\n-- \nhttp://h/c\n";
    for (kind, expected) in [
        (
            "text/plain; format=flowed; delsp=yes",
            &["text http://h.example/a", "text http://h/b", "text http://h/c"][..],
        ),
        (
            "text/plain; DelSp=\"Yes\"; Format=Flowed",
            &["text http://h.example/a", "text http://h/b", "text http://h/c"],
        ),
        ("text/plain; format=flowed", &["text http://h.exa", "text http://h/", "text http://h/c"]),
        ("text/plain", &["text http://h.exa", "text http://h/", "text http://h/c"]),
        ("text/calendar", &["field http://h.exa", "field http://h/", "field http://h/c"]),
    ] {
        let (found, _) =
            links(ExtractorOptions::default(), Format::Eml, message(kind, body).as_bytes());
        assert_eq!(found, expected, "{kind}");
    }
}

#[test]
fn the_first_row_of_csv_decides_about_its_delimiter() {
    for (text, delimiter) in [
        ("id;url;n\n1;http://h/a,b;\"x;http://no/\"\n", None),
        ("id\turl\tn\n1\thttp://h/a,b\t\"http://no/\"\n", None),
        ("id|url|n\n1|\"http://h/a,b\"|http://no/\n", None),
        ("id,url\n1,\"http://h/a,b\"\n", None),
        ("a,b,c;url;n\n1;http://h/a,b;http://no/\n", None),
        ("a^url\n1^http://h/a,b\n", Some(b'^')),
    ] {
        let options =
            ExtractorOptions::default().fields(vec!["url".to_owned()]).delimiter(delimiter);
        let (found, _) = links(options, Format::Csv, text.as_bytes());
        assert_eq!(found, ["field http://h/a,b"], "{text}");
    }
}
