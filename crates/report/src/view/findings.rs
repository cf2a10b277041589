//! What the figures of a study say together, in plain numbers. Figures are named by
//! [`super::Figure::number`], shares are from 0 to 1, and names of units stand last.

use schemars::JsonSchema;
use serde::Serialize;

/// All of it. A list is empty where the study has nothing of its kind.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Findings {
    pub(crate) audit: Vec<Doubt>,
}

/// A swept key and its value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Setting {
    pub(crate) key: String,
    /// Bytes, nanoseconds, a count, a share, true or false, or a word.
    pub(crate) value: serde_json::Value,
    /// `bytes`, `ns`, or empty for everything else.
    pub(crate) unit: &'static str,
    /// The value as people read it.
    pub(crate) text: String,
}

/// Something doubtful, with evidence.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Doubt {
    pub(crate) check: &'static str,
    pub(crate) figure: Option<usize>,
    pub(crate) concerns: String,
    pub(crate) evidence: String,
    pub(crate) advice: String,
    /// A commitment cannot pass with it.
    pub(crate) disqualifies: bool,
}
