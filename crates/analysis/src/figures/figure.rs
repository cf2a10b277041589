//! A figure: what tables, charts and pages show, with all that must stand beside it.

use std::iter;
use std::sync::Arc;

use plan::{Client, Measure, Operation, PassRole, Phase, Setting};
use record::{PhaseRow, Provenance, Warning};

use crate::RateName;
use crate::figures::{
    ChangeInPass, DeviceMean, DeviceShare, LatencySummary, MemberFigure, NodeFigure, Rates, ServerCounts,
};
use crate::statistics::Summary;

/// One pass of a figure.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct RepetitionFigure {
    /// The number of the pass, from 0.
    pub repetition: u32,
    /// What the pass is for.
    pub role: PassRole,
    /// Whether the summaries of the figure are made of it: it is recorded and, where the case ends
    /// at the steady state, lies in the last window.
    pub counts: bool,
    pub phase: Arc<PhaseRow>,
    pub rates: Rates,
    /// Of a recorded pass: its rate ÷ that of the first round of the same repetition − 1; none where
    /// a repetition has one round. A rate that falls with the rounds is one of fresh media.
    pub drift: Option<f64>,
    /// The clearest change of its rate from second to second; none where it has too few of them.
    pub change: Option<ChangeInPass>,
    /// Its latencies in short: in the order of [`Operation::ALL`], response before service.
    pub latency: Vec<LatencySummary>,
    /// What the devices moved of it.
    pub device_share: DeviceShare,
    /// Of its reads, the share that were the first ones of their bytes in it; none where none were transfers.
    pub first_touches: Option<f64>,
    /// What servers and clients told around it; none where nobody was asked.
    pub servers: Option<Arc<ServerCounts>>,
    /// What must be known beside it.
    pub warnings: Vec<Warning>,
}

/// A result phase of a case, over all its passes.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Figure {
    pub case: String,
    /// The workload of the study that the case is a point of: [`plan::Case::group`].
    pub group: String,
    pub target: String,
    /// Where the measuring program ran, as the study says of the target.
    pub client: Client,
    pub settings: Vec<Setting>,
    pub provenance: Provenance,
    /// What the case is for; may be empty.
    pub title: String,
    pub phase: Phase,
    /// Size, order, direction, path, depth and tasks: no figure is shown without them.
    pub conditions: String,
    /// Nodes that the case is on.
    pub node_count: u64,
    /// Memory of the nodes that it was measured on, together; none where the record does not know one of them.
    pub memory_bytes: Option<u64>,
    /// The file system of its targets may keep a cache of its own on the nodes, beside the page cache.
    pub has_own_cache: bool,
    /// Every pass, in order, those that do not count among them.
    pub repetitions: Vec<RepetitionFigure>,
    /// The rate that is summarised; no figure is shown without its name.
    pub rate: RateName,
    /// Bytes per second of that rate, over the passes that count.
    pub bytes_per_second: Summary,
    /// Operations per second of that rate, over the passes that count: transfers, or whatever the phase
    /// does.
    pub transfers_per_second: Summary,
    /// All transfers of all passes that count: in the order of [`Operation::ALL`], response before service.
    pub latency: Vec<LatencySummary>,
    /// For each device, the mean over all passes that count, in the order of names; the name of its
    /// node stands before it where there are several.
    pub devices: Vec<(String, DeviceMean)>,
    /// What each node did in the passes that count, in the order of names; empty where the record
    /// has no tasks.
    pub nodes: Vec<NodeFigure>,
    /// What the tasks of each path did where there are several, in the passes that count; empty where the record
    /// has no tasks.
    pub members: Vec<MemberFigure>,
    /// Nodes that only answered what others asked, in the passes that count, in the order of names.
    pub answering: Vec<String>,
    /// What must be known beside it; each warning once, however many passes that count gave it.
    /// Wrong data is named whichever pass found it.
    pub warnings: Vec<Warning>,
}

impl Figure {
    /// The latency of `operation` from the start that was intended.
    #[must_use]
    pub fn response(&self, operation: Operation) -> Option<&LatencySummary> {
        response(&self.latency, operation)
    }

    /// Device bytes ÷ application bytes of all passes that count together, of the directions that
    /// the phase moved; none where one of them could not be observed.
    #[must_use]
    pub fn moved_by_devices(&self) -> Option<f64> {
        moved_by_devices(self.counted().map(|pass| &*pass.phase))
    }

    /// The least share of its possible rate that it can have reached, by what held the program back in the worst of the
    /// passes that count; 1 where nothing did. What was held back for a part of the time could have been faster by about
    /// that part. It counts twice: the time is sampled, and what goes on after it has lost its caches.
    #[must_use]
    pub(crate) fn least_reached(&self) -> f64 {
        let held = self.counted().flat_map(|pass| &pass.warnings).filter_map(|warning| match warning {
            Warning::Starved { share, .. } => Some(*share),
            _ => None,
        });
        (1.0 - held.fold(0.0, f64::max)).max(0.0).powi(2)
    }

    /// The mean number of processors that were used beside the program in the passes that count, by other programs and
    /// the kernel, and of those that its threads waited for; none where one pass was not observed.
    pub(crate) fn contention(&self) -> Option<(f64, f64)> {
        let (mut wall, mut others, mut waited) = (0.0, 0.0, 0.0);
        for phase in self.counted().map(|pass| &pass.phase) {
            let own = [Some(phase.user_cpu_ns), Some(phase.system_cpu_ns), phase.harness_cpu_ns];
            let own: f64 = own.into_iter().flatten().map(|nanos| nanos as f64).sum();
            wall += phase.wall_ns as f64;
            others += (phase.node_cpu_ns? as f64 - own).max(0.0);
            waited += phase.cpu_wait_ns? as f64;
        }
        (wall > 0.0).then(|| (others / wall, waited / wall))
    }

    /// The passes that the summaries are made of.
    pub fn counted(&self) -> impl Iterator<Item = &RepetitionFigure> {
        self.repetitions.iter().filter(|pass| pass.counts)
    }
}

impl RepetitionFigure {
    /// Of its reads, the share that the run's own processes had fetched from the devices; none where that is not known.
    #[must_use]
    pub fn fetched_share(&self) -> Option<f64> {
        let fetched = self.phase.fetched_bytes.filter(|_| self.phase.read_bytes > 0)?;
        Some(fetched as f64 / self.phase.read_bytes as f64)
    }

    /// The share of the files that the page caches of the readers' nodes held before it; none where that is not known.
    #[must_use]
    pub fn resident_share(&self) -> Option<f64> {
        let (resident, of) = self.phase.resident_bytes.zip(self.phase.resident_of_bytes)?;
        (of > 0).then(|| resident as f64 / of as f64)
    }

    /// The latency of `operation` from the start that was intended.
    #[must_use]
    pub fn response(&self, operation: Operation) -> Option<&LatencySummary> {
        response(&self.latency, operation)
    }

    /// Device bytes ÷ application bytes of the directions that the phase moved.
    #[must_use]
    pub fn moved_by_devices(&self) -> Option<f64> {
        moved_by_devices(iter::once(&*self.phase))
    }
}

fn response(all: &[LatencySummary], operation: Operation) -> Option<&LatencySummary> {
    all.iter().find(|one| one.operation == operation && one.measure == Measure::Response)
}

fn moved_by_devices<'a>(phases: impl Iterator<Item = &'a PhaseRow>) -> Option<f64> {
    let (mut device, mut application) = (0.0, 0.0);
    for phase in phases {
        for (moved, observed) in
            [(phase.read_bytes, phase.device_read_bytes), (phase.write_bytes, phase.device_write_bytes)]
        {
            if moved > 0 {
                device += observed? as f64;
                application += moved as f64;
            }
        }
    }
    (application > 0.0).then(|| device / application)
}
