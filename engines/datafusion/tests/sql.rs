//! The functions in SQL, against the library row by row.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, DictionaryArray, LargeStringArray, RecordBatch, StringArray,
    StringViewArray,
};
use datafusion::arrow::datatypes::{Int32Type, Int64Type};
use datafusion::prelude::SessionContext;
use uriscan::key::{PublicHash, PublicHasher};
use uriscan::normalize::{Normalizer, Options};
use uriscan::resolve::{self, BaseUri, Resolver};
use uriscan::uri::parse;
use uriscan_arrow::{COMPONENTS, Columns, OptionValue};

const TEXTS: [Option<&str>; 15] = [
    Some("HTTP://Example.com:80/%7Ebob"),
    Some("http://example.com/~bob"),
    None,
    Some("a b"),
    Some("../x?q#f"),
    Some("http://[::1]:8080/a?b"),
    Some(""),
    Some("mailto:a@B.example"),
    Some("https://www.bbc.co.uk/?utm_source=x&id=1#f"),
    Some("http://b\u{fc}cher.example/\u{e9}"),
    Some("http:g"),
    Some("http://h/%zz"),
    Some("  http://h/  "),
    Some("www.example.com/x"),
    Some("http://1.2.3.4/"),
];

/// A context with a table `t` of the column `u`, as text of each type.
fn contexts() -> Vec<SessionContext> {
    let columns: [ArrayRef; 4] = [
        Arc::new(StringArray::from(TEXTS.to_vec())),
        Arc::new(LargeStringArray::from(TEXTS.to_vec())),
        Arc::new(StringViewArray::from(TEXTS.to_vec())),
        Arc::new(TEXTS.into_iter().collect::<DictionaryArray<Int32Type>>()),
    ];
    let context = |column: ArrayRef| {
        let context = SessionContext::new();
        for function in uriscan_datafusion::functions() {
            context.register_udf(function);
        }
        let batch = RecordBatch::try_from_iter_with_nullable([("u", column, true)]).unwrap();
        context.register_batch("t", batch).unwrap();
        context
    };
    columns.into_iter().map(context).collect()
}

/// What an expression gives for every row.
async fn column(context: &SessionContext, expression: &str) -> ArrayRef {
    let frame = context.sql(&format!("SELECT {expression} AS x FROM t")).await.unwrap();
    let batches = frame.collect().await.unwrap();
    assert_eq!(batches.len(), 1);
    batches[0].column(0).clone()
}

fn texts(column: &ArrayRef) -> Vec<Option<String>> {
    let column =
        datafusion::arrow::compute::cast(column, &datafusion::arrow::datatypes::DataType::Utf8);
    let column = column.unwrap();
    column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
}

#[tokio::test]
async fn functions_give_what_the_library_gives() {
    let mut one = Normalizer::new(Options::default());
    let records = TEXTS.map(|text| text.map(str::trim));
    let forms: Vec<Option<String>> = records
        .iter()
        .map(|text| {
            let form =
                text.map(|text| one.normalize(text.as_bytes()).map_or(text.into(), <[u8]>::to_vec));
            form.map(|form| String::from_utf8(form).unwrap())
        })
        .collect();
    let base = BaseUri::new(b"http://h/a/b").unwrap();
    let mut resolver = Resolver::new(base, resolve::Options::default());
    for context in contexts() {
        assert_eq!(texts(&column(&context, "uri_normalize(u)").await), forms);
        assert_eq!(
            texts(&column(&context, "uri_normalize(u, 'string')").await)[0].as_deref(),
            TEXTS[0]
        );
        let keys = column(&context, "uri_key(u)").await;
        let keys = keys.as_fixed_size_binary();
        let by_sha256 = column(&context, "uri_key(u, 'scheme', 'sha256')").await;
        let by_sha256 = by_sha256.as_fixed_size_binary();
        let hosts = texts(&column(&context, "uri_part(u, 'host')").await);
        let valid = column(&context, "uri_valid(u)").await;
        let targets = texts(&column(&context, "uri_resolve(u, 'http://h/a/b')").await);
        for (row, text) in records.iter().enumerate() {
            let Some(text) = text else {
                assert!(keys.is_null(row) && hosts[row].is_none() && valid.is_null(row));
                assert!(by_sha256.is_null(row) && targets[row].is_none());
                continue;
            };
            let form = forms[row].as_ref().unwrap();
            let key = |hash| PublicHasher::new(hash).key(form.as_bytes()).0.to_be_bytes();
            assert_eq!(keys.value(row), key(PublicHash::Blake3));
            assert_eq!(by_sha256.value(row), key(PublicHash::Sha256));
            let parts = parse(text.as_bytes());
            let host = parts.ok().and_then(|parts| parts.host(text.as_bytes()));
            assert_eq!(hosts[row].as_deref().map(str::as_bytes), host);
            assert_eq!(valid.as_boolean().value(row), parts.is_ok_and(|parts| parts.is_uri()));
            let target = resolver.resolve(text.as_bytes()).ok();
            assert_eq!(targets[row].as_deref().map(str::as_bytes), target);
        }
    }
}

/// Keys are kept outside: these are what `b3sum --length 16` and the start of what `sha256sum` give for
/// `http://example.com/~bob`.
#[tokio::test]
async fn keys_do_not_change() {
    for context in contexts() {
        for (expression, expected) in [
            ("uri_key(u)", 0x59560bdcf3861ebf1fad74040cb3edf9_u128),
            ("uri_key(u, 'scheme', 'blake3')", 0x59560bdcf3861ebf1fad74040cb3edf9),
            ("uri_key(u, 'scheme', 'sha256')", 0xb4f30cc0931d28ff34c07792a5a3ee5c),
        ] {
            let keys = column(&context, expression).await;
            let keys = keys.as_fixed_size_binary();
            assert_eq!(keys.value(0), expected.to_be_bytes(), "{expression}");
            assert_eq!(keys.value(1), expected.to_be_bytes(), "{expression}");
        }
    }
}

#[tokio::test]
async fn distinct_by_key_keeps_one_of_each_class() {
    for context in contexts() {
        let frame = context.sql("SELECT count(DISTINCT uri_key(u)) AS n FROM t").await.unwrap();
        let batches = frame.collect().await.unwrap();
        let counts = batches[0].column(0);
        let counts = counts.as_primitive::<Int64Type>();
        assert_eq!(counts.value(0), TEXTS.len() as i64 - 2);
    }
}

/// Options as SQL and as the library has them.
fn options() -> Vec<(&'static str, Vec<(&'static str, OptionValue)>)> {
    let list =
        |texts: &[&str]| OptionValue::List(texts.iter().map(|&text| text.to_owned()).collect());
    vec![
        ("{'level': 'syntax'}", vec![("level", "syntax".into())]),
        ("{'level': 'string'}", vec![("level", "string".into())]),
        ("{'preset': 'crawl'}", vec![("preset", "crawl".into())]),
        ("{'drop_fragment': true}", vec![("drop_fragment", true.into())]),
        ("{'profile': 'whatwg'}", vec![("profile", "whatwg".into())]),
        ("{'base': 'http://base.example/a/b'}", vec![("base", "http://base.example/a/b".into())]),
        ("{'on_invalid': 'drop'}", vec![("on_invalid", "drop".into())]),
        (
            "{'rule': ['fragment', 'drop-param=utm_*']}",
            vec![("rule", list(&["fragment", "drop-param=utm_*"]))],
        ),
        (
            "{'preset': 'crawl', 'no_rule': ['anchor']}",
            vec![("preset", "crawl".into()), ("no_rule", list(&["anchor"]))],
        ),
        ("{'suffix_scheme': 'https'}", vec![("suffix_scheme", "https".into())]),
        ("{'repair': ['all']}", vec![("repair", list(&["all"]))]),
        ("{'hash': 'sha256'}", vec![("hash", "sha256".into())]),
        ("null", vec![]),
        ("{'preset': null, 'rule': [], 'drop_fragment': null}", vec![]),
    ]
}

fn library(options: Vec<(&'static str, OptionValue)>) -> (Columns, arrow_array::StringArray) {
    let no_pack = |name: &str| Err(format!("there is no built-in rules file {name}"));
    let columns = Columns::from_options(options, no_pack).unwrap();
    (columns, arrow_array::StringArray::from(TEXTS.to_vec()))
}

/// What the library gives as texts.
fn listed(column: &dyn arrow_array::Array) -> Vec<Option<String>> {
    column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
}

#[tokio::test]
async fn options_are_those_of_the_library() {
    let mut distinct = std::collections::HashSet::new();
    for (sql, options) in options() {
        let (columns, values) = library(options);
        let forms = listed(&columns.normalize(&values).unwrap());
        let keys = columns.key(&values).unwrap();
        for context in contexts() {
            assert_eq!(
                texts(&column(&context, &format!("uri_normalize(u, {sql})")).await),
                forms,
                "{sql}"
            );
            let found = column(&context, &format!("uri_key(u, {sql})")).await;
            let found: Vec<_> = found.as_fixed_size_binary().iter().collect();
            let expected = keys.as_fixed_size_binary();
            assert!(found.into_iter().eq(expected.iter()), "{sql}");
        }
        distinct.insert((forms, format!("{keys:?}")));
    }
    // The last two are those by default; all others make a difference.
    assert_eq!(distinct.len(), self::options().len() - 1);
}

#[tokio::test]
async fn parts_are_those_of_the_library() {
    let (columns, values) = library(Vec::new());
    let expected = columns.parse(&values).unwrap();
    let expected = expected.as_struct();
    for context in contexts() {
        let whole = column(&context, "uri_parse(u)").await;
        let whole = AsArray::as_struct(&whole);
        assert_eq!(whole.column_names(), COMPONENTS);
        for (name, expected) in COMPONENTS.iter().zip(expected.columns()) {
            let expected = listed(expected);
            assert!(name == &"userinfo" || expected.iter().any(Option::is_some), "{name}");
            assert_eq!(texts(whole.column_by_name(name).unwrap()), expected);
            let one = column(&context, &format!("uri_part(u, '{name}')")).await;
            assert_eq!(texts(&one), expected);
            let of_struct = column(&context, &format!("uri_parse(u)['{name}']")).await;
            assert_eq!(texts(&of_struct), expected);
        }
        let domains = column(&context, "uri_domain(u)").await;
        assert_eq!(texts(&domains), listed(expected.column_by_name("domain").unwrap()));
        assert!((0..whole.len()).any(|row| whole.is_null(row)));
    }
}

/// DataFusion calls `uri_parse` for each of them; they share the texts that the first call has made.
#[tokio::test]
async fn several_parts_are_of_one_parse() {
    let context = &contexts()[0];
    for query in [
        "SELECT uri_parse(u)['host'] AS a, uri_parse(u)['host'] || '' AS x, uri_parse(u) AS b FROM t",
        "SELECT p['host'] AS a, p['host'] || '' AS x, p AS b FROM (SELECT uri_parse(u) AS p FROM t)",
    ] {
        let frame = context.sql(query).await.unwrap();
        let batches = frame.collect().await.unwrap();
        let address = |column: &ArrayRef| AsArray::as_string::<i32>(column).values().as_ptr();
        let whole = AsArray::as_struct(batches[0].column(2));
        let host = whole.column_by_name("host").unwrap();
        assert_eq!(address(batches[0].column(0)), address(host), "{query}");
        assert_eq!(texts(batches[0].column(1)), texts(host));
    }
    // Other options, and other texts, are parsed anew.
    for (query, expected) in [
        ("SELECT uri_parse(u)['host'] AS a, uri_parse(v)['host'] AS b FROM x", ["h", "i"]),
        (
            "SELECT uri_parse(u)['host'] AS a, uri_parse(u, {'iri': true})['host'] AS b FROM x",
            ["h", "h"],
        ),
    ] {
        context
            .sql("CREATE OR REPLACE TABLE x AS VALUES ('http://h/', 'http://i/')")
            .await
            .unwrap();
        let query = query.replace("FROM x", "FROM (SELECT column1 AS u, column2 AS v FROM x)");
        let batches = context.sql(&query).await.unwrap().collect().await.unwrap();
        let found = [0, 1].map(|at| texts(batches[0].column(at))[0].clone().unwrap());
        assert_eq!(found, expected, "{query}");
    }
}

#[tokio::test]
async fn sort_friendly_forms_validity_and_targets() {
    use uriscan::surt::Form;
    let (columns, values) = library(Vec::new());
    let base = BaseUri::new(b"http://h/a").unwrap();
    for context in contexts() {
        for form in Form::ALL {
            let name = form.name();
            let found = column(&context, &format!("uri_surt(u, {{'form': '{name}'}})")).await;
            assert_eq!(texts(&found), listed(&columns.surt(&values, form).unwrap()), "{name}");
        }
        let found = column(&context, "uri_surt(u)").await;
        assert_eq!(texts(&found), listed(&columns.surt(&values, Form::Cdxj).unwrap()));
        for relative in [false, true] {
            let found =
                column(&context, &format!("uri_valid(u, {{'relative': {relative}}})")).await;
            let expected = columns.is_valid(&values, relative).unwrap();
            let expected = expected.as_boolean();
            assert!(AsArray::as_boolean(&found).iter().eq(expected.iter()));
        }
        for lenient in [false, true] {
            let options = format!("{{'lenient_scheme': {lenient}}}");
            let found = column(&context, &format!("uri_resolve(u, 'http://h/a', {options})")).await;
            let mut resolver =
                Resolver::new(base.clone(), resolve::Options::default().lenient_scheme(lenient));
            for (text, found) in TEXTS.iter().zip(texts(&found)) {
                let expected = text.and_then(|text| resolver.resolve(text.trim().as_bytes()).ok());
                assert_eq!(found.as_deref().map(str::as_bytes), expected);
            }
        }
        let none = column(&context, "uri_resolve(u, 'no base')").await;
        assert_eq!(none.null_count(), TEXTS.len());
        let none = column(&context, "uri_resolve(u, null)").await;
        assert_eq!(none.null_count(), TEXTS.len());
    }
}

/// What the extension for DuckDB gives in its tests.
#[tokio::test]
async fn values_are_those_of_duckdb() {
    let context = &contexts()[0];
    for (expression, expected) in [
        ("uri_domain('http://www.bbc.co.uk/x')", Some("bbc.co.uk")),
        ("uri_domain('http://EXAMPLE.com')", Some("EXAMPLE.com")),
        ("uri_domain('http://1.2.3.4/')", None),
        ("uri_domain('http://co.uk/')", None),
        ("uri_domain('a b')", None),
        ("uri_domain(null)", None),
        ("uri_part('http://h', null)", None),
        ("uri_part('http://h/?q=a+b%21', 'query:q')", Some("a+b%21")),
        ("uri_part('http://h/?q=a+b%21', 'query:q:decoded')", Some("a b!")),
        ("uri_part('http://h/?q=a+b%21', 'query:x')", None),
        ("uri_part('http://h/a/b', 'segment:-1')", Some("b")),
        ("uri_resolve('http:g', 'http://h/a', {'lenient_scheme': true})", Some("http://h/g")),
        ("uri_resolve('http:g', 'http://h/a')", Some("http:g")),
        ("uri_normalize('HTTP://h', null)", Some("http://h/")),
        ("uri_normalize('HTTP://Example.com:80/%7Ebob')", Some("http://example.com/~bob")),
        ("uri_normalize('http://h/?utm_source=x', {'preset': 'crawl'})", Some("http://h/")),
        ("uri_surt('http://www.h.de/')", Some("de,h,www)/")),
        ("uri_surt('http://www.h.de/', {'form': 'surt:ia'})", Some("de,h)/")),
    ] {
        let found = texts(&column(context, expression).await);
        assert_eq!(found[0].as_deref(), expected, "{expression}");
    }
    let by_struct = column(context, "uri_key(u, {'hash': 'sha256', 'level': 'syntax'})").await;
    let by_texts = column(context, "uri_key(u, 'syntax', 'sha256')").await;
    assert_eq!(&by_struct, &by_texts);
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let context = &contexts()[0];
    for (expression, what) in [
        ("uri_part(u, 'hots')", "uri_part: there is no part hots; there are scheme, "),
        ("uri_part(u, u)", "the name of the part must be the same for all rows"),
        ("uri_normalize(u, 'shceme')", "uri_normalize: level=\"shceme\": there are string, syntax"),
        ("uri_normalize(u, u)", "level must be the same for all rows"),
        ("uri_key(u, 'scheme', 'md5')", "hash=\"md5\": there are blake3, sha256"),
        (
            "uri_normalize(u, {'levels': 'x'})",
            "uri_normalize: there is no option levels; there are level, ",
        ),
        ("uri_normalize(u, {'level': 'x'})", "level=\"x\": there are string, syntax, scheme"),
        ("uri_normalize(u, {'level': 1})", "level is a text, a boolean or a list of texts"),
        ("uri_normalize(u, {'rule': [1]})", "rule is a list of texts"),
        ("uri_normalize(u, {'rule': ['fragment', null]})", "without nulls"),
        (
            "uri_normalize(u, {'rules': '/etc/passwd'})",
            "there is no built-in rules file /etc/passwd",
        ),
        ("uri_normalize(u, {'level': u})", "options must be the same for all rows"),
        ("uri_normalize(u, 5)", "options are a struct, such as {'level': 'syntax'}"),
        ("uri_normalize(u, {'level': 'syntax'}, {'level': 'syntax'})", "takes 1 texts and options"),
        ("uri_domain(u, 'x')", "options are a struct"),
        ("uri_normalize(5)", "uri_normalize takes texts, not Int64"),
        ("uri_part(u)", "uri_part takes 2 texts"),
        ("uri_surt(u, {'form': 'x'})", "there are ssurt, surt:cdxj, surt:ia"),
        ("uri_valid(u, {'level': 'syntax'})", "uri_valid: there is no option level"),
        ("uri_resolve(u, u, {'on_invalid': 'error'})", "there is no option on_invalid"),
        ("uri_key('a b', {'on_invalid': 'error'})", "uri_key: \"a b\": space at byte 1"),
        ("uri_key(u, {'on_invalid': 'error'})", "uri_key: \"a b\": space at byte 1"),
    ] {
        let error = match context.sql(&format!("SELECT {expression} FROM t")).await {
            Ok(frame) => frame.collect().await.unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(what), "{expression}: {error}");
    }
}
