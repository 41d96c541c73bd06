//! Tests what entries of logs say about their requests, and which entries are read.

use uriscan::extract::{
    Cause, Context, ExtractorOptions, Format, Links, LogFormat, LogPart, RequestFilter, StatusRange,
};

use super::formats::links;

const BASE: &str = "https://base.example/";

fn options() -> ExtractorOptions {
    ExtractorOptions::default().base(BASE.as_bytes().to_vec()).notes_requests(true)
}

/// What is known of the request of each link of `text` in `found`: its status, method, time and target.
fn requests(found: &Links, text: &[u8]) -> Vec<String> {
    let request = |link| {
        let Some(request) = found.request(link) else { return "none".to_owned() };
        let status = request.status.map_or("-".to_owned(), |status| status.to_string());
        let method = String::from_utf8_lossy(request.method);
        let time = request.time.map_or("-".to_owned(), |time| time.to_string());
        format!("{status} {method} {time} {}", String::from_utf8_lossy(request.target))
    };
    found.iter(text).map(|(link, _)| request(link)).collect()
}

/// Formats, lines, and what they say.
const LINES: &[(&str, &str, &str)] = &[
    (
        "combined",
        r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 404 5 "http://r.example/" "x""#,
        "404 GET 2000-10-10T20:55:36Z /a",
    ),
    (
        "combined",
        r#"1.2.3.4 - joe doe [1/Jan/2001:00:30:00 +0100] "M-SEARCH /a\"b HTTP/1.1" 000 5 "http://r.example/" "x\"""#,
        "0 M-SEARCH 2000-12-31T23:30:00Z /a%22b",
    ),
    (
        "vhost",
        r#"shop.example:443 1.2.3.4 - - [99/Xxx/99999:13:55:36 -0700] "GET /a HTTP/1.1" 200 5"#,
        "200 GET - /a",
    ),
    (
        r#"$host [$time_iso8601] "$request" $status"#,
        r#"h.example [2000-10-10T13:55:36-07:00] "PUT /a HTTP/2" 201"#,
        "201 PUT 2000-10-10T20:55:36Z /a",
    ),
    (
        "$msec $status $request_method $host$request_uri",
        "971211336.123 499 DELETE h.example/a",
        "499 DELETE 2000-10-10T20:55:36Z /a",
    ),
    (
        r#"%v %t \"%r\" %>s"#,
        r#"h.example [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" -"#,
        "- GET 2000-10-10T20:55:36Z /a",
    ),
    (
        r#"%{%Y-%m-%d %H:%M:%S}t %v %m %U%q %s"#,
        "2000-10-10 20:55:36 h.example GET /a?b 302",
        "302 GET 2000-10-10T20:55:36Z /a?b",
    ),
    (
        r#"%h [%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t] \"%r\" %s %{%s}t"#,
        r#"1.2.3.4 [10/Oct/2000 13:55:36.639 -0700] "GET /a HTTP/1.1" 302 971211336"#,
        "302 GET 2000-10-10T20:55:36Z /a",
    ),
    (
        r#"%{%F}t %{%T}t %v %m %U"#,
        "2000-10-10 20:55:36 h.example GET /a",
        "- GET 2000-10-10T20:55:36Z /a",
    ),
    ("%v %U", "h.example /a", "-  - /a"),
    (
        "alb",
        r#"http 2018-07-02T22:23:00.186641Z app/lb/50dc 192.0.2.1:2817 10.0.0.1:80 0.000 0.001 0.000 502 - 34 366 "GET http://shop.example:80/a HTTP/1.1" "curl/7.46.0" - - -"#,
        "502 GET 2018-07-02T22:23:00Z http://shop.example:80/a",
    ),
    (
        "elb",
        r#"2015-05-13T23:39:43.945958Z my-lb 192.0.2.1:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "POST http://shop.example:80/a HTTP/1.1" "curl/7.38.0" - -"#,
        "200 POST 2015-05-13T23:39:43Z http://shop.example:80/a",
    ),
    (
        "s3",
        r#"79a5 bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a5 3E57 REST.GET.OBJECT a "GET /a?x HTTP/1.1" 403 AccessDenied 113 - 7 - "-" "x" - s9lz= SigV4 ECDHE AuthHeader h.example TLSV1.2 - -"#,
        "403 GET 2019-02-06T00:00:38Z /a?x",
    ),
    (
        "s3",
        r#"79a5 bucket [06/Feb/2017:00:00:38 +0000] 192.0.2.3 79a5 3E57 REST.HEAD.OBJECT a "HEAD /bucket/a HTTP/1.1" 200 - 113 - 7 - "-" "x" -"#,
        "200 HEAD 2017-02-06T00:00:38Z /bucket/a",
    ),
    (
        "squid",
        "1066036250.129      4 192.0.2.1 TCP_MISS/200 3456 GET http://www.example.com/a - DIRECT/1.2.3.4 text/html",
        "200 GET 2003-10-13T09:10:50Z http://www.example.com/a",
    ),
    (
        "haproxy",
        r#"Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /i?j HTTP/1.1""#,
        "200 GET 2009-02-06T12:14:14Z /i?j",
    ),
    (
        "haproxy",
        r#"::1:33317 [06/Feb/2009:12:14:14.655] in b/<NOSRV> -1/-1/-1/-1/0 -1 0 - - CR-- 1/1/1/1/0 0/0 "GET /x HTTP/1.1""#,
        "- GET 2009-02-06T12:14:14Z /x",
    ),
    (
        "envoy",
        r#"[2016-04-15T20:17:00.310Z] "POST /api/v1 HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "x" "cc21d9b0" "shop.example" "10.0.2.1:80""#,
        "204 POST 2016-04-15T20:17:00Z /api/v1",
    ),
    (
        "envoy",
        r#"ACCESS [2019-04-15T20:17:00.310Z] "GET /backend/ HTTP/1.1" 503 UF 0 226 100 9 "10.0.35.28" "x" "cc21d9b0" "shop.example" "10.0.2.1:80""#,
        "503 GET 2019-04-15T20:17:00Z /backend/",
    ),
    (
        "alb",
        r#"http 2018-11-30T22:23:00.186641Z app/lb/50dc 192.0.2.1:2817 - -1 -1 -1 400 - 0 0 "- http://shop.example:80- -" "-" - - - "-""#,
        "400  2018-11-30T22:23:00Z http://shop.example:80",
    ),
    (
        "envoy",
        r#"[2020-11-25T21:26:18.409Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 4 4 "-" "curl/7" "84961386" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 - default"#,
        "418 GET 2020-11-25T21:26:18Z /status/418",
    ),
    (
        "envoy",
        r#"{"start_time":"2020-11-25T21:26:18.409Z","authority":"shop.example","method":"GET","path":"/a","response_code":0}"#,
        "0 GET 2020-11-25T21:26:18Z /a",
    ),
    (
        "traefik",
        r#"{"DownstreamStatus":404,"RequestHost":"shop.example","RequestMethod":"GET","RequestPath":"/a","StartUTC":"2020-01-01T00:00:00.123456789Z","time":"2020-01-01T00:00:09+01:00"}"#,
        "404 GET 2020-01-01T00:00:00Z /a",
    ),
    (
        "caddy",
        r#"{"level":"info","ts":1646861401.5241024,"request":{"method":"GET","host":"shop.example","uri":"/a"},"status":500}"#,
        "500 GET 2022-03-09T21:30:01Z /a",
    ),
    (
        "caddy",
        r#"{"ts":"2022/03/09 21:30:01.524","request":{"method":"GET","host":"shop.example","uri":"/a"},"status":500}"#,
        "500 GET 2022-03-09T21:30:01Z /a",
    ),
    (
        "cloudflare",
        r#"{"ClientRequestHost":"shop.example","ClientRequestMethod":"GET","ClientRequestURI":"/a","EdgeResponseStatus":200,"EdgeStartTimestamp":1506702504433000200}"#,
        "200 GET 2017-09-29T16:28:24Z /a",
    ),
    (
        "cloudflare",
        r#"{"ClientRequestHost":"shop.example","ClientRequestMethod":"GET","ClientRequestURI":"/a","EdgeResponseStatus":200,"EdgeStartTimestamp":"2017-09-29T16:28:24Z"}"#,
        "200 GET 2017-09-29T16:28:24Z /a",
    ),
    (
        "nginx",
        r#"{"time_local":"10\/Oct\/2000:13:55:36 -0700","request":"GET /a HTTP/1.1","status":"200","host":"shop.example"}"#,
        "200 GET 2000-10-10T20:55:36Z /a",
    ),
    (
        "nginx",
        r#"{"@timestamp":"2000-10-10T20:55:36+00:00","request_method":"GET","request_uri":"/a","http_host":"h","status":200}"#,
        "200 GET 2000-10-10T20:55:36Z /a",
    ),
    (
        "nginx",
        r#"{"msec":"971211336.123","request_method":"GET","request_uri":"/a","http_host":"h","status":null}"#,
        "- GET 2000-10-10T20:55:36Z /a",
    ),
    (
        "nginx",
        r#"{"timestamp":971211336123,"request_method":"GET","request_uri":"/a","http_host":"h","status":-1}"#,
        "- GET 2000-10-10T20:55:36Z /a",
    ),
];

#[test]
fn every_form_of_entries_says_what_its_request_was() {
    for (name, line, expected) in LINES {
        let format = LogFormat::new(name).unwrap();
        let is_pattern = name.contains(['$', '%']);
        let inner = serde_json::to_string(&format!("{line}\n")).unwrap();
        for text in [
            (*line).to_owned(),
            format!("{line}\r\n{line}\n"),
            format!("2016-10-06T00:17:09.669794202Z stdout F {line}"),
            // Most patterns match the object, too.
            if is_pattern {
                (*line).to_owned()
            } else {
                format!(
                    "{{\"log\":{inner},\"stream\":\"stdout\",\"time\":\"2021-01-01T00:00:00.1Z\"}}"
                )
            },
        ] {
            let chosen = options().log_format(Some(format.clone()));
            let (_, found) =
                links(chosen.log_fields(vec![Context::Target]), Format::Clf, text.as_bytes());
            let all = requests(&found, text.as_bytes());
            let count = text.matches("\r\n").count() + 1;
            assert_eq!(all, vec![*expected; count], "{name} {text}");
            if !is_pattern {
                let (_, found) = links(options(), Format::Clf, text.as_bytes());
                let all = requests(&found, text.as_bytes());
                assert!(
                    !all.is_empty() && all.iter().all(|it| it == expected),
                    "{name} {text} {all:?}"
                );
            }
        }
    }
}

#[test]
fn fields_of_w3c_name_the_request() {
    for (fields, line, expected) in [
        (
            "date time cs-method cs-uri-stem cs-uri-query sc-status cs(Referer)",
            "2026-03-01 10:00:00 GET /a b=1 404 http://r/",
            "404 GET 2026-03-01T10:00:00Z /a?b=1",
        ),
        (
            "x-edge-location date time cs-method cs-uri-stem sc-status cs(Referer)",
            "FRA\t2026-03-01\t10:00:00\tGET\t/a%2520b\t000\thttp://r/",
            "0 GET 2026-03-01T10:00:00Z /a%20b",
        ),
        ("time cs-uri-stem cs(Referer)", "10:00:00 /a http://r/", "-  - /a"),
        ("date time cs-uri-stem cs(Referer)", "2026-13-01 10:00:00 /a http://r/", "-  - /a"),
        (
            "TIME DATE CS-URI-STEM SC-STATUS",
            "10:00:00 2026-03-01 /a -",
            "-  2026-03-01T10:00:00Z /a",
        ),
        ("cs-method cs-uri-stem cs(Referer)", "- /a http://r/", "-  - /a"),
    ] {
        let text = format!("#Fields: {fields}\n{line}\n{line}\n");
        let (_, found) = links(options(), Format::W3c, text.as_bytes());
        let all = requests(&found, text.as_bytes());
        assert!(all.len() >= 2 && all.iter().all(|it| it == expected), "{fields} {all:?}");
    }
    // Such fields alone do not make a log of requests.
    let firewall =
        b"#Fields: date time action protocol src-ip\n2026-03-01 10:00:00 DROP TCP 1.1.1.1\n";
    assert_ne!(Format::of_source("x", firewall), Format::W3c);
}

#[test]
fn nothing_is_noted_unless_it_is_wanted_and_text_has_no_request() {
    let log = format!("{}\nsee http://h/\n", LINES[0].1);
    let (_, found) = links(options().notes_requests(false), Format::Clf, log.as_bytes());
    assert_eq!(requests(&found, log.as_bytes()), ["none", "none", "none"]);
    let (shown, found) = links(options(), Format::Clf, log.as_bytes());
    assert_eq!(shown.last().unwrap(), "text http://h/");
    assert_eq!(requests(&found, log.as_bytes())[1..], [LINES[0].2, "none"]);
    let (_, found) = links(options(), Format::Text, b"http://h/");
    assert_eq!(requests(&found, b"http://h/"), ["none"]);
}

/// A log with an entry for each of these, and one line that is not an entry.
fn log(entries: &[(&str, &str, &str)]) -> String {
    let line = |(time, method, status): &(&str, &str, &str)| {
        format!(
            "1.2.3.4 - - [{time}] \"{method} /{status} HTTP/1.1\" {status} 5 \"http://r/{status}\" \"-\"\n"
        )
    };
    entries.iter().map(line).collect::<String>() + "see http://text/\n"
}

const ENTRIES: &[(&str, &str, &str)] = &[
    ("28/Feb/2026:23:59:59 +0000", "GET", "200"),
    ("01/Mar/2026:00:00:00 +0000", "GET", "404"),
    ("01/Mar/2026:01:59:59 +0200", "POST", "500"),
    ("31/Mar/2026:23:59:59 +0000", "\\x16", "400"),
    ("99/Xxx/99999:00:00:00 +0000", "get", "499"),
];

fn filter() -> RequestFilter {
    RequestFilter::default()
}

fn statuses(list: &str) -> RequestFilter {
    filter().statuses(list.split(',').map(|it| it.parse::<StatusRange>().unwrap()).collect())
}

#[test]
fn entries_that_are_not_selected_give_no_links() {
    let (since, until) = ("2026-03-01".parse().ok(), "2026-03-31T23:59:59Z".parse().ok());
    let log = log(ENTRIES);
    for (filter, expected, dropped, unknown) in [
        (statuses("404"), "404", Some((Cause::Status, 4)), 0),
        (statuses("4xx"), "404 400 499", Some((Cause::Status, 2)), 0),
        (statuses("200,450-599"), "200 500 499", Some((Cause::Status, 2)), 0),
        (filter().methods(vec!["GET".into()]), "200 404 499", Some((Cause::Method, 1)), 1),
        (filter().since(since), "404 400", Some((Cause::Since, 2)), 1),
        (filter().until(until), "200 404 500", Some((Cause::Until, 1)), 1),
        (filter().since(since).until(until), "404", Some((Cause::Since, 2)), 1),
        (
            statuses("404").since(since).methods(vec!["get".into()]),
            "404",
            Some((Cause::Status, 4)),
            0,
        ),
        (statuses("600-999"), "", Some((Cause::Status, 5)), 0),
    ] {
        let options = ExtractorOptions::default().requests(filter.clone());
        let referers = options.clone().log_fields(vec![Context::Referer]);
        let (shown, found) = links(referers, Format::Clf, log.as_bytes());
        let expected: Vec<_> = expected.split_whitespace().collect();
        let referers: Vec<_> =
            expected.iter().map(|status| format!("referer http://r/{status}")).collect();
        assert_eq!(shown, referers, "{filter:?}");
        assert_eq!(
            (found.omitted().unknown_entries, found.omitted().other_lines),
            (unknown, 1),
            "{filter:?}"
        );
        if let Some((cause, count)) = dropped {
            assert_eq!(found.filtered().of(cause), count, "{filter:?}");
        }
        // Without a base and fields, the targets are paths, and text that is not an entry has no status.
        let (shown, found) = links(options, Format::Clf, log.as_bytes());
        let all: Vec<_> = expected
            .iter()
            .flat_map(|status| [format!("target /{status}"), format!("referer http://r/{status}")])
            .collect();
        assert_eq!((shown, found.omitted().other_lines), (all, 1), "{filter:?}");
    }
}

#[test]
fn what_surrounds_an_entry_is_not_read_if_the_entry_is_not() {
    let entry =
        r#"{"request":{"method":"GET","host":"h","uri":"/a"},"status":404,"note":"http://n/"}"#;
    let inner = serde_json::to_string(&format!("{}\n", LINES[0].1)).unwrap();
    let docker = format!("{{\"log\":{inner},\"attrs\":\"http://n/\"}}");
    let alb = LINES
        .iter()
        .find(|(name, ..)| *name == "alb")
        .unwrap()
        .1
        .replace(" - - -", " \"http://n/\"");
    for line in [entry, &docker, &alb] {
        let of =
            |list: &str| links(options().requests(statuses(list)), Format::Clf, line.as_bytes());
        let (shown, _) = of("4xx-5xx");
        assert!(shown.iter().any(|link| link.ends_with(" http://n/")), "{line} {shown:?}");
        let (shown, found) = of("200");
        assert_eq!((shown.len(), found.filtered().of(Cause::Status)), (0, 1), "{line}");
    }
    let unknown = r#"{"request":{"method":"GET","host":"h","uri":"/a"},"note":"http://n/"}"#;
    let (shown, found) =
        links(options().requests(statuses("200")), Format::Clf, unknown.as_bytes());
    assert_eq!((shown.len(), found.omitted().unknown_entries), (0, 1));
}

#[test]
fn each_entry_has_one_part_whatever_its_links() {
    let parts = |part, text: &str| {
        let options = ExtractorOptions::default().log_part(part);
        links(options, Format::Clf, text.as_bytes()).0
    };
    let log = log(ENTRIES);
    for (part, expected) in [
        (LogPart::Day, "2026-02-28 2026-03-01 2026-02-28 2026-03-31 -"),
        (LogPart::Hour, "23 00 23 23 -"),
        (LogPart::Status, "200 404 500 400 499"),
        (LogPart::Method, "GET GET POST - get"),
    ] {
        let expected = expected.split(' ').map(|value| format!("target {value}"));
        assert_eq!(parts(part, &log), expected.collect::<Vec<_>>());
    }
    // Also those without a link.
    let none = "1.2.3.4 - - [01/Mar/2026:00:00:00 +0000] \"-\" 408 0 \"-\" \"-\"\n";
    assert_eq!(parts(LogPart::Status, none), ["target 408"]);
    let w3c = "#Fields: date time sc-status cs-uri-stem\n2026-03-01 10:00:00 404 -\n";
    let options = ExtractorOptions::default().log_part(LogPart::Day);
    assert_eq!(links(options.clone(), Format::W3c, w3c.as_bytes()).0, ["target 2026-03-01"]);
    for format in [Format::Text, Format::Html, Format::Json] {
        assert_eq!(links(options.clone(), format, b"http://h/ \"http://h/\"").0.len(), 0);
    }
}

#[test]
fn entries_with_a_time_have_the_day_of_the_directive() {
    let log = |head: &str, entry: &str| format!("{head}\n{entry}\n");
    let fields = "#Fields: time cs-uri-stem sc-status cs-host";
    let entry = "10:00:00 /a 200 h";
    for (text, expected) in [
        (
            log(&format!("#Date: 2026-03-01 09:00:00\n{fields}"), entry),
            Some("2026-03-01T10:00:00Z"),
        ),
        (log(&format!("{fields}\n#Date: 2026-03-01"), entry), Some("2026-03-01T10:00:00Z")),
        (
            log(&format!("#Date: 2026-03-01\n{fields}\nx\n#date:\t2026-03-02"), entry),
            Some("2026-03-02T10:00:00Z"),
        ),
        (
            log(
                "#Date: 2026-03-01\n#Fields: date time cs-uri-stem cs-host",
                "2026-04-01 10:00:00 /a h",
            ),
            Some("2026-04-01T10:00:00Z"),
        ),
        (log(fields, entry), None),
        (log("#Date: 2026-03-01\n#Fields: cs-uri-stem cs-host", "/a h"), None),
    ] {
        let options = ExtractorOptions::default().notes_requests(true);
        let (_, links) = super::formats::links(options, Format::W3c, text.as_bytes());
        let (last, _) = links.iter(text.as_bytes()).last().unwrap();
        let time =
            links.request(last).and_then(|request| request.time).map(|time| time.to_string());
        assert_eq!(time.as_deref(), expected, "{text}");
    }
}
