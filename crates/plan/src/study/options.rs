//! Options for reading a study.

use super::overrides::Override;

/// A study with more cases than this needs the user's consent: with a minute each, they would take a week.
pub const CASES_MAX: u64 = 10_000;
/// A study with more cases than this is refused: its plan would take gigabytes of memory.
pub const CASES_LIMIT: u64 = 1_000_000;

/// Options for reading a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Overrides of values in the file, applied in this order.
    pub overrides: Vec<Override>,
    /// A study with more cases is refused; see [`super::StudyErrors::too_many_cases`].
    pub cases_max: u64,
    /// Nodes of the run, the default of a workload's `nodes`; 1 without a launcher. A study may ask for more;
    /// the caller rejects that.
    pub nodes: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { overrides: Vec::new(), cases_max: CASES_MAX, nodes: 1 }
    }
}
