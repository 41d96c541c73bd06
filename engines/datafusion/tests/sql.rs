//! The functions in SQL, against the library row by row.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use datafusion::prelude::SessionContext;
use uriscan::key::{PublicHash, PublicHasher};
use uriscan::normalize::{Normalizer, Options};
use uriscan::resolve::{self, BaseUri, Resolver};
use uriscan::uri::parse;

const TEXTS: [Option<&str>; 8] = [
    Some("HTTP://Example.com:80/%7Ebob"),
    Some("http://example.com/~bob"),
    None,
    Some("a b"),
    Some("../x?q#f"),
    Some("http://[::1]:8080/a?b"),
    Some(""),
    Some("mailto:a@B.example"),
];

/// A context with a table `t` of the column `u`, as text of each type.
fn contexts() -> Vec<SessionContext> {
    let columns: [ArrayRef; 3] = [
        Arc::new(StringArray::from(TEXTS.to_vec())),
        Arc::new(LargeStringArray::from(TEXTS.to_vec())),
        Arc::new(StringViewArray::from(TEXTS.to_vec())),
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
    let forms: Vec<Option<String>> = TEXTS
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
        for (row, text) in TEXTS.iter().enumerate() {
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
        let counts = counts.as_primitive::<datafusion::arrow::datatypes::Int64Type>();
        assert_eq!(counts.value(0), 6);
    }
}

#[tokio::test]
async fn what_is_not_there_is_told() {
    let context = &contexts()[0];
    for (expression, what) in [
        ("uri_part(u, 'hots')", "there is no hots"),
        ("uri_normalize(u, 'shceme')", "there is no rung shceme"),
        ("uri_part(u, u)", "must be constant"),
        ("uri_key(u, 'scheme', 'md5')", "there is no hash md5; there are blake3 and sha256"),
        ("uri_key(u, 'scheme', u)", "must be constant"),
    ] {
        let frame = context.sql(&format!("SELECT {expression} FROM t")).await.unwrap();
        let error = frame.collect().await.unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}
