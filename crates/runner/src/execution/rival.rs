//! Measurements of another tool, which alternate with those of ioproof pass by pass, for the same case
//! and the same files.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use analysis::figures::NodeWork;
use engine::Controls;
use host::{Host, LoadSample, OutputFile, QuietWatch};
use plan::limits::RIVAL_BYTES;
use plan::{Case, Plan, PlanSource, Rival};
use record::{PhaseKey, PhaseRecord, Warning, WarningRow};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::RunnerError;
use crate::files::targets::devices_under;
use crate::ranks::nodes::observer::NodeObserver;

/// Polling interval for the exit of the tool and the stop flag.
const LOOK: Duration = Duration::from_millis(20);
/// Time between asking the tool to end and killing it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Number of last lines of stderr that are reported.
const LINES_TOLD: usize = 4;

/// The cases that another tool measures, and its command lines. Constructing this value from a plan means
/// consent to run them; constructing it from a record does not.
#[derive(Debug, Clone, Default)]
pub struct Rivals {
    tool: String,
    all: Vec<Rival>,
}

impl Rivals {
    /// The cases of `plan`; empty if it names no other tool.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Self {
        match &plan.source {
            PlanSource::CrossCheck { tool, rivals, .. } => Self { tool: tool.clone(), all: rivals.clone() },
            _ => Self::default(),
        }
    }

    /// The entry for the case `id`.
    pub(crate) fn of(&self, id: &str) -> Option<&Rival> {
        self.all.iter().find(|rival| rival.case == id)
    }

    /// Runs the tool for `rival`, described by `case`, for the pass `key`, in the working directory of this
    /// process. Meanwhile it observes the host, and with `quiet` other processes. Returns `None` if the run
    /// was stopped.
    ///
    /// # Errors
    /// Errors if the tool could not be started, failed, or printed output that cannot be parsed.
    pub(crate) fn pass(
        &self,
        rival: &Rival,
        case: &Case,
        key: &PhaseKey,
        (host, quiet): (&Host, &mut QuietWatch),
        controls: &Controls,
    ) -> Result<Option<PhaseRecord>, RunnerError> {
        let failed = |message: String| RunnerError::Rival { tool: self.tool.clone(), message };
        let [program, words @ ..] = &rival.command_line[..] else {
            return Err(failed("its command line is empty".to_owned()));
        };
        quiet.phase_starts();
        let devices = devices_under(&case.workload.files.targets, host);
        let observer = NodeObserver::start(host, devices, &BTreeSet::new());
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let started_unix_ns = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null());
        let ended = Running::start(&mut command);
        let ended = ended.map_err(|error| failed(format!("cannot start {program}: {error}")))?.wait(controls);
        let ended = ended.map_err(|error| failed(format!("cannot wait for {program}: {error}")))?;
        let (observed, unobserved) = observer.stop();
        // The tool's resource usage counts as that of this process, which has waited for it.
        let disturbed = quiet.phase_ended();
        let Some(Printed { status, out, complaints }) = ended else { return Ok(None) };
        if !status.success() {
            return Err(failed(format!("{status}: {}", last_lines(&complaints))));
        }
        let source = format!("{}, pass {}", self.tool, key.repetition);
        let found = dialect::fio::pass(&out, &source, key, started_unix_ns);
        let mut record = found.map_err(|error| failed(format!("{error}: {}", last_lines(&complaints))))?;
        let node = host.node();
        let mut warnings: Vec<Warning> = disturbed.into_iter().collect();
        let load = observed.load.into_iter().map(|sample| of_node(sample).into_row(key.clone(), &node));
        record.load = load.collect();
        if let Some(reason) = unobserved {
            warnings.push(Warning::DevicesUnknown { reason });
        } else {
            let rows = observed.devices.into_iter().map(|sample| sample.into_row(key.clone(), &node));
            record.devices = rows.collect();
            let sum = |bytes: fn(&record::DeviceRow) -> u64| record.devices.iter().map(bytes).sum();
            record.phase.device_read_bytes = Some(sum(|row| row.read_bytes));
            record.phase.device_write_bytes = Some(sum(|row| row.write_bytes));
        }
        let work = NodeWork {
            tasks: case.workload.tasks,
            cpu_ns: record.phase.user_cpu_ns + record.phase.system_cpu_ns,
            usable_cpus: host.usable_cpus(),
            logical_cpus: host.logical_cpus(),
            direct: case.workload.direct,
        };
        let starved = analysis::figures::starvation(&record.load.iter().collect::<Vec<_>>(), &[], work);
        warnings.extend(starved.map(|(seen, share)| Warning::Starved { seen, share }));
        let seen = analysis::figures::phase_warnings(&record.phase, &[], case, host.usable_cpus());
        let told = warnings.into_iter().chain(seen);
        record.warnings.extend(told.map(|warning| WarningRow { key: Some(key.clone()), warning }));
        Ok(Some(record))
    }
}

/// The sample of the node without the threads of this process, because the tool does the work.
fn of_node(sample: LoadSample) -> LoadSample {
    LoadSample { cpu_wait_ns: None, stopped_ns: 0, blocked_threads: 0, blocked_in: String::new(), ..sample }
}

/// The last lines of stderr, as one line.
fn last_lines(complaints: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaints);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match &lines[lines.len().saturating_sub(LINES_TOLD)..] {
        [] => "no further message".to_owned(),
        last => last.join("; "),
    }
}

/// Output of a tool.
struct Printed {
    status: ExitStatus,
    out: Vec<u8>,
    complaints: Vec<u8>,
}

/// A running tool in its own process group. It is ended on drop.
struct Running {
    child: Child,
    group: Pid,
    out: OutputFile,
    complaints: OutputFile,
}

impl Running {
    fn start(command: &mut Command) -> io::Result<Self> {
        let (out, complaints) = (OutputFile::new()?, OutputFile::new()?);
        command.stdout(out.for_child()?).stderr(complaints.for_child()?);
        // Ctrl-C at the terminal only reaches this process, which then ends the tool in an orderly way.
        command.process_group(0);
        host::ends_with_us(command);
        let child = command.spawn()?;
        Ok(Self { group: Pid::from_child(&child), child, out, complaints })
    }

    /// Waits for the tool to exit. Returns `None` if the run was stopped before that.
    fn wait(mut self, controls: &Controls) -> io::Result<Option<Printed>> {
        let status = loop {
            if controls.is_stopped() {
                return Ok(None);
            }
            match self.child.try_wait()? {
                Some(status) => break status,
                None => thread::sleep(LOOK),
            }
        };
        let (out, complaints) = (self.out.first(RIVAL_BYTES)?, self.complaints.first(RIVAL_BYTES)?);
        Ok(Some(Printed { status, out, complaints }))
    }

    /// Asks the tool to end, then kills what remains of its process group.
    fn end(&mut self) {
        let _ = kill_process_group(self.group, Signal::INT);
        let until = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            thread::sleep(LOOK);
        }
        // This includes background processes of a script.
        let _ = kill_process_group(self.group, Signal::KILL);
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.end();
        }
    }
}
