//! One phase: observed from its start to its end, and turned into rows and warnings.

use std::sync::Arc;
use std::time::Duration;

use comm::Comm;
use engine::{Controls, DataSpec, Expect, PhaseJob, PhaseOutcome, TransferLimit};
use host::{DeviceObserver, DeviceSample, Host, Unobservable};
use plan::{Backend, Case, Phase, Placement, Workload};
use record::{PhaseKey, PhaseRecord, Warning, WarningRow};

use crate::convert::{self, DeviceBytes};
use crate::data::Ledger;
use crate::rendezvous::Meeting;
use crate::{Event, RunnerError, Watch};

/// Devices are looked at once a second, as the series of the engine is.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// One phase of one repetition of one case.
pub(crate) struct PhaseRun<'a> {
    pub(crate) case: &'a Case,
    /// The case's workload, or the one that fills its files.
    pub(crate) workload: &'a Workload,
    pub(crate) phase: Phase,
    pub(crate) repetition: u32,
    pub(crate) limit: TransferLimit<'a>,
    pub(crate) usable_cpus: u32,
    /// What is already known that a reader of the figure must know.
    pub(crate) doubts: Vec<Warning>,
}

/// What a phase left.
pub(crate) struct Finished {
    pub(crate) record: PhaseRecord,
    /// Transfers of each task, where the phase ended before one pass was over.
    pub(crate) partial: Option<Vec<u64>>,
    /// Most transfers that a task did.
    pub(crate) most_transfers: u64,
}

impl PhaseRun<'_> {
    /// Runs the phase.
    ///
    /// # Errors
    /// A transfer failed, or the host lacks something.
    pub(crate) fn go(
        &self,
        host: &Host,
        comm: &dyn Comm,
        ledger: &Ledger,
        generation: u16,
        controls: &Arc<Controls>,
        watch: &mut dyn Watch,
    ) -> Result<Finished, RunnerError> {
        watch.event(&Event::PhaseStarted {
            case: self.case,
            repetition: self.repetition,
            phase: self.phase,
            planned_bytes: self.workload.bytes().get(),
            controls,
        });
        let job = PhaseJob {
            tasks: 0..self.workload.tasks,
            data: DataSpec {
                signature: self.workload.signature,
                write_generation: generation,
                expect: self.expected(ledger, generation),
            },
            limit: self.limit,
            ..PhaseJob::new(self.workload, self.phase, self.repetition)
        };
        let observation = self.observe(host);
        let outcome = engine::run(&job, &Meeting::new(comm), controls)?;
        let samples = observation.map(DeviceObserver::stop);
        Ok(self.finish(&outcome, samples, comm.node()))
    }

    /// Tells the ledger what is in the files now.
    pub(crate) fn note_written(&self, ledger: &mut Ledger, generation: u16, finished: &Finished) {
        let whole = matches!(self.phase, Phase::Fill | Phase::Write)
            && self.workload.duration.is_none()
            && finished.partial.is_none();
        for slot in Placement::new(self.workload).files(self.repetition) {
            ledger.written(&slot.path, generation, whole, finished.partial.is_some());
        }
    }

    /// The generations that a check accepts: those that this run has written into the files. Where
    /// a mixed phase goes through its offsets again and again, its reads come upon its own writes.
    fn expected(&self, ledger: &Ledger, own: u16) -> Expect {
        let mut range: Option<(u16, u16)> = None;
        for slot in Placement::new(self.workload).files(self.repetition) {
            let Some(content) = ledger.content(&slot.path) else { return Expect::Any };
            let (first, last) = (*content.generations.start(), *content.generations.end());
            range = Some(range.map_or((first, last), |(low, high)| (low.min(first), high.max(last))));
        }
        let reads_its_own = self.phase == Phase::Mixed && self.workload.duration.is_some();
        let newest = |last: u16| if reads_its_own { last.max(own) } else { last };
        range.map_or(Expect::Any, |(first, last)| Expect::Generations(first..=newest(last)))
    }

    fn observe(&self, host: &Host) -> Result<DeviceObserver, Unobservable> {
        if self.workload.backend == Backend::Null {
            return Err(Unobservable { reason: "the null backend moves nothing".to_owned() });
        }
        let mut devices = Vec::new();
        for target in &self.workload.files.targets {
            for device in host.devices_under(target)? {
                if !devices.contains(&device) {
                    devices.push(device);
                }
            }
        }
        DeviceObserver::start(host.root(), &devices, SAMPLE_INTERVAL)
            .map_err(|error| Unobservable { reason: error.to_string() })
    }

    fn finish(
        &self,
        outcome: &PhaseOutcome,
        samples: Result<Vec<DeviceSample>, Unobservable>,
        node: &str,
    ) -> Finished {
        let key =
            PhaseKey { case: self.case.id.as_str().into(), repetition: self.repetition, phase: self.phase };
        let bytes = samples.as_ref().ok().map(|samples| DeviceBytes {
            read: samples.iter().map(|sample| sample.read_bytes).sum(),
            written: samples.iter().map(|sample| sample.write_bytes).sum(),
        });
        let row = convert::phase_row(&key, outcome, bytes);
        let tasks = convert::task_rows(&key, outcome, node);
        let phase_min = self.case.protocol.phase_min;
        let mut warnings = self.doubts.clone();
        warnings.extend(analysis::phase_warnings(&row, &tasks, self.workload, self.usable_cpus, phase_min));
        if let Err(Unobservable { reason }) = &samples
            && self.phase.is_result()
            && self.workload.backend != Backend::Null
        {
            warnings.push(Warning::DevicesUnknown { reason: reason.clone() });
        }
        warnings.extend(engine_warnings(outcome));
        let devices =
            samples.unwrap_or_default().into_iter().map(|sample| sample.into_row(key.clone(), node));
        let warnings = warnings.into_iter().map(|warning| WarningRow { key: Some(key.clone()), warning });
        Finished {
            partial: self.partial(outcome),
            most_transfers: outcome.most_transfers(),
            record: PhaseRecord {
                latency: convert::latency_rows(&key, outcome),
                series: convert::series_rows(&key, outcome),
                nodes: Vec::new(),
                devices: devices.collect(),
                warnings: warnings.collect(),
                phase: row,
                tasks,
            },
        }
    }

    /// Transfers of each task where a write ended before one pass was over.
    fn partial(&self, outcome: &PhaseOutcome) -> Option<Vec<u64>> {
        let pass = self.workload.geometry.transfers_per_task();
        let short = outcome.tasks.iter().any(|task| task.transfers() < pass);
        short.then(|| outcome.tasks.iter().map(engine::TaskOutcome::transfers).collect())
    }
}

/// What the engine noticed, as warnings.
fn engine_warnings(outcome: &PhaseOutcome) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(first) = outcome.mismatches.first.first() {
        let (cells, first) = (outcome.mismatches.wrong_cells, first.to_string());
        warnings.push(Warning::WrongData { cells, first });
    }
    for note in &outcome.notes {
        let (what, reason) = ("the fastest mode of io_uring".to_owned(), note.to_string());
        warnings.push(Warning::Unapplied { what, reason });
    }
    warnings
}
