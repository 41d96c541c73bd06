//! Lines of logs under patterns that anybody may write, and secrets in references: what is masked stays a reference with
//! the same components, and masking it again changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use uriscan::audit::redact_into;
use uriscan::extract::{Context, Extractor, ExtractorOptions, Format, Links, LogFormat};
use uriscan::uri::parse;
use uriscan::{Kernels, PaddedBuf, Span};

fuzz_target!(|data: &[u8]| {
    let split = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
    let (pattern, text) = (&data[..split], data.get(split + 1..).unwrap_or_default());
    entries(&String::from_utf8_lossy(pattern), text);
    for line in data.split(|&byte| byte == b'\n') {
        masked(line);
    }
});

fn entries(pattern: &str, text: &[u8]) {
    let Ok(log_format) = LogFormat::new(pattern) else { return };
    let options = ExtractorOptions::default().log_format(log_format);
    let buf = PaddedBuf::from_content(text);
    let all = |kernels: Kernels| -> Vec<(Span, Context, Vec<u8>)> {
        let mut links = Links::new();
        Extractor::new(options.clone()).extract(kernels, Format::Clf, buf.padded(), &mut links);
        links.iter(text).map(|(link, uri)| (link.span, link.context, uri.to_vec())).collect()
    };
    let mut backends = Kernels::available();
    let first = all(backends.next().expect("the scalar one"));
    backends.for_each(|kernels| assert_eq!(all(kernels), first));
    for (span, _, _) in &first {
        assert!(span.start <= span.end && span.end as usize <= text.len());
    }
}

fn masked(line: &[u8]) {
    let (mut once, mut twice) = (Vec::new(), Vec::new());
    let count = redact_into(line, &mut once);
    assert!(count > 0 || once == line);
    redact_into(&once, &mut twice);
    assert_eq!(twice, once, "{}", line.escape_ascii());
    if let Ok(before) = parse(line) {
        let after = parse(&once).expect("what is masked stays a reference");
        assert_eq!(after.scheme(&once), before.scheme(line));
        assert_eq!(after.host(&once), before.host(line));
        assert_eq!(after.query(&once).is_some(), before.query(line).is_some());
        assert_eq!(after.fragment(&once).is_some(), before.fragment(line).is_some());
    }
}
