//! What another tool has printed, value by value, and whether it agrees with itself.

use std::fmt::Write as _;

use analysis::table::{Column, count, number, word};
use analysis::{imported_checks, round_trips};
use plan::{Question, visible};
use record::{PrintedRow, Provenance, Run};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::object::{objects, schema_of_list};

/// More values than this are in the record alone.
const VALUES_MAX: usize = 120;

/// The statistic of what a tool says of the place and time of its run.
const STATED: &str = "stated";

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
    /// None where nothing of `run` is imported.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let of_parts = run.parts.iter().map(|part| part.provenance);
        let mut sources = of_parts.chain([run.manifest.provenance]);
        let files = match &run.manifest.plan.question {
            Question::Import { files, .. } => files.iter().map(|file| file.display().to_string()).collect(),
            _ => Vec::new(),
        };
        let cases = run.manifest.plan.cases.iter();
        let values = || cases.flat_map(|case| run.printed(&case.id).to_vec()).collect();
        sources.any(|one| one == Provenance::Imported).then(|| Self { files, values: values() })
    }
}

const PRINTED: &[Column<PrintedRow>] = &[
    word("case", "", "The case that it is of.", |one| &one.key.case),
    word("phase", "", "The phase.", |one| one.key.phase.name()),
    word("label", "", "What the tool calls it.", |one| &one.label),
    word("statistic", "", "`max`, `mean` and so on; empty where the tool does not say.", |one| {
        &one.statistic
    }),
    word("value", "", "As printed.", |one| &one.value),
    number("number", "", "The number in `unit`; null where it is none.", |one| one.number),
    word("unit", "", "Empty of counts and words.", |one| &one.unit),
    word("source", "", "The file.", |one| &one.source),
    count("line", "", "From 1.", |one| Some(one.line.into())),
];

fn values<S: Serializer>(values: &[PrintedRow], serializer: S) -> Result<S::Ok, S::Error> {
    objects(PRINTED, values).serialize(serializer)
}

fn schema_of_values(_: &mut SchemaGenerator) -> Schema {
    schema_of_list(PRINTED)
}

/// The printed values of `run` with their lines, then what was checked with them.
#[must_use]
pub fn imported(run: &Run) -> String {
    let mut out = String::new();
    let cases = run.manifest.plan.cases.iter();
    let rows: Vec<PrintedRow> = cases.flat_map(|case| run.printed(&case.id).to_vec()).collect();
    let stated = rows.iter().filter(|row| row.statistic == STATED).count();
    let around = if stated == 0 { String::new() } else { format!(" of results, {stated} around them") };
    let _ = writeln!(out, "\nprinted values ({}{around})", rows.len() - stated);
    let width = |of: fn(&PrintedRow) -> String| {
        rows.iter().take(VALUES_MAX).map(|row| of(row).chars().count()).max().unwrap_or(0)
    };
    let place = |row: &PrintedRow| format!("{}:{}", row.source, row.line);
    let what = |row: &PrintedRow| format!("{} {}", row.key.case, row.key.phase);
    let widths =
        (width(place), width(what), width(|row| row.label.clone()), width(|row| row.statistic.clone()));
    for row in rows.iter().take(VALUES_MAX) {
        let line = format!(
            "  {:<w0$}  {:<w1$}  {:<w2$}  {:<w3$}  {} {}",
            place(row),
            what(row),
            row.label,
            row.statistic,
            row.value,
            shown_unit(&row.value, row.number, &row.unit),
            w0 = widths.0,
            w1 = widths.1,
            w2 = widths.2,
            w3 = widths.3
        );
        let _ = writeln!(out, "{}", visible(line.trim_end()));
    }
    if rows.len() > VALUES_MAX {
        let _ = writeln!(out, "  and {} more, in the table `printed` of the record", rows.len() - VALUES_MAX);
    }
    checks(run, &mut out);
    out
}

/// The unit to be shown behind a printed value: none where its text has its own, as `1261MiB/s` has.
pub(crate) fn shown_unit<'a>(value: &str, number: Option<f64>, unit: &'a str) -> &'a str {
    let own = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
    let is_factor =
        matches!(own, "" | "k" | "K" | "M" | "G") || own.starts_with("e-") || own.starts_with("e+");
    if number.is_some() && !is_factor { "" } else { unit }
}

fn checks(run: &Run, out: &mut String) {
    let (checks, trips) = (imported_checks(run), round_trips(run));
    if checks.is_empty() && trips.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nchecks of printed values");
    for one in &checks {
        let phase = one.phase.map(|phase| format!(" {phase}")).unwrap_or_default();
        let (rule, check) = (one.check.rule, &one.check);
        let line = format!("{}{phase}: {rule}: {} ({})", one.case, check.evidence, check.word());
        let _ = writeln!(out, "  {}", visible(&line));
    }
    for one in &trips {
        let _ = writeln!(out, "  {}", visible(&format!("{}: {}", one.case, one.trip)));
    }
}
