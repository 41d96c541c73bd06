//! The formats of access logs: those that have a name, and patterns.

use core::cell::LazyCell;
use core::ops::Range;
use std::sync::LazyLock;

use memchr::memchr_iter;

use super::json_log::{Object, Writer};
use super::log_fields::{Escapes, Facts, Fields, Found, SEARCHED};
use super::log_pattern::Pattern;
use super::{Format, combined};

/// A form of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// The Common or Combined Log Format.
    Combined,
    Pattern(Pattern, Sign),
    Json(Writer),
}

/// What each entry in a pattern has, so that few other lines are compared with the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// A time of the day.
    Time,
    /// A digit at the beginning, of seconds since 1970.
    Digit,
    /// It is not known: the pattern was typed.
    Unknown,
}

/// Whether there is a time of the day in `line`.
fn has_time(line: &[u8]) -> bool {
    memchr_iter(b':', line).any(|colon| {
        let minutes = line.get(colon + 1..colon + 4);
        minutes.is_some_and(|it| it[0].is_ascii_digit() && it[1].is_ascii_digit() && it[2] == b':')
    })
}

/// The patterns and members of the formats that have a name. A name may have several.
static NAMED: &[(&str, &[Known])] = &[
    ("combined", &[Known::Combined]),
    ("vhost", &[Known::Combined]),
    ("alb", &[Known::Pattern(ALB)]),
    ("elb", &[Known::Pattern(ELB)]),
    ("s3", &[Known::Pattern(S3), Known::Pattern(S3_OF_2018)]),
    ("squid", &[Known::Pattern(SQUID)]),
    ("haproxy", &[Known::Pattern(HAPROXY)]),
    (
        "envoy",
        &[
            Known::Pattern(ENVOY),
            Known::Pattern(ISTIO),
            Known::Pattern(AMBASSADOR),
            Known::Json(Writer::Envoy),
        ],
    ),
    ("traefik", &[Known::Combined, Known::Json(Writer::Traefik)]),
    ("caddy", &[Known::Json(Writer::Caddy)]),
    ("cloudflare", &[Known::Json(Writer::Cloudflare)]),
    ("nginx", &[Known::Combined, Known::Json(Writer::Nginx)]),
];

/// Other names of the same formats.
static ALIASES: [(&str, &str); 8] = [
    ("apache", "combined"),
    ("clf", "combined"),
    ("common", "combined"),
    ("vhost_combined", "vhost"),
    ("docker", "auto"),
    ("iis", "w3c"),
    ("cloudfront", "w3c"),
    ("netscaler", "w3c"),
];

/// How an entry of [`NAMED`] is read.
#[derive(Clone, Copy, Debug)]
enum Known {
    Combined,
    Pattern(&'static str),
    Json(Writer),
}

const ALB: &str = r#"$type $time_iso8601 $elb $client $target $a $b $c $status $target_status $received $sent "$request" "$http_user_agent"$rest"#;
const ELB: &str = r#"$time_iso8601 $elb $client $backend $a $b $c $status $backend_status $received $sent "$request" "$http_user_agent"$rest"#;
const S3: &str = r#"$owner $bucket [$time_local] $ip $requester $id $operation $key "$request" $status $error $sent $size $total $turn "$http_referer" "$http_user_agent" $version $host_id $signature $cipher $authentication $host $ssl_protocol"#;
/// Before the host and the version of TLS were added.
const S3_OF_2018: &str = r#"$owner $bucket [$time_local] $ip $requester $id $operation $key "$request" $status $error $sent $size $total $turn "$http_referer" "$http_user_agent"$rest"#;
const SQUID: &str = r"$msec\s$elapsed\s$client\s$result/$status\s$bytes\s$request_method\s$request_uri\s$user\s$hierarchy/$peer\s$type";
const HAPROXY: &str = r#"$client [$time_local] $frontend $backend/$server $timers $status $bytes $cookie $set_cookie $flags $connections $queues $headers"$request"$rest"#;
const ENVOY: &str = r#"[$time_iso8601] "$request" $status $flags $counts "$forwarded_for" "$http_user_agent" "$id" "$host" "$upstream"$rest"#;
const AMBASSADOR: &str = r#"ACCESS [$time_iso8601] "$request" $status $flags $counts "$forwarded_for" "$http_user_agent" "$id" "$host" "$upstream"$rest"#;
const ISTIO: &str = r#"[$time_iso8601] "$request" $status $flags $details "$failure" $counts "$forwarded_for" "$http_user_agent" "$id" "$host" "$upstream"$rest"#;

/// The format of the lines of an access log: one with a name, or a pattern.
///
/// The names are `combined`, `nginx`, `vhost`, `w3c`, `alb`, `elb`, `s3`, `squid`, `haproxy`, `envoy`, `traefik`, `caddy`,
/// `cloudflare`, `docker`, and `auto`, which is any of these, line by line. In a pattern, `$name` and `${name}` are
/// variables of nginx, `%h`, `%>s` and `%{Name}i` those of Apache, and all other text is literal; `\"` is a quote, `%%` a
/// percent sign and `\s` white space of any length. A variable extends to the first occurrence of the literal after it;
/// inside quotes, to the first quote without a backslash before it. Of variables without a literal between them,
/// `$host$request_uri` ends at the first slash, and `%U%q` and `$uri$is_args$args` are a path with its query.
///
/// In a line that is not an entry itself, one is looked for that Docker, Kubernetes or the like wrapped.
///
/// ```
/// use uriscan::extract::LogFormat;
/// assert!(LogFormat::new("caddy").is_ok());
/// assert!(LogFormat::new(r#"$remote_addr [$time_local] "$request" $status "$http_referer""#).is_ok());
/// assert!(LogFormat::new(r#"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\""#).is_ok());
/// assert_eq!(LogFormat::new("%h %u").unwrap_err(), "it names no request, path or referrer");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFormat {
    format: Option<Format>,
    forms: Vec<Form>,
    /// Whether it was chosen, so that less of an entry shows what it is.
    is_certain: bool,
    /// Whether what is not a field of an entry is searched as text.
    has_text: bool,
}

/// All formats that have a name.
static AUTO: LazyLock<LogFormat> = LazyLock::new(|| {
    let mut forms = Vec::new();
    for form in NAMED.iter().flat_map(|(_, known)| known.iter()).filter_map(Known::form) {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    LogFormat { format: None, forms, is_certain: false, has_text: true }
});

impl Known {
    fn form(&self) -> Option<Form> {
        Some(match *self {
            Known::Combined => Form::Combined,
            Known::Pattern(pattern) => {
                let sign = if pattern.contains("$time_") { Sign::Time } else { Sign::Digit };
                Form::Pattern(Pattern::new(pattern).ok()?, sign)
            }
            Known::Json(writer) => Form::Json(writer),
        })
    }
}

/// An entry that was read.
pub(crate) struct Read {
    pub(crate) fields: Fields,
    pub(crate) facts: Facts,
    pub(crate) escapes: Escapes,
    /// The ranges of the line that are not searched as text, in their order; `None` if nothing is.
    pub(crate) used: Option<Vec<Range<usize>>>,
}

impl LogFormat {
    /// The format called `typed`, or with this pattern.
    ///
    /// # Errors
    /// A sentence if the name is unknown, or the pattern is invalid or has no field that may hold a link.
    pub fn new(typed: &str) -> Result<LogFormat, String> {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == typed);
        let name = alias.map_or(typed, |(_, name)| name);
        if matches!(name, "auto" | "w3c") {
            let format = match typed {
                "auto" => None,
                "docker" => Some(Format::Clf),
                _ => Some(Format::W3c),
            };
            return Ok(LogFormat { format, ..AUTO.clone() });
        }
        let named = NAMED.iter().find(|(known, _)| *known == name);
        let forms = match named {
            Some((_, known)) => known.iter().filter_map(Known::form).collect(),
            None if !typed.contains(['$', '%']) => {
                let names: Vec<_> = LogFormat::names().collect();
                return Err(format!(
                    "unknown format; a pattern has variables such as $request or %r, and the names are {}",
                    names.join(", ")
                ));
            }
            None => vec![Form::Pattern(Pattern::new(typed)?, Sign::Unknown)],
        };
        Ok(LogFormat {
            format: Some(Format::Clf),
            forms,
            is_certain: true,
            has_text: named.is_some(),
        })
    }

    /// The names of formats.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ["auto", "w3c", "docker"].into_iter().chain(NAMED.iter().map(|(name, _)| *name))
    }

    /// The format of a source with such lines; `None` to detect it.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// All formats that have a name.
    pub(crate) fn auto() -> &'static LogFormat {
        &AUTO
    }

    /// Whether a line in the Combined Log Format is an entry, before any other form.
    pub(crate) fn is_combined(&self) -> bool {
        self.forms.first() == Some(&Form::Combined)
    }

    /// The entry `line`; `None` if it is not one.
    pub(crate) fn read(&self, line: &[u8]) -> Option<Read> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_object = line.first() == Some(&b'{');
        let begins_with_digit = line.first().is_some_and(u8::is_ascii_digit);
        let has_time = LazyCell::new(|| has_time(line));
        let mut object = None;
        self.forms.iter().find_map(|form| match form {
            // No named format but those of JSON begins so.
            Form::Combined | Form::Pattern(..) if is_object && self.has_text => None,
            Form::Combined => {
                let (fields, facts) = combined::fields_of_any(line)?;
                Some(Read { fields, facts, escapes: Escapes::Bytes, used: None })
            }
            Form::Pattern(_, Sign::Time) if !*has_time => None,
            Form::Pattern(_, Sign::Digit) if !begins_with_digit => None,
            Form::Pattern(pattern, _) => {
                let found = pattern.fields(line)?;
                let fields = Fields::of_values(line, &found);
                let is_like = !self.has_text || fields.is_request(line, &found);
                let used = self.has_text.then(|| used(&found, 0));
                let facts = Facts::of_values(&found);
                is_like.then_some(Read { fields, facts, escapes: Escapes::Bytes, used })
            }
            Form::Json(writer) => {
                let object = object.get_or_insert_with(|| Object::read(line)).as_ref()?;
                let (fields, found) = object.entry(line, *writer, self.is_certain)?;
                let (facts, used) = (Facts::of_values(found), Some(used(found, 1)));
                Some(Read { fields, facts, escapes: Escapes::Json, used })
            }
        })
    }
}

/// The ranges of the values in `found` whose links are searched for, in their order, with `quotes` bytes around them.
fn used(found: &Found, quotes: usize) -> Vec<Range<usize>> {
    let ranges = SEARCHED.iter().filter_map(|&value| found[value as usize].clone());
    let mut used: Vec<_> = ranges.map(|at| at.start - quotes..at.end + quotes).collect();
    used.sort_unstable_by_key(|range| range.start);
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_a_format() {
        for name in LogFormat::names().chain(ALIASES.iter().map(|(alias, _)| *alias)) {
            let format = LogFormat::new(name).unwrap();
            assert!(!format.forms.is_empty(), "{name}");
        }
        for (name, known) in NAMED {
            assert!(known.iter().all(|known| known.form().is_some()), "{name}");
        }
        let error = LogFormat::new("haproxi").unwrap_err();
        assert!(error.contains("the names are auto, w3c, docker, combined"), "{error}");
    }
}
