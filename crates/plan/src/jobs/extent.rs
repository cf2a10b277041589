//! Upper bounds on the size of each table of jobs, computed before any is created.

use std::collections::BTreeMap;

use super::{Action, JobSpace, JobTest, Jobs, Output, Step, TableOrder};

/// The size of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Rows: an expected value if keys are drawn at random.
    pub rows: u64,
    /// Number of distinct keys; keys are below this number.
    pub groups: u64,
    /// Sort order of its rows.
    pub order: TableOrder,
}

/// Sizes of tables, by name.
pub type Extents = BTreeMap<String, Extent>;

impl Extent {
    /// The size of the join of `self` and `other` on equal keys, assuming all keys are equally frequent.
    fn merged(self, other: Self) -> Self {
        let pairs = u128::from(self.rows) * u128::from(other.rows);
        let rows = pairs.div_ceil(u128::from(self.groups.max(other.groups).max(1)));
        Self {
            rows: u64::try_from(rows).unwrap_or(u64::MAX),
            groups: self.groups.min(other.groups),
            order: TableOrder::Key,
        }
    }

    /// The size of a selection from `self` that keeps the given share of rows.
    fn kept(self, millionths: u32) -> Self {
        let rows = (u128::from(self.rows) * u128::from(millionths)).div_ceil(1_000_000);
        Self { rows: u64::try_from(rows).unwrap_or(u64::MAX), ..self }
    }
}

impl Action {
    /// The table that it writes or changes, if its inputs are in `known`.
    pub(super) fn leaves(&self, known: &Extents) -> Option<Extent> {
        let of = |name: &String| known.get(name).copied();
        match self {
            Self::Generate { rows, groups, order, .. } => {
                Some(Extent { rows: *rows, groups: *groups, order: *order })
            }
            Self::Scan { input, keep_millionths, .. } => Some(of(input)?.kept(*keep_millionths)),
            Self::Summarise { input, .. } => {
                let input = of(input)?;
                Some(Extent { rows: input.groups.min(input.rows), order: TableOrder::Key, ..input })
            }
            Self::Sort { input, .. } => Some(Extent { order: TableOrder::Key, ..of(input)? }),
            Self::Merge { left, right, .. } => Some(of(left)?.merged(of(right)?)),
            Self::Append { table, rows } => {
                let table = of(table)?;
                let rows = table.rows.saturating_add(*rows);
                Some(Extent { rows, order: TableOrder::Number, ..table })
            }
            Self::Update { table, .. } => of(table),
            _ => None,
        }
    }
}

/// Rows that a step reads and writes, as a measured step counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepRows {
    /// Rows read.
    pub read: u64,
    /// Rows written or changed.
    pub written: u64,
}

impl JobTest {
    /// Adds the output of each step of the test to `known`, and calls `each` for every step with the tables
    /// known before it.
    pub(super) fn walk(&self, known: &mut Extents, mut each: impl FnMut(usize, &Extents)) {
        for (place, step) in self.steps.iter().enumerate() {
            each(place, known);
            let Some(extent) = step.action.leaves(known) else { continue };
            let name = step.action.output().map(|output| output.table.as_str()).or(step.action.changes());
            if let Some(name) = name {
                known.insert(name.to_owned(), extent);
            }
        }
    }

    /// The outputs of its steps.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &Output> {
        self.steps.iter().filter_map(|step| step.action.output())
    }
}

impl Jobs {
    /// The tables of permanent space: loaded tables, and permanent outputs of tests.
    pub(super) fn permanent(&self) -> Extents {
        let loaded = self.tables.iter().map(|table| {
            let extent = Extent { rows: table.rows, groups: table.groups, order: table.order };
            (table.name.clone(), extent)
        });
        let mut all: Extents = loaded.collect();
        for place in self.order().tests {
            let test = &self.tests[place];
            let mut known = all.clone();
            test.walk(&mut known, |_, _| {});
            for output in test.outputs().filter(|output| output.space == JobSpace::Permanent) {
                if let Some(extent) = known.get(&output.table) {
                    all.entry(output.table.clone()).or_insert(*extent);
                }
            }
        }
        all
    }

    /// Rows of `step`, which reads the tables in `known`. Each lookup in an index is assumed to find a row; a
    /// table is counted once, however often its pages are read.
    #[must_use]
    pub fn rows(&self, step: &Step, known: &Extents) -> StepRows {
        let of = |name: &str| known.get(name).map_or(0, |extent| extent.rows);
        let action = &step.action;
        let inputs = action.inputs().map(of).fold(0, u64::saturating_add);
        match action {
            // Rows are added after those of the last page.
            Action::Append { table, rows } => {
                let last = of(table).saturating_sub(1) % self.rows_per_page() + u64::from(of(table) > 0);
                StepRows { read: last, written: *rows }
            }
            // Whole pages are changed.
            Action::Update { table, share_millionths } => {
                let pages = of(table).div_ceil(self.rows_per_page());
                let share = (u128::from(pages) * u128::from(*share_millionths)).div_ceil(1_000_000);
                let rows = u128::from(of(table)) * share / u128::from(pages.max(1));
                let rows = u64::try_from(rows).map_or(of(table), |rows| rows.min(of(table)));
                StepRows { read: rows, written: rows }
            }
            Action::Index { lookups, .. } => StepRows { read: inputs.saturating_add(*lookups), written: 0 },
            _ => {
                let left = action.output().and_then(|_| action.leaves(known));
                StepRows { read: inputs, written: left.map_or(0, |extent| extent.rows) }
            }
        }
    }

    /// Sizes of the tables that `step` of `test` can read, by name.
    #[must_use]
    pub fn extents(&self, test: &JobTest, step: usize) -> Extents {
        let mut found = Extents::new();
        let mut known = self.permanent();
        test.walk(&mut known, |place, known| {
            if place == step {
                found = known.clone();
            }
        });
        if step >= test.steps.len() { known } else { found }
    }
}
