//! The findings of the audit, with all that is known of them.

use std::sync::Arc;

use arrow_array::builder::{StringBuilder, UInt32Builder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use uriscan::Error;
use uriscan::audit::{Rule, RuleSet, audit};
use uriscan_arrow::Columns;

use crate::texts;

/// The rules that `select` names, all if it names none, without those that `ignore` names.
///
/// # Errors
/// A name of no rule.
pub(crate) fn rules(select: &[String], ignore: &[String]) -> PyResult<RuleSet> {
    let named = |option: &str, names: &[String]| {
        names.iter().try_fold(RuleSet::none(), |set, name| {
            let found = RuleSet::named(name).ok_or_else(|| {
                let names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
                PyValueError::new_err(format!(
                    "{option}={name:?}: there are all, sections such as 7.4, and {}",
                    names.join(", ")
                ))
            })?;
            Ok::<_, PyErr>(set.or(found))
        })
    };
    let selected = named("select", select)?;
    let selected = if select.is_empty() { RuleSet::all() } else { selected };
    Ok(selected.without(named("ignore", ignore)?))
}

/// The findings in every value: a list of structs, null where the value is.
pub(crate) fn of(columns: &Columns, chunk: &ArrayRef, rules: RuleSet) -> Result<ArrayRef, Error> {
    // Finds the few values that deserve a closer look.
    let names = columns.audit(chunk, rules)?;
    let names = names.as_list::<i32>();
    let values = texts::spelled_out(chunk)?;
    let mut made = Made::default();
    let mut lengths = Vec::with_capacity(chunk.len());
    let mut findings = Vec::new();
    for row in 0..names.len() {
        findings.clear();
        if let Some(record) = texts::record(&values, row).filter(|_| names.value_length(row) > 0) {
            audit(record, rules, &mut findings);
        }
        findings.iter().for_each(|finding| made.push(finding));
        lengths.push(findings.len());
    }
    let findings = made.finish();
    let item = Arc::new(Field::new_list_field(findings.data_type().clone(), false));
    let nulls: Option<NullBuffer> = names.nulls().cloned();
    Ok(Arc::new(LargeListArray::new(item, OffsetBuffer::from_lengths(lengths), findings, nulls)))
}

/// The columns of the findings.
#[derive(Default)]
struct Made {
    texts: [StringBuilder; 5],
    numbers: [UInt32Builder; 3],
}

impl Made {
    fn push(&mut self, finding: &uriscan::audit::Finding) {
        let [rule, severity, section, message, consequence] = &mut self.texts;
        rule.append_value(finding.rule.name());
        severity.append_value(finding.severity.name());
        section.append_value(finding.rule.section());
        message.append_value(finding.message());
        consequence.append_value(finding.rule.consequence());
        let [start, end, count] = &mut self.numbers;
        start.append_value(finding.start);
        end.append_value(finding.end);
        count.append_value(finding.count);
    }

    fn finish(self) -> ArrayRef {
        let field = |name: &str, data_type| Field::new(name, data_type, false);
        let texts = ["rule", "severity", "section", "message", "consequence"];
        let texts = texts.map(|name| field(name, DataType::Utf8)).into_iter();
        let numbers = ["start", "end", "count"].map(|name| field(name, DataType::UInt32));
        let fields: Fields = texts.chain(numbers).collect();
        let texts = self.texts.map(|mut made| Arc::new(made.finish()) as ArrayRef);
        let numbers = self.numbers.map(|mut made| Arc::new(made.finish()) as ArrayRef);
        Arc::new(StructArray::new(fields, texts.into_iter().chain(numbers).collect(), None))
    }
}
