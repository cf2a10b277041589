//! Latencies of a figure and their columns, generated from [`analysis::figures::LATENCY_STATISTICS`].

use std::ops::Deref;

use analysis::figures::{LATENCY_STATISTICS, LatencyStatistic, LatencySummary, ShownIn, Take};
use plan::{Case, Measure, Operation};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::format;
use crate::format::table::TableOf;

/// The start of a response time if transfers start as soon as they can.
pub(crate) const RESPONSE_FROM_START: &str = "from its start";

/// Latency of every operation of one kind.
#[derive(Debug, Clone)]
pub(crate) struct LatencyInfo {
    pub(crate) counted_from: &'static str,
    summary: LatencySummary,
}

impl Deref for LatencyInfo {
    type Target = LatencySummary;

    fn deref(&self) -> &LatencySummary {
        &self.summary
    }
}

impl LatencyInfo {
    pub(crate) fn of(one: &LatencySummary, case: Option<&Case>) -> Self {
        let paced = case.is_some_and(|case| case.workload.pace.is_some());
        let counted_from = match one.measure {
            Measure::Response if paced => "from its intended start",
            Measure::Response => RESPONSE_FROM_START,
            Measure::Service => "from its hand-over to the kernel",
        };
        Self { counted_from, summary: one.clone() }
    }

    /// Whether it is a response time, counted from the intended start.
    pub(crate) fn is_response(&self) -> bool {
        self.measure == Measure::Response
    }

    /// The statistics shown at `level`, with their nanoseconds.
    pub(crate) fn shown(
        &self,
        level: ShownIn,
    ) -> impl Iterator<Item = (&'static LatencyStatistic, f64)> + '_ {
        self.all().filter(move |(statistic, _)| statistic.shown >= level)
    }

    /// The statistic called `key` in readable form; empty if there is none.
    pub(crate) fn words(&self, key: &str) -> String {
        let found = self.all().find(|(statistic, _)| statistic.key == key);
        found.map(|(_, nanos)| words(nanos)).unwrap_or_default()
    }

    /// `latency p50 97 µs, p99 …`, for hover texts.
    pub(crate) fn hover(&self) -> String {
        let tail = self.shown(ShownIn::Latencies).filter(|(statistic, _)| is_of_tail(statistic));
        let parts: Vec<String> =
            tail.map(|(statistic, nanos)| format!("{} {}", statistic.heading, words(nanos))).collect();
        format!("latency {}", parts.join(", "))
    }
}

/// A time in readable form.
pub(crate) fn words(nanos: f64) -> String {
    format::latency(format::whole(nanos))
}

/// Whether a statistic is a percentile, minimum or maximum rather than a mean.
pub(crate) const fn is_of_tail(statistic: &LatencyStatistic) -> bool {
    !matches!(statistic.take, Take::Mean(_))
}

/// The statistics at `level`.
pub(crate) fn statistics(level: ShownIn) -> impl Iterator<Item = LatencyStatistic> {
    LATENCY_STATISTICS.into_iter().filter(move |statistic| statistic.shown >= level)
}

/// The headings of the statistics at `level`.
pub(crate) fn headings(level: ShownIn) -> Vec<&'static str> {
    statistics(level).map(|statistic| statistic.heading).collect()
}

/// Adds a column for each statistic at `level` of the latency of each row.
pub(crate) fn columns<'r, T>(
    table: TableOf<T>,
    level: ShownIn,
    of: impl Fn(&T) -> Option<&'r LatencyInfo>,
) -> TableOf<T> {
    let words = |row: &T, key: &str| of(row).map(|latency| latency.words(key));
    statistics(level).fold(table, |table, one| table.right(one.heading, |row| words(row, one.key)))
}

impl Serialize for LatencyInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("operation", self.operation.name())?;
        map.serialize_entry("measure", self.measure.name())?;
        map.serialize_entry("counted_from", self.counted_from)?;
        map.serialize_entry("transfers", &self.count)?;
        for (statistic, nanos) in self.all() {
            let key = format!("{}_ns", statistic.key);
            match statistic.is_whole() {
                true => map.serialize_entry(&key, &format::whole(nanos))?,
                false => map.serialize_entry(&key, &nanos)?,
            }
        }
        map.end()
    }
}

impl JsonSchema for LatencyInfo {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LatencyInfo".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut properties = json!({
            "operation": { "type": "string", "enum": Operation::ALL.map(Operation::name) },
            "measure": { "type": "string", "enum": [Measure::Response.name(), Measure::Service.name()] },
            "counted_from": { "type": "string" },
            "transfers": { "type": "integer", "minimum": 0 },
        });
        for statistic in LATENCY_STATISTICS {
            let kind = if statistic.is_whole() { "integer" } else { "number" };
            properties[format!("{}_ns", statistic.key)] =
                json!({ "type": kind, "description": statistic.about });
        }
        let required: Vec<&String> = properties.as_object().into_iter().flat_map(|all| all.keys()).collect();
        json_schema!({
            "description": "Latency of every operation of one kind.",
            "type": "object",
            "required": required,
            "properties": properties,
        })
    }
}
