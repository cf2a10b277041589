//! What other tools printed, and where the time of a run went.

use schemars::JsonSchema;
use serde::Serialize;

/// What other tools printed, value by value, and what it says of itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Printed {
    /// The files that were read.
    pub(crate) files: Vec<String>,
    pub(crate) values: Vec<PrintedValue>,
}

/// One value, as it stands there.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PrintedValue {
    pub(crate) case: String,
    pub(crate) phase: &'static str,
    /// What the tool calls it.
    pub(crate) label: String,
    /// `max`, `mean` and so on; empty where the tool does not say.
    pub(crate) statistic: String,
    /// As printed.
    pub(crate) value: String,
    /// The number in `unit`; absent where it is none.
    pub(crate) number: Option<f64>,
    /// Empty of counts and words.
    pub(crate) unit: String,
    pub(crate) source: String,
    /// From 1.
    pub(crate) line: u32,
}

/// The phases and rests of a run against its wall time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RunTime {
    pub(crate) parts: Vec<TimePart>,
    /// All parts together.
    pub(crate) explained_seconds: f64,
    pub(crate) wall_seconds: f64,
    /// Checks, preparation, observation, cleaning.
    pub(crate) unexplained_seconds: f64,
    /// As a sum: `13.86 + 4.18 + 8 = 26.05 s of 26 s`.
    pub(crate) words: String,
}

/// A phase over all of its passes, or all rests.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TimePart {
    pub(crate) name: String,
    pub(crate) seconds: f64,
}
