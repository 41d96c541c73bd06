//! References with secrets: what is masked does not show in the result, which stays a reference with the same
//! components, and masking it again changes nothing.

use uriscan::audit::{MASK, redact_into};
use uriscan::uri::{parse, split};

/// Names of parameters that hold secrets whatever else the reference has.
const SECRETS: [&[u8]; 6] = [b"token", b"password", b"api_key", b"sig", b"x-secret", b"sid"];

/// Each line is a reference.
pub fn check(data: &[u8]) {
    for line in data.split(|&byte| byte == b'\n') {
        check_line(line);
    }
}

fn check_line(line: &[u8]) {
    let (mut once, mut twice) = (Vec::new(), Vec::new());
    let count = redact_into(line, &mut once);
    assert!(count > 0 || once == line);
    let again = redact_into(&once, &mut twice);
    assert_eq!(twice, once, "{}", line.escape_ascii());
    assert!(again <= count, "{}", line.escape_ascii());
    check_nothing_shows(&once);
    if let Ok(before) = parse(line) {
        let after = parse(&once).expect("what is masked stays a reference");
        assert_eq!(after.scheme(&once), before.scheme(line));
        // An encoded `@` makes a host of what software may take for a userinfo.
        let host = before.host(line).unwrap_or_default();
        if !host.contains(&b'%') {
            assert_eq!(after.host(&once), before.host(line));
        }
        assert_eq!(after.port(&once), before.port(line));
        assert_eq!(after.query(&once).is_some(), before.query(line).is_some());
        assert_eq!(after.fragment(&once).is_some(), before.fragment(line).is_some());
    }
}

/// No userinfo of `masked` has a name or a password, and no parameter with the name of a secret has a value.
fn check_nothing_shows(masked: &[u8]) {
    let parts = split(masked);
    let userinfo = parts.authority.and_then(|authority| {
        let end = authority.iter().rposition(|&byte| byte == b'@')?;
        Some(&authority[..end])
    });
    if let Some(userinfo) = userinfo.filter(|_| parse(masked).is_ok()) {
        let password = userinfo.splitn(2, |&byte| byte == b':').nth(1);
        let secret = password.filter(|password| !password.is_empty()).unwrap_or(userinfo);
        let is_masked = secret == MASK || secret == b"***:" || secret.iter().all(|&b| b == b':');
        assert!(is_masked, "{}", masked.escape_ascii());
    }
    for component in [parts.query, parts.fragment].into_iter().flatten() {
        for pair in component.split(|byte| b"&;?#".contains(byte)) {
            let Some(equals) = pair.iter().position(|&byte| byte == b'=') else { continue };
            let (name, value) = (pair[..equals].to_ascii_lowercase(), &pair[equals + 1..]);
            if SECRETS.contains(&&name[..]) {
                // A URL in JSON ends where its string does.
                let rest = value.strip_prefix(MASK).unwrap_or(value);
                let ends_string = rest.first() == Some(&b'"')
                    && rest[1..]
                        .trim_ascii_start()
                        .first()
                        .is_some_and(|byte| b",}]".contains(byte));
                assert!(rest.is_empty() || ends_string, "{}", masked.escape_ascii());
            }
        }
    }
}
