//! Formats that are known by what they are, as the program reads them.

use crate::run::{Place, run};

#[test]
fn xml_is_decoded_however_it_is_cut() {
    let text = format!(
        "<?xml version=\"1.0\"?>\n<r xmlns=\"http://no/\">\n{}</r>\n",
        "<t u=\"http://h/?a&amp;b\">see &lt;http://h/c&gt; <![CDATA[http://h/d]]></t>\n<!-- <t> -->".repeat(40)
    );
    let expected = "http://h/?a&b\nhttp://h/c\nhttp://h/d\n".repeat(40);
    assert_eq!(run(["extract"], &text).quiet(), expected);
    assert_eq!(run(["extract", "--from", "xml"], &text).quiet(), expected);
    for size in ["1", "7", "64", "1000"] {
        assert_eq!(run(["extract", "--chunk-size", size], &text).quiet(), expected, "{size}");
    }
    let sitemap = "<urlset><url><loc>http://h/a</loc></url></urlset>";
    assert_eq!(run(["extract", "--from", "xml", "--context"], sitemap).quiet(), "loc:http://h/a\n");
}

#[test]
fn folded_lines_are_whole_however_they_are_cut() {
    let text = "BEGIN:VCALENDAR\r\nURL:http://h.exa\r\n mple/a\r\n".to_owned()
        + &"X:http://h\r\n /b\r\nY:http://h/c\r\n".repeat(20);
    let expected = "http://h.example/a\n".to_owned() + &"http://h/b\nhttp://h/c\n".repeat(20);
    assert_eq!(run(["extract"], &text).quiet(), expected);
    for size in ["1", "7", "64"] {
        assert_eq!(run(["extract", "--chunk-size", size], &text).quiet(), expected, "{size}");
    }
}

#[test]
fn columns_have_a_delimiter() {
    let place = Place::new(&[
        ("a.csv", "id;url\n1;\"http://h/a\nb\"\n2;http://h/c\n"),
        ("a.txt", "1^http://h/a\n2^http://h/c\n"),
    ]);
    let named = ["extract", "--link-column", "url", "a.csv"];
    assert_eq!(place.run(&named, "").quiet(), "http://h/a\nhttp://h/c\n");
    let typed = [&named[..], &["--delimiter", ";", "--chunk-size", "1"]].concat();
    assert_eq!(place.run(&typed, "").quiet(), "http://h/a\nhttp://h/c\n");
    for start in [&["extract"][..], &["dedup", "--extract"], &["normalize", "--extract"]] {
        let args = [start, &["--link-column", "2", "--delimiter", "^", "a.txt"]].concat();
        assert_eq!(place.run(&args, "").quiet(), "http://h/a\nhttp://h/c\n");
    }
    // Commands that read no tables.
    let column = ["--extract", "--link-column", "2", "--delimiter", "^", "a.txt"];
    for (start, expected) in [
        (&["census", "--to", "json"][..], "\"records\":2"),
        (&["top", "--by", "host"], "h"),
        (&["set", "create", "s.set"], ""),
        (&["set", "add", "s.set"], ""),
        (&["set", "has", "s.set"], "http://h/a\nhttp://h/c\n"),
        (&["set", "remove", "s.set"], "2"),
    ] {
        let ran = place.run(&[start, &column].concat(), "");
        assert!(
            ran.code == 0 && ran.text().contains(expected),
            "{start:?} {} {}",
            ran.text(),
            ran.stderr
        );
    }
    let ran = place.run(&["census", "--delimiter", "^", "a.txt"], "");
    assert!(ran.code == 2 && ran.stderr.contains("--link-column"), "{}", ran.stderr);
    let ran = place.run(&["extract", "--delimiter", ";", "a.csv"], "");
    assert_eq!((ran.code, ran.text()), (2, ""));
    assert!(ran.stderr.contains("--link-column <NAME>|--column <COLUMN>"), "{}", ran.stderr);
    let wrong = ["extract", "--link-column", "url", "--delimiter", ",", "a.csv"];
    assert_eq!(place.run(&wrong, "").code, 2);
}

#[test]
fn scripts_and_attributes_are_read_on_request() {
    let page = r#"<!doctype html><script>u="https:\/\/h\/a"</script><iframe srcdoc="<a href=http://h/b>"></iframe>"#;
    assert_eq!(run(["extract"], page).quiet(), "");
    assert_eq!(
        run(["extract", "--also", "script,attributes"], page).quiet(),
        "https://h/a\nhttp://h/b\n"
    );
}
