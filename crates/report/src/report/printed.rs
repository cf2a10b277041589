//! Values printed by another tool.

use analysis::gate::{table::Column, table::count, table::number, table::word};
use plan::PlanSource;
use record::{PrintedRow, Provenance, Run};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::report::object::{object, schema_of_list};

/// What other tools printed, value by value.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Printed {
    /// The files that were read.
    pub(crate) files: Vec<String>,
    #[serde(serialize_with = "values")]
    #[schemars(schema_with = "schema_of_values")]
    pub(crate) values: Vec<PrintedRow>,
}

impl Printed {
    /// None if nothing of `run` is imported.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let of_parts = run.parts.iter().map(|part| part.provenance);
        let mut sources = of_parts.chain([run.manifest.provenance]);
        let files = match &run.manifest.plan.source {
            PlanSource::Import { files, .. } => files.iter().map(|file| file.display().to_string()).collect(),
            _ => Vec::new(),
        };
        let cases = run.manifest.plan.cases.iter();
        let values = || cases.flat_map(|case| run.printed(&case.id).to_vec()).collect();
        sources.any(|one| one == Provenance::Imported).then(|| Self { files, values: values() })
    }

    /// Counts of the printed values, as in `24 of results, 13 around them`; the latter are what a
    /// tool says about the place and time of its run.
    pub(crate) fn counts(&self) -> String {
        let around = self.values.iter().filter(|row| row.statistic == "stated").count();
        let results = self.values.len() - around;
        if around == 0 { format!("{results}") } else { format!("{results} of results, {around} around them") }
    }
}

const PRINTED: &[Column<PrintedRow>] = &[
    word("case", "", "The case that it belongs to.", |one| &one.key.case),
    word("phase", "", "The phase.", |one| one.key.phase.name()),
    word("label", "", "What the tool calls it.", |one| &one.label),
    word("statistic", "", "`max`, `mean` and so on; empty where the tool does not say.", |one| {
        &one.statistic
    }),
    word("value", "", "As printed.", |one| &one.value),
    number("number", "", "The number in `unit`; null where it is not a number.", |one| one.number),
    word("unit", "", "Empty for counts and words.", |one| &one.unit),
    word("source", "", "The file.", |one| &one.source),
    count("line", "", "From 1.", |one| Some(one.line.into())),
];

fn values<S: Serializer>(values: &[PrintedRow], serializer: S) -> Result<S::Ok, S::Error> {
    // One at a time: there may be hundreds of thousands.
    serializer.collect_seq(values.iter().map(|one| object(PRINTED, one)))
}

fn schema_of_values(_: &mut SchemaGenerator) -> Schema {
    schema_of_list(PRINTED)
}

/// The unit to be shown after a printed value: empty if its text contains a unit, like `1261MiB/s`.
pub(crate) fn shown_unit<'a>(value: &str, number: Option<f64>, unit: &'a str) -> &'a str {
    let own = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
    let is_factor =
        matches!(own, "" | "k" | "K" | "M" | "G") || own.starts_with("e-") || own.starts_with("e+");
    if number.is_some() && !is_factor { "" } else { unit }
}
