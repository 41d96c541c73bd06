//! Which links are looked for, and in what: the options of `uriscan extract`.

use pyo3::prelude::*;
use uriscan::extract::{
    Context, ExtractorOptions, Filter, Format, Limit, LogFormat, Options, PageParts, Property,
    RequestFilter, Schemes, StatusRange,
};
use uriscan::set::Timestamp;

use crate::arguments::{base_uri, named, wrong};

/// The keywords of `uriscan.extract`, as the Python half of the package gives them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Find {
    format: String,
    scheme: Option<Vec<String>>,
    unicode: bool,
    unwrap: bool,
    refang: bool,
    bare_hosts: bool,
    email: bool,
    unsplit: bool,
    base: Option<String>,
    fields: Vec<String>,
    delimiter: Option<String>,
    log_format: Option<String>,
    log_field: Vec<String>,
    status: Vec<String>,
    method: Vec<String>,
    since: Option<String>,
    until: Option<String>,
    also: Vec<String>,
    warc_field: Option<String>,
    warc_type: Vec<String>,
    mime: Vec<String>,
    host: Vec<String>,
    domain: Vec<String>,
    r#match: Vec<String>,
    not_scheme: Vec<String>,
    not_host: Vec<String>,
    not_domain: Vec<String>,
    not_match: Vec<String>,
    max_segments: Option<u64>,
    max_repeats: Option<u64>,
    max_params: Option<u64>,
    max_length: Option<u64>,
}

impl Find {
    /// The options of the library.
    ///
    /// # Errors
    /// For a format, field or part that does not exist, a base that is not a URI, and a pattern that is invalid.
    pub(crate) fn options(self) -> PyResult<(ExtractorOptions, Format)> {
        let names = Format::ALL.map(Format::name);
        let format = named("format", &self.format, Format::from_name(&self.format), names)?;
        let links = Options::default()
            .schemes(self.schemes())
            .unicode(self.unicode)
            .unwrap(self.unwrap)
            .refang(self.refang)
            .bare_hosts(self.bare_hosts)
            .email(self.email)
            .unsplit(self.unsplit);
        let log_format = self.log_format.as_deref().map(|pattern| {
            LogFormat::new(pattern).map_err(|error| wrong(format!("log_format: {error}")))
        });
        let log_format = log_format.transpose()?;
        // The Python half only knows that it is a log.
        let format = match &log_format {
            Some(log_format) if format == Format::Clf => log_format.format().unwrap_or(format),
            _ => format,
        };
        let log_fields = self.log_field.iter().map(|name| log_field(name));
        let target = self.warc_field.as_deref();
        let has_target = target.map(|name| {
            let found = (name == "target").then_some(());
            named("warc_field", name, found, ["target"])
        });
        let delimiter = self.delimiter.as_deref().map(|typed| match typed.as_bytes() {
            [byte] if byte.is_ascii() => Ok(*byte),
            _ => Err(wrong(format!("delimiter={typed:?}: an ASCII character is expected"))),
        });
        let options = ExtractorOptions::default()
            .delimiter(delimiter.transpose()?)
            .log_format(log_format)
            .log_fields(log_fields.collect::<PyResult<_>>()?)
            .requests(self.requests()?)
            .warc_targets(has_target.transpose()?.is_some())
            .page_parts(self.page_parts()?)
            .filter(self.filter()?);
        let base = self.base.map(|base| base_uri(&base).map(|_| base.into_bytes())).transpose()?;
        let options = options.find(links).base(base).fields(self.fields);
        Ok((options.warc_types(self.warc_type).media_types(self.mime), format))
    }

    /// The entries of access logs that are read.
    fn requests(&self) -> PyResult<RequestFilter> {
        let status = |text: &String| -> PyResult<StatusRange> {
            text.parse().map_err(|error| wrong(format!("status={text:?}: {error}")))
        };
        let time = |name: &str, text: &Option<String>| -> PyResult<Option<Timestamp>> {
            let parse = |text: &String| {
                text.parse().map_err(|error| wrong(format!("{name}={text:?}: {error}")))
            };
            text.as_ref().map(parse).transpose()
        };
        Ok(RequestFilter::default()
            .statuses(self.status.iter().map(status).collect::<PyResult<_>>()?)
            .methods(self.method.clone())
            .since(time("since", &self.since)?)
            .until(time("until", &self.until)?))
    }

    fn schemes(&self) -> Schemes {
        match &self.scheme {
            None => Schemes::Known,
            Some(names) if *names == ["any"] => Schemes::Any,
            Some(names) => {
                Schemes::List(names.iter().map(|name| name.to_ascii_lowercase()).collect())
            }
        }
    }

    fn page_parts(&self) -> PyResult<PageParts> {
        self.also.iter().try_fold(PageParts::default(), |parts, name| {
            let found = match &name[..] {
                "css" => Some(parts.css(true)),
                "json-ld" => Some(parts.json_ld(true)),
                "meta" => Some(parts.meta(true)),
                "data" => Some(parts.data(true)),
                "script" => Some(parts.script(true)),
                "attributes" => Some(parts.attributes(true)),
                _ => None,
            };
            named("also", name, found, ["css", "json-ld", "meta", "data", "script", "attributes"])
        })
    }

    /// The links to keep, apart from those that `scheme` names: no others are found.
    fn filter(&self) -> PyResult<Filter> {
        let mut filter = Filter::default();
        for (option, values, property) in [
            ("host", &self.host, Property::host as Parse),
            ("domain", &self.domain, Property::domain),
            ("match", &self.r#match, Property::pattern),
        ] {
            filter = properties(option, values, property)?.into_iter().fold(filter, Filter::only);
        }
        for (option, values, property) in [
            ("not_scheme", &self.not_scheme, Property::scheme as Parse),
            ("not_host", &self.not_host, Property::host),
            ("not_domain", &self.not_domain, Property::domain),
            ("not_match", &self.not_match, Property::pattern),
        ] {
            filter = properties(option, values, property)?.into_iter().fold(filter, Filter::not);
        }
        for (limit, most) in [
            (Limit::Segments, self.max_segments),
            (Limit::Repeats, self.max_repeats),
            (Limit::Params, self.max_params),
            (Limit::Length, self.max_length),
        ] {
            filter = most.into_iter().fold(filter, |filter, most| filter.at_most(limit, most));
        }
        filter.compiled().map_err(|error| wrong(format!("match: {error}")))
    }
}

/// Reads a value.
type Parse = fn(&str) -> Result<Property, String>;

fn properties(option: &str, values: &[String], property: Parse) -> PyResult<Vec<Property>> {
    let property = |value: &String| {
        property(value).map_err(|error| wrong(format!("{option}={value:?}: {error}")))
    };
    values.iter().map(property).collect()
}

fn log_field(name: &str) -> PyResult<Context> {
    let found = match name {
        "target" | "request" => Some(Context::Target),
        "referer" | "referrer" => Some(Context::Referer),
        "agent" => Some(Context::Agent),
        _ => None,
    };
    named("log_field", name, found, ["target", "referer", "agent"])
}
