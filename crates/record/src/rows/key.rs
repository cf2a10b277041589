//! Keys of rows: the phase of a repetition of a case.

use plan::Phase;
use serde::{Deserialize, Serialize};

use crate::SharedText;

/// [`plan::Case::id`].
pub type CaseId = SharedText;

/// Identifies the phase of a repetition of a case that a row belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PhaseKey {
    /// [`plan::Case::id`].
    pub case: CaseId,
    /// The number of the pass, from 0; [`plan::Case::role`] gives its purpose.
    pub repetition: u32,
    /// The phase.
    pub phase: Phase,
}
