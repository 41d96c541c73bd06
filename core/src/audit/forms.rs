//! What is masked in the forms that programs write: encoded in full, form-encoded, with a userinfo of any content, numbered.

use super::redact_into;

fn redacted(text: &str) -> String {
    let mut out = Vec::new();
    redact_into(text.as_bytes(), &mut out);
    String::from_utf8(out).unwrap()
}

/// Checks that what is masked of the first of each pair is the second.
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(redacted(text), *expected, "{text}");
        assert_eq!(redacted(expected), *expected, "{text}");
    }
}

#[test]
fn a_userinfo_whose_name_has_a_secret_is_masked_as_a_whole() {
    check(&[
        ("http://h/http://i;jsessionid=SECRET:80@", "http://h/http://***@"),
        ("http://x-ghp_0123456789abcdefghij:p@h/", "http://***@h/"),
        ("http://a;token=SECRET:x@h/", "http://***@h/"),
        ("http://token=SECRET:x@h/", "http://***@h/"),
        ("http://h/?u=http:token=SECRET:b@c", "http://h/?u=http:***@c"),
        ("http://h/p=//x;token=SECRET:y@z", "http://h/p=//***@z"),
        ("http://h/http:x,token=SECRET,:y@z", "http://h/http:***@z"),
        ("http://h/?u=http:code=SECRET,state=b:c@d", "http://h/?u=http:***@d"),
        ("http://h/a/http://b&token=SECRET:c@d/", "http://h/a/http://***@d/"),
        ("http://h/?http:%7b%22token%22%3a%22SECRET%22%7du:p@", "http://h/?http:***@"),
        ("http:code=de&%25253Fa%25253BPASS%25253DSECRETu:p@%", "http:***@%"),
        ("http://h/?u=x://a%2526http%253Au%253ASECRET%2540:p@i", "http://h/?u=x://***@i"),
    ]);
    // A name without one is shown.
    check(&[
        ("http://joe;type=a:p@h/", "http://joe;type=a:***@h/"),
        ("http://h/?u=http://joe:p@i/", "http://h/?u=http://joe:***@i/"),
        ("http://h/?u=http:x%3Dy:p@i", "http://h/?u=http:x%3Dy:***@i"),
    ]);
}

#[test]
fn a_scheme_with_one_slash_is_one_within_a_supposed_authority() {
    check(&[
        ("/web/2020/http:ftp:/u:S@i/x", "/web/2020/http:ftp:/u:***@i/x"),
        ("http://h/?a=b&u=http:x+y:/u:S@i", "http://h/?a=b&u=http:x+y:/u:***@i"),
        ("http://h/?u=http:jdbc:mysql:/u:S@i/", "http://h/?u=http:jdbc:mysql:/u:***@i/"),
        ("http://h/a;b=//ftp:/u:S@i/x", "http://h/a;b=//ftp:/u:***@i/x"),
        ("http://http:/u:S@i/x", "http://http:/u:***@i/x"),
        ("http://h/?u=ftp://jdbc:mysql:\\u:S@i", "http://h/?u=ftp://jdbc:***@i"),
        ("http://h/?u=http%3Aftp%3A%2Fu%3AS%40i", "http://h/?u=http%3Aftp%3A%2Fu%3A***%40i"),
    ]);
}

#[test]
fn digits_of_triplets_may_be_encoded_too() {
    check(&[
        ("http://h/?token%25%33%44S", "http://h/?token%25%33%44***"),
        (
            "http://h/?u=http:%25%32%46%25%32%46u:S%25%34%30h/",
            "http://h/?u=http:%25%32%46%25%32%46u:***%25%34%30h/",
        ),
        ("http://h/?q=%25%36%37hp_0123456789abcdefghij", "http://h/?q=***"),
        ("http://h/?token%2%35%33%44S&a", "http://h/?token%2%35%33%44***&a"),
        ("http://h/?%2574%256Fken%25%32%35%33%44S", "http://h/?%2574%256Fken%25%32%35%33%44***"),
        ("http://h/?token%%33%44S", "http://h/?token%%33%44***"),
    ]);
}

#[test]
fn any_text_that_is_encoded_twice_byte_by_byte_is_masked() {
    let all = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    for secret in ["u=http://u:S@i", "token=S", "{\"pin\":\"S\"}", "ghp_0123456789abcdefghij"] {
        let mut text = secret.to_owned();
        for _ in 0..3 {
            text = all(&text);
            assert!(redacted(&format!("http://h/?q={text}")).contains("***"), "{text}");
        }
    }
}

#[test]
fn members_of_json_are_masked_after_any_white_space() {
    for space in ["", " ", "+", "++", "%2B", "%20", "%0A", "%09", "+%0D%0A+", &"+".repeat(100)] {
        for (before, after) in [("\"", "\""), ("%22", "%22"), ("%2522", "%2522"), ("'", "'")] {
            let member = |value: &str| {
                format!("{{{before}token{after}{space}:{space}{before}{value}{after}}}")
            };
            for head in ["http://h/?d=", "http://h/#", "http://h/x/"] {
                let (text, expected) =
                    (head.to_owned() + &member("S+T"), head.to_owned() + &member("***"));
                check(&[(&text, &expected)]);
            }
        }
    }
    check(&[
        (
            "http://h/?d=%7B%22password%22%3A+%22S%22%7D",
            "http://h/?d=%7B%22password%22%3A+%22***%22%7D",
        ),
        ("http://h/?d={+token:+'S',+b:+'c'}", "http://h/?d={+token:+'***',+b:+'c'}"),
        (r#"http://h/?d={"pin":+1234,+"b":1}"#, r#"http://h/?d={"pin":+***,+"b":1}"#),
        (r#"http://h/?d="{\"token\":+\"S\"}""#, r#"http://h/?d="{\"token\":+\"***\"}""#),
        // White space of other kinds.
        (r#"http://h/?d={"token":%C2%A0"S","b":1}"#, r#"http://h/?d={"token":***,"b":1}"#),
        (r#"http://h/?d={"token":\n"S","b":1}"#, r#"http://h/?d={"token":***,"b":1}"#),
    ]);
}

#[test]
fn names_of_secrets_may_have_a_number_or_brackets() {
    for name in [
        "password[0]",
        "password%5Bnew%5D",
        "token%5B0%5D",
        "token%255B0%255D",
        "passwords",
        "passwords[2][value]",
        "token2",
        "api_key_12",
        "id_token_hint",
        "a[token][0]",
        "sid2",
        "user[password][new]",
        "user%5Bpassword%5D%5B2%5D%5Bnew%5D",
    ] {
        check(&[(&format!("http://h/?a=b&{name}=S"), &format!("http://h/?a=b&{name}=***"))]);
    }
    for kept in ["max_tokens=5", "tokens[0]=a", "key2=a", "page[token]x=1", "q[]=sid"] {
        let text = format!("http://h/?{kept}");
        check(&[(&text, &text)]);
    }
}

#[test]
fn random_words_are_tokens_and_slugs_are_not() {
    for token in [
        "sk-proj-Ab3-dEfGh_IjK1mNo-PqRs2uVw_XyZ0aBc",
        "sk-abcdefghijklmnopqrstuvwxyz",
        "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",
        "npm_erKmZKRHTAcgyNIbyVCASGtiqgcHBUtoDPxy",
        "AIzaRPj6qawRHsa__FfESqsSh-tWkZKsdG1zrSN",
        "pypi-AgEIcHlwaS5vcmcCJDA0-x_yZ1-aB2",
    ] {
        check(&[(&format!("https://h/?q={token}"), "https://h/?q=***")]);
    }
    for slug in
        ["sk-learn-tutorial-for-beginners", "hf_models_overview_2024", "pypi-packages-and-more"]
    {
        let text = format!("http://h/{slug}");
        check(&[(&text, &text)]);
    }
}
