//! What other tools printed, and where the time of a run went.

use schemars::JsonSchema;
use serde::Serialize;

/// What other tools printed, value by value, and what it says of itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Printed {
    /// The files that were read.
    pub(crate) files: Vec<String>,
    pub(crate) values: Vec<PrintedValue>,
    pub(crate) checks: Vec<PrintedCheck>,
    pub(crate) round_trips: Vec<RoundTrip>,
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

/// A check of printed values.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PrintedCheck {
    pub(crate) case: String,
    /// Absent where it is about all of them.
    pub(crate) phase: Option<&'static str>,
    /// In symbols.
    pub(crate) rule: &'static str,
    #[schemars(extend("enum" = ["agrees", "differs", "says nothing"]))]
    pub(crate) outcome: &'static str,
    /// The rule with its numbers.
    pub(crate) evidence: String,
    /// Printed ÷ computed − 1; absent where no two numbers are compared.
    pub(crate) off: Option<f64>,
}

/// Where the time of single operations of an I/O history goes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RoundTrip {
    pub(crate) case: String,
    pub(crate) operations: usize,
    /// Means of one operation: in the history, from start to start, what of that is not in the history.
    pub(crate) device_ns: f64,
    pub(crate) gap_ns: f64,
    pub(crate) between_ns: f64,
    /// Of the application, where its rate is known, and what of it is not in the history.
    pub(crate) application_ns: Option<f64>,
    pub(crate) rest_ns: Option<f64>,
    pub(crate) words: String,
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
