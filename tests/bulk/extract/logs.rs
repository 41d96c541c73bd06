//! Tests logs of web servers, format by format.

use uriscan::extract::{Context, ExtractorOptions, Format, LogFormat};

use super::formats::links;

fn with(base: &str, fields: &[Context]) -> ExtractorOptions {
    let base = (!base.is_empty()).then(|| base.as_bytes().to_vec());
    ExtractorOptions::default().base(base).log_fields(fields.to_vec())
}

fn found(options: ExtractorOptions, format: Format, log: &str) -> Vec<String> {
    links(options, format, log.as_bytes()).0
}

/// A log of IIS.
const IIS: &str = "#Software: Microsoft Internet Information Services 10.0\r\n\
    #Version: 1.0\r\n#Date: 2026-03-01 10:00:00\r\n\
    #Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) cs-host sc-status\r\n\
    2026-03-01 10:00:00 10.0.0.1 GET /a.aspx id=1&x 80 - 192.0.2.1 Bot+(+http://bot.example/) http://r.example/s?q shop.example 200\r\n\
    2026-03-01 10:00:01 10.0.0.1 GET /b - 443 - 192.0.2.1 - - shop.example:8443 200\r\n\
    2026-03-01 10:00:02 10.0.0.1 GET //c - 80 - 192.0.2.1 - - - 404\r\n\
    #Fields: date time cs-uri-stem cs-method cs(Referrer)\r\n\
    2026-03-01 10:00:03 /d GET http://r.example/\r\n\
    2026-03-01 10:00:03 /d GET\r\n";

#[test]
fn directives_name_the_fields_of_the_entries_after_them() {
    assert_eq!(Format::of_source("u_ex.log", IIS.as_bytes()), Format::W3c);
    let (all, counted) = links(with("https://b.example/x", &[]), Format::W3c, IIS.as_bytes());
    let expected = [
        "target https://shop.example/a.aspx?id=1&x",
        "referer http://r.example/s?q",
        "agent http://bot.example/",
        "target https://shop.example:8443/b",
        "target https://b.example//c",
        "target https://b.example/d",
        "referer http://r.example/",
    ];
    assert_eq!(
        (all, counted.relative(), counted.omitted().unnamed),
        (expected.map(str::to_owned).to_vec(), 0, 0)
    );
    let (only, counted) = links(with("", &[Context::Target]), Format::W3c, IIS.as_bytes());
    let targets =
        ["http://shop.example/a.aspx?id=1&x", "https://shop.example:8443/b", "/.//c", "/d"];
    assert_eq!(only, targets.map(|uri| format!("target {uri}")));
    // A row with fewer fields than were named.
    assert_eq!(counted.omitted().other_lines, 1);
}

#[test]
fn logs_of_cloudfront_are_decoded_once() {
    let log = "#Version: 1.0\n\
        #Fields: date time x-edge-location cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query x-host-header cs-protocol cs-protocol-version\n\
        2026-03-01\t10:00:00\tFRA2\tGET\td1.cloudfront.net\t/a%2520b/%257Ec\t200\thttp://r.example/%2520?x=%255B\tMozilla/5.0%20(x)\tq=%2526&r%5B%5D=1\tshop.example\thttps\tHTTP/2.0\n\
        2026-03-01\t10:00:01\tFRA2\tGET\td1.cloudfront.net\t/\t200\t-\t-\t-\t-\tws\tHTTP/1.1\n";
    assert_eq!(Format::of_head(log.as_bytes()), Format::W3c);
    let expected = [
        "target https://shop.example/a%20b/%7Ec?q=%26&r[]=1",
        "referer http://r.example/%20?x=%5B",
        "target ws://d1.cloudfront.net/",
    ];
    assert_eq!(found(with("http://b/", &[]), Format::W3c, log), expected);
}

#[test]
fn fields_have_several_names() {
    for (fields, entry, expected) in [
        (
            "cs-method cs-uri-stem cs-uri-query x-forwarded-proto cs(Host)",
            "GET /a ?b https h",
            "https://h/a?b",
        ),
        (
            "cs-uri-scheme cs-host cs-uri-port cs-uri-path cs-uri-query",
            "https h 8443 /a ?b",
            "https://h:8443/a?b",
        ),
        ("cs-method cs-version cs-host cs-uri-stem", "GET HTTP/1.1 h /a", "http://h/a"),
        ("cs-protocol CS-HOST Cs-Uri-Stem", "HTTP/1.1 h /a", "http://h/a"),
        ("cs-protocol s-port cs-host cs-uri-stem", "- 443 h /a", "https://h/a"),
        ("cs-host s-port cs-uri", "h 80 /a?b", "http://h/a?b"),
        ("cs-host cs-uri", "h http://o/a?b", "http://o/a?b"),
        ("c-ip cs-host cs(Cookie) cs-uri-stem", "1.1.1.1 h \"a b \"\"c\"\"\" /a", "http://h/a"),
        ("cs-host cs-uri-stem", "h\t/a b", "http://h/a%20b"),
    ] {
        let log = format!("#Fields: {fields}\n{entry}\n");
        assert_eq!(
            found(with("", &[Context::Target]), Format::W3c, &log),
            [format!("target {expected}")],
            "{fields}"
        );
    }
    let log = "#Fields: x cs-uri-stem\n1 /a 2\n1\n- -\n";
    let (nothing, counted) =
        links(with("http://b/", &[Context::Target]), Format::W3c, log.as_bytes());
    assert_eq!((nothing.len(), counted.omitted().other_lines), (0, 2));
}

#[test]
fn what_no_directive_names_is_counted() {
    let cut = IIS.find("2026-03-01 10:00:01").unwrap();
    let rest = &IIS[cut + 3..];
    assert_eq!(Format::of_head(rest.as_bytes()), Format::W3c, "the directive comes later");
    let (only, counted) =
        links(with("http://b/", &[Context::Target]), Format::W3c, rest.as_bytes());
    assert_eq!((&only[..], counted.omitted().unnamed), (&["target http://b/d".to_owned()][..], 2));
    let first = IIS.find("2026-03-01 10:00:00 10").unwrap();
    let rows = &IIS[first..IIS.rfind("#Fields").unwrap()];
    assert_eq!(Format::of_head(rows.as_bytes()), Format::W3c, "by its rows");
    let (all, counted) = links(with("http://b/", &[]), Format::W3c, rows.as_bytes());
    assert_eq!(all, ["text http://bot.example/", "text http://r.example/s?q"]);
    assert_eq!((counted.omitted().unnamed, counted.omitted().other_lines), (3, 0));
    let program =
        "2026-03-01 10:00:00 INFO started on /srv\n2026-03-01 10:00:01 WARN http://h/ failed\n";
    assert_eq!(Format::of_head(program.as_bytes()), Format::Text);
    assert_eq!(Format::of_head(b"# Fields of a form\n#Fields: name, age\n"), Format::Text);
}

#[test]
fn patterns_join_the_parts_of_a_target() {
    for (pattern, line, expected) in [
        // Without a literal between them.
        ("$host$request_uri", "h/a?b", "https://h/a?b"),
        ("$status $host$uri $bytes", "200 h//a 5", "https://h//a"),
        ("$scheme://$host$request_uri", "http://h/a", "http://h/a"),
        ("$scheme://$http_host$uri$is_args$args", "http://h:81/a?b", "http://h:81/a?b"),
        ("$scheme://$host:$server_port$uri", "http://[::1]:81/a", "http://[::1]:81/a"),
        ("%v%U%q", "h/a?b", "https://h/a?b"),
        ("%v:%p%U%q", "h:8443/a", "https://h:8443/a"),
        ("$remote_addr$request_uri", "1.1.1.1/a", "https://b/a"),
        // Ports are those of hosts, or show a scheme.
        (r#"%v:%p "%r""#, r#"shop.example:8443 "GET /a HTTP/1.1""#, "https://shop.example:8443/a"),
        (r#"%v:%p "%r""#, r#"h:80 "GET /a HTTP/1.1""#, "http://h:80/a"),
        (r#"%v:%p "%r""#, r#"-:80 "GET /a HTTP/1.1""#, "https://b/a"),
        (r#"%v:%{remote}p "%r""#, r#"h:5555 "GET /a HTTP/1.1""#, "https://h/a"),
        ("$server_port $host $uri", "8080 h /a", "https://h/a"),
        ("$server_port $scheme $host $uri", "443 http h /a", "http://h/a"),
        // Queries on their own.
        ("$host $uri?$args", "h /a?b", "https://h/a?b"),
        ("$host $uri?$args", "h /a?-", "https://h/a"),
        ("$host $uri $query_string", "h /a b=c", "https://h/a?b=c"),
        ("$host $uri $args", "h /a -", "https://h/a"),
        ("$host $request_uri $args", "h /a?b b", "https://h/a?b"),
        ("$host $uri$is_args$args", "h /a?b", "https://h/a?b"),
        ("$host $uri$is_args$args", "h /a-", "https://h/a"),
        ("$host $uri$is_args$args", "h /a-?b-", "https://h/a-?b-"),
        (r#"%V "%U" "%q""#, r#"h "/a" "?b""#, "https://h/a?b"),
        (r#"%V "%U" "%q""#, r#"h "/a" """#, "https://h/a"),
        (r#"%V "%U" "%q""#, r#"h "/\xe9" "?\"x""#, "https://h/%E9?%22x"),
        // Of several hosts and schemes, the first that is one.
        ("$server_name $host $uri", "_ h /a", "https://h/a"),
        ("$http_host $host $uri", "- h /a", "https://h/a"),
        ("$scheme $http_x_forwarded_proto $host $uri", "http https h /a", "https://h/a"),
        ("$scheme $http_x_forwarded_proto $host $uri", "http - h /a", "http://h/a"),
        ("%{X-Forwarded-Proto}i %{Host}i %U", "http h:1 /a", "http://h:1/a"),
        ("$host $uri", "- /a", "https://b/a"),
        ("$host $request_uri", "h http://o/a", "http://o/a"),
    ] {
        let options =
            with("https://b/", &[Context::Target]).log_format(LogFormat::new(pattern).unwrap());
        assert_eq!(
            found(options, Format::Clf, line),
            [format!("target {expected}")],
            "{pattern} {line}"
        );
    }
    let options = with("https://b/", &[]).log_format(LogFormat::new("$host$request_uri").unwrap());
    assert_eq!(found(options.clone(), Format::Clf, "h.examplehttp://o/a\n"), ["text http://o/a"]);
    assert_eq!(found(options, Format::Clf, "h*\n-*\n"), [""; 0]);
}

/// One entry of a log, for writers.
struct Request<'t> {
    path: &'t str,
    query: &'t str,
    referer: &'t str,
    agent: &'t str,
}

const REQUESTS: [Request<'static>; 4] = [
    Request { path: "/a", query: "", referer: "", agent: "" },
    Request {
        path: "/a/b.html",
        query: "x=1&y=%20",
        referer: "http://r.example/?q=1",
        agent: "bot/1(+http://bot.example/)",
    },
    Request { path: "//c", query: "", referer: "https://shop.example/", agent: "x" },
    Request { path: "/%C3%A9", query: "?q", referer: "android-app://com.example/", agent: "" },
];

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

#[test]
fn the_same_entries_have_the_same_links_in_every_format() {
    let (mut common, mut iis, mut cloudfront) = (String::new(), String::new(), String::new());
    let (mut nginx, mut apache) = (String::new(), String::new());
    iis += "#Fields: cs(User-Agent) time cs-uri-query cs-uri-stem cs(Referer)\n";
    cloudfront +=
        "#Fields: time x-edge-location cs-uri-stem cs(Referer) cs(User-Agent) cs-uri-query\n";
    for Request { path, query, referer, agent } in REQUESTS {
        let target = if query.is_empty() {
            path.to_owned()
        } else {
            format!("{path}?{}", query.trim_start_matches('?'))
        };
        let [referer, agent, query] = [or_dash(referer), or_dash(agent), or_dash(query)];
        common += &format!(
            "h - - [10/Oct/2000:13:55:36 -0700] \"GET {target} HTTP/1.1\" 200 1 \"{referer}\" \"{agent}\"\n"
        );
        let mark = target.find('?').map_or("", |at| &target[at..]);
        nginx += &format!("https://shop.example{target}|{referer}|{agent}\n");
        apache += &format!("shop.example {path} \"{mark}\" \"{referer}\" \"{agent}\"\n");
        iis += &format!("{agent} 10:00:00 {query} {path} {referer}\n");
        let coded = |text: &str| text.replace('%', "%25");
        let cells = [path, referer, agent, query].map(coded).join("\t");
        cloudfront += &format!("10:00:00\tFRA2\t{cells}\n");
    }
    let sorted = |format: Format, log: &str| {
        let mut all = found(with("https://shop.example", &[]), format, log);
        all.sort();
        all
    };
    let expected = sorted(Format::Clf, &common);
    assert_eq!(expected.len(), 8);
    assert_eq!(sorted(Format::W3c, &iis), expected);
    assert_eq!(sorted(Format::W3c, &cloudfront), expected);
    for (pattern, log) in [
        ("$scheme://$host$request_uri|$http_referer|$http_user_agent", nginx),
        (r#"%v %U "%q" "%{Referer}i" "%{User-Agent}i""#, apache),
    ] {
        let options =
            with("https://other.example", &[]).log_format(LogFormat::new(pattern).unwrap());
        let mut all = found(options, Format::Clf, &log);
        all.sort();
        assert_eq!(all, expected, "{pattern}");
    }
}
