//! The record of one phase.

use crate::{
    DeviceRow, EndRow, HistoryRow, LatencyRow, LaunchRow, LoadRow, NodeSeriesRow, PhaseRow, PrintedRow,
    SeriesRow, ServerRow, ServerTextRow, SpaceRow, StepRow, TaskRow, WarningRow,
};

/// Everything that was observed in one phase of one repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseRecord {
    /// The phase as a whole.
    pub phase: PhaseRow,
    /// Its tasks.
    pub tasks: Vec<TaskRow>,
    /// Its latency histogram.
    pub latency: Vec<LatencyRow>,
    /// Its per-second series.
    pub series: Vec<SeriesRow>,
    /// The per-second series of each node; empty if there is only one.
    pub nodes: Vec<NodeSeriesRow>,
    /// Its devices.
    pub devices: Vec<DeviceRow>,
    /// Contention and throttling on its nodes.
    pub load: Vec<LoadRow>,
    /// Its last operations, ordered by start time; empty unless requested.
    pub history: Vec<HistoryRow>,
    /// What another tool printed about it, and the results of `ioproof io500`.
    pub printed: Vec<PrintedRow>,
    /// The endpoints of its exchanges; empty if there were none.
    pub ends: Vec<EndRow>,
    /// The launches of its jobs; empty if there were none.
    pub launches: Vec<LaunchRow>,
    /// The steps of these launches.
    pub steps: Vec<StepRow>,
    /// The bytes that the launches moved in each space.
    pub spaces: Vec<SpaceRow>,
    /// Counters of servers and clients; empty unless collected.
    pub servers: Vec<ServerRow>,
    /// The texts from which these were read.
    pub server_texts: Vec<ServerTextRow>,
    /// Warnings about its figures.
    pub warnings: Vec<WarningRow>,
}

impl PhaseRecord {
    /// Creates a record that only has the phase as a whole.
    #[must_use]
    pub const fn new(phase: PhaseRow) -> Self {
        Self {
            phase,
            tasks: Vec::new(),
            latency: Vec::new(),
            series: Vec::new(),
            nodes: Vec::new(),
            devices: Vec::new(),
            load: Vec::new(),
            history: Vec::new(),
            printed: Vec::new(),
            ends: Vec::new(),
            launches: Vec::new(),
            steps: Vec::new(),
            spaces: Vec::new(),
            servers: Vec::new(),
            server_texts: Vec::new(),
            warnings: Vec::new(),
        }
    }
}
