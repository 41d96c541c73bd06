//! Tests what each rule reports and what it does not.

use proptest::prelude::*;

use super::cases::ROWS;
use super::exact::audit_slowly;
use super::*;

pub(super) fn findings(text: &[u8]) -> Vec<Finding> {
    let (mut findings, mut expected) = (Vec::new(), Vec::new());
    audit(text, RuleSet::all(), &mut findings);
    audit_slowly(text, RuleSet::all(), &mut expected);
    assert_eq!(findings, expected, "{}", text.escape_ascii());
    findings
}

#[test]
fn each_rule_finds_its_examples_and_nothing_else() {
    for &(rule, hits, misses) in ROWS {
        for &(text, bytes) in hits {
            let found = findings(text.as_bytes());
            let of_rule = found.iter().find(|finding| finding.rule == rule);
            let Some(finding) = of_rule else { panic!("{rule} in {text}: {found:?}") };
            let range = finding.start as usize..finding.end as usize;
            assert_eq!(&text[range], bytes, "{rule} in {text}");
            assert!(!finding.message().is_empty());
            let mut alone = Vec::new();
            audit(text.as_bytes(), RuleSet::none().with(rule), &mut alone);
            assert!(alone.iter().all(|finding| finding.rule == rule) && alone.contains(finding));
            audit(text.as_bytes(), RuleSet::all().without(RuleSet::none().with(rule)), &mut alone);
            assert!(alone.iter().all(|finding| finding.rule != rule), "{rule} in {text}");
        }
        for text in misses {
            let found = findings(text.as_bytes());
            assert!(
                found.iter().all(|finding| finding.rule != rule),
                "{rule} in {text}: {found:?}"
            );
        }
    }
    let named: Vec<Rule> = ROWS.iter().map(|row| row.0).collect();
    assert_eq!(named, Rule::ALL, "every rule has examples");
}

#[test]
fn details_describe_the_finding() {
    let detail = |text: &str, rule| {
        let found = findings(text.as_bytes());
        found.into_iter().find(|finding| finding.rule == rule).unwrap().message()
    };
    let message = detail("http://h:25/", Rule::PortOtherProtocol);
    assert_eq!(message, "well-known port of another protocol: smtp");
    let message = detail("http://[::ffff:10.1.2.3]/", Rule::AddressPrivate);
    assert_eq!(message, "private address: 10.1.2.3");
    let message = detail("http://xn--80ak6aa92e.com/", Rule::Confusable);
    assert_eq!(message, "host that looks like another one: apple.com");
    let message = detail("http://0x7f.1/", Rule::HostWhatwg);
    assert_eq!(message, "browsers see another host: 127.0.0.1");
    let message = detail("http://h/?old_password=x", Rule::SecretParameter);
    assert_eq!(message, "parameter that looks like a secret: old_password");
    let message = detail("http://h/?token=x&sig=y&password=z", Rule::SecretParameter);
    assert_eq!(message, "parameter that looks like a secret: token (one of 3)");
    let message = detail("http://h/%00%00%00", Rule::EncodedNul);
    assert_eq!(message, "encoded NUL (3 times)");
}

#[test]
fn findings_in_a_query_are_less_severe() {
    let severity = |text: &str| findings(text.as_bytes())[0].severity;
    assert_eq!(severity("http://h/%0A"), Severity::Error);
    assert_eq!(severity("http://h/?%0A"), Severity::Warning);
    assert_eq!(severity("http://h/?%25%34%31"), Severity::Note);
}

#[test]
fn a_parameter_that_stays_in_its_folder_is_less_severe() {
    let severity = |value: &str| {
        let found = findings(format!("http://h/?f={value}").as_bytes());
        found.iter().find(|finding| finding.rule == Rule::TraversalQuery).unwrap().severity
    };
    for value in ["a/../b", "a/..", "a%2F..%2Fb", "a/b/../../c", "a//../b", "./a/../b-1_x.~"] {
        assert_eq!(severity(value), Severity::Note, "{value}");
    }
    for value in [
        "../b",
        "a/../../b",
        "a//../../b",
        "./../b",
        "a/../../b/c/d",
        "/..",
        "a%2f..%2f..%2f",
        // What may be read in other ways, too.
        "/var/www/../etc",
        "file:///../etc",
        "C:%5C..%5Cx",
        "a%5C..%5Cb",
        "a/../..%00.png",
        "a/b/%00/../../x",
        "a/b,../../x",
        "a/..+/../x",
        "/x%3Ff%3D../../etc",
        "a/%c0%ae%c0%ae/../x",
        "%2561/%252e%252e/b",
        "%252e%252e/a",
    ] {
        assert_eq!(severity(value), Severity::Warning, "{value}");
    }
}

#[test]
fn placeholders_are_masked_and_not_reported() {
    for text in [
        "http://h/?token=***",
        "http://h/a;token=***",
        "http://h/#token=[FILTERED]",
        "http://u:***@h/",
        "http://u:xxxx@h/",
        "http://***@h/",
        "http://***:@h/",
        "http://$USER:$GITHUB_TOKEN@h/",
        "http://h/?u=http://u:***@i/",
        "http://h/?u=http%3A%2F%2Fu:***%40i%2F%3Ftoken%3D***",
        "http://h/?d=%7B%22token%22%3A%22***%22%7D",
        "http://h/?api_key=%7Bapi_key%7D&code=***&state=***",
        "http://h/?a=ghp_xxxxxxxxxxxxxxxxxxxx",
    ] {
        let found = findings(text.as_bytes());
        let of_secrets = [Rule::Password, Rule::UserName, Rule::SecretParameter, Rule::Secret];
        let are_secrets = |finding: &&Finding| of_secrets.contains(&finding.rule);
        let found: Vec<_> =
            found.iter().filter(are_secrets).filter(|it| it.end - it.start != 1).collect();
        assert!(found.is_empty(), "{text}: {found:?}");
    }
    // What is masked beside a placeholder is a secret.
    for text in [
        "http://h/?token=***;S3CRETreal",
        "http://h/?password=${PW};S3CRETreal&a=b",
        "http://h/a;token=null;S3CRETreal/b",
        "http://h/#token=***;S3CRET",
        "http://h/?sid=xxx;S3CRET123;x=y",
        "#sk-&\"Q1Z73K8token\":\"Q2Z73K8token={api_key}",
        "http://token=S3CRETreal:***@h/",
        "http://ghp_0123456789abcdef:***@h/",
        "http://h/?token={hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh}",
        // What is found in it is less severe, or nothing.
        "%7b%22jwt%22%3a%22S3CRETq7http://@h",
        "%7b%22jwt%22%3a%22S3CRETq7http://:@h",
        "%22password%22%3A%22S3CRETq7%20http://u@h/",
        "http://h/?x={\"password\":\"S3CRETq7?nextPageToken=5\"}",
        "http://h/?x=token%3DS3CRETq7?pageToken=5",
        "http://h/a;b={\"token\":\"S3CRETq7;pageToken=5",
    ] {
        let of_secrets = [Rule::Password, Rule::SecretParameter, Rule::Secret];
        let is_reported =
            |it: &Finding| of_secrets.contains(&it.rule) && it.severity > Severity::Note;
        assert!(findings(text.as_bytes()).iter().any(is_reported), "{text}");
    }
    // Of several the secret is shown, and counted alone.
    let found = findings(b"http://h/?token=***&password=x1&api_key=%24%7BKEY%7D");
    assert_eq!((found.len(), found[0].start, found[0].count), (1, 29, 1));
    let mut masked = Vec::new();
    redact_into(b"http://h/?api_key=YOUR_KEY", &mut masked);
    assert_eq!(masked, b"http://h/?api_key=***");
}

#[test]
fn tokens_of_pages_are_notes() {
    for name in
        ["pageToken", "next_page_token", "resumptionToken", "continuation-token", "NextToken"]
    {
        let found = findings(format!("http://h/?{name}=CAUQAA").as_bytes());
        assert_eq!((found.len(), found[0].severity), (1, Severity::Note), "{name}");
    }
    for text in [
        "http://h/?page_access_token=CAUQAA",
        "http://h/?fb_page_token=EAABsbCS1iHgBAKZC",
        "http://h/?async_token=abc1234",
        "http://h/?pageToken=ghp_0123456789abcdefghij",
        "http://h/?sid=ghp_0123456789abcdefghij",
    ] {
        assert_eq!(findings(text.as_bytes())[0].severity, Severity::Error, "{text}");
        // Masked it is less severe, and its name is shown all the same.
        let mut found = Vec::new();
        audit_slowly(text.as_bytes(), RuleSet::all().at_least(Severity::Error), &mut found);
        assert!(matches!(&found[0].detail, Detail::Name(name) if **name != *"***"), "{text}");
    }
}

#[test]
fn session_ids_are_less_severe_than_other_secrets() {
    let finding = |text: &str| {
        let found = findings(text.as_bytes());
        assert_eq!(found.len(), 1, "{text}");
        (found[0].severity, found[0].start as usize, found[0].count)
    };
    assert_eq!(finding("http://h/?sid=1"), (Severity::Warning, 14, 1));
    assert_eq!(finding("http://h/?PHPSESSID=1&a=2"), (Severity::Warning, 20, 1));
    assert_eq!(finding("http://h/a;jsessionid=1"), (Severity::Warning, 22, 1));
    assert_eq!(finding("http://h/?s%69d=1"), (Severity::Warning, 16, 1));
    assert_eq!(finding("http://h/?session_token=1"), (Severity::Error, 24, 1));
    // The most severe one is shown, whatever the order.
    assert_eq!(finding("http://h/?sid=1&pwd=2&token=3"), (Severity::Error, 20, 3));
    assert_eq!(finding("http://h/?pwd=1&sid=2"), (Severity::Error, 14, 2));
}

#[test]
fn hostile_records_give_few_findings() {
    for unit in [
        "%00",
        "%0d%0a",
        "/..",
        "/aux",
        "%2f..",
        ";sid=1",
        "?sid=1",
        "\"k\":\"?pageToken=x\",",
        "?token={x}",
        "%252e",
        "\\",
        "%c0%ae",
        "@",
        ":",
    ] {
        for head in ["", "http://h/", "http://h/?", "http://", "http://h/#", "a:"] {
            let text = format!("{head}{}", unit.repeat(20_000));
            assert!(findings(text.as_bytes()).len() < 3 * Rule::ALL.len());
        }
    }
}

/// What `--redact` writes, and all that a finding shows.
fn redacted_and_shown(text: &str) -> (String, String) {
    let mut redacted = Vec::new();
    redact_into(text.as_bytes(), &mut redacted);
    let shown = findings(text.as_bytes()).iter().map(|finding| finding.message() + "\n").collect();
    (String::from_utf8_lossy(&redacted).into_owned(), shown)
}

#[test]
fn no_detail_shows_what_is_masked() {
    for text in [
        "http://h/?http://u:hunter2@h/token=x",
        "http://h/?token%3Dhunter2%26token=x",
        "http://h/?ghp_0123456789hunter2_token=x",
        "http://h/?{\"token\":\"hunter2x_token=1",
        "#mailto:/../%26{\"token\":\"hunter2token=0",
        "http://hunter2\\@h",
        "http://token%3Dhunter2\\a:@",
        "http://u:hunter2@uhunter2\\h@xn--",
        "http://hun\tter2\\@h",
        "http://\u{ff48}unter2\\@h/",
        "http://hunter2.com\\@evil.com/",
        "http://xn--hunter2-\\@h/",
        "http://h/#http:/u:hunter2@h,sid=1",
    ] {
        let (redacted, shown) = redacted_and_shown(text);
        assert!(!redacted.contains("hunter2") && !shown.is_empty(), "{text}: {redacted} {shown}");
        assert!(!shown.contains("unter2"), "{text}: {shown}");
    }
    // What the masked record shows as well is shown.
    for (text, detail) in [
        ("http://u:pw@0x7f.1/?token=x", "browsers see another host: 127.0.0.1"),
        ("http://u:pw@h/?old_password=x", "a secret: old_password"),
        ("http://u:pw@10.0.0.1/", "private address: 10.0.0.1"),
    ] {
        assert!(redacted_and_shown(text).1.contains(detail), "{text}");
    }
}

#[test]
fn what_is_masked_is_a_finding() {
    for (text, severity) in [
        ("https://h/?q=ghp_0123456789abcdefghij", Severity::Error),
        ("http://h/?u=http%3A%2F%2Fu%3Apw%40h", Severity::Error),
        ("jdbc:mysql://u:pw@h", Severity::Error),
        ("http:/u:pw@h", Severity::Error),
        ("blob:http://u:pw@h/", Severity::Error),
        ("http://h/?d=%7B%22token%22%3A%22a%22%7D", Severity::Warning),
        ("http://h/?code=a&state=b", Severity::Warning),
        ("http://h/?u=//key@i/", Severity::Note),
        ("http://key@h/", Severity::Note),
        ("http://h/?token=a", Severity::Error),
    ] {
        let found = findings(text.as_bytes());
        assert_eq!(found.iter().map(|finding| finding.severity).max(), Some(severity), "{text}");
    }
    // One finding, with the number of secrets.
    let found = findings(b"http://h/?token=a&u=http://u:p@i/%3Fsid%3D1");
    let secret = found.iter().find(|finding| finding.rule == Rule::Secret).unwrap();
    assert_eq!((secret.count, secret.severity), (2, Severity::Error));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 600 } else { 4000 }))]

    #[test]
    fn anything_can_be_audited_and_redacted(text in proptest::collection::vec(any::<u8>(), 0..80), head in "(|http://|a:|//)") {
        let text = [head.as_bytes(), &text].concat();
        let found = findings(&text);
        for finding in &found {
            prop_assert!(finding.start <= finding.end && finding.end as usize <= text.len());
        }
        let (mut once, mut twice) = (Vec::new(), Vec::new());
        redact_into(&text, &mut once);
        redact_into(&once, &mut twice);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn a_redacted_reference_is_a_reference(
        text in "(http://)(u:[a-z:]{0,4}@)?(h)(/[a-z;=]{0,6}(;sid=[a-z]{0,3})?)?(\\?([a-z]{0,2}(token|x)=[a-z.=]{0,4}[&;]?){0,3})?(#(pwd=[a-z]{0,3})?)?",
    ) {
        let mut out = Vec::new();
        let count = redact_into(text.as_bytes(), &mut out);
        let (before, after) = (crate::uri::parse(text.as_bytes()), crate::uri::parse(&out));
        let (before, after) = (before.unwrap(), after.unwrap());
        prop_assert_eq!(before.host(text.as_bytes()), after.host(&out));
        prop_assert_eq!(before.query(text.as_bytes()).is_some(), after.query(&out).is_some());
        // Findings of two rules, one secret each per component, may occur more often than they are
        // listed.
        let listed: u32 = findings(text.as_bytes()).iter().filter(|f| f.rule.is_secret()).map(|f| f.count).sum();
        // User names without a password are masked, and listed under a rule of their own.
        let has_lone_user = text.starts_with("http://u:@");
        prop_assert!(count >= listed + u32::from(has_lone_user), "{count} {listed}");
    }
}
