//! The rows of a run that are too many to be kept: handed out case by case.

use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::recorder::PhaseRecord;
use crate::{CaseId, DeviceRow, LatencyRow, PhaseKey, SeriesRow, TaskRow};

/// The rows of one case in one table, in the order in which they were observed.
#[derive(Debug, Clone)]
pub struct Rows<R> {
    shared: Arc<Vec<R>>,
    range: Range<usize>,
}

impl<R> Deref for Rows<R> {
    type Target = [R];

    fn deref(&self) -> &[R] {
        &self.shared[self.range.clone()]
    }
}

impl<R> Rows<R> {
    fn all(shared: Arc<Vec<R>>) -> Self {
        Self { range: 0..shared.len(), shared }
    }

    fn none() -> Self {
        Self::all(Arc::new(Vec::new()))
    }
}

/// The rows of one table by case.
type ByCase<R> = HashMap<CaseId, Arc<Vec<R>>>;

/// Rows that are in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Store {
    pub(crate) cases: Vec<CaseId>,
    pub(crate) tasks: ByCase<TaskRow>,
    pub(crate) latency: ByCase<LatencyRow>,
    pub(crate) series: ByCase<SeriesRow>,
    pub(crate) devices: ByCase<DeviceRow>,
}

impl Store {
    /// Takes the rows of `record` that its case keeps here.
    pub(crate) fn take(&mut self, record: PhaseRecord) {
        let id = &record.phase.key.case;
        if !self.cases.contains(id) {
            self.cases.push(id.clone());
        }
        add(&mut self.tasks, record.tasks, |row| &row.key);
        add(&mut self.latency, record.latency, |row| &row.key);
        add(&mut self.series, record.series, |row| &row.key);
        add(&mut self.devices, record.devices, |row| &row.key);
    }
}

/// Puts `rows` where their cases are.
pub(crate) fn add<R: Clone>(table: &mut ByCase<R>, rows: Vec<R>, key: fn(&R) -> &PhaseKey) {
    for rows in rows.chunk_by(|a, b| key(a).case == key(b).case) {
        let kept = table.entry(key(&rows[0]).case.clone()).or_default();
        Arc::make_mut(kept).extend_from_slice(rows);
    }
}

/// The rows of `case`; none where there are none.
pub(crate) fn rows_of<R>(table: &ByCase<R>, case: &str) -> Rows<R> {
    table.get(case).map_or_else(Rows::none, |rows| Rows::all(Arc::clone(rows)))
}
