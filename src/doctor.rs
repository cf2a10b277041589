//! `ioproof doctor`: what this host allows, and what to do about the rest, in a line each.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use host::tuning::{self, ALL_DEVICES, Finding, HostSettings, Severity, TuningContext};
use host::{Host, Root};
use plan::{Bytes, quick, shell_word, visible};
use record::{HostFacts, WarningRow};
use runner::Checked;

use crate::console::exit::{Exit, Failure, with_causes};
use crate::console::{print, screen};
use crate::defaults::Defaults;
use crate::run::ask;
use crate::run::cluster::World;
use crate::run::session::Session;

/// `ioproof doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Directory on the storage to be measured.
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
}

/// How something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// As it should be.
    Fine,
    /// Figures are possible without it, but fewer or less certain ones.
    Less,
    /// Nothing can be measured before this is changed.
    Lacks,
}

/// The lines of the answer.
#[derive(Debug, Default)]
struct Lines {
    lines: Vec<(Found, &'static str, String)>,
}

impl Lines {
    fn add(&mut self, found: Found, what: &'static str, text: impl Into<String>) {
        self.lines.push((found, what, text.into()));
    }

    /// Adds the good news, or what is missing.
    fn add_either(&mut self, what: &'static str, result: Result<String, String>) {
        match result {
            Ok(text) => self.add(Found::Fine, what, text),
            Err(text) => self.add(Found::Less, what, text),
        }
    }

    fn text(&self) -> String {
        let screen = screen();
        self.lines.iter().fold(String::new(), |mut text, (found, what, said)| {
            let mark = match found {
                Found::Fine => "ok",
                Found::Less => "!",
                Found::Lacks => "lacks",
            };
            let _ = write!(text, "{}", screen.folded(&format!("{mark:<6} {what:<14} {}\n", visible(said))));
            text
        })
    }
}

/// Examines this host for measurements in the directory.
pub(crate) fn run(arguments: &DoctorArguments, defaults: &Defaults) -> Result<Exit, Failure> {
    let directory = &arguments.directory;
    let world = World::alone().with(defaults.clone());
    let session = Session::new(&world, "doctor");
    let planned = planned(&session, directory);
    let mut lines = Lines::default();
    lines.add(Found::Fine, "program", crate::version::VERSION);
    host_itself(&mut lines, &session.host.facts(&[], engine::clock_name()));
    lines.add_either("clock", clock());
    lines.add_either("io_uring", io_uring());
    lines.add_either("MPI", mpi(defaults.mpi()));
    if let Ok(place) = directory.canonicalize()
        && place.is_dir()
    {
        storage(&mut lines, &session.host, &place);
        lines.add_either("settings", settings(&session.host, &place));
    }
    match &planned {
        Ok(checked) => quick_run(&mut lines, directory, checked),
        Err(failure) => lines.add(Found::Lacks, "quick run", with_causes(&failure.error)),
    }
    print(&lines.text())?;
    Ok(if planned.is_ok() { Exit::Success } else { Exit::HostLacks })
}

/// The preflight of `run --quick`, and that its record can be made.
fn planned(session: &Session<'_>, directory: &Path) -> Result<Checked, Failure> {
    let place = ask::quick_environment(directory)?;
    let quick = ask::quick_of(vec![place], &quick::Options::default())?;
    let checked = session.check(quick.plan)?;
    session.directory(None).map(|_| checked)
}

fn host_itself(lines: &mut Lines, facts: &HostFacts) {
    let system =
        facts.kernel.known().map_or("unknown kernel", |kernel| kernel.split(' ').next().unwrap_or(kernel));
    let limit = facts
        .memory_limit_bytes
        .map_or(String::new(), |limit| format!(", of which its control group allows {}", Bytes(limit)));
    let container = facts.machine.container.as_ref();
    let container = container.map_or(String::new(), |software| format!(", in a container ({software})"));
    let is_limited = facts.usable_cpus < facts.logical_cpus || facts.memory_limit_bytes.is_some();
    lines.add(
        if is_limited { Found::Less } else { Found::Fine },
        "host",
        format!(
            "{}: {system}, {} of {} processors, {} of memory{limit}{container}",
            facts.node,
            facts.usable_cpus,
            facts.logical_cpus,
            Bytes(facts.memory_bytes)
        ),
    );
}

fn storage(lines: &mut Lines, host: &Host, directory: &Path) {
    let on = host.file_system_of(directory).map(|on| {
        let free = format!("{} free, quotas of users not counted", Bytes(on.free_bytes));
        format!("{} on {}, {free}", on.kind, on.source)
    });
    lines.add_either("directory", on.map_err(|error| error.to_string()));
    lines.add_either(
        "direct I/O",
        match host::direct_alignment(directory) {
            Ok(Some(alignment)) => Ok(format!("in multiples of {}", Bytes(alignment))),
            Ok(None) => Err("not possible on this file system: reads may be answered from memory".to_owned()),
            Err(why) => Err(with_causes(&why.into())),
        },
    );
    lines.add_either(
        "counters",
        match host.devices_under(directory) {
            Ok(devices) if !devices.is_empty() => {
                Ok(format!("those of {} show what reaches the devices of this host", devices.join(", ")))
            }
            Ok(_) => Err("no device of this host is below it".to_owned()),
            Err(why) => Err(format!("none of its devices: {why}")),
        },
    );
}

/// The clock of latencies. A reading should take less than 1 % of a transfer of 10 µs.
fn clock() -> Result<String, String> {
    const COST_MAX_NS: f64 = 100.0;
    let cost_ns = engine::clock_cost_ns();
    let text = format!("{}, {cost_ns:.0} ns for a reading", engine::clock_name());
    if cost_ns <= COST_MAX_NS { Ok(text) } else { Err(format!("{text}, which short latencies include")) }
}

/// What the run would warn of, and how to start it.
fn quick_run(lines: &mut Lines, directory: &Path, checked: &Checked) {
    for WarningRow { warning, .. } in &checked.warnings {
        lines.add(Found::Less, "quick run", format!("{warning}; {}", warning.advice()));
    }
    let word = shell_word(&directory.to_string_lossy());
    let text = format!(
        "possible: there is enough space, open files, threads and locked memory: ioproof run --quick {word}"
    );
    lines.add(Found::Fine, "quick run", text);
}

/// Whether io_uring can be used, and otherwise why not.
fn io_uring() -> Result<String, String> {
    engine::uring_available()
        .map(|()| "available for transfers".to_owned())
        .map_err(|why| format!("{why}; without it each transfer in flight takes a task of its own"))
}

/// The MPI libraries that runs on several nodes would use: `default`, or those that are found.
fn mpi(default: Option<PathBuf>) -> Result<String, String> {
    let found = comm::installed(default.as_deref(), &|name| std::env::var(name).ok());
    if found.is_empty() {
        let what = default.map_or_else(
            || "no library found, which".to_owned(),
            |path| format!("the default, {}, cannot be loaded, which", path.display()),
        );
        return Err(format!(
            "{what} only runs on several nodes need: load the site's module, or name one with --mpi"
        ));
    }
    // What follows the first comma is about how it was built.
    let short = |version: &str| version.split(',').next().unwrap_or_default().to_owned();
    let one = |(path, version): &(PathBuf, String)| format!("{} ({})", path.display(), short(version));
    Ok(found.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// What `host check` says of the devices below `directory`, or of all of them, in short.
fn settings(host: &Host, directory: &Path) -> Result<String, String> {
    let below = host.devices_under(directory).is_ok_and(|devices| !devices.is_empty());
    let device = if below { directory.to_owned() } else { ALL_DEVICES.into() };
    let root = Root::default();
    let known = HostSettings::new(&root);
    let devices = [device.clone()];
    let context = TuningContext::new(&root, &known, &devices).map_err(|error| error.to_string())?;
    let steps = tuning::steps_of(&tuning::profiles());
    let findings: Vec<Finding> = steps.iter().flat_map(|step| step.findings(&context)).collect();
    let counted = |severity, one: &str, more: &str| {
        let of: Vec<&Finding> = findings.iter().filter(|one| one.severity == severity).collect();
        match of.len() {
            0 => None,
            1 => Some(format!("1 {one} ({}: {})", of[0].step, of[0].state.what)),
            count => Some(format!("{count} {more}")),
        }
    };
    let found: Vec<String> = [
        counted(Severity::Warning, "warning", "warnings"),
        counted(Severity::Advice, "piece of advice", "pieces of advice"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if found.is_empty() {
        return Ok("as advised".to_owned());
    }
    let device = shell_word(&device.to_string_lossy());
    Err(format!("{}: ioproof host check --device {device}", found.join(", ")))
}
