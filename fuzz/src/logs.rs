//! Lines of logs under patterns that anybody may write: the same links on every backend, those of each line alone; and
//! entries written by a pattern give the fields that were written.

use uriscan::extract::{Context, Extractor, ExtractorOptions, Format, Links, LogFormat};
use uriscan::{Kernels, PaddedBuf, Span};

use crate::{BACKENDS, Choice};

/// The Combined Log Format as a pattern.
const COMBINED: &str = r#"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\""#;

/// The first byte chooses the backend; then a pattern, a NUL, and lines.
pub fn check(data: &[u8]) {
    let Some((mut choice, data)) = Choice::split(data) else { return };
    let kernels = BACKENDS[choice.backend()];
    let split = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
    let (pattern, text) = (&data[..split], data.get(split + 1..).unwrap_or_default());
    if let Ok(log_format) = LogFormat::new(&String::from_utf8_lossy(pattern)) {
        check_lines(Some(log_format), text, kernels);
    }
    check_lines(None, text, kernels);
    check_written(text, kernels);
}

fn extractor(log_format: Option<LogFormat>) -> Extractor {
    let base = Some(b"http://base/".to_vec());
    Extractor::new(ExtractorOptions::default().log_format(log_format).base(base))
}

fn all(extractor: &Extractor, text: &[u8], kernels: Kernels) -> Vec<(Span, Context, Vec<u8>)> {
    let buf = PaddedBuf::from_content(text);
    let mut links = Links::new();
    extractor.extract(kernels, Format::Clf, buf.padded(), &mut links);
    links.iter(text).map(|(link, uri)| (link.span, link.context, uri.to_vec())).collect()
}

fn check_lines(log_format: Option<LogFormat>, text: &[u8], kernels: Kernels) {
    let extractor = extractor(log_format);
    let found = all(&extractor, text, kernels);
    let (mut line_by_line, mut start) = (Vec::new(), 0);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        for (span, context, uri) in all(&extractor, line, BACKENDS[0]) {
            assert!(span.start <= span.end && span.end as usize <= line.len());
            let span = Span { start: start + span.start, end: start + span.end };
            line_by_line.push((span, context, uri));
        }
        start += line.len() as u32;
    }
    assert_eq!(found, line_by_line, "{}", text.escape_ascii());
}

/// An entry of the fields in `text` has these fields, as CLF and by the pattern.
fn check_written(text: &[u8], kernels: Kernels) {
    let plain = |text: &[u8]| -> String {
        let is_plain = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-._~/?=&+".contains(byte);
        text.iter().filter(is_plain).map(|&byte| char::from(byte)).collect()
    };
    let mut fields = text.split(|&byte| byte == b'\n').map(plain);
    let mut next = || fields.next().unwrap_or_default();
    let (target, referer, agent) = (next(), next(), next());
    let line = format!(
        "::1 - joe [10/Oct/2000:13:55:36 -0700] \"GET /{target} HTTP/1.1\" 200 5 \"http://h/{referer}\" \"{agent}\"\n"
    );
    let log_format = LogFormat::new(COMBINED).expect("a pattern");
    for extractor in [extractor(None), extractor(Some(log_format))] {
        let found = all(&extractor, line.as_bytes(), kernels);
        let of = |wanted: Context| {
            found
                .iter()
                .find(|link| link.1 == wanted)
                .map(|(span, _, uri)| (span.of(line.as_bytes()), &uri[..]))
        };
        let (raw, _) = of(Context::Target).expect("a target");
        assert_eq!(raw, format!("/{target}").as_bytes(), "{line}");
        let (raw, uri) = of(Context::Referer).expect("a referrer");
        // A link in a field ends as a link in text does.
        assert!(format!("http://h/{referer}").as_bytes().starts_with(uri), "{line}");
        assert_eq!(raw, uri);
    }
}
