//! The tables of several cases: many small cases share a set of files.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::files::replacement::sync_directory;
use crate::rows::phase_record::PhaseRecord;
use crate::table::parquet_store::{SealedTable, TableWriter};
use crate::{
    DeviceRow, EndRow, HistoryRow, LatencyRow, LaunchRow, LoadRow, NodeSeriesRow, PhaseRow, PrintedRow,
    RecordError, SeriesRow, ServerRow, ServerTextRow, SpaceRow, StepRow, TaskRow, WarningRow,
};

/// A batch is sealed after the case that brings it to this many rows. So a reader of one case reads a few
/// megabytes at most, and 10,000 small cases make some hundred files.
const BATCH_ROWS: usize = 1 << 17;

/// Tables that are being written.
pub(crate) struct Batch {
    cases: Vec<u32>,
    rows: usize,
    phases: TableWriter<PhaseRow>,
    tasks: TableWriter<TaskRow>,
    latency: TableWriter<LatencyRow>,
    series: TableWriter<SeriesRow>,
    nodes: TableWriter<NodeSeriesRow>,
    devices: TableWriter<DeviceRow>,
    load: TableWriter<LoadRow>,
    history: TableWriter<HistoryRow>,
    printed: TableWriter<PrintedRow>,
    ends: TableWriter<EndRow>,
    launches: TableWriter<LaunchRow>,
    steps: TableWriter<StepRow>,
    spaces: TableWriter<SpaceRow>,
    servers: TableWriter<ServerRow>,
    server_texts: TableWriter<ServerTextRow>,
    warnings: TableWriter<WarningRow>,
}

impl Batch {
    pub(crate) fn new(directory: &Path, number: u32) -> Self {
        Self {
            cases: Vec::new(),
            rows: 0,
            phases: TableWriter::new(directory, number),
            tasks: TableWriter::new(directory, number),
            latency: TableWriter::new(directory, number),
            series: TableWriter::new(directory, number),
            nodes: TableWriter::new(directory, number),
            devices: TableWriter::new(directory, number),
            load: TableWriter::new(directory, number),
            history: TableWriter::new(directory, number),
            printed: TableWriter::new(directory, number),
            ends: TableWriter::new(directory, number),
            launches: TableWriter::new(directory, number),
            steps: TableWriter::new(directory, number),
            spaces: TableWriter::new(directory, number),
            servers: TableWriter::new(directory, number),
            server_texts: TableWriter::new(directory, number),
            warnings: TableWriter::new(directory, number),
        }
    }

    /// Takes the rows of one phase.
    pub(crate) fn add(&mut self, record: &PhaseRecord) -> Result<(), RecordError> {
        self.rows += 1
            + record.tasks.len()
            + record.latency.len()
            + record.series.len()
            + record.nodes.len()
            + record.devices.len()
            + record.load.len()
            + record.history.len()
            + record.printed.len()
            + record.ends.len()
            + record.launches.len()
            + record.steps.len()
            + record.spaces.len()
            + record.servers.len()
            + record.server_texts.iter().map(ServerTextRow::weight).sum::<usize>()
            + record.warnings.len();
        self.phases.add(std::slice::from_ref(&record.phase))?;
        self.tasks.add(&record.tasks)?;
        self.latency.add(&record.latency)?;
        self.series.add(&record.series)?;
        self.nodes.add(&record.nodes)?;
        self.devices.add(&record.devices)?;
        self.load.add(&record.load)?;
        self.history.add(&record.history)?;
        self.printed.add(&record.printed)?;
        self.ends.add(&record.ends)?;
        self.launches.add(&record.launches)?;
        self.steps.add(&record.steps)?;
        self.spaces.add(&record.spaces)?;
        self.servers.add(&record.servers)?;
        self.server_texts.add(&record.server_texts)?;
        self.warnings.add(&record.warnings)
    }

    /// All phases of the case with this number have been added; `warnings` belong to none of them.
    pub(crate) fn end_case(&mut self, number: u32, warnings: &[WarningRow]) -> Result<(), RecordError> {
        self.rows += warnings.len();
        self.cases.push(number);
        self.warnings.add(warnings)
    }

    /// Whether it should be sealed.
    pub(crate) fn is_full(&self) -> bool {
        self.rows >= BATCH_ROWS
    }

    /// Moves the files into place; returns the numbers of the cases, and the tables.
    pub(crate) fn seal(self) -> Result<(Vec<u32>, Vec<SealedTable>), RecordError> {
        let sealed = [
            self.phases.seal()?,
            self.tasks.seal()?,
            self.latency.seal()?,
            self.series.seal()?,
            self.nodes.seal()?,
            self.devices.seal()?,
            self.load.seal()?,
            self.history.seal()?,
            self.printed.seal()?,
            self.ends.seal()?,
            self.launches.seal()?,
            self.steps.seal()?,
            self.spaces.seal()?,
            self.servers.seal()?,
            self.server_texts.seal()?,
            self.warnings.seal()?,
        ];
        Ok((self.cases, sealed.into_iter().flatten().collect()))
    }
}

/// Forces `files`, and their names, to stable storage.
pub(crate) fn sync_all(files: &[PathBuf]) -> Result<(), RecordError> {
    for path in files {
        File::open(path).and_then(|file| file.sync_all()).map_err(RecordError::io("sync", path))?;
    }
    let mut directories: Vec<&Path> = files.iter().filter_map(|path| path.parent()).collect();
    directories.sort_unstable();
    directories.dedup();
    directories.into_iter().try_for_each(sync_directory)
}
