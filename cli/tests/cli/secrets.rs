//! Messages: they show no secrets of URLs, and no bytes that a terminal acts on, whatever is typed or set.

use std::process::Command;

use crate::run::{Place, Ran, finish, program, run};

/// What a terminal acts on: a title, a bell, CSI as one character, a change of direction, a line break.
const HOSTILE: &str = "\x1b]0;x\x07\u{9b}2J\u{202e}a\nb";

#[track_caller]
fn check_shown(ran: &Ran, call: &str) {
    assert_eq!(ran.code, 2, "{call}: {}", ran.stderr);
    let is_plain = |c: char| c == '\n' || !c.is_control() && c != '\u{202e}';
    assert!(ran.stderr.chars().all(is_plain), "{call}: {}", ran.stderr.escape_debug());
    assert!(ran.stderr.contains(r"\x1b]0;x\x07\u{9b}2J\u{202e}a\nb"), "{call}: {}", ran.stderr);
    assert_eq!(ran.text(), "", "{call}");
}

#[test]
fn errors_of_the_command_line_escape_what_was_typed() {
    let option = format!("--{HOSTILE}");
    let level = format!("--level={HOSTILE}");
    let similar = format!("--outputt{HOSTILE}");
    for args in [
        &[HOSTILE][..],
        &["dedup", &option],
        &["dedup", &similar],
        &["dedup", &format!("{option}=x")],
        &["dedup", &level],
        &["dedup", "--level", HOSTILE],
        &["dedup", "-j", HOSTILE],
        &["dedup", "--max-memory", HOSTILE],
        &["dedup", "--from", HOSTILE],
        &["audit", "--select", &format!("7.4,{HOSTILE}")],
        &["audit", "--fail-on", HOSTILE],
        &["set", HOSTILE],
        &["set", "stats", &option],
        &["completions", HOSTILE],
        &["help", HOSTILE],
        &["rules", HOSTILE, HOSTILE],
        &["dedup", "--emit", HOSTILE],
    ] {
        let ran = run(args, "");
        check_shown(&ran, &args.join(" "));
    }
}

#[test]
fn errors_of_files_escape_their_names() {
    for args in [
        &["dedup", HOSTILE][..],
        &["audit", HOSTILE],
        &["extract", HOSTILE],
        &["dedup", "--seen", HOSTILE],
        &["dedup", "--rules", HOSTILE],
        &["dedup", "--level", "protocol", "--aliases", HOSTILE],
        &["set", "stats", HOSTILE],
        &["resolve", "--base", "http://h/", HOSTILE],
    ] {
        check_shown(&run(args, ""), &args.join(" "));
    }
}

#[test]
fn colours_of_errors_remain() {
    let mut colourful = program(["dedup", "--frobnicate"]);
    colourful.env("CLICOLOR_FORCE", "1");
    let plain = run(["dedup", "--frobnicate"], "");
    assert!(plain.stderr.starts_with("error: unexpected argument '--frobnicate' found\n"));
    assert_eq!(finish(colourful, "").code, 2);
}

#[test]
fn messages_show_no_secrets_of_urls() {
    let (place, list) = (Place::new(&[("list", "http://h/\n")]), "list");
    for (url, calls) in [
        ("ftp://u:SECRET@h/x?sig=SECRET", 100),
        ("http://u:SECRET@127.0.0.1:9/x?sig=SECRET", 8),
        ("http:/u:SECRET@h/x", 8),
        ("x/http://u:SECRET@h/x", 8),
        ("https://SECRET@127.0.0.1:9/x#token=SECRET", 8),
        ("postgres://:SECRET@h/a b?key=SECRET c", 8),
        ("http:u:SECRET@h/x", 12),
        ("//u:SECRET@h/x", 12),
        ("http://u:a SECRET@h/", 12),
        ("ftp://u:a'SECRET b\"SECRET@h/x", 100),
        ("ftp:u:a: SECRET@h/x y", 100),
    ] {
        let args = [
            &["set", "create", url, list][..],
            &["dedup", "--rules", url, list],
            &["dedup", "--level", "protocol", "--aliases", url, list],
            &["dedup", "--seen", url, list],
            &["dedup", url],
            &["dedup", "--dupes", url, list],
            &["dedup", "--level", url, list],
            &["dedup", &format!("--frobnicate={url}")],
            &["set", "add", url, list],
            &["set", "stats", url],
            &["set", "verify", url],
            &["set", "union", url, url, "-o", url],
            &["dedup", "--seen", url, "--update", list],
            &["dedup", "--temp-dir", url, "--max-memory", "1M", list],
            &["dedup", "--rejects", url, list],
            &["dedup", "--clusters", url, list],
            &["dedup", list, "-o", url],
            &["dedup", "--report", url, list],
            &["dedup", "--frobnicate", url],
            &["dedup", "--preset", url, list],
            &["dedup", "-j", url],
            &["dedup", "--column", "u", url],
            &["extract", "--base", "x", url],
            &["resolve", "--base", url, "--frobnicate"],
            &["man", url],
            &["help", url],
            &[url],
        ];
        for args in args.into_iter().take(calls) {
            let mut command = with(&[], args);
            command.current_dir(place.path(""));
            let ran = finish(command, "");
            assert!(!ran.stderr.contains("SECRET"), "{args:?}: {}", ran.stderr);
            assert!(!ran.text().contains("SECRET"), "{args:?}");
        }
    }
}

/// The program with nothing of the environment but `set`.
fn with(set: &[(&str, &str)], args: &[&str]) -> Command {
    let mut command = program(args);
    command.env_clear().envs(set.iter().copied());
    command
}

#[test]
#[cfg(feature = "full")]
fn settings_of_stores_that_make_no_sense_are_errors() {
    const S3: [(&str, &str); 6] = [
        ("AWS_SHARED_CREDENTIALS_FILE", "/none"),
        ("AWS_CONFIG_FILE", "/none"),
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("AWS_MAX_ATTEMPTS", "1"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
    ];
    const AZURE: [(&str, &str); 3] = [
        ("AZURE_STORAGE_ACCOUNT_NAME", "a"),
        ("AZURE_STORAGE_ACCOUNT_KEY", "aaaa"),
        ("AZURE_STORAGE_ENDPOINT", "http://127.0.0.1:9"),
    ];
    const GOOGLE: [(&str, &str); 1] = [("GOOGLE_BEARER_TOKEN", "t")];
    for (url, set, names) in [
        (
            "s3://b/k",
            &S3[..],
            &[
                "AWS_ENDPOINT_URL",
                "AWS_ENDPOINT",
                "AWS_ENDPOINT_URL_S3",
                "AWS_REGION",
                "AWS_SESSION_TOKEN",
            ][..],
        ),
        ("gs://b/k", &GOOGLE, &["GOOGLE_BASE_URL", "STORAGE_EMULATOR_HOST"]),
        (
            "az://c/k",
            &AZURE,
            &["AZURE_STORAGE_ENDPOINT", "AZURE_STORAGE_ACCOUNT_NAME", "AZURE_AUTHORITY_HOST"],
        ),
        ("http://127.0.0.1:9/", &[], &["HTTP_PROXY", "ALL_PROXY"]),
    ] {
        for name in names {
            for value in ["not a SECRET", "http://[SECRET", "SECRET\n\x1b[31m"] {
                let set = [set, &[(name, value)]].concat();
                let message = finish(with(&set, &["dedup", url]), "").refused();
                assert!(
                    !message.contains("SECRET") || name.ends_with("REGION"),
                    "{name}: {message}"
                );
            }
        }
    }
    let place = Place::new(&[(
        "key.json",
        r#"{"gcs_base_url":"a SECRET","disable_oauth":true,"client_email":"","private_key":"","private_key_id":""}"#,
    )]);
    let (file, text) = (place.path("key.json"), place.read("key.json"));
    for (name, value) in [
        ("GOOGLE_SERVICE_ACCOUNT", file.to_str().unwrap()),
        ("GOOGLE_SERVICE_ACCOUNT_PATH", file.to_str().unwrap()),
        ("GOOGLE_APPLICATION_CREDENTIALS", file.to_str().unwrap()),
        ("GOOGLE_SERVICE_ACCOUNT_KEY", &text),
        ("GOOGLE_SERVICE_ACCOUNT", "/dev/zero"),
    ] {
        let message = finish(with(&[(name, value)], &["dedup", "gs://b/k"]), "").refused();
        assert!(message.contains("GOOGLE_") && !message.contains("SECRET"), "{message}");
    }
    let zero = [&S3[..], &[("SSL_CERT_FILE", "/dev/zero")]].concat();
    let message = finish(with(&zero, &["dedup", "s3://b/k"]), "").refused();
    assert!(message.contains("SSL_CERT_FILE"), "{message}");
    for url in ["s3://a b/k", "s3://a?b/k", "gs://\u{e4}/k", "az://{a}/k"] {
        let set = [&S3[..], &GOOGLE, &AZURE].concat();
        let message = finish(with(&set, &["dedup", url]), "").refused();
        assert!(!message.contains("panicked"), "{message}");
    }
}
