//! What has to be kept with a plan so that its output can be printed again from the record.

use plan::Plan;
use serde::{Deserialize, Serialize};

use super::settings::Settings;
use super::{Format, TOOL};
use crate::Compat;
use crate::tool::kept;

/// The resolved settings of every test and the form of the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Memo {
    pub format: Format,
    pub compat: Compat,
    pub tests: Vec<Settings>,
}

impl Memo {
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("settings are numbers, texts and UTF-8 paths, which JSON can hold")
    }

    /// The memo of a plan that came from IOR's command line.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        kept(plan, TOOL).map(|(memo, _)| memo)
    }
}
