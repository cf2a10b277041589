//! The rows of a run by case, to be copied into another record.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use crate::rows::phase_record::PhaseRecord;
use crate::table::store::Store;
use crate::table::tables::{TableRow, TableVisitor, each_table};
use crate::{CaseId, PhaseKey, PhaseRow, Run, WarningRow};

/// The warnings of a run by case.
pub(crate) struct RowsByCase<'a> {
    pub(crate) warnings: HashMap<&'a str, Vec<&'a WarningRow>>,
}

impl<'a> RowsByCase<'a> {
    pub(crate) fn of(run: &'a Run) -> Self {
        let mut rows_by_case = Self { warnings: HashMap::new() };
        for row in &run.warnings {
            if let Some(key) = &row.key {
                rows_by_case.warnings.entry(&key.case).or_default().push(row);
            }
        }
        rows_by_case
    }

    /// The phases of `id` with all their rows.
    pub(crate) fn records(&self, run: &Run, id: &CaseId) -> Vec<PhaseRecord> {
        let phases = run.phases(id);
        let warnings = self.warnings.get(&**id).map_or(&[][..], Vec::as_slice);
        let record = |phase: &PhaseRow| {
            let concerns = |row: &&&WarningRow| row.key.as_ref() == Some(&phase.key);
            let warnings = warnings.iter().filter(concerns).map(|row| (*row).clone()).collect();
            PhaseRecord { warnings, ..PhaseRecord::new(phase.clone()) }
        };
        let mut copy = CopyRows { run, id, records: phases.iter().map(record).collect() };
        let Ok(()) = each_table(&mut copy);
        // In earlier versions devices were recorded without a node; the run provides the node.
        let devices = run.devices(id);
        for record in &mut copy.records {
            record.devices = of_phase(&devices, &record.phase.key);
        }
        copy.records
    }
}

impl Run {
    /// Changes each phase, or leaves it out where `change` returns `None`. All rows are in memory then.
    pub fn change_phases(&mut self, mut change: impl FnMut(PhaseRow) -> Option<PhaseRow>) {
        let rows = RowsByCase::of(self);
        let of_case = |case| rows.records(self, case);
        let records = self.cases().iter().flat_map(of_case);
        let changed =
            records.filter_map(|record| Some(PhaseRecord { phase: change(record.phase)?, ..record }));
        let store = Store::of(changed.collect());
        self.store = Arc::new(store);
    }
}

/// Copies the rows of a case into the records of its phases.
struct CopyRows<'a> {
    run: &'a Run,
    id: &'a CaseId,
    records: Vec<PhaseRecord>,
}

impl TableVisitor for CopyRows<'_> {
    type Error = Infallible;

    fn visit<R: TableRow>(&mut self) -> Result<(), Infallible> {
        let rows = self.run.store.rows::<R>(self.id);
        for record in &mut self.records {
            *R::of_mut(record) = of_phase(&rows, &record.phase.key);
        }
        Ok(())
    }
}

fn of_phase<R: TableRow>(rows: &[R], key: &PhaseKey) -> Vec<R> {
    rows.iter().filter(|row| row.key() == key).cloned().collect()
}
