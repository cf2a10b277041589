//! What is wrong with a layout before any host is looked at.

use std::fmt;

use thiserror::Error;

use super::{Layout, Recipe};

/// A mistake in a layout, at the field of a study file or the option that it was given by.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct LayoutProblem {
    /// As in `mount-point`.
    pub field: &'static str,
    /// What is wrong and what to write, as a fragment.
    pub message: String,
}

impl fmt::Display for LayoutProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl Layout {
    /// All that is wrong with it; nothing, and [`Layout::steps`] gives commands that do what it says.
    #[must_use]
    pub fn problems(&self) -> Vec<LayoutProblem> {
        let mut problems = Vec::new();
        let mut problem =
            |field: &'static str, message: String| problems.push(LayoutProblem { field, message });
        if self.devices.is_empty() && !matches!(self.recipe, Recipe::Existing) {
            problem("devices", "name at least one by path, serial number or world wide name".to_owned());
        }
        problems
    }
}
