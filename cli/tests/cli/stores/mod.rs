//! Object stores and web servers as inputs and outputs, against a server on this machine that fails as it is told to.

mod answers;
mod datasets;
mod folders;
mod requests;
mod server;
mod tables;

use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::run::{Place, Ran, finish, program};
use server::{Fault, Server};

const SECRET: &str = "very/secret+key";

/// The program with credentials for `server`, which tries each request `attempts` times.
fn command(server: &Server, attempts: usize, args: &[&str]) -> Command {
    let mut command = program(args);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    command
        .env_remove("AWS_PROFILE")
        // Not those of whoever runs the tests.
        .env("AWS_SHARED_CREDENTIALS_FILE", "/none")
        .env("AWS_CONFIG_FILE", "/none")
        .env("AWS_ENDPOINT_URL", server.url(""))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_MAX_ATTEMPTS", attempts.to_string())
        // The same objects by another name.
        .env("GOOGLE_BASE_URL", server.url(""))
        .env("GOOGLE_SKIP_SIGNATURE", "true");
    command
}

#[track_caller]
fn run(server: &Server, args: &[&str]) -> Ran {
    let ran = finish(command(server, 3, args), "");
    assert!(!ran.stderr.contains(SECRET) && !ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
    ran
}

/// A list of so many different URLs, about 60 bytes each.
fn list(count: usize) -> String {
    (0..count).fold(String::new(), |text, n| {
        text + &format!("http://example.com/a/rather/long/path/of/a/page/number/{n:08}\n")
    })
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_list_is_read_from_a_store_and_written_to_it() {
    let server = Server::start();
    server.put("b/in/list.gz", packed("http://h\nHTTP://H/\nhttp://i/\n"));
    let done = run(&server, &["dedup", "s3://b/in/list.gz", "-o", "s3://b/out/list", "--stats"]);
    assert_eq!((done.code, done.text()), (0, ""), "{}", done.stderr);
    assert_eq!(server.get("b/out/list").unwrap(), b"http://h\nhttp://i/\n");
    assert_eq!(run(&server, &["normalize", "s3://b/out/list"]).quiet(), "http://h/\nhttp://i/\n");
    // In place of itself, and with a second output.
    let done = run(
        &server,
        &["dedup", "s3://b/out/list", "-o", "s3://b/out/list", "--dupes", "s3://b/dupes"],
    );
    assert_eq!(done.quiet(), "");
    assert_eq!(server.get("b/out/list").unwrap(), b"http://h\nhttp://i/\n");
    assert_eq!(server.get("b/dupes").unwrap(), b"");
    let refused =
        run(&server, &["dedup", "s3://b/out/list", "-o", "s3://b/x", "--dupes", "s3://b/x"]);
    assert!(refused.refused().contains("s3://b/x: cannot take both"));
    let refused = run(&server, &["key", "s3://b/out/list", "-o", "s3://b/out/list"]);
    assert!(refused.refused().contains("is the input"));
    // An empty list is an object, too.
    server.put("b/empty", "");
    assert_eq!(run(&server, &["dedup", "s3://b/empty", "-o", "s3://b/none"]).quiet(), "");
    assert_eq!(server.get("b/none").unwrap(), b"");
}

#[test]
fn an_object_is_known_by_all_of_its_names() {
    let server = Server::start();
    server.put("b/p/a", "http://h\nhttp://h\n");
    let web = server.url("/b/p/a");
    let encoded = server.url("/b/p/%61?x=1");
    let names = ["s3://b/p/a", "S3://b/p/a", "gs://b/p/a", &web, &encoded];
    for input in names {
        for output in &names[..3] {
            for args in [
                &["dedup", input, "--dupes", output][..],
                &["dedup", input, "--rejects", output],
                &["dedup", input, "--clusters", output],
                &["dedup", input, "--report", output, "-o", "s3://b/x"],
                &["key", input, "-o", output],
                &["dedup", input, "-o", "s3://b/x", "--dupes", "gs://b/x"],
            ] {
                let message = run(&server, args).refused();
                let is_known =
                    message.contains("is the input") || message.contains("cannot take both");
                assert!(is_known, "{args:?}: {message}");
            }
        }
    }
    assert_eq!(server.get("b/p/a").unwrap(), b"http://h\nhttp://h\n");
    // Records may take the place of their own.
    assert_eq!(run(&server, &["dedup", "gs://b/p/a", "-o", "s3://b/p/a"]).quiet(), "");
    assert_eq!(server.get("b/p/a").unwrap(), b"http://h\n");
}

#[cfg(target_os = "linux")]
#[test]
fn settings_have_a_limit() {
    let server = Server::start();
    for variable in ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"] {
        let mut command = command(&server, 1, &["dedup", "s3://b/a"]);
        let ran = finish(
            {
                command.env(variable, "/dev/zero");
                command
            },
            "",
        );
        assert!(ran.refused().contains("/dev/zero: is longer than 1048576 bytes"));
    }
}

#[test]
fn a_key_is_the_name_of_one_object() {
    let server = Server::start();
    server.put("b/p/a", "http://h\n");
    for name in [
        "s3://b//p/a",
        "s3://b///p/a",
        "gs://b//p/a",
        "s3://b/p//a",
        "s3://b/./p/a",
        "s3://b/x/../p/a",
        "s3://b//p/",
        "s3://b//",
        "s3://%62/p/a",
        "s3://b?x/p/a",
    ] {
        for args in [
            &["dedup", name][..],
            &["dedup", "s3://b/p/a", "-o", name],
            &["dedup", "s3://b/p/a", "--dupes", name, "-o", "s3://b/x"],
            &["dedup", "--column", "url", "--from", "csv", name, "-o", "s3://b/x"],
        ] {
            let ran = run(&server, args);
            assert_eq!((ran.code, ran.text()), (2, ""), "{args:?}: {}", ran.stderr);
        }
    }
    assert_eq!(server.below("b/"), [("p/a".to_owned(), b"http://h\n".to_vec())].into());
    // What is percent-encoded is not decoded.
    let message = run(&server, &["dedup", "s3://b/%70/a"]).refused();
    assert!(message.contains("s3://b/%70/a"), "{message}");
}

#[test]
fn large_lists_are_read_and_written_in_parts() {
    let server = Server::start();
    let text = list(320_000);
    assert!(text.len() > 17 << 20);
    server.put("b/list", text.as_bytes());
    server.fail("GET", "/b/list", 3..4, Fault::CutAfter(100_000));
    server.fail("GET", "/b/list", 6..7, Fault::Status(503, "SlowDown"));
    server.fail("PUT", "partNumber=1", 0..1, Fault::Status(500, "InternalError"));
    let done = run(&server, &["normalize", "s3://b/list", "-o", "s3://b/out"]);
    assert_eq!(done.quiet(), "");
    assert!(server.get("b/out").unwrap() == text.as_bytes(), "the list as it was");
    assert_eq!(server.open_uploads(), 0);
    let log = server.log();
    let parts: Vec<usize> =
        log.iter().filter(|seen| seen.method == "GET").map(|seen| seen.sent).collect();
    assert!(parts.iter().all(|&bytes| bytes <= 4 << 20), "{parts:?}");
    // The part that was cut goes on where it stopped.
    let resumed = log.iter().filter_map(|seen| seen.range.as_deref()).find(|range| {
        let start: usize = range["bytes=".len()..range.find('-').unwrap()].parse().unwrap();
        !start.is_multiple_of(256 << 10)
    });
    assert!(resumed.is_some());
}

#[test]
fn an_object_appears_whole_or_not_at_all() {
    let server = Server::start();
    // More than a part, and a record at its end that stops the run: it comes so slowly that the part is sent before.
    server.put("b/list", list(560_000) + "no uri\n");
    server.put("b/out", "old");
    server.fail("GET", "/b/list", 10..11, Fault::Slow(Duration::from_millis(100)));
    let failed =
        run(&server, &["normalize", "--on-invalid", "error", "s3://b/list", "-o", "s3://b/out"]);
    assert!(failed.refused().contains("s3://b/list"));
    assert!(server.log().iter().any(|seen| seen.target.contains("partNumber=1")));
    assert_eq!((server.get("b/out").unwrap(), server.open_uploads()), (b"old".to_vec(), 0));
    // The store takes parts, but does not put them together.
    server.fail("POST", "uploadId=", 0..99, Fault::Status(403, "AccessDenied"));
    let failed = run(&server, &["normalize", "s3://b/list", "-o", "s3://b/out"]);
    assert!(failed.refused().contains("s3://b/out: access denied"));
    assert_eq!((server.get("b/out").unwrap(), server.open_uploads()), (b"old".to_vec(), 0));
}

#[cfg(unix)]
#[test]
fn a_signal_aborts_an_upload() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    let server = Server::start();
    server.put("b/out", "old");
    let mut command = command(&server, 3, &["normalize", "-o", "s3://b/out"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(list(330_000).as_bytes()).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while server.open_uploads() == 0 {
        assert!(Instant::now() < until, "no upload was begun");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    let status = child.wait().unwrap();
    assert!(status.signal() == Some(15) || status.code() == Some(143), "{status}");
    drop(stdin);
    assert_eq!((server.get("b/out").unwrap(), server.open_uploads()), (b"old".to_vec(), 0));
}

#[test]
fn faults_that_pass_are_outlasted() {
    for fault in [
        Fault::Status(503, "SlowDown"),
        Fault::Status(500, "InternalError"),
        Fault::CutAfter(5),
        Fault::Slow(Duration::from_millis(100)),
    ] {
        let server = Server::start();
        server.put("b/list", list(10_000));
        server.fail("GET", "/b/list", 0..2, fault.clone());
        server.fail("HEAD", "/b/list", 0..1, Fault::Status(503, ""));
        server.fail("PUT", "/b/out", 0..1, Fault::Status(503, "SlowDown"));
        let done = run(&server, &["normalize", "s3://b/list", "-o", "s3://b/out"]);
        assert_eq!(done.quiet(), "", "{fault:?}");
        assert!(server.get("b/out").unwrap() == list(10_000).as_bytes(), "{fault:?}");
    }
}

#[test]
fn faults_that_do_not_pass_end_the_run_in_time() {
    for (method, fault, expected) in [
        (
            "GET",
            Fault::Status(503, "SlowDown"),
            "s3://b/list: the server is busy or broken; try again later (HTTP status 503, SlowDown after 2 retries)",
        ),
        (
            "HEAD",
            Fault::Status(503, ""),
            "s3://b/list: the server is busy or broken; try again later (HTTP status 503 after 2 retries)",
        ),
        (
            "GET",
            Fault::Status(403, "AccessDenied"),
            "s3://b/list: access denied; check AWS_ACCESS_KEY_ID",
        ),
        (
            "HEAD",
            Fault::Status(404, ""),
            "s3://b/list: there is no such object, or no such bucket (HTTP status 404)",
        ),
        (
            "HEAD",
            Fault::Redirect("http://127.0.0.1:1/".to_owned()),
            "s3://b/list: the request is not accepted; check AWS_REGION",
        ),
        ("GET", Fault::CutAfter(5), "s3://b/list: the connection broke off"),
        ("GET", Fault::Short, "s3://b/list: the server announced"),
        ("GET", Fault::StallAfter(5), "s3://b/list: "),
        ("PUT", Fault::Status(403, "AccessDenied"), "s3://b/out: access denied"),
        ("PUT", Fault::Status(503, "SlowDown"), "s3://b/out: the server is busy or broken"),
    ] {
        let server = Server::start();
        server.put("b/list", list(10_000));
        server.fail(method, "/b/", 0..99, fault.clone());
        let mut command = command(&server, 3, &["normalize", "s3://b/list", "-o", "s3://b/out"]);
        command.env("AWS_READ_TIMEOUT", "1s");
        let began = Instant::now();
        let message = finish(command, "").refused();
        assert!(message.contains(expected), "{message}, not {expected}");
        assert!(!message.contains(SECRET) && !message.contains('\u{1b}'), "{message}");
        assert!(began.elapsed() < Duration::from_secs(30), "{fault:?}");
        assert_eq!(server.get("b/out"), None);
    }
}

#[test]
fn an_object_that_is_replaced_while_it_is_read_is_an_error() {
    let server = Server::start();
    let text = list(30_000);
    for new in [text.replace("example", "another"), text[..100].to_owned(), text.repeat(2)] {
        server.put("b/list", text.as_bytes());
        server.fail("GET", "/b/list", 1..2, Fault::Replaced(new.into_bytes()));
        let failed = run(&server, &["normalize", "s3://b/list", "-o", "s3://b/out"]);
        assert_eq!(
            failed.refused(),
            "uriscan: s3://b/list: changed while it was read; run it again"
        );
        assert_eq!(server.get("b/out"), None);
    }
}

#[test]
fn all_objects_below_a_prefix_are_read_in_the_order_of_their_names() {
    let server = Server::start();
    for (name, text) in [
        ("b/in/2", "http://h/2\n"),
        ("b/in/1", "http://h/1\n"),
        ("b/in/x/3", "http://h/3\n"),
        ("b/in/", ""),
        ("b/inn", "http://h/no\n"),
    ] {
        server.put(name, text);
    }
    let all = "http://h/1\nhttp://h/2\nhttp://h/3\n";
    assert_eq!(run(&server, &["dedup", "s3://b/in/"]).quiet(), all);
    assert_eq!(run(&server, &["dedup", "s3://b"]).quiet(), all.to_owned() + "http://h/no\n");
    let none = run(&server, &["dedup", "s3://b/none/"]).refused();
    assert!(none.contains("s3://b/none/: there is no object below this prefix"), "{none}");
    // A name that leads elsewhere is not followed.
    server.put("b/in/../../etc", "http://h/no\n");
    let refused = run(&server, &["dedup", "s3://b/in/"]).refused();
    assert!(refused.contains("s3://b/in/"), "{refused}");
    let refused = run(&server, &["dedup", "s3://b/in/../../etc"]).refused();
    assert!(refused.contains("is not a name that an object may have"), "{refused}");
}

#[test]
fn files_of_web_servers_are_read() {
    let server = Server::start();
    let text = list(30_000);
    server.put("list.gz", packed(&text));
    let url = server.url("/list.gz");
    assert!(run(&server, &["normalize", &url]).quiet() == text);
    let signed = url.clone() + "?X-Amz-Signature=0123abc";
    server.fail("GET", "/list.gz", 1..2, Fault::CutAfter(1_000));
    server.fail("GET", "/list.gz", 2..3, Fault::Status(503, ""));
    assert!(run(&server, &["normalize", &signed]).quiet() == text);
    // Redirects lead on, but not for ever.
    server.fail("GET", "/moved", 0..99, Fault::Redirect(url));
    assert!(run(&server, &["normalize", &server.url("/moved")]).quiet() == text);
    server.fail("GET", "/loop", 0..99, Fault::Redirect(server.url("/loop?secret=1")));
    let refused = run(&server, &["normalize", &server.url("/loop")]).refused();
    assert!(refused.contains("/loop: refused to follow redirects"), "{refused}");
    server.fail("GET", "/file", 0..99, Fault::Redirect("file:///etc/passwd".to_owned()));
    assert_eq!(run(&server, &["normalize", &server.url("/file")]).code, 2);
    // Neither a signature nor a password is shown.
    let missing = run(
        &server,
        &["normalize", &server.url("/none?sig=abc").replace("http://", "http://me:pass@")],
    );
    assert_eq!(
        missing.refused(),
        format!(
            "uriscan: {}: there is no such file (HTTP status 404); -e URL is for the URL itself",
            server.url("/none?...")
        )
    );
    let nobody = run(&server, &["extract", "http://127.0.0.1:1/list"]);
    assert_eq!((nobody.code, nobody.text()), (2, ""));
    let what = "uriscan: http://127.0.0.1:1/list: cannot connect: ";
    assert!(nobody.stderr.starts_with(what), "{}", nobody.stderr);
    let refused = run(&server, &["normalize", &signed, "-o", &server.url("/out")]).refused();
    assert!(refused.contains("can only be read"), "{refused}");
}

#[test]
fn a_simple_web_server_will_do() {
    let server = Server::start();
    let text = list(30_000);
    server.put("list", text.as_bytes());
    server.put("page.html", "<a href='x'>");
    server.be_plain();
    assert!(run(&server, &["normalize", &server.url("/list")]).quiet() == text);
    let base = server.url("/x\n");
    assert_eq!(run(&server, &["extract", &server.url("/page.html")]).quiet(), base);
    server.fail("GET", "/list", 0..1, Fault::Status(503, ""));
    server.fail("GET", "/list", 2..3, Fault::Status(403, ""));
    let refused = run(&server, &["normalize", &server.url("/list")]).refused();
    assert!(refused.contains("/list: access denied"), "{refused}");
}

#[test]
fn a_web_page_is_not_a_list() {
    let server = Server::start();
    server.put("page", "\n<!DOCTYPE html><a href='http://h/x'>");
    server.put("text", "Hello, world\nhello again\n");
    for command in ["parse", "normalize", "key", "dedup", "check"] {
        let refused = run(&server, &[command, &server.url("/page")]).refused();
        assert_eq!(
            refused,
            format!(
                "uriscan: {}: is a web page, not a list of URIs; use -e URL or `echo URL | uriscan ...` for the URL itself, `uriscan extract URL` for its links",
                server.url("/page")
            )
        );
    }
    assert_eq!(run(&server, &["extract", &server.url("/page")]).quiet(), "http://h/x\n");
    let linked = run(&server, &["dedup", "--extract", &server.url("/page")]);
    assert_eq!(linked.quiet(), "http://h/x\n");
    let text = run(&server, &["parse", &server.url("/text")]);
    let hint = format!(
        "uriscan: most of {} is not a list of URIs; use -e URL or `echo URL | uriscan ...` for the URL itself\n",
        server.url("/text")
    );
    assert_eq!((text.code, text.stderr), (0, hint));
    // In a store it is what was asked for.
    server.put("b/page", "<html>\n");
    assert_eq!(run(&server, &["normalize", "-q", "s3://b/page"]).quiet(), "<html>\n");
}

#[test]
fn credentials_may_be_in_the_files_of_the_tools() {
    let server = Server::start();
    server.put("b/list", "http://h/\n");
    let place = Place::new(&[
        ("credentials", "[default]\naws_access_key_id = A\naws_secret_access_key = S\n"),
        (
            "config",
            &format!(
                "[default]\nregion = eu-west-1\nendpoint_url = {}\n[profile sso]\nsso_session = x\n",
                server.url("")
            ),
        ),
    ]);
    let with = |profile: &str| {
        let mut command = command(&server, 3, &["dedup", "s3://b/list"]);
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_REGION"]
        {
            command.env_remove(name);
        }
        command.env("AWS_PROFILE", profile);
        command.env("AWS_SHARED_CREDENTIALS_FILE", place.path("credentials"));
        command.env("AWS_CONFIG_FILE", place.path("config"));
        command
    };
    assert_eq!(finish(with(""), "").quiet(), "http://h/\n");
    let refused = finish(with("sso"), "").refused();
    let what = "uriscan: s3://b/list: the AWS profile sso uses single sign-on, which needs the AWS tools; `eval";
    assert!(refused.starts_with(what), "{refused}");
    // In the home directory.
    std::fs::create_dir(place.path(".aws")).unwrap();
    for name in ["credentials", "config"] {
        std::fs::rename(place.path(name), place.path(&format!(".aws/{name}"))).unwrap();
    }
    let mut at_home = with("default");
    at_home.env_remove("AWS_SHARED_CREDENTIALS_FILE").env("AWS_CONFIG_FILE", "~/.aws/config");
    at_home.env("HOME", place.path("")).env("USERPROFILE", place.path(""));
    assert_eq!(finish(at_home, "").quiet(), "http://h/\n");
    // What is not for S3 does not read them.
    let mut page = with("none");
    page.args(["-q", &server.url("/b/list")]);
    let refused = finish(page, "").refused();
    assert!(refused.contains("the AWS profile none is neither in"), "{refused}");
    let mut page = program(["normalize", &server.url("/b/list")]);
    page.env("AWS_PROFILE", "none");
    assert_eq!(finish(page, "").quiet(), "http://h/\n");
}

#[test]
fn credentials_are_asked_for_and_files_come_first() {
    let server = Server::start();
    server.put("b/list", "http://h/\n");
    let place = Place::new(&[("list", "http://h/\n")]);
    let mut anonymous = command(&server, 3, &["dedup", "s3://b/list"]);
    anonymous.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    // Not what the machine of the test may say.
    anonymous.env("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1/");
    let refused = finish(anonymous, "").refused();
    assert!(refused.contains("s3://b/list: no credentials; set AWS_ACCESS_KEY_ID"), "{refused}");
    let mut public = command(&server, 3, &["dedup", "s3://b/list"]);
    public.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    public.env("AWS_SKIP_SIGNATURE", "true");
    assert_eq!(finish(public, "").quiet(), "http://h/\n");
    // A file that has such a name is a file.
    std::fs::create_dir_all(place.path("s3:/b")).unwrap();
    std::fs::write(place.path("s3:/b/list"), "http://local/\n").unwrap();
    assert_eq!(place.run(&["dedup", "s3://b/list"], "").quiet(), "http://local/\n");
}
