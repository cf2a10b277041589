//! What was printed about one case, as the rules use it.

use std::collections::HashMap;

use plan::{Case, Phase};
use record::{PhaseKey, PhaseRow, PrintedRow, Run, Warning};

use crate::printed::{Printed, PrintedCheck};

/// A check, and the phase that it is about; `None` if it concerns all of them.
pub(in crate::printed) type Found = (Option<Phase>, PrintedCheck);

/// What was printed about one case.
pub(in crate::printed) struct Printout<'a> {
    pub(in crate::printed) run: &'a Run,
    pub(in crate::printed) case: &'a Case,
    pub(in crate::printed) rows: &'a [PhaseRow],
    pub(in crate::printed) printed: &'a [PrintedRow],
    /// The warnings of all phases of the run.
    pub(in crate::printed) warnings: &'a HashMap<&'a PhaseKey, Vec<&'a Warning>>,
}

impl Printout<'_> {
    /// The printed values of each pass.
    pub(super) fn passes(&self) -> impl Iterator<Item = Values<'_>> {
        self.rows.iter().map(|row| Values {
            row,
            iterations: self.iterations(row),
            rows: self.printed.iter().filter(|one| one.key == row.key).collect(),
        })
    }

    /// The checks of each pass by `check`.
    pub(super) fn of_passes(&self, check: impl Fn(&Values<'_>) -> Vec<PrintedCheck>) -> Vec<Found> {
        let found = |values: Values<'_>| {
            let phase = Some(values.row.key.phase);
            check(&values).into_iter().map(move |one| (phase, one))
        };
        self.passes().flat_map(found).collect()
    }

    /// The first value with this label and statistic.
    pub(super) fn value(&self, label: &str, statistic: &str) -> Option<Printed> {
        let is_it = |row: &&PrintedRow| row.label == label && row.statistic == statistic;
        Printed::parse(&self.printed.iter().find(is_it)?.value)
    }

    /// The number of iterations behind the figure of `row`. `None` if it is not known.
    pub(super) fn iterations(&self, row: &PhaseRow) -> Option<u64> {
        let warnings = self.warnings.get(&row.key).map(Vec::as_slice).unwrap_or_default();
        let mean = warnings.iter().find_map(|warning| match warning {
            Warning::PrintedMean { iterations } => Some(*iterations),
            _ => None,
        });
        let passes = self.rows.iter().filter(|other| other.key.phase == row.key.phase);
        mean.or_else(|| (passes.count() == 1).then_some(1))
    }
}

/// The printed values of one pass.
pub(super) struct Values<'a> {
    pub(super) row: &'a PhaseRow,
    /// The number of iterations behind them. `None` if it is not known.
    pub(super) iterations: Option<u64>,
    pub(in crate::printed) rows: Vec<&'a PrintedRow>,
}

impl Values<'_> {
    pub(super) fn find(&self, label: &str, statistic: &str) -> Option<&PrintedRow> {
        self.rows.iter().copied().find(|row| row.label == label && row.statistic == statistic)
    }

    pub(super) fn value(&self, label: &str, statistic: &str) -> Option<Printed> {
        Printed::parse(&self.find(label, statistic)?.value)
    }
}
