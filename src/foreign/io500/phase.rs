//! One phase: a command line of IOR, mdtest or md-workbench, or a search, with its own record.

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dialect::io500::{Entry, Outcome, Phase, RunRequest, Setup};
use dialect::{Extras, Tool, ior};
use plan::{Case, Phase as Activity, Placement, Plan};
use record::{RecordError, Run, RunState};
use report::Shown;
use runner::{Event, Watch};

use super::results::cannot;
use crate::console::exit::{Exit, Failure};
use crate::console::progress::LiveLine;
use crate::foreign::output::write_own;
use crate::foreign::{self, Measured, launcher};
use crate::run::cluster::World;
use crate::run::session::{self, Session};

/// How a phase ended.
pub(super) enum Ended {
    Done(Outcome),
    Interrupted,
}

/// Carries out phases.
pub(super) struct PhaseRun<'r> {
    world: &'r World,
    setup: &'r Setup,
    request: &'r RunRequest,
    /// The id of the whole run.
    run_id: &'r str,
}

/// A parsed command line.
enum PhaseCommand {
    Ior(Box<ior::ParsedCommand>),
    Tool(&'static Tool, Box<dialect::ParsedCommand>),
    Search(Box<dialect::ParsedCommand>),
}

impl PhaseCommand {
    fn plan(&mut self) -> &mut Plan {
        match self {
            Self::Ior(parsed) => &mut parsed.plan,
            Self::Tool(_, parsed) | Self::Search(parsed) => &mut parsed.plan,
        }
    }
}

impl<'r> PhaseRun<'r> {
    pub(super) const fn new(
        world: &'r World,
        setup: &'r Setup,
        request: &'r RunRequest,
        run_id: &'r str,
    ) -> Self {
        Self { world, setup, request, run_id }
    }

    /// Parses the command line of `phase`, to find out whether it is valid.
    pub(super) fn check(&self, phase: Phase) -> Result<(), Failure> {
        match phase {
            Phase::Timestamp => Ok(()),
            // These continue with what an earlier phase leaves, and have its options.
            Phase::MdworkbenchBench | Phase::MdworkbenchDelete | Phase::IorRnd4kEasyRead => Ok(()),
            _ => self.read(phase, 0.0, Path::new("")).map(drop),
        }
    }

    /// The cases of `phase`, which creates files.
    pub(super) fn cases(&self, phase: Phase) -> Result<Vec<Case>, Failure> {
        Ok(self.read(phase, 0.0, Path::new(""))?.plan().cases.clone())
    }

    /// Carries out `phase`, whose record is written to `directory`. The number of objects depends on `rate`. A
    /// phase that already has a complete record is not repeated.
    pub(super) fn run(&self, phase: Phase, rate: f64, directory: &Path) -> Result<Ended, Failure> {
        if phase == Phase::Timestamp {
            return self.mark_time().map(Ended::Done);
        }
        if directory.exists() {
            if let Some(run) = begun_earlier(directory)?.filter(|run| run.state == RunState::Complete) {
                let ns = run.manifest.finished_unix_ns.unwrap_or_default() - run.manifest.started_unix_ns;
                return Ok(Ended::Done(Outcome::of(phase, &run, self.setup, ns.max(0) as f64 / 1e9)));
            }
            fs::remove_dir_all(directory).map_err(|error| cannot("remove", directory, error))?;
        }
        let parsed = self.read(phase, rate, directory)?;
        let session = Session::of_part(self.world, self.run_id, phase.name());
        let begun = Instant::now();
        let measured = match parsed {
            PhaseCommand::Ior(parsed) => crate::foreign::ior::measure(&session, *parsed, true),
            PhaseCommand::Tool(tool, parsed) => foreign::measure(tool, &session, *parsed, true),
            PhaseCommand::Search(parsed) => search(&session, *parsed),
        };
        let seconds = begun.elapsed().as_secs_f64();
        let measured = match measured {
            Ok(measured) => measured,
            // There may be nothing to remove.
            Err(failure) if self.request.is_cleanup && failure.exit == Exit::Refused => {
                return Ok(Ended::Done(Outcome::without_result(format!("{:#}", failure.error), seconds)));
            }
            Err(failure) => return Err(failure),
        };
        if measured.exit == Exit::Interrupted {
            return Ok(Ended::Interrupted);
        }
        // The phases that follow need what this one could not create, for example because the file system
        // is full.
        if !measured.run.failed_cases.is_empty() && !self.request.is_cleanup {
            let why = measured.message.unwrap_or_else(|| "it could not be carried out".to_owned());
            return Err(Failure::new(measured.exit, anyhow::anyhow!(why)));
        }
        let mut outcome = Outcome::of(phase, &measured.run, self.setup, seconds);
        if let Some(message) = measured.message {
            outcome.entries.push(Entry::Invalid(message));
        }
        if let (Some(row), true) = (measured.run.all_phases().last(), phase.name().starts_with("find")) {
            let text = format!(
                "runtime: {:.6} rate: {:.6}\nfound, total\n{}, {}\n",
                row.wall_ns as f64 / 1e9,
                outcome.score * 1000.0,
                row.found.unwrap_or(0),
                row.items
            );
            write_own(&self.result(&format!("{}.csv", phase.name())), &text)?;
        }
        Ok(Ended::Done(outcome))
    }

    fn read(&self, phase: Phase, rate: f64, directory: &Path) -> Result<PhaseCommand, Failure> {
        let launcher = launcher(self.world);
        let line = self.setup.line(phase, rate);
        let usage = |error: dialect::ToolError| Failure::new(Exit::Usage, error);
        let output = Some(self.result(&format!("{}.txt", phase.name())));
        let mut line_of_ours = line.clone();
        if self.request.extras.tasks_per_rank > 1 {
            let each = self.request.extras.tasks_per_rank.to_string();
            line_of_ours.extend(["--tasks-per-rank".to_owned(), each]);
        }
        let mut parsed = match line.first().map(String::as_str) {
            Some("./ior") => {
                let mut parsed = ior::parse(&line_of_ours, launcher).map_err(usage)?;
                parsed.output.file = output;
                parsed.side_files.iter_mut().for_each(|files| phase.name().clone_into(&mut files.case));
                self.take_extras(&mut parsed.extras, directory);
                PhaseCommand::Ior(Box::new(parsed))
            }
            Some("./pfind") => {
                let mut parsed = self.setup.search(phase, &self.request.extras, launcher).map_err(usage)?;
                self.take_extras(&mut parsed.extras, directory);
                PhaseCommand::Search(Box::new(parsed))
            }
            program => {
                let name = program.unwrap_or_default().trim_start_matches("./");
                let tool = dialect::tool(name).ok_or_else(|| {
                    Failure::new(Exit::Internal, anyhow::anyhow!("no tool is called {name}"))
                })?;
                let mut parsed = (tool.parse)(&line_of_ours, launcher).map_err(usage)?;
                parsed.output = output;
                self.take_extras(&mut parsed.extras, directory);
                PhaseCommand::Tool(tool, Box::new(parsed))
            }
        };
        for case in &mut parsed.plan().cases {
            phase.name().clone_into(&mut case.id);
            case.group.clone_from(&case.id);
            case.title = format!("IO500 {}", phase.name());
            case.protocol.drop_caches |= self.setup.drops_caches();
        }
        Ok(parsed)
    }

    fn take_extras(&self, extras: &mut Extras, directory: &Path) {
        extras.out = Some(directory.to_owned());
        extras.yes = self.request.extras.yes;
        extras.history = self.request.extras.history;
        extras.destroy_data_on.clone_from(&self.request.extras.destroy_data_on);
        // Otherwise a log would contain the progress lines of each phase.
        extras.no_progress = self.request.extras.no_progress || !std::io::stderr().is_terminal();
    }

    fn result(&self, name: &str) -> PathBuf {
        Path::new(&self.setup.resultdir).join(name)
    }

    fn mark_time(&self) -> Result<Outcome, Failure> {
        let (path, begun) = (self.result("timestampfile"), Instant::now());
        // A resumed run keeps the time stamp, because files created after it must be found.
        if self.request.resume.is_none() || !path.exists() {
            write_own(&path, "")?;
        }
        Ok(Outcome::none(begun.elapsed().as_secs_f64()))
    }

    /// Stores the rate of `mdtest-easy-write`, in 1,000 files per second, as the benchmark does for
    /// `--cleanup`.
    pub(super) fn keep_rate(&self, rate: f64) -> Result<(), Failure> {
        let path = self.result("mdworkbench-size");
        write_own(&path, rate.to_ne_bytes())
    }

    /// The rate stored by an earlier run, or 0 if there is none.
    pub(super) fn rate_of_earlier_run(&self) -> f64 {
        let bytes = fs::read(self.result("mdworkbench-size")).unwrap_or_default();
        let rate = bytes.try_into().map_or(0.0, f64::from_ne_bytes);
        if rate.is_finite() { rate.max(0.0) } else { 0.0 }
    }

    /// Removes the files that the phases of IOR have kept for each other.
    pub(super) fn remove_files(&self) -> Result<(), Failure> {
        for (phase, status) in
            [(Phase::IorEasyWrite, "ior-easy.stonewall"), (Phase::IorHardWrite, "ior-hard.stonewall")]
        {
            let mut parsed = self.read(phase, 0.0, Path::new(""))?;
            for case in &parsed.plan().cases {
                let placement = Placement::new(&case.workload);
                let mut paths: Vec<PathBuf> = (0..case.workload.tasks)
                    .map(|task| placement.file(task, Activity::Write, 0).path)
                    .collect();
                paths.dedup();
                for path in paths {
                    remove(&path)?;
                    if case.workload.files.unique_dir
                        && let Some(directory) = path.parent()
                    {
                        let _ = fs::remove_dir(directory);
                    }
                }
            }
            remove(&self.result(status))?;
        }
        remove(&self.result("mdtest-easy.stonewall"))?;
        remove(&self.result("mdtest-hard.stonewall"))
    }
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(cannot("remove", path, error)),
        _ => Ok(()),
    }
}

/// The progress line of a search.
struct Progress(LiveLine);

impl Watch for Progress {
    fn event(&mut self, event: &Event<'_>) {
        self.0.event(event);
    }
}

/// Runs a search, whose only output is its record.
fn search(session: &Session<'_>, parsed: dialect::ParsedCommand) -> Result<Measured, Failure> {
    let directory = session.directory(parsed.extras.out.as_deref())?;
    let checked = session.check(parsed.plan)?;
    foreign::agreed(&checked, &parsed.extras)?;
    let shown = if parsed.extras.no_progress { Shown::Nothing } else { Shown::All };
    let mut watch = Progress(session.line(&checked, &directory, shown));
    let (ended, place) = session.run(&checked, &directory, &mut watch)?;
    drop(watch);
    let run = Run::open(&place)?;
    let (exit, message) = session::verdict(&ended, &directory);
    Ok(Measured { run, exit, message })
}

/// The record of a phase in an earlier start. Returns `None` if that was killed before anything was recorded.
pub(super) fn begun_earlier(directory: &Path) -> Result<Option<Run>, Failure> {
    match Run::open(directory) {
        Ok(run) => Ok(Some(run)),
        Err(RecordError::NotBegun { .. } | RecordError::NotARun { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
