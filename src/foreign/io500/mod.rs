//! The program called as `io500`: reads the benchmark's configuration, writes its results, and makes a
//! record of all phases.

mod phase;
mod results;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, thread};

use dialect::import::{Text, import};
use dialect::io500::{self, Config, Memo, Outcome, Phase, Request, RunRequest, Setup, Sheet};
use plan::PlanSource;
use record::{Leftover, PlacedClaim, PrintedRow, Recorder, Run, RunState, Warning};

use crate::console::exit::{Exit, Failure};
use crate::console::{complain, confirm, print, print_folded, print_line};
use crate::foreign::output::write_own;
use crate::foreign::{doubts, launcher, unicode};
use crate::records::unfinished::{MEMO, Unfinished, parts_of, whole_of};
use crate::run::cluster::World;
use crate::run::session;
use phase::{Ended, PhaseRun, begun_earlier};
use results::{MadeDirectories, Results, cannot};

/// The version in results. It names this program, never a release of the benchmark.
const VERSION: &str = concat!("ioproof-", env!("CARGO_PKG_VERSION"));
const NO_SUBMISSION: &str = "A result of ioproof is not valid for the IO500 list: a submission has to come from the list's own program.";

/// Runs the command line, which begins with the program's name.
pub(crate) fn run(arguments: &[OsString], world: &World) -> Result<Exit, Failure> {
    let words = unicode(arguments)?;
    match io500::parse(&words, launcher(world)).map_err(|error| Failure::new(Exit::Usage, error))? {
        Request::Text(text) if words.iter().any(|word| word == "-h" || word == "--help") => {
            print_folded(&text).map(|()| Exit::Success)
        }
        Request::Text(text) => print(&text).map(|()| Exit::Success),
        Request::Verify { config, result } => verify(&config, &result),
        Request::Run(request) => Benchmark::new(*request, world)?.run(),
    }
}

/// Tells what sections and options of older releases became.
fn tell_older(config: &Config) {
    for line in config.older() {
        complain(&format!("ioproof: {line}"));
    }
}

fn verify(config: &Config, result: &Path) -> Result<Exit, Failure> {
    tell_older(config);
    let (said, is_valid) = io500::verify(config, &read(result)?);
    print(&said)?;
    Ok(if is_valid { Exit::Success } else { Exit::NotKept })
}

/// A run of the benchmark.
struct Benchmark<'w> {
    world: &'w World,
    request: RunRequest,
    setup: Setup,
    run_id: String,
    /// The directory of the complete record. Until then, the record of each phase is below
    /// [`Benchmark::parts`].
    directory: PathBuf,
    /// What an interrupted run has stored.
    earlier: Option<Memo>,
}

impl<'w> Benchmark<'w> {
    fn new(request: RunRequest, world: &'w World) -> Result<Self, Failure> {
        let now = jiff::Timestamp::now();
        let run_id = session::run_id(now, io500::TOOL);
        let directory = match &request.resume {
            Some(directory) => whole_of(directory),
            None => session::directory(&run_id, request.extras.out.as_deref(), &world.defaults),
        };
        let time = || now.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y.%m.%d-%H.%M.%S").to_string();
        let earlier = match request.resume {
            Some(_) => Some(resumed(&directory, &request)?),
            None => None,
        };
        let timestamp = earlier.as_ref().map(|memo| memo.timestamp.clone());
        let timestamp = timestamp.or_else(|| request.timestamp.clone()).unwrap_or_else(time);
        let setup = Setup::new(request.config.clone(), &timestamp, request.tasks);
        setup.check().map_err(|error| Failure::new(Exit::Usage, error))?;
        Ok(Self { world, request, setup, run_id, directory, earlier })
    }

    /// The directory of the phases' records until the run is complete.
    fn parts(&self) -> PathBuf {
        parts_of(&self.directory)
    }

    fn phases(&self) -> impl Iterator<Item = Phase> + use<> {
        let (is_extended, is_cleanup) = (self.request.is_extended, self.request.is_cleanup);
        let wanted =
            move |phase: &Phase| (is_extended || !phase.is_extended()) && (!is_cleanup || phase.removes());
        Phase::all().filter(wanted)
    }

    fn run(mut self) -> Result<Exit, Failure> {
        tell_older(&self.request.config);
        let earlier = self.earlier_claim()?;
        if let Some(earlier) = &earlier {
            self.run_id.clone_from(&earlier.claim.run_id);
        }
        let phase_run = PhaseRun::new(self.world, &self.setup, &self.request, &self.run_id);
        // Checked before anything is created: a phase may have an unsupported interface or option.
        for phase in self.phases().filter(|phase| self.setup.runs(*phase)) {
            phase_run.check(phase)?;
        }
        if self.request.extras.explain {
            return self.explain();
        }
        if self.request.resume.is_none() {
            Recorder::check_new(&self.directory)?;
            if self.parts().exists() {
                let parts = self.parts();
                let why = format!(
                    "{} has the phases of an interrupted run: resume it with --resume {}, or choose another --out",
                    parts.display(),
                    plan::shell_word(&self.directory.to_string_lossy())
                );
                return Err(Failure::new(Exit::Refused, anyhow::anyhow!(why)));
            }
        }
        let is_fresh = match &self.earlier {
            Some(memo) => memo.is_fresh,
            None => self.agree_to_data()?,
        };
        let (resultdir, datadir) = (Path::new(&self.setup.resultdir), Path::new(&self.setup.datadir));
        let (mut kept, mut made) = (MadeDirectories::default(), MadeDirectories::default());
        let yes = self.request.extras.yes || self.request.resume.is_some();
        let mut claim = None;
        let mut begin = || {
            made.make(datadir)?;
            if !datadir.is_dir() {
                return Err(cannot(
                    "create the directory",
                    datadir,
                    std::io::ErrorKind::NotADirectory.into(),
                ));
            }
            claim = self.claim(&phase_run, earlier.as_ref(), made.count())?;
            for phase in self.made_by() {
                made.make(&datadir.join(phase.directory()))?;
            }
            kept.make(resultdir)?;
            Results::begin(resultdir, yes)
        };
        let begun = begin();
        if begun.is_err() {
            kept.remove_empty();
            made.remove_empty();
            // The first error is the one to report.
            let _ = claim.take().map(PlacedClaim::withdraw);
            // The directory that has contained the claim.
            made.remove_empty();
        }
        let mut results = begun?;
        let memo = Memo { is_fresh, ..self.memo() };
        write_own(&resultdir.join("config-orig.ini"), self.request.config_text.as_bytes())?;
        write_own(&resultdir.join("config.ini"), self.request.config.listing(false, false))?;
        kept.make(&self.parts())?;
        write_own(&self.parts().join(MEMO), memo.text())?;
        let (is_extended, is_dry) = (self.request.is_extended, self.request.is_dry);
        if !is_dry {
            let directory = plan::shell_word(&self.directory.to_string_lossy());
            complain(&format!("record {directory}; after an interruption, resume with --resume {directory}"));
        }
        let mut sheet = Sheet::new(self.setup.clone(), VERSION.to_owned(), is_extended, is_dry);
        results.add(&sheet.begin(now_unix_ns()))?;
        let mut rate = phase_run.rate_of_earlier_run();
        for phase in self.phases() {
            self.pause(phase);
            results.add(&sheet.phase_begins(phase, &self.setup.line(phase, rate), rate, now_unix_ns()))?;
            let outcome = match is_dry || !self.setup.runs(phase) {
                true => Outcome::none(0.0),
                false => match self.phase(&phase_run, phase, rate, is_fresh) {
                    Ok(Ended::Done(outcome)) => outcome,
                    Ok(Ended::Interrupted) => return self.interrupted(),
                    Err(failure) => {
                        complain(&format!("ioproof: {} failed: {}", phase.name(), self.how_to_go_on()));
                        return Err(failure);
                    }
                },
            };
            if phase == Phase::MdtestEasyWrite && outcome.score > 0.0 {
                rate = outcome.score;
                phase_run.keep_rate(rate)?;
            }
            results.add(&sheet.phase_ends(phase, &outcome, now_unix_ns()))?;
        }
        results.add(&sheet.end(now_unix_ns()))?;
        print_line(NO_SUBMISSION)?;
        if !is_dry {
            phase_run.remove_files()?;
        }
        for phase in self.made_by() {
            // As in the benchmark, files of others in the directory are kept.
            let _ = fs::remove_dir(datadir.join(phase.directory()));
        }
        // Last, so that `ioproof clean` finds the directories if the run is killed here. The claim is in the directory
        // that is left.
        claim.map_or(Ok(()), PlacedClaim::withdraw)?;
        let _ = fs::remove_dir(datadir);
        made.remove_empty();
        self.complete()
    }

    /// The claim of an earlier start of a resumed run.
    fn earlier_claim(&self) -> Result<Option<Leftover>, Failure> {
        let (datadir, parts) = (Path::new(&self.setup.datadir), self.parts());
        if self.earlier.is_none() || !datadir.is_dir() {
            return Ok(None);
        }
        let parts = std::path::absolute(&parts).unwrap_or(parts);
        Ok(record::leftovers(datadir)?.into_iter().find(|left| left.claim.run_directory == parts))
    }

    /// Claims what the phases create, because their own runs leave it for the phases after them. A resumed run takes
    /// over the claim of its `earlier` start.
    fn claim(
        &self,
        phase_run: &PhaseRun<'_>,
        earlier: Option<&Leftover>,
        levels_made: u32,
    ) -> Result<Option<PlacedClaim>, Failure> {
        if self.request.is_dry || self.request.is_cleanup {
            return Ok(None);
        }
        if let Some(own) = earlier {
            return Ok(Some(own.take_over()?));
        }
        let (datadir, parts) = (Path::new(&self.setup.datadir), self.parts());
        let mut cases = Vec::new();
        for phase in self.made_by().filter(|phase| self.setup.runs(*phase)) {
            cases.extend(phase_run.cases(phase)?);
        }
        let directories: Vec<PathBuf> = self.made_by().map(|phase| datadir.join(phase.directory())).collect();
        let run = (self.run_id.as_str(), parts.as_path(), now_unix_ns());
        let (made, node) = ((datadir, levels_made), self.world.comm().node());
        Ok(Some(runner::claim_sequence(made, &cases, &directories, run, node)?))
    }

    /// The phases that create files, each of which has its own directory.
    fn made_by(&self) -> impl Iterator<Item = Phase> + use<> {
        let is_extended = self.request.is_extended;
        Phase::all().filter(move |phase| phase.makes() && (is_extended || !phase.is_extended()))
    }

    /// Whether the directories of this run contain no files yet. Asks before adding to existing files.
    fn agree_to_data(&self) -> Result<bool, Failure> {
        let datadir = Path::new(&self.setup.datadir);
        let holds =
            |directory: &PathBuf| fs::read_dir(directory).is_ok_and(|mut names| names.next().is_some());
        let mut directories = self.made_by().map(|phase| datadir.join(phase.directory()));
        let Some(used) = directories.find(holds) else { return Ok(true) };
        if self.request.is_cleanup || self.request.is_dry || self.request.extras.yes {
            return Ok(false);
        }
        let used = used.display();
        if confirm(&format!("{used} contains files, which this run may overwrite; continue?"), false)? {
            return Ok(false);
        }
        let why = format!(
            "{used} contains files, which would be counted with those of this run: remove them, with --cleanup if an earlier \
             run has left them, or add --yes"
        );
        Err(Failure::new(Exit::Refused, anyhow::anyhow!(why)))
    }

    /// Carries out `phase`. What an interrupted start of the phase has created is removed first; otherwise existing
    /// files would be opened instead of created. A phase that was interrupted while it removed files has no result.
    fn phase(
        &self,
        phase_run: &PhaseRun<'_>,
        phase: Phase,
        rate: f64,
        is_fresh: bool,
    ) -> Result<Ended, Failure> {
        let directory = self.parts().join(phase.name());
        let changes_files = phase.makes() || phase.removes();
        let earlier = if changes_files && directory.exists() { begun_earlier(&directory)? } else { None };
        if earlier.is_some_and(|run| run.state != RunState::Complete) {
            let data = Path::new(&self.setup.datadir).join(phase.directory());
            if !is_fresh {
                return Err(Failure::usage(format!(
                    "{} was interrupted and {} contained other files before: start a new run",
                    phase.name(),
                    data.display()
                )));
            }
            match fs::remove_dir_all(&data) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(cannot("remove", &data, error));
                }
                _ => fs::create_dir(&data).map_err(|error| cannot("create the directory", &data, error))?,
            }
            if phase.removes() {
                let why = "it was interrupted after it had begun to remove files, which cannot be repeated";
                return Ok(Ended::Done(Outcome::without_result(why.to_owned(), 0.0)));
            }
        }
        phase_run.run(phase, rate, &directory)
    }

    /// Prints the phases with their command lines. Nothing is created.
    fn explain(&self) -> Result<Exit, Failure> {
        let Setup { datadir, resultdir, .. } = &self.setup;
        let mut text = format!("files in {datadir}\nresults in {resultdir}\ntasks {}\n", self.request.tasks);
        for phase in self.phases() {
            let line = self.setup.line(phase, 0.0).join(" ");
            let line = match (self.setup.runs(phase), phase) {
                (false, _) => "skipped by the configuration".to_owned(),
                (true, Phase::Timestamp) => format!("marks the time in {resultdir}/timestampfile"),
                (true, _) => line,
            };
            text.push_str(&format!("\n{}\n    {line}\n", phase.name()));
        }
        text.push_str(&format!("\n{NO_SUBMISSION}\nnothing was written\n"));
        print(&text).map(|()| Exit::Success)
    }

    /// Waits as long as the pause directory contains a file for this phase.
    fn pause(&self, phase: Phase) {
        let Some(directory) = self.setup.pause_directory() else { return };
        let file = Path::new(directory).join(phase.name());
        if file.exists() {
            complain(&format!("ioproof: waiting while {} exists", file.display()));
        }
        while file.exists() {
            thread::sleep(std::time::Duration::from_secs(1));
        }
    }

    fn memo(&self) -> Memo {
        Memo {
            config: self.request.config_text.clone(),
            timestamp: self.setup.timestamp.clone(),
            is_extended: self.request.is_extended,
            is_fresh: false,
        }
    }

    fn interrupted(&self) -> Result<Exit, Failure> {
        let why = format!("interrupted: {}", self.how_to_go_on());
        Err(Failure::new(Exit::Interrupted, anyhow::anyhow!(why)))
    }

    fn how_to_go_on(&self) -> String {
        let directory = plan::shell_word(&self.directory.to_string_lossy());
        format!("the finished phases are kept; resume by adding --resume {directory}")
    }

    /// Merges the records of the phases.
    fn complete(&self) -> Result<Exit, Failure> {
        let parts = self.parts();
        let mut runs = Vec::new();
        for phase in self.phases() {
            let directory = parts.join(phase.name());
            if !directory.exists() {
                continue;
            }
            let run = Run::open(&directory)?;
            // The record of an interrupted removal stays until now, because it says that there is no result.
            if !phase.removes() || run.state == RunState::Complete {
                runs.push(run);
            }
        }
        if !runs.is_empty() {
            let mut whole = record::merge(runs)?;
            whole.manifest.run_id.clone_from(&self.run_id);
            whole.manifest.plan.title = "IO500".to_owned();
            whole.manifest.plan.source = PlanSource::Dialect {
                tool: io500::TOOL.to_owned(),
                arguments: self.request.arguments.clone(),
                notes: Vec::new(),
                memo: self.memo().text(),
            };
            // The phases are command lines of several tools by design.
            whole.warnings.retain(|row| !matches!(row.warning, Warning::DifferentQuestions { .. }));
            let unfinished = Unfinished::beside(&self.directory, &self.run_id)?;
            let place = record::write_merged(&whole, &self.printed()?, unfinished.path())?;
            let run = Run::open(&unfinished.finish(&place)?)?;
            doubts(&run, &self.directory);
        }
        fs::remove_dir_all(&parts).map_err(|error| cannot("remove", &parts, error))?;
        Ok(Exit::Success)
    }

    /// The results, as printed in `result.txt`.
    fn printed(&self) -> Result<Vec<PrintedRow>, Failure> {
        let path = Path::new(&self.setup.resultdir).join("result.txt");
        let (name, text) = (path.to_string_lossy(), read(&path)?);
        let text = Text { name: &name, bytes: text.as_bytes() };
        // If the run has no result, nothing can be imported.
        let imported = import(&[text], None, now_unix_ns());
        Ok(imported
            .map_or_else(|_| Vec::new(), |all| all.phases.into_iter().flat_map(|one| one.printed).collect()))
    }
}

/// What an interrupted run has stored. Its configuration and mode must be those of `request`.
fn resumed(directory: &Path, request: &RunRequest) -> Result<Memo, Failure> {
    let path = parts_of(directory).join(MEMO);
    if Run::open(directory).is_ok_and(|run| run.state == RunState::Complete) {
        // The run was killed between its last step and the removal of what was merged.
        let parts = parts_of(directory);
        let removed = match fs::remove_dir_all(&parts) {
            Ok(()) => format!("; {} was removed, because its records are in it", parts.display()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(cannot("remove", &parts, error)),
        };
        return Err(Failure::usage(format!("the run in {} is complete{removed}", directory.display())));
    }
    if !path.exists() {
        return Err(Failure::usage(format!(
            "{} has no interrupted run of IO500, whose phases would be in {}: name the record that the run printed when \
             it started",
            directory.display(),
            parts_of(directory).display()
        )));
    }
    let memo = Memo::read(&read(&path)?).ok_or_else(|| {
        let why = format!("{} was not written by a run of IO500; start a new run", path.display());
        Failure::new(Exit::Record, anyhow::anyhow!(why))
    })?;
    let earlier = Config::parse(&path.to_string_lossy(), &memo.config);
    let is_same = earlier.is_ok_and(|config| config.hash() == request.config.hash());
    if !is_same || memo.is_extended != request.is_extended {
        return Err(Failure::usage(format!(
            "{} was started with another configuration or mode: resume with the same one, or start a new run",
            directory.display()
        )));
    }
    Ok(memo)
}

fn read(path: &Path) -> Result<String, Failure> {
    record::read_text(path).map_err(|error| cannot("read", path, error))
}

fn now_unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
