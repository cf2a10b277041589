//! What another tool measures in turn with ioproof: pass by pass, of the same case, over the same files.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use analysis::NodeWork;
use engine::Controls;
use host::{Host, LoadSample, Observer, OutputFile, QuietWatch, Unobservable};
use plan::{Case, Plan, Question, Rival};
use record::{PhaseKey, PhaseRecord, Warning, WarningRow};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::RunnerError;

/// How often its end, and the stop of the run, are looked for.
const LOOK: Duration = Duration::from_millis(20);
/// A tool that was told to end and is still there after this is killed.
const PATIENCE: Duration = Duration::from_secs(5);
/// Of what it prints so much is read; the histograms of a pass take far less.
const PRINTED_MAX: u64 = 64 << 20;
/// Lines of its complaints that are told, the last ones.
const LINES_TOLD: usize = 4;
/// Devices are looked at once a second, as in phases of ioproof.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// The cases that another tool measures, and its command lines. To make this of a plan is to agree to run them:
/// what a record says is no consent.
#[derive(Debug, Clone, Default)]
pub struct Rivals {
    tool: String,
    all: Vec<Rival>,
}

impl Rivals {
    /// Those of `plan`; none where it names no other tool.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Self {
        match &plan.question {
            Question::CrossCheck { tool, rivals, .. } => Self { tool: tool.clone(), all: rivals.clone() },
            _ => Self::default(),
        }
    }

    /// The one that is the case `id`.
    pub(crate) fn of(&self, id: &str) -> Option<&Rival> {
        self.all.iter().find(|rival| rival.case == id)
    }

    /// Has the tool measure `rival`, which `case` describes, for the pass `key`, in the directory of this process, and
    /// watches the host meanwhile, with `quiet` for what others do. None where the run was stopped.
    ///
    /// # Errors
    /// It could not be started, failed, or printed what cannot be read.
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
        let (observer, unobserved) = observe(case, host);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let started_unix_ns = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null());
        let ended = Running::start(&mut command);
        let ended = ended.map_err(|error| failed(format!("cannot start {program}: {error}")))?.wait(controls);
        let ended = ended.map_err(|error| failed(format!("cannot wait for {program}: {error}")))?;
        let observed = observer.map(Observer::stop).unwrap_or_default();
        // What it used is that of this process, as it was waited for.
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
        let starved = analysis::starvation(&record.load.iter().collect::<Vec<_>>(), &[], work);
        warnings.extend(starved.map(|(seen, share)| Warning::Starved { seen, share }));
        let (workload, phase_min) = (&case.workload, case.protocol.phase_min);
        let seen = analysis::phase_warnings(&record.phase, &[], workload, host.usable_cpus(), phase_min);
        let told = warnings.into_iter().chain(seen);
        record.warnings.extend(told.map(|warning| WarningRow { key: Some(key.clone()), warning }));
        Ok(Some(record))
    }
}

/// Starts to observe the node, and the devices of `case`; why not these, where they are not.
fn observe(case: &Case, host: &Host) -> (Option<Observer>, Option<String>) {
    let start = |devices: &[String]| {
        Observer::start(host.root(), devices, &BTreeSet::new(), SAMPLE_INTERVAL)
            .map_err(|error| Unobservable { reason: error.to_string() })
    };
    match devices(case, host).and_then(|devices| start(&devices)) {
        Ok(observer) => (Some(observer), None),
        Err(Unobservable { reason }) => (start(&[]).ok(), Some(reason)),
    }
}

/// What was seen of the node, without what was seen of the threads of this process: the work is another's.
fn of_node(sample: LoadSample) -> LoadSample {
    LoadSample { cpu_wait_ns: None, stopped_ns: 0, blocked_threads: 0, blocked_in: String::new(), ..sample }
}

/// The devices under the targets of `case`.
fn devices(case: &Case, host: &Host) -> Result<Vec<String>, Unobservable> {
    let mut devices = BTreeSet::new();
    for target in &case.workload.files.targets {
        devices.extend(host.devices_under(target)?);
    }
    Ok(devices.into_iter().collect())
}

/// The last lines of what it complained about, in one.
fn last_lines(complaints: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaints);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match &lines[lines.len().saturating_sub(LINES_TOLD)..] {
        [] => "it says nothing more".to_owned(),
        last => last.join("; "),
    }
}

/// What a tool left.
struct Printed {
    status: ExitStatus,
    out: Vec<u8>,
    complaints: Vec<u8>,
}

/// A tool under way, in a process group of its own, which ends with the value.
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
        // A Ctrl-C at the terminal reaches this process alone, which then ends the tool in order.
        command.process_group(0);
        host::ends_with_us(command);
        let child = command.spawn()?;
        Ok(Self { group: Pid::from_child(&child), child, out, complaints })
    }

    /// Waits for its end; none where the run was stopped before.
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
        let (out, complaints) = (self.out.first(PRINTED_MAX)?, self.complaints.first(PRINTED_MAX)?);
        Ok(Some(Printed { status, out, complaints }))
    }

    /// Tells it to end, and kills what is then still there.
    fn end(&mut self) {
        let _ = kill_process_group(self.group, Signal::INT);
        let until = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            thread::sleep(LOOK);
        }
        // Also what a script has started and left.
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
