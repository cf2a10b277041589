//! A job without a process, for tests of its steps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plan::jobs::{Action, Output, Step, TableOrder};
use plan::{Bytes, JobSpace};

use crate::step::StepContext;
use crate::steps::run_step;
use crate::table::{Io, TableReader};
use crate::{Counters, JobError, JobOrder, Meter, Row, StepOutcome};

/// Directories of three spaces, and a job on them.
pub(crate) struct Bench {
    directory: tempfile::TempDir,
    pub(crate) order: JobOrder,
    pub(crate) io: Io,
}

impl Bench {
    pub(crate) fn new(page_bytes: Bytes) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let directories = JobSpace::ALL.map(|space| directory.path().join(space.name()));
        directories.iter().for_each(|one| std::fs::create_dir(one).expect("a space"));
        let order = JobOrder {
            launch: 0,
            test: "test".to_owned(),
            stream: 0,
            round: 0,
            page_bytes,
            direct: false,
            sync: false,
            check: false,
            seed: 1,
            directories,
            inputs: BTreeMap::new(),
            steps: Vec::new(),
            counters_fd: None,
        };
        let io = Io { page_bytes, direct: false, sync: false, meter: Arc::new(Meter::default()) };
        Self { directory, order, io }
    }

    pub(crate) fn context(&self, step: u32) -> StepContext<'_> {
        StepContext { order: &self.order, step, io: &self.io }
    }

    pub(crate) fn path(&self, space: JobSpace, file: &str) -> PathBuf {
        self.directory.path().join(space.name()).join(file)
    }

    /// Adds a step with this number of threads and memory, and runs it.
    pub(crate) fn run_with(
        &mut self,
        action: Action,
        threads: u32,
        memory: Bytes,
    ) -> Result<StepOutcome, JobError> {
        let number = u32::try_from(self.order.steps.len()).expect("few");
        self.order.steps.push(Step { action, threads, memory });
        run_step(&self.context(number), &self.order.steps[number as usize])
    }

    pub(crate) fn run(&mut self, action: Action) -> StepOutcome {
        self.run_with(action, 2, Bytes::mib(64)).expect("it can be done")
    }

    /// Creates a table in permanent space.
    pub(crate) fn generate(&mut self, table: &str, rows: u64, groups: u64, order: TableOrder) -> StepOutcome {
        let output = Output { table: table.to_owned(), space: JobSpace::Permanent };
        self.run(Action::Generate { output, rows, groups, order })
    }

    /// All rows of the table with this name before the next step.
    pub(crate) fn rows(&self, table: &str) -> Vec<Row> {
        let number = u32::try_from(self.order.steps.len()).expect("few");
        let place = self.context(number).input(table).expect("it is there");
        rows(&Io { meter: Arc::new(Meter::default()), ..self.io.clone() }, place.space, &place.path)
    }

    pub(crate) fn counters(&self) -> Counters {
        self.io.meter.snapshot()
    }

    /// Files in a space.
    pub(crate) fn files(&self, space: JobSpace) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(space, "")).expect("a space");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }
}

/// All rows of a table.
pub(crate) fn rows(io: &Io, space: JobSpace, path: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    let table = TableReader::open(io, space, path).expect("a table");
    let count = table.for_each_page(|page| {
        rows.extend(page.chunks_exact(crate::row::ROW_BYTES).map(Row::decode));
        Ok(())
    });
    assert_eq!(count.expect("whole"), rows.len() as u64);
    rows
}

/// The sum of their amounts.
pub(crate) fn cents(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.amount).sum::<i64>() as f64
}
