//! The expected volume and duration of one phase.

use super::case_criteria::CaseCriteria;
use super::concern::whole;
use super::prediction::{Interval, PredictedRate, RateUnit, Source};
use super::{AssumedDevice, RunEnvironment};
use crate::{Bytes, Case, Forecast, Jobs, Layer, Phase};

/// An assumed rate may be too high or too low by this factor, because disks, flash and arrays behind networks differ
/// that much.
const ASSUMED_FACTOR: f64 = 4.0;
/// A rate derived from the assumed time of a transfer may be too high or too low by this factor.
const TRANSFER_TIME_FACTOR: f64 = 2.0;
/// A promise may be exceeded by this factor.
const PROMISE_EXCEEDED: f64 = 2.0;
/// Sequential transfers need no seek, so they take no longer than on flash.
const SEQUENTIAL_SECONDS_MAX: f64 = 100e-6;
/// Assumed operations per second of one thread of a job that computes.
const COMPUTED_PER_SECOND: f64 = 1e9;

/// The expected volume and duration of one phase of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseEstimate {
    /// Which phase.
    pub phase: Phase,
    /// Expected bytes per second.
    pub bytes_per_second: Interval,
    /// The source of the rate.
    pub source: Source,
    /// Expected number of bytes: one pass, or what the middle rate moves until the clock ends the phase.
    pub bytes: Bytes,
    /// Part of these bytes that is read; the rest is written.
    pub read_bytes: Bytes,
    /// Expected number of operations, if these are not transfers.
    pub operations: Option<u64>,
    /// Expected duration in seconds.
    pub seconds: Interval,
    /// Whether the clock ends it, not the volume.
    pub by_clock: bool,
}

impl PhaseEstimate {
    /// Whether its duration is unknown; its seconds and its rate are then 0.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.source == Source::Unknown && !self.by_clock
    }
}

/// Estimates phases of one case.
pub(super) struct Phases<'a> {
    pub(super) criteria: CaseCriteria<'a>,
    pub(super) environment: &'a RunEnvironment,
    pub(super) forecast: &'a Forecast,
    /// Number of different file systems that the case is on.
    pub(super) file_systems: u32,
}

impl Phases<'_> {
    const fn case(&self) -> &Case {
        self.criteria.case
    }

    /// The estimate of one pass of `phase`.
    pub(super) fn estimate(&self, phase: Phase) -> PhaseEstimate {
        if !self.case().workload.work.is_transfers() {
            return self.operations(phase);
        }
        let workload = &self.case().workload;
        let (rate, source) = self.bytes_per_second(phase);
        let volume = if phase.is_result() { workload.bytes() } else { workload.footprint() };
        let by_volume = seconds_at(rate, volume);
        let (seconds, by_clock) = self.ended(phase, by_volume);
        let bytes = if by_clock { whole(seconds.middle * rate.middle) } else { volume };
        let read_bytes = self.read_of(phase, bytes);
        PhaseEstimate {
            phase,
            bytes_per_second: rate,
            source,
            bytes,
            read_bytes,
            operations: None,
            seconds,
            by_clock,
        }
    }

    /// Part of the `bytes` of `phase` that is read.
    fn read_of(&self, phase: Phase, bytes: Bytes) -> Bytes {
        let workload = &self.case().workload;
        let (read, all) = workload.work.kind().read_part(workload, phase);
        whole(bytes.0 as f64 * (read as f64 / all as f64))
    }

    /// The estimate of a sequential write of `bytes` that fills or preconditions files.
    pub(super) fn fill(&self, bytes: Bytes) -> PhaseEstimate {
        let phase = Phase::Fill;
        let (rate, source) = self.bytes_per_second(phase);
        let seconds = seconds_at(rate, bytes);
        PhaseEstimate {
            phase,
            bytes_per_second: rate,
            source,
            bytes,
            read_bytes: Bytes(0),
            operations: None,
            seconds,
            by_clock: false,
        }
    }

    /// The time of a phase that takes `by_volume` unless a clock ends it earlier, and whether one does.
    fn ended(&self, phase: Phase, by_volume: Interval) -> (Interval, bool) {
        let workload = &self.case().workload;
        if !phase.is_result() {
            return (by_volume, false);
        }
        if let Some(duration) = workload.duration {
            return (Interval::exact(duration.as_secs_f64()), true);
        }
        let Some(stonewall) = workload.stonewall else { return (by_volume, false) };
        let deadline = stonewall.deadline.as_secs_f64();
        let limit = Interval { low: deadline, middle: deadline, high: stonewall.longest().as_secs_f64() };
        (by_volume.at_most(limit), deadline < by_volume.middle)
    }

    /// The rate of a phase of transfers in bytes, and its source; 0 if it is unknown. For a mixed phase without a
    /// rate of its own, reads and writes alternate, so their times add up.
    fn bytes_per_second(&self, phase: Phase) -> (Interval, Source) {
        let (rate, source) = match (self.said(phase), phase) {
            (Some(PredictedRate { rate, unit, source }), _) => match unit {
                RateUnit::Bytes => (rate, source),
                RateUnit::Operations => (rate * self.case().workload.geometry.transfer.0 as f64, source),
            },
            (None, Phase::Mixed) => {
                let ((read, of_reads), (write, of_writes)) =
                    (self.bytes_per_second(Phase::Read), self.bytes_per_second(Phase::Write));
                let reads = f64::from(self.case().workload.read_percent) / 100.0;
                let mixed = |read: f64, write: f64| 1.0 / (reads / read + (1.0 - reads) / write);
                let rate = Interval {
                    low: mixed(read.low, write.low),
                    middle: mixed(read.middle, write.middle),
                    high: mixed(read.high, write.high),
                };
                match self.case().workload.read_percent {
                    0 => (write, of_writes),
                    100 => (read, of_reads),
                    _ => (rate, of_reads.max(of_writes)),
                }
            }
            (None, _) => self.assumed(phase),
        };
        if source == Source::Unknown {
            return (Interval::exact(0.0), source);
        }
        let transfer = self.case().workload.geometry.transfer.0 as f64;
        let pace = self.case().workload.pace.filter(|_| phase.is_result());
        let pace = pace.map_or(f64::INFINITY, |pace| pace.transfers_per_second * transfer);
        (rate.at_most(Interval::exact(pace)).map(|rate| rate.max(1.0)), source)
    }

    /// The rate from the best source that has one for `phase`.
    fn said(&self, phase: Phase) -> Option<PredictedRate> {
        let known = self.environment.predicted.of(self.case(), phase).cloned();
        let of_study = self.criteria.rate(phase).map(|one| PredictedRate {
            rate: match phase.is_transfers() {
                true => (one.rate * self.forecast.balance_bound).at_most(self.by_transfer_time(phase)),
                false => one.rate,
            },
            ..one
        });
        known.chain(of_study).min_by(|one, other| one.source.cmp(&other.source))
    }

    /// The rate of the tasks at their depth if each transfer takes the assumed time (Little's law).
    fn by_transfer_time(&self, phase: Phase) -> Interval {
        let workload = &self.case().workload;
        if !phase.is_result() {
            return Interval::exact(f64::INFINITY);
        }
        let random = workload.order.is_random();
        let time = self.environment.assumed.transfer_time.as_secs_f64().max(1e-9);
        let time = if random { time } else { time.min(SEQUENTIAL_SECONDS_MAX) };
        let rate = self.under_way() * workload.geometry.transfer.0 as f64 / time;
        Interval::around(rate, TRANSFER_TIME_FACTOR)
    }

    fn under_way(&self) -> f64 {
        f64::from(self.case().workload.tasks) * f64::from(self.case().workload.backend.depth())
    }

    /// Bytes per second of all assumed devices: as many as the study states, else one for each file system; if each
    /// node has its own devices, those of all nodes.
    fn assumed_bytes(&self) -> f64 {
        let nodes = match self.criteria.layer() {
            Layer::NodeLocal => f64::from(self.case().workload.nodes),
            Layer::Unstated | Layer::Shared => 1.0,
        };
        self.environment.assumed.bytes_per_second * f64::from(self.devices()) * nodes
    }

    fn devices(&self) -> u32 {
        self.criteria.devices().unwrap_or(self.file_systems).max(1)
    }

    fn assumption(&self) -> Source {
        let AssumedDevice { bytes_per_second, class, .. } = &self.environment.assumed;
        let each = match bytes_per_second / 1e9 {
            each if each < 1.0 => format!("{:.0} MB/s", each * 1e3),
            each => format!("{each:.1} GB/s"),
        };
        Source::Assumed(match self.devices() {
            1 => format!("an assumed {class} of {each}"),
            devices => format!("{devices} assumed {class}s of {each} each"),
        })
    }

    /// A model has no assumed devices.
    fn assumed(&self, phase: Phase) -> (Interval, Source) {
        if self.environment.model.is_some() {
            return (Interval::exact(0.0), Source::Unknown);
        }
        let rate = Interval::around(self.assumed_bytes() * self.forecast.balance_bound, ASSUMED_FACTOR);
        let limit = self.by_transfer_time(phase);
        let rate = rate.at_most(limit);
        // A promise is a minimum. It only tells something if the assumed devices are too slow for it.
        let promised = self.criteria.promised(phase).filter(|(_, promised)| *promised > rate.middle);
        let Some((name, promised)) = promised else { return (rate, self.assumption()) };
        let middle = Interval { middle: promised, high: rate.high.max(promised * PROMISE_EXCEEDED), ..rate };
        (middle.at_most(limit), Source::Promised(name))
    }

    /// The estimate of a phase of names, messages or jobs. If nothing is known about it on a host, each operation is
    /// assumed to take the time of a small transfer. That is a guess, because data sheets give no values for such
    /// operations.
    fn operations(&self, phase: Phase) -> PhaseEstimate {
        let workload = &self.case().workload;
        let bytes = match workload.work.jobs().filter(|_| phase == Phase::Jobs).map(Jobs::traffic) {
            Some(traffic) => Bytes(traffic.read.0.saturating_add(traffic.written.0)),
            None => workload.phase_bytes(phase),
        };
        let all = workload.operations_of(phase);
        let (by_volume, source) = match (self.said(phase), all) {
            (Some(PredictedRate { rate, unit: RateUnit::Operations, source }), Some(all)) => {
                (rate.time_of(all as f64), source)
            }
            (Some(PredictedRate { rate, unit: RateUnit::Bytes, source }), _) if bytes.0 > 0 => {
                (rate.time_of(bytes.0 as f64), source)
            }
            _ if self.environment.model.is_some() => (Interval::exact(0.0), Source::Unknown),
            _ => {
                let per_second =
                    self.under_way() / self.environment.assumed.transfer_time.as_secs_f64().max(1e-9);
                let seconds = all.map_or(0.0, |all| all as f64 / per_second);
                let by_bytes = bytes.0 as f64 / self.assumed_bytes().max(1.0);
                let seconds = seconds.max(by_bytes).max(self.computed_seconds(phase));
                (Interval::around(seconds, ASSUMED_FACTOR), self.assumption())
            }
        };
        let limit = workload.duration.or(workload.stonewall.map(|stonewall| stonewall.deadline));
        let limit = limit.map(crate::Nanos::as_secs_f64);
        let by_clock = limit.is_some_and(|limit| all.is_none() || limit < by_volume.middle);
        let seconds = match limit {
            Some(limit) if all.is_none() => Interval::exact(limit),
            Some(limit) => by_volume.at_most(Interval::exact(limit)),
            None => by_volume,
        };
        let share = match by_clock && by_volume.middle > 0.0 {
            true => seconds.middle / by_volume.middle,
            false => 1.0,
        };
        let operations = all.map(|all| whole(all as f64 * share).0);
        let bytes = whole(bytes.0 as f64 * share);
        let bytes_per_second = match bytes.0 {
            bytes if bytes > 0 && seconds.high > 0.0 => seconds.time_of(bytes as f64),
            _ => Interval::exact(0.0),
        };
        let read_bytes = self.read_of(phase, bytes);
        // Exchanges of a warm-up take time, but do not count.
        let seconds = seconds + Interval::exact(workload.work.kind().warm_up().as_secs_f64());
        PhaseEstimate { phase, bytes_per_second, source, bytes, read_bytes, operations, seconds, by_clock }
    }

    /// Seconds that the computing steps of jobs take on the processors, if none waits for data.
    fn computed_seconds(&self, phase: Phase) -> f64 {
        let Some(jobs) = self.case().workload.work.jobs().filter(|_| phase == Phase::Jobs) else {
            return 0.0;
        };
        let threads = self.environment.processors.unwrap_or(1).max(1);
        jobs.computed_seconds(threads, COMPUTED_PER_SECOND)
    }
}

/// The time of `bytes` at `rate`; 0 if the rate is unknown.
fn seconds_at(rate: Interval, bytes: Bytes) -> Interval {
    if rate.high > 0.0 { rate.time_of(bytes.0 as f64) } else { rate }
}

/// The maximum share of the files of `case` that is written: all, unless a stonewall ends each write earlier.
pub(super) fn written_share(case: &Case, phases: &[PhaseEstimate]) -> f64 {
    let volume = case.workload.footprint().0 as f64;
    let share = |phase: &PhaseEstimate| match phase.by_clock && case.workload.stonewall.is_some() {
        true => (phase.seconds.high * phase.bytes_per_second.high / volume).min(1.0),
        false => 1.0,
    };
    let fills = case.workload.files.fill || case.protocol.precondition > 0;
    let writes = phases.iter().filter(|phase| phase.phase.writes()).map(share);
    if fills { 1.0 } else { writes.reduce(f64::max).unwrap_or(1.0) }
}

/// Seconds of all passes of `case` with their delays; the lower end is for the minimum number of passes.
pub(super) fn all_passes(case: &Case, phases: &[PhaseEstimate]) -> Interval {
    let delay = Interval::exact(case.delay.as_secs_f64());
    let one: Interval = phases.iter().map(|phase| phase.seconds + delay).sum();
    let mut all = one * f64::from(case.passes_max());
    all.low = one.low * f64::from(case.passes_min());
    match case.time_limit {
        Some(limit) => all.at_most(one.at_least(Interval::exact(limit.as_secs_f64()))),
        None => all,
    }
}
