//! Tests logs whose format has a name, chosen and detected.

use uriscan::extract::{Context, ExtractorOptions, Format, LogFormat};

use super::formats::links;

const BASE: &str = "https://base.example/";

/// The links of `line`, whose format is detected, and the same if the format called `name` is chosen.
fn found(name: &str, line: &str) -> Vec<String> {
    let with = |name: Option<&str>| {
        let log_format = name.map(|name| LogFormat::new(name).unwrap());
        let options =
            ExtractorOptions::default().base(Some(BASE.as_bytes().to_vec())).log_format(log_format);
        links(options, Format::Clf, line.as_bytes()).0
    };
    assert_eq!(Format::of_source("x", line.as_bytes()), Format::Clf, "{line}");
    let detected = with(None);
    assert_eq!(with(Some(name)), detected, "{name} {line}");
    assert_eq!(with(Some("docker")), detected, "{line}");
    detected
}

/// Names, lines, and the links in them.
const LINES: &[(&str, &str, &[&str])] = &[
    // Apache and nginx.
    (
        "combined",
        r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 "http://r.example/" "x""#,
        &["target https://base.example/a", "referer http://r.example/"],
    ),
    (
        "vhost",
        r#"shop.example:443 1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 "http://r.example/" "x""#,
        &["target https://shop.example:443/a", "referer http://r.example/"],
    ),
    (
        "vhost_combined",
        r#"shop.example:80 client.example - joe [10/Oct/2000:13:55:36 -0700] "GET //a HTTP/1.1" 200 5 "-" "x""#,
        &["target http://shop.example:80//a"],
    ),
    (
        "vhost",
        r#"shop.example ::1 - "a b" [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5"#,
        &["target https://shop.example/a"],
    ),
    (
        "vhost",
        r#"[::1]:8443 ::1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5"#,
        &["target https://[::1]:8443/a"],
    ),
    (
        "vhost",
        r#"shop.example:80 1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET http://o/a HTTP/1.1" 200 5"#,
        &["target http://o/a"],
    ),
    // Not the name of a server: a port of the client, a machine, a user with spaces, none.
    (
        "vhost",
        r#"1.2.3.4:555 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5"#,
        &["target https://base.example/a"],
    ),
    (
        "vhost",
        r#"web1 1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5"#,
        &["target https://base.example/a"],
    ),
    (
        "vhost",
        r#"1.2.3.4:555 - joe doe [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5"#,
        &["target https://base.example/a"],
    ),
    (
        "vhost",
        r#"-:80 1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5"#,
        &["target https://base.example/a"],
    ),
    // Lines that were cut.
    (
        "combined",
        r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 "http://r.example/" "x (+http://bot.example/"#,
        &[
            "target https://base.example/a",
            "referer http://r.example/",
            "agent http://bot.example/",
        ],
    ),
    (
        "combined",
        r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 "http://r.example/x"#,
        &["target https://base.example/a", "referer http://r.example/x"],
    ),
    (
        "vhost",
        r#"h.example:81 1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 "http://r.example/" ""#,
        &["target https://h.example:81/a", "referer http://r.example/"],
    ),
    (
        "combined",
        r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 "http://r.example/" "x\""#,
        &["target https://base.example/a", "referer http://r.example/"],
    ),
    (
        "combined",
        r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 ""#,
        &["target https://base.example/a"],
    ),
    // Amazon.
    (
        "alb",
        r#"https 2018-07-02T22:23:00.186641Z app/lb/50dc 192.0.2.1:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://shop.example:443/a?b HTTP/1.1" "curl/7 (+http://bot.example/)" ECDHE TLSv1.2 arn:aws:x "Root=1-58" "shop.example" "arn:aws:y" 1 2018-07-02T22:22:48.364000Z "forward" "-" "-""#,
        &["target https://shop.example:443/a?b", "agent http://bot.example/"],
    ),
    (
        "alb",
        r#"h2 2018-07-02T22:23:00.186641Z app/lb/50dc 192.0.2.1:2817 - -1 -1 -1 301 - 0 57 "GET http://shop.example:80/ HTTP/2.0" "-" - - - "Root=1-58" "-" "-" 0 2018-07-02T22:22:48.364000Z "redirect" "https://new.example:443/" "-""#,
        &["target http://shop.example:80/", "text https://new.example:443/"],
    ),
    (
        "alb",
        r#"http 2018-11-30T22:23:00.186641Z app/lb/50dc 192.0.2.1:2817 - -1 -1 -1 400 - 0 0 "- - -" "-" - - - "-" "-" "-" 0 2018-11-30T22:22:48.364000Z "-" "-" "-""#,
        &[],
    ),
    (
        "alb",
        r#"wss 2018-07-02T22:23:00.186641Z app/lb/50dc 192.0.2.1:4 10.0.0.1:80 0.001 0.003 0.000 101 101 218 786 "GET https://10.0.0.30:443/ws HTTP/1.1" "cut"#,
        &["target https://10.0.0.30:443/ws"],
    ),
    (
        "alb",
        r#"http 2018-11-30T22:23:00.186641Z app/lb/50dc 192.0.2.1:2817 - -1 -1 -1 400 - 0 0 "- http://shop.example:80- -" "-" - - - "-" "-" "-" 0 2018-11-30T22:22:48.364000Z "-" "-" "-""#,
        &["target http://shop.example:80"],
    ),
    (
        "alb",
        r#"https 2018-11-30T22:23:00.186641Z app/lb/50dc 192.0.2.1:2817 - -1 -1 -1 460 - 0 0 "- https://[::1]:443- -" "-" - - - "-" "-" "-" 0 2018-11-30T22:22:48.364000Z "-" "-" "-""#,
        &["target https://[::1]:443"],
    ),
    (
        "elb",
        r#"2015-05-13T23:39:43.945958Z my-lb 192.0.2.1:2817 - -1 -1 -1 400 0 0 0 "- http://shop.example:80- -" "-" - -"#,
        &["target http://shop.example:80"],
    ),
    (
        "elb",
        r#"2015-05-13T23:39:43.945958Z my-lb 192.0.2.1:2817 10.0.0.1:80 0.1 0.2 0.3 200 200 0 29 "GET http://shop.example:80/a- HTTP/1.1" "-" - -"#,
        &["target http://shop.example:80/a-"],
    ),
    ("combined", r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "-" 408 0 "-" "-""#, &[]),
    (
        "elb",
        r#"2015-05-13T23:39:43.945958Z my-lb 192.0.2.1:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://shop.example:80/a HTTP/1.1" "curl/7.38.0" - -"#,
        &["target http://shop.example:80/a"],
    ),
    (
        "elb",
        r#"2015-05-13T23:39:43.945958Z my-lb 192.0.2.1:2817 - -1 -1 -1 503 0 0 0 "GET https://shop.example:443/a HTTP/1.1" "-" TLS TLSv1.2"#,
        &["target https://shop.example:443/a"],
    ),
    (
        "s3",
        r#"79a5 bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a5 3E57 REST.GET.OBJECT a%2520b.png "GET /a%20b.png?x HTTP/1.1" 200 - 113 - 7 - "http://r.example/" "S3Console/0.4" - s9lz= SigV4 ECDHE AuthHeader bucket.s3.us-west-1.amazonaws.com TLSV1.2 - -"#,
        &[
            "target https://bucket.s3.us-west-1.amazonaws.com/a%20b.png?x",
            "referer http://r.example/",
        ],
    ),
    (
        "s3",
        r#"79a5 bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 - 3E57 WEBSITE.GET.OBJECT a "GET /a HTTP/1.1" 404 NoSuchKey 113 - 7 - "-" "x" - s9lz= - - - www.example.com -"#,
        // Without TLS nothing shows the scheme, and that of the base is used.
        &["target https://www.example.com/a"],
    ),
    (
        "s3",
        r#"79a5 bucket [06/Feb/2017:00:00:38 +0000] 192.0.2.3 79a5 3E57 REST.GET.OBJECT a "GET /bucket/a HTTP/1.1" 200 - 113 - 7 - "http://r.example/" "x" -"#,
        &["target https://base.example/bucket/a", "referer http://r.example/"],
    ),
    // Proxies.
    (
        "squid",
        "1066036250.129      4 192.0.2.1 TCP_MISS/200 3456 GET http://www.example.com/a - DIRECT/1.2.3.4 text/html",
        &["target http://www.example.com/a"],
    ),
    (
        "squid",
        "1066036250.603 120310 192.0.2.1 TCP_TUNNEL/200 3456 CONNECT www.example.com:443 joe HIER_DIRECT/1.2.3.4 -",
        &[],
    ),
    (
        "squid",
        "1066036250.129      4 192.0.2.1 TCP_DENIED/403 3456 GET http://a.example/?q=http://b.example/ - HIER_NONE/- text/html",
        &["target http://a.example/?q=http://b.example/"],
    ),
    (
        "haproxy",
        r#"Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu|http://r.example/} {} "GET /i?j HTTP/1.1""#,
        &["target https://base.example/i?j", "text http://r.example/"],
    ),
    (
        "haproxy",
        r#"10.0.1.2:33317 [06/Feb/2009:12:14:14.655] https~ static/srv1 10/0/30/69/109 404 2750 - - ---- 1/1/1/1/0 0/0 "GET https://h.example/i HTTP/2.0""#,
        &["target https://h.example/i"],
    ),
    (
        "haproxy",
        r#"::1:33317 [06/Feb/2009:12:14:14.655] in b/<NOSRV> -1/-1/-1/-1/0 -1 0 - - CR-- 1/1/1/1/0 0/0 "GET /x HTTP/1.1""#,
        &["target https://base.example/x"],
    ),
    (
        "envoy",
        r#"[2016-04-15T20:17:00.310Z] "POST /api/v1 HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "bot (http://bot.example/)" "cc21d9b0" "shop.example" "10.0.2.1:80""#,
        &["target https://shop.example/api/v1", "agent http://bot.example/"],
    ),
    (
        "envoy",
        r#"ACCESS [2019-04-15T20:17:00.310Z] "GET /backend/ HTTP/1.1" 200 - 0 226 100 9 "10.0.35.28" "bot (http://bot.example/)" "cc21d9b0" "shop.example" "10.0.2.1:80""#,
        &["target https://shop.example/backend/", "agent http://bot.example/"],
    ),
    (
        "envoy",
        r#"[2020-11-25T21:26:18.409Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 4 4 "-" "curl/7" "84961386" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 - default"#,
        &["target https://httpbin:8000/status/418"],
    ),
    (
        "envoy",
        r#"{"authority":"shop.example:8000","method":"GET","path":"/a?b","response_code":418,"user_agent":"curl","upstream_host":"127.0.0.1:80"}"#,
        &["target https://shop.example:8000/a?b"],
    ),
    (
        "envoy",
        r#"{":authority":"shop.example",":method":"GET",":path":"/a","x-forwarded-proto":"http","referer":"https://r.example/"}"#,
        &["target http://shop.example/a", "referer https://r.example/"],
    ),
    (
        "traefik",
        r#"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 2 "http://r.example/" "-" 1 "web@docker" "http://10.0.0.1:80" 10ms"#,
        &["target https://base.example/a", "referer http://r.example/"],
    ),
    (
        "traefik",
        r#"{"DownstreamStatus":200,"RequestAddr":"shop.example:8080","RequestHost":"shop.example","RequestMethod":"GET","RequestPath":"/a?b","RequestPort":"8080","RequestScheme":"http","request_Referer":"http://r.example/","request_User-Agent":"x","time":"2020-01-01T00:00:00Z"}"#,
        &["target http://shop.example:8080/a?b", "referer http://r.example/"],
    ),
    (
        "traefik",
        r#"{"DownstreamStatus":404,"RequestHost":"shop.example","RequestMethod":"GET","RequestPath":"/a","RequestPort":"-","ServiceURL":"http://10.0.0.1:80","TLSVersion":"1.3"}"#,
        &["target https://shop.example/a", "field http://10.0.0.1:80"],
    ),
    (
        "caddy",
        r#"{"level":"info","ts":1646861401.52,"msg":"handled request","request":{"remote_ip":"192.0.2.1","proto":"HTTP/2.0","method":"GET","host":"shop.example","uri":"/a?b=\u0026c","headers":{"User-Agent":["x (+http://bot.example/)"],"Referer":["http:\/\/r.example\/x"]},"tls":{"version":772,"server_name":"shop.example"}},"status":200,"resp_headers":{"Location":["https://l.example/"]}}"#,
        &[
            "target https://shop.example/a?b=&c",
            "referer http://r.example/x",
            "agent http://bot.example/",
            "field https://l.example/",
        ],
    ),
    (
        "caddy",
        r#"{"request":{"method":"GET","host":"shop.example:2015","uri":"\/a","headers":{"X-Forwarded-Proto":["http"]}},"status":404}"#,
        &["target http://shop.example:2015/a"],
    ),
    (
        "cloudflare",
        r#"{"ClientRequestHost":"shop.example","ClientRequestMethod":"GET","ClientRequestURI":"/a?b","ClientRequestPath":"/a","ClientRequestScheme":"http","ClientRequestReferer":"https://r.example/","EdgeResponseStatus":200}"#,
        &["target http://shop.example/a?b", "referer https://r.example/"],
    ),
    (
        "cloudflare",
        r#"{"ClientRequestHost":"shop.example","ClientRequestMethod":"GET","ClientRequestPath":"/a","ClientRequestQuery":"?b","ClientRequestScheme":"http"}"#,
        &["target http://shop.example/a?b"],
    ),
    (
        "nginx",
        r#"{"time_local":"10/Oct/2000:13:55:36 -0700","request":"GET /a?\"b HTTP/1.1","status":"200","http_referer":"http://r.example/","host":"shop.example","scheme":"http","note":"see http://n.example/"}"#,
        &[
            "target http://shop.example/a?%22b",
            "referer http://r.example/",
            "field http://n.example/",
        ],
    ),
    (
        "nginx",
        r#"{"host":"shop.example","uri":"/b","args":"c","request_uri":"/b?c","http_host":"shop.example:81","status":200,"scheme":"http"}"#,
        &["target http://shop.example:81/b?c"],
    ),
];

#[test]
fn every_format_with_a_name_has_its_links() {
    for (name, line, expected) in LINES {
        assert_eq!(found(name, line), *expected, "{name} {line}");
        assert_eq!(
            found(name, &format!("{line}\r\n{line}\n")),
            expected.repeat(2),
            "{name} {line}"
        );
    }
}

/// `text` as a string of JSON.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[test]
fn lines_that_other_programs_wrapped_have_the_same_links() {
    let of = |links: &[&str]| {
        // What is not a field is text or a string, by what it was wrapped in.
        let mut all: Vec<String> =
            links.iter().map(|link| link.replacen("text ", "field ", 1)).collect();
        all.retain(|link| !link.ends_with("http://10.0.0.1:80"));
        all
    };
    let plain = |links: Vec<String>| {
        let links: Vec<&str> = links.iter().map(|link| &link[..]).collect();
        of(&links)
    };
    for (name, line, expected) in LINES {
        let inner = quoted(&format!("{line}\n")).replace('\n', "\\n");
        for wrapped in [
            format!(
                "{{\"log\":{inner},\"stream\":\"stdout\",\"time\":\"2020-01-01T00:00:00.1Z\"}}"
            ),
            format!("{{\"stream\":\"stdout\",\"log\":{inner}}}"),
            format!("{{\"kubernetes\":{{\"pod\":\"x\"}},\"message\":{inner}}}"),
            format!("2016-10-06T00:17:09.669794202Z stdout F {line}"),
            format!("2016-10-06T00:17:09.669794202+02:00 stderr F {line}"),
        ] {
            assert_eq!(plain(found(name, &wrapped)), of(expected), "{name} {wrapped}");
        }
    }
}

#[test]
fn an_object_is_an_entry_after_what_syslog_and_compose_write() {
    for (name, line, expected) in LINES.iter().filter(|(_, line, _)| line.starts_with('{')) {
        for prefix in [
            "<13>Oct 11 22:14:15 host app: ",
            "Oct 11 22:14:15 host app[123]: ",
            "<165>1 2003-10-11T22:14:15.003Z host app 1 ID47 - : ",
            "web-1  | ",
            "caddy_1                | ",
        ] {
            let line = format!("{prefix}{line}");
            assert_eq!(found(name, &line), *expected, "{line}");
            assert_eq!(found(name, &format!("{line}\n{line}\r\n")), expected.repeat(2), "{line}");
        }
    }
    let combined = LINES[0];
    for prefix in ["web-1  | ", "web | ", "caddy_1                | "] {
        assert_eq!(found(combined.0, &format!("{prefix}{}", combined.1)), combined.2, "{prefix}");
    }
    // What is before an entry is searched as text, unless fields or entries are selected.
    let line = format!(
        "see http://p.example/ app: {}",
        r#"{"request":{"method":"GET","host":"h","uri":"/a"},"status":200}"#
    );
    let text = |options| links(options, Format::Clf, line.as_bytes()).0;
    assert_eq!(text(ExtractorOptions::default()), ["text http://p.example/", "target http://h/a"]);
    let target = ExtractorOptions::default().log_fields(vec![Context::Target]);
    assert_eq!(text(target), ["target http://h/a"]);
}

#[test]
fn every_entry_of_a_line_or_an_array_is_read() {
    let entry = |path: &str| {
        format!(r#"{{"request":{{"host":"h","uri":"{path}","method":"GET"}},"status":200}}"#)
    };
    let targets = |scheme: &str| ["a", "b", "c"].map(|name| format!("target {scheme}://h/{name}"));
    let [a, b, c] = ["/a", "/b", "/c"].map(entry);
    for line in [format!("{a}{b}{c}"), format!("{a} {b}, {c}"), format!("{a}\n{b}{c}")] {
        // The scheme is that of the base.
        assert_eq!(found("caddy", &line), targets("https"), "{line}");
    }
    let options = ExtractorOptions::default().log_format(Some(LogFormat::new("caddy").unwrap()));
    let array = format!("[\n{a},\n{b},\r\n{c}\n]\n");
    assert_eq!(links(options, Format::Clf, array.as_bytes()).0, targets("http"));
}

#[test]
fn what_is_not_an_entry_is_searched_as_before() {
    let entry = LINES[0].1;
    for (other, expected) in [
        ("see http://h.example/a", "text http://h.example/a"),
        (r#"{"msg":"http:\/\/h.example\/a"}"#, "field http://h.example/a"),
        (r#"{"log":"at http://h.example/a\n","stream":"stderr"}"#, "field http://h.example/a"),
        (
            r#"{"path":"see http://h.example/a","method":"GET","authority":"h"}"#,
            "field http://h.example/a",
        ),
        (
            "2016-10-06T00:17:09.669794202Z stderr F at http://h.example/a",
            "text http://h.example/a",
        ),
        (r#"[2016-04-15T20:17:00.310Z] "POST" http://h.example/a"#, "text http://h.example/a"),
        ("1 2 3 4/5 6 GET http://h.example/a", "text http://h.example/a"),
    ] {
        let log = format!("{entry}\n{entry}\n{other}\n");
        let all = links(ExtractorOptions::default(), Format::Clf, log.as_bytes()).0;
        assert_eq!(all.last().map(|link| &link[..]), Some(expected), "{other}");
        assert_eq!(all.len(), 3, "{other} {all:?}");
        let only = ExtractorOptions::default().log_fields(vec![Context::Target]);
        let (all, counted) = links(only, Format::Clf, log.as_bytes());
        assert_eq!(
            (&all[..], counted.omitted().other_lines),
            (&["target /a".to_owned(), "target /a".to_owned()][..], 1),
            "{other}"
        );
    }
}

#[test]
fn what_only_looks_like_an_entry_is_not_a_log() {
    for text in [
        r#"{"url":"http://h/","path":"/a","method":"GET"}"#,
        r#"{"host":"h","path":"/a"}"#,
        r#"{"request":{"host":"h","uri":"/a"}}"#,
        r#"{"log":"http://h/","stream":"stdout"}"#,
        r#"{"log":{"line":"x"}}"#,
        r#"{"host":"h","request_uri":"/a","status":200"#,
    ] {
        assert_eq!(Format::of_head(text.as_bytes()), Format::Json, "{text}");
    }
    for text in [
        "a b c d/e f GET http://h/ - x/y z",
        r#"a b [c] d e f g h "i j" k l m n o p "q" "r" s"#,
        r#"a b c d e f g h i j k "l m n" "o""#,
        r#"[a] "b c" d e f "g" "h" "i" "j" "k""#,
        "[1] http://h/ \"GET /a\"",
    ] {
        assert_eq!(Format::of_head(text.as_bytes()), Format::Text, "{text}");
    }
    let fields = ["request.host".to_owned()];
    let options = ExtractorOptions::default().fields(fields.to_vec());
    let caddy = r#"{"request":{"method":"GET","host":"http://h.example","uri":"/a"},"status":404}"#;
    assert_eq!(links(options, Format::Json, caddy.as_bytes()).0, ["field http://h.example"]);
}

#[test]
fn a_pattern_reads_what_precedes_the_cut_of_a_line() {
    let pattern = r#"$host "$request" $status "$http_referer" "$http_user_agent" $x"#;
    for (line, expected) in [
        (
            r#"h.example "GET /a HTTP/1.1" 200 "http://r.example/" "x"#,
            &["target http://h.example/a", "referer http://r.example/"][..],
        ),
        (
            r#"h.example "GET /a HTTP/1.1" 200 "http://r.example/x"#,
            &["target http://h.example/a", "referer http://r.example/x"],
        ),
        (r#"h.example "GET /a HTTP/1.1" 200 ""#, &["target http://h.example/a"]),
        (r#"h.example "GET http://o.example/"#, &["text http://o.example/"]),
    ] {
        let log_format = Some(LogFormat::new(pattern).unwrap());
        let options = ExtractorOptions::default().log_format(log_format);
        assert_eq!(links(options, Format::Clf, line.as_bytes()).0, expected, "{line}");
    }
}

#[test]
fn white_space_of_a_pattern_has_any_length() {
    let log_format = Some(LogFormat::new(r"$host\s$request_uri\s$status").unwrap());
    let options = ExtractorOptions::default().log_format(log_format);
    for line in ["h.example /a 200", "h.example \t /a     200"] {
        assert_eq!(
            links(options.clone(), Format::Clf, line.as_bytes()).0,
            ["target http://h.example/a"]
        );
    }
    assert_eq!(links(options, Format::Clf, b"h.example/a 200").0, [""; 0]);
}
