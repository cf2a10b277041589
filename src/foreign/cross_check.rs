//! `ioproof cross-check DIR`: measures the storage under a directory with ioproof and fio in alternation.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use dialect::fio;
use plan::cross_check::{Options, cases};
use plan::{Backend, Bytes, Nanos, Plan, PlanError, PlanSource, shell_word, visible};
use record::Run;
use report::Study;
use runner::Rivals;

use crate::arguments::values;
use crate::console::exit::{Exit, Failure};
use crate::console::watch::TerminalWatch;
use crate::console::{confirm, print, print_line, screen};
use crate::run::arguments::Quiet;
use crate::run::ask;
use crate::run::cluster::World;
use crate::run::session::{self, Session};

/// `ioproof cross-check`.
#[derive(Debug, Args)]
pub(crate) struct CrossCheckArguments {
    /// Directory to measure; one file is created there, and removed again.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Size of the file [default: a tenth of the free space, at most 1GiB].
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    size: Option<Bytes>,
    /// Duration of each pass; below 2s no result is stated.
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value_t = plan::cross_check::TIME)]
    time: Nanos,
    /// Number of times that each tool measures each case, in alternation.
    #[arg(long, value_name = "N", default_value_t = plan::cross_check::PAIRS_MIN,
          value_parser = clap::value_parser!(u32).range(i64::from(plan::cross_check::PAIRS_MIN)..=i64::from(plan::cross_check::PAIRS_MAX)))]
    pairs: u32,
    /// Measure only this case; may be repeated.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(plan::cross_check::CASES))]
    case: Vec<String>,
    /// Directory for the record [default: ioproof-runs/DATE-TIME-NAME].
    #[arg(long, value_name = "RUNDIR")]
    out: Option<PathBuf>,
    /// Start without asking.
    #[arg(long, short)]
    yes: bool,
    /// Print what would be done, with files, bytes, seconds and fio's command lines; nothing is written.
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    shown: Quiet,
}

/// Measures with both tools and prints a line for each case.
pub(crate) fn run(arguments: &CrossCheckArguments, world: &World) -> Result<Exit, Failure> {
    if world.comm().size() > 1 {
        return Err(Failure::usage(
            "fio runs in one process: start `ioproof cross-check` without a launcher",
        ));
    }
    let fio = Fio::find()?;
    let (plan, notes) = plan(arguments, &fio)?;
    let session = Session::new(world, "cross-check");
    if arguments.explain {
        let facts = session.host.facts(&session::targets(&plan), engine::clock_name());
        print(&report::explain(&plan, &session.environment(&plan, &facts), screen()))?;
        for line in command_lines(&plan).chain(notes) {
            print_line(&line)?;
        }
        return Ok(Exit::Success);
    }
    let checked = session.check(plan)?;
    for line in session::leftover_lines(&checked.leftovers) {
        print_line(&format!("{line}; `ioproof clean` removes what killed runs left"))?;
    }
    let directory = session.directory(arguments.out.as_deref())?;
    let around = session.environment(&checked.plan, &checked.facts);
    print(&report::preflight(&checked.plan, &around, screen()))?;
    print(&session.beside_record(&checked.plan, arguments.out.as_deref()))?;
    let (own, seconds) =
        (checked.plan.cases.len() / 2, 2.0 * f64::from(arguments.pairs) * arguments.time.as_secs_f64());
    print_line(&format!(
        "ioproof and {} in alternation: {}, {} pairs of passes each, about {} min",
        fio.name(),
        report::counted(own as u64, "case"),
        arguments.pairs,
        (own as f64 * seconds / 60.0).ceil()
    ))?;
    for note in &notes {
        print_line(note)?;
    }
    if !arguments.yes && !confirm("Start?", true)? {
        return print("not started\n").map(|()| Exit::Success);
    }
    let recorder = session.record(&checked, &directory, &around)?;
    let place = recorder.place();
    let ended = {
        let mut watch = TerminalWatch { line: session.line(&checked, &directory, arguments.shown.shown()) };
        let life = session.life(recorder, &mut watch);
        life.with_rivals(Rivals::of_plan(&checked.plan)).run(&checked)?
    };
    let run = Run::open(&place)?;
    let study = Study::of(&run);
    print(&study.cross_check(screen()))?;
    crate::records::report::page(&study, &place)?;
    place.check_in_place()?;
    let page = directory.join(crate::records::report::PAGE);
    print(&format!("record {}\nreport {}\n", directory.display(), page.display()))?;
    match session::verdict(&ended, &directory) {
        (exit, Some(message)) => Err(Failure::new(exit, anyhow::anyhow!(message))),
        (exit, None) => Ok(exit),
    }
}

/// Creates the plan for both tools, and notes on how it was created.
fn plan(arguments: &CrossCheckArguments, fio: &Fio) -> Result<(Plan, Vec<String>), Failure> {
    // An error about the directory means that the host lacks something; any other is a mistake on the
    // command line.
    let refused = |error: PlanError| {
        let exit = if error.field == "directory" { Exit::HostLacks } else { Exit::Usage };
        Failure::new(exit, anyhow::anyhow!("{}: {}", error.message, error.help))
    };
    let mut environment = ask::quick_environment(&arguments.directory)?;
    // Both command lines use absolute paths, so that fio's can be repeated from any directory.
    environment.directory =
        std::fs::canonicalize(&arguments.directory).map_err(|error| Failure::new(Exit::HostLacks, error))?;
    let ring = fio::engine(Backend::queued(1)).unwrap_or_default();
    let mut notes = Vec::new();
    if !environment.uring {
        notes
            .push("io_uring cannot be used here: a depth of n means n psync tasks, in both tools".to_owned());
    } else if !fio.has(ring) {
        notes.push(format!("{} has no engine {ring}: a depth of n means n psync tasks, in both", fio.name()));
        environment.uring = false;
    }
    let (directory, seed) = (environment.directory.clone(), environment.seed);
    let asked = Options {
        environment,
        size: arguments.size,
        time: arguments.time,
        pairs: arguments.pairs,
        only: arguments.case.clone(),
    };
    let (own, more) = cases(&asked).map_err(refused)?;
    notes.extend(more);
    let missing = own.iter().filter_map(|case| fio::engine(case.workload.backend)).find(|one| !fio.has(one));
    if let Some(engine) = missing {
        return Err(lacks(format!(
            "{} at {} has no engine {engine}: install a fio that has it",
            fio.name(),
            fio.program.display()
        )));
    }
    let plan = fio::beside(own, directory, seed, fio.program.clone(), &fio.release).map_err(refused)?;
    Ok((plan, notes))
}

/// The command lines of fio in shell syntax.
fn command_lines(plan: &Plan) -> impl Iterator<Item = String> {
    let rivals = match &plan.source {
        PlanSource::CrossCheck { rivals, .. } => rivals.as_slice(),
        _ => &[],
    };
    rivals.iter().map(|rival| {
        let words: Vec<String> = rival.command_line.iter().map(|word| shell_word(word)).collect();
        format!("{}: {}", rival.case, words.join(" "))
    })
}

fn lacks(message: String) -> Failure {
    Failure::new(Exit::HostLacks, anyhow::anyhow!(message))
}

/// The installed fio.
struct Fio {
    program: PathBuf,
    release: String,
    /// Its list of engines.
    engines: String,
}

impl Fio {
    fn find() -> Result<Self, Failure> {
        let program = host::find_on_path(fio::PROGRAM).ok_or_else(|| {
            lacks(
                "fio is not on the PATH: install it with the package manager (apt install fio, dnf install fio, \
                 zypper install fio)"
                    .to_owned(),
            )
        })?;
        let printed = said(&program, "--version")?;
        let release = fio::release(&printed).ok_or_else(|| {
            let printed = printed.lines().next().unwrap_or_default();
            lacks(format!("{} is not fio: it calls itself `{}`", program.display(), visible(printed)))
        })?;
        if !fio::is_new_enough(release) {
            let (first, second) = fio::OLDEST;
            return Err(lacks(format!(
                "{} is fio {release}, whose output is not fully known: install fio {first}.{second} or later",
                program.display()
            )));
        }
        let (release, engines) = (release.to_owned(), said(&program, "--enghelp")?);
        Ok(Self { program, release, engines })
    }

    /// The name with the version, for example `fio 3.33`.
    fn name(&self) -> String {
        format!("{} {}", fio::PROGRAM, self.release)
    }

    fn has(&self, engine: &str) -> bool {
        fio::has_engine(&self.engines, engine)
    }
}

/// The output of `program` when it is called with the argument `word`.
fn said(program: &Path, word: impl AsRef<OsStr>) -> Result<String, Failure> {
    let output = Command::new(program).arg(word).output();
    let output = output.map_err(|error| lacks(format!("cannot start {}: {error}", program.display())))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
