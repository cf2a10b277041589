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
    /// The seconds of each of its nodes; empty where there is one.
    pub nodes: Vec<NodeSeriesRow>,
    /// Its devices.
    pub devices: Vec<DeviceRow>,
    /// Contention and throttling on its nodes.
    pub load: Vec<LoadRow>,
    /// Its last operations, in the order of their starts; empty unless requested.
    pub history: Vec<HistoryRow>,
    /// What another tool printed about it, and the results of `ioproof io500`.
    pub printed: Vec<PrintedRow>,
    /// Its ends, where processes exchanged messages; empty where they did not.
    pub ends: Vec<EndRow>,
    /// Its launches, where it had jobs; empty where it did not.
    pub launches: Vec<LaunchRow>,
    /// Their steps.
    pub steps: Vec<StepRow>,
    /// What they moved in each space.
    pub spaces: Vec<SpaceRow>,
    /// Counters of servers and clients; empty unless collected.
    pub servers: Vec<ServerRow>,
    /// The texts that this was read from.
    pub server_texts: Vec<ServerTextRow>,
    /// Warnings about its figures.
    pub warnings: Vec<WarningRow>,
}

impl PhaseRecord {
    /// The phase as a whole, and nothing beside it.
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
