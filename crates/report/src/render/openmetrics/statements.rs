//! Statements as families: one for their outcomes, and one for each numeric column of a kind of statement.

use analysis::{
    audit::Outcome,
    gate::{Judgement, Quantity},
};

use super::family::{Family, Labels, with};
use crate::report::Report;
use crate::report::statements::said;

/// The families; `of` gives the labels of a figure by its number.
pub(super) fn families(report: &Report, of: impl Fn(usize) -> Option<Labels>) -> Vec<Family> {
    let mut outcome = Family::new("ioproof_statement", "stateset", "outcome of a statement, by its kind");
    let mut last: Option<&analysis::gate::Row> = None;
    let mut numbers: Vec<Family> = heads(report);
    for one in said(&report.statements, &report.figures) {
        if !one.policy.metrics {
            continue;
        }
        let figure = one.figure.and_then(|figure| of(figure.number)).unwrap_or_default();
        let mut which = with(&figure, &[("statement", one.policy.id), ("figures", &one.figures())]);
        which.extend(one.about.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        // The outcome of judged statements is in a family of its own.
        if !one.judged && last.is_none_or(|last| !std::ptr::eq(last, one.row)) {
            let states = Outcome::ALL.map(Outcome::name);
            let labels = with(&which, &[("because", &one.because())]);
            outcome.put_state(&labels, &states, one.row.outcome.name());
            last = Some(one.row);
        }
        if let Quantity::Judgement(words) = one.quantity {
            let name = format!("ioproof_{}", one.policy.id);
            if let Some(family) = numbers.iter_mut().find(|family| family.name() == name) {
                // The words for measured data or those for a model, whichever list contains the word.
                let mut either = words.chunks(Judgement::COUNT);
                let states = either.find(|states| states.contains(&&*one.text)).unwrap_or(words);
                family.put_state(&which, states, &one.text);
            }
            continue;
        }
        let name = name(one.policy.id, one.name, one.unit);
        let family = numbers.iter_mut().find(|family| family.name() == name);
        if let Some((family, value)) = family.zip(one.value) {
            let labels = match one.unit {
                "" | "s" | "ratio" | "ns" | "bytes" => which,
                unit => with(&which, &[("unit", unit)]),
            };
            family.put(labels, value);
        }
    }
    std::iter::once(outcome).chain(numbers).collect()
}

/// `ioproof_best_gain_ratio`: the name ends with the unit, unless the unit is a label.
fn name(kind: &str, key: &str, unit: &str) -> String {
    let unit = match unit {
        "s" => "seconds",
        "ns" => "nanoseconds",
        "ratio" | "bytes" => unit,
        _ => "",
    };
    if key.ends_with(unit) { format!("ioproof_{kind}_{key}") } else { format!("ioproof_{kind}_{key}_{unit}") }
}

/// A family for each column of numbers; intervals and figures have none.
fn heads(report: &Report) -> Vec<Family> {
    let tables = report.statements.tables.iter().filter(|table| table.kind.policy().metrics);
    let columns = tables.flat_map(|table| table.columns.iter().map(move |head| (table, head)));
    let family = |(table, head): (&analysis::gate::Table, &analysis::gate::Head)| {
        if head.subject {
            return None;
        }
        let id = table.kind.policy().id;
        let unit = match head.quantity {
            Quantity::Judgement(_) => {
                return Some(Family::new(format!("ioproof_{id}"), "stateset", head.about));
            }
            Quantity::Text
            | Quantity::List
            | Quantity::Moment
            | Quantity::Setting
            | Quantity::Figure
            | Quantity::Interval => return None,
            Quantity::Ratio => "ratio",
            Quantity::Seconds => "s",
            Quantity::Nanos => "ns",
            Quantity::Bytes => "bytes",
            Quantity::Count | Quantity::Number | Quantity::Rate | Quantity::Amount | Quantity::Flag => "",
        };
        Some(Family::gauge(name(id, head.key, unit), head.about))
    };
    columns.filter_map(family).collect()
}
