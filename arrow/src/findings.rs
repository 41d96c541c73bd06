//! Kernel for the audit.

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::column::Column;
use super::lists::{List, join};
use super::pieces::{Piece, Row, Work, each_piece};
use super::{Columns, Error, text_to_other};
use uriscan_bulk::pipeline::Scratch;
use uriscan_core::audit::{Marks, Rule, RuleSet, Severity, audit_with, quiet};
use uriscan_core::simd::Isa;

impl Columns {
    /// Returns, for every value, the names of the audit rules (RFC 3986 section 7) that report a
    /// finding: a list of `Utf8`, each name once, in the order of the rules. The list is empty
    /// where there are no findings, and null where the value is.
    ///
    /// ```
    /// use arrow_array::{Array, StringArray, cast::AsArray};
    /// use uriscan_arrow::Columns;
    /// use uriscan::audit::RuleSet;
    /// let urls = StringArray::from(vec!["http://h/", "http://0x7f.1/"]);
    /// let found = Columns::default().audit(&urls, RuleSet::all()).unwrap();
    /// let found = found.as_list::<i32>();
    /// assert!(found.value(0).is_empty());
    /// assert!(found.value(1).as_string::<i32>().iter().flatten().any(|name| name.contains("ipv4")));
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ColumnType`](crate::ErrorKind::ColumnType).
    pub fn audit(&self, values: &dyn Array, rules: RuleSet) -> Result<ArrayRef, Error> {
        text_to_other(values, |values| {
            let pieces = each_piece(self, &Column::new(values)?, &Audit { rules })?;
            join(&DataType::Utf8, pieces)
        })
    }
}

struct Audit {
    rules: RuleSet,
}

impl Work for Audit {
    type Output = List;

    #[inline(always)]
    fn run<I: Isa>(&self, isa: I, piece: &Piece<'_>, _: &mut Scratch) -> List {
        let mut list = List::with_capacity(piece.rows.len());
        let (mut findings, mut marks) = (Vec::new(), Marks::default());
        marks.find(isa, piece.text);
        for value in piece.iter() {
            let mut found = Vec::new();
            match value {
                Row::Null => {
                    list.push_null();
                    continue;
                }
                Row::Value(record) if record.is_empty() => {}
                Row::Value(record) => {
                    if let Some(hint) = quiet::screen(isa, record, &mut marks) {
                        audit_with(hint, record.bytes(), self.rules, &mut findings);
                        found.extend(findings.iter().map(|finding| finding.rule));
                    }
                }
                Row::TooLong(_) if self.rules.reports(Rule::Invalid, Severity::Warning) => {
                    found.push(Rule::Invalid);
                }
                Row::TooLong(_) => {}
            }
            found.sort_unstable();
            found.dedup();
            list.push(found.iter().map(|rule| rule.name().as_bytes()));
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::StringArray;
    use arrow_array::cast::AsArray;
    use uriscan_core::audit::audit;

    use super::*;

    #[test]
    fn rows_side_by_side_have_the_findings_that_each_has_alone() {
        let rows = [
            "http://h/con",
            "http://h/a",
            "ghp_0123456789abcdef",
            "http://h/x&",
            "amp;a",
            "?a=b&tok\nen=x",
            "tok",
            "en=x",
            "?pw",
            "=x",
            "/",
            "%63on",
            "a%4",
            "A%4BIA0123456789ABCDEF",
            "http://h/.",
            "./x",
            "?q=.",
            "..",
            "/../a",
            "%2",
            "e%2e",
            "//u:p@h",
            "/a%",
            "00",
            "///sk-aaaa-bbbb-cccc-dddd",
            "@h",
            "http://h/?pin=1",
            "&code=2&state=3",
        ];
        let found =
            Columns::default().audit(&StringArray::from(rows.to_vec()), RuleSet::all()).unwrap();
        for (number, row) in rows.iter().enumerate() {
            let mut findings = Vec::new();
            audit(row.as_bytes(), RuleSet::all(), &mut findings);
            let mut expected: Vec<Rule> = findings.iter().map(|finding| finding.rule).collect();
            expected.sort_unstable();
            expected.dedup();
            let names = found.as_list::<i32>().value(number);
            let names: Vec<&str> = names.as_string::<i32>().iter().flatten().collect();
            let expected: Vec<&str> = expected.into_iter().map(Rule::name).collect();
            assert_eq!(names, expected, "{row}");
        }
    }
}
