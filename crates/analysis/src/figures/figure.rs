//! A figure: the value that tables, charts and pages show, with everything that has to be shown with it.

use std::iter;
use std::sync::Arc;

use plan::{Client, Measure, Operation, PassRole, Phase, Setting};
use record::{PhaseRow, Provenance, Warning};

use crate::RateName;
use crate::figures::{
    ChangeInPass, DeviceMean, DeviceShare, LatencySummary, MemberFigure, MovedBeside, NodeFigure, Rates,
    ServerCounts, WhileAll,
};
use crate::statistics::Summary;

/// One pass of a figure.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct RepetitionFigure {
    /// The number of the pass, starting at 0.
    pub repetition: u32,
    /// What the pass is for.
    pub role: PassRole,
    /// Whether the pass is part of the figure's summaries: it is recorded and, if the case ends at the steady state,
    /// lies in the last window.
    pub counts: bool,
    pub phase: Arc<PhaseRow>,
    pub rates: Rates,
    /// For a recorded pass: its rate ÷ that of the first round of the same repetition − 1. `None` if a repetition has
    /// one round. A rate that falls over the rounds is one of fresh media.
    pub drift: Option<f64>,
    /// The clearest change of the rate from second to second. `None` if there are too few seconds.
    pub change: Option<ChangeInPass>,
    /// A summary of its latencies, in the order of [`Operation::ALL`], response before service.
    pub latency: Vec<LatencySummary>,
    /// What workloads at the same time moved on its devices.
    pub beside: MovedBeside,
    /// What it did while all workloads at the same time ran, or why that is not known. `None` if it ran alone, or if the
    /// pass does not count.
    pub while_all: Option<Result<WhileAll, String>>,
    /// The bytes that the devices moved, as a share of its own and those of the workloads beside it.
    pub device_share: DeviceShare,
    /// The share of its reads that were the first ones of their bytes within the pass. `None` if no reads were
    /// transfers.
    pub first_touches: Option<f64>,
    /// The counters of servers and clients around the pass. `None` if none were collected.
    pub servers: Option<Arc<ServerCounts>>,
    /// The warnings of the pass.
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
    /// Where the measuring program ran, according to the study's description of the target.
    pub client: Client,
    pub settings: Vec<Setting>,
    pub provenance: Provenance,
    /// Of a simulated figure: the largest percentile that its model describes, if it does not describe all.
    pub percentile_of_model: Option<f64>,
    /// The purpose of the case; may be empty.
    pub title: String,
    pub phase: Phase,
    /// Whether it ran at the same time as other workloads. Processor time is then that of all of them.
    pub is_concurrent: bool,
    /// Size, order, direction, path, depth and tasks: no figure is shown without these.
    pub conditions: String,
    /// The number of nodes of the case.
    pub node_count: Option<u64>,
    /// Total memory of the nodes on which it was measured. `None` if the record lacks that of one of them.
    pub memory_bytes: Option<u64>,
    /// Whether the file system of its targets may keep a cache of its own on the nodes, in addition to the page
    /// cache.
    pub has_own_cache: bool,
    /// Every pass, in order, including those that do not count.
    pub repetitions: Vec<RepetitionFigure>,
    /// The name of the rate that is summarised; no figure is shown without it.
    pub rate: RateName,
    /// Bytes per second of that rate, over the counted passes.
    pub bytes_per_second: Summary,
    /// Operations per second of that rate, over the counted passes: transfers, or whatever the phase does.
    pub transfers_per_second: Summary,
    /// The latencies of all transfers of all counted passes, in the order of [`Operation::ALL`], response before
    /// service.
    pub latency: Vec<LatencySummary>,
    /// For each device, the mean over all counted passes, in the order of names. With several nodes, the name of the
    /// node precedes that of the device.
    pub devices: Vec<(String, DeviceMean)>,
    /// What each node did in the counted passes, in the order of names; empty if the record has no tasks.
    pub nodes: Vec<NodeFigure>,
    /// What the tasks of each path did in the counted passes, if there are several paths; empty if the record has no
    /// tasks.
    pub members: Vec<MemberFigure>,
    /// Nodes that only responded to requests of others in the counted passes, in the order of names.
    pub answering: Vec<String>,
    /// The warnings of the figure. Each is listed once, however many counted passes gave it. Wrong data is reported
    /// for any pass that found it.
    pub warnings: Vec<Warning>,
}

impl Figure {
    /// The response time of `operation`, measured from the intended start.
    #[must_use]
    pub fn response(&self, operation: Operation) -> Option<&LatencySummary> {
        response(&self.latency, operation)
    }

    /// Device bytes ÷ application bytes over all counted passes, for the directions that the phase moved; with the bytes
    /// of the workloads at the same time. `None` if one of them could not be observed.
    #[must_use]
    pub fn moved_by_devices(&self) -> Option<f64> {
        moved_by_devices(self.counted())
    }

    /// The lowest share of its possible rate that the figure can have reached, given what slowed the program down in
    /// the worst counted pass; 1 if nothing did. If the program was held back for a part of the time, the figure
    /// could have been faster by about that part. The part counts twice, because the time is sampled and the program
    /// continues with cold caches.
    #[must_use]
    pub(crate) fn least_reached(&self) -> f64 {
        let held = self.counted().flat_map(|pass| &pass.warnings).filter_map(|warning| match warning {
            Warning::Starved { share, .. } => Some(*share),
            _ => None,
        });
        (1.0 - held.fold(0.0, f64::max)).max(0.0).powi(2)
    }

    /// The mean number of processors that other programs and the kernel used in the counted passes, and the mean
    /// number that the program's threads waited for. Returns `None` if a pass was not observed.
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

    /// The counted passes that do not show what it did while all ran, with the reason.
    pub(crate) fn apart(&self) -> Vec<String> {
        let why = |pass: &RepetitionFigure| match &pass.while_all {
            Some(Err(why)) => Some(format!("pass {}: {why}", pass.repetition + 1)),
            _ => None,
        };
        self.counted().filter_map(why).collect()
    }
}

impl RepetitionFigure {
    /// The share of its reads that the run's own processes fetched from the devices. Returns `None` if that is not
    /// known.
    #[must_use]
    pub fn fetched_share(&self) -> Option<f64> {
        let fetched = self.phase.fetched_bytes.filter(|_| self.phase.read_bytes > 0)?;
        Some(fetched as f64 / self.phase.read_bytes as f64)
    }

    /// The share of the files that the page caches of the readers' nodes held before the pass. Returns `None` if that
    /// is not known.
    #[must_use]
    pub fn resident_share(&self) -> Option<f64> {
        let (resident, of) = self.phase.resident_bytes.zip(self.phase.resident_of_bytes)?;
        (of > 0).then(|| resident as f64 / of as f64)
    }

    /// The response time of `operation`, measured from the intended start.
    #[must_use]
    pub fn response(&self, operation: Operation) -> Option<&LatencySummary> {
        response(&self.latency, operation)
    }

    /// Device bytes ÷ application bytes of the directions that the phase moved; with the bytes of the workloads at the
    /// same time.
    #[must_use]
    pub fn moved_by_devices(&self) -> Option<f64> {
        moved_by_devices(iter::once(self))
    }
}

fn response(all: &[LatencySummary], operation: Operation) -> Option<&LatencySummary> {
    all.iter().find(|one| one.operation == operation && one.measure == Measure::Response)
}

fn moved_by_devices<'a>(passes: impl Iterator<Item = &'a RepetitionFigure>) -> Option<f64> {
    let (mut device, mut application) = (0.0, 0.0);
    for RepetitionFigure { phase, beside, .. } in passes {
        let reads = (phase.read_bytes, beside.read_bytes, phase.device_read_bytes);
        let writes = (phase.write_bytes, beside.write_bytes, phase.device_write_bytes);
        for (moved, others, observed) in [reads, writes] {
            if moved > 0 {
                device += observed? as f64;
                application += moved.saturating_add(others) as f64;
            }
        }
    }
    (application > 0.0).then(|| device / application)
}
