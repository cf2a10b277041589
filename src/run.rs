//! `ioproof run`: a study file, or `--quick DIR`.

use std::io::{self, IsTerminal};
use std::path::Path;

use host::{Host, Root};
use plan::{Plan, outlooks, quick, study};
use record::{Run, WarningRow};
use runner::{Event, Replaced, Watch};

use crate::arguments::RunArguments;
use crate::console::{confirm, print};
use crate::exit::{Exit, Failure};
use crate::progress::LiveLine;
use crate::session::{self, Session};

/// Runs what the arguments ask for: preflight, run, tables, report.
pub(crate) fn run(arguments: &RunArguments) -> Result<Exit, Failure> {
    let (what, mut plan, notes) = ask(arguments)?;
    plan.destroy_data_on.extend(arguments.destroy_data_on.iter().cloned());
    let session = Session::new(&what);
    if arguments.explain {
        let facts = session.host.facts(&session::targets(&plan), engine::clock_name());
        let around = session::surroundings(&session.host, &plan, &facts);
        print(&report::explain(&plan, &around))?;
        if let Some(replaced) = runner::replaced(&plan, &[]) {
            print(&format!("! {}\n", session::replaced_line(&replaced)))?;
        }
        return print(&lines(&notes)).map(|()| Exit::Success);
    }
    let checked = session.check(plan)?;
    let around = session::surroundings(&session.host, &checked.plan, &checked.facts);
    print(&report::preflight(&checked.plan, &around))?;
    print(&lines(&notes))?;
    let found = session::leftover_lines(&checked.leftovers);
    for line in &found {
        print(&format!("{line}; `ioproof clean` removes what killed runs left\n"))?;
    }
    let replaced = runner::replaced(&checked.plan, &checked.leftovers);
    if let Some(replaced) = &replaced {
        print(&format!("! {}\n", session::replaced_line(replaced)))?;
    }
    if !arguments.yes && !confirm("Start?", replaced.is_none())? {
        print("nothing was written\n")?;
        return match replaced {
            Some(replaced) if !io::stdin().is_terminal() => Err(unattended(&replaced)),
            _ => Ok(Exit::Success),
        };
    }
    let directory = session.directory(arguments.out.as_deref());
    let (all, _) = outlooks(&checked.plan, &around);
    let ended = {
        let mut watch = Told { line: LiveLine::start(&checked.plan, &all) };
        session.run(&checked, &directory, &mut watch)?
    };
    show(&directory)?;
    let (exit, message) = session::verdict(&ended);
    match message {
        Some(message) => Err(Failure::new(exit, anyhow::anyhow!(message))),
        None => Ok(exit),
    }
}

/// Nobody is there to agree that files are lost.
fn unattended(replaced: &Replaced) -> Failure {
    let line = session::replaced_line(replaced);
    let help = "add --yes to agree, write over it with existing = \"reuse\", or name another path";
    Failure::new(Exit::Refused, anyhow::anyhow!("{line}, and nobody can be asked: {help}"))
}

/// The plan that the arguments ask for, a word for the run's name, and notes for the reader.
fn ask(arguments: &RunArguments) -> Result<(String, Plan, Vec<String>), Failure> {
    match (&arguments.quick, &arguments.study) {
        (Some(directory), _) => {
            let quick = quick_plan(directory)?;
            Ok(("quick".to_owned(), quick.plan, quick.notes))
        }
        (None, Some(path)) => {
            if path.to_str().is_none() {
                let name = path.display();
                return Err(Failure::usage(format!(
                    "{name} is no name in UTF-8, as a record needs: rename it"
                )));
            }
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::usage(format!("cannot read the study {}: {error}", path.display()))
            })?;
            let plan = study::read(path, &text).map_err(|errors| Failure::new(Exit::Usage, errors))?;
            let name = path.file_stem().map_or("study".into(), |stem| stem.to_string_lossy().into_owned());
            Ok((name, plan, Vec::new()))
        }
        (None, None) => Err(Failure::usage("name a study file, or --quick DIR")),
    }
}

fn quick_plan(directory: &Path) -> Result<quick::Quick, Failure> {
    let host = Host::new(Root::default());
    let lacks = |error: host::HostError| Failure::new(Exit::HostLacks, error);
    host::files::check_directory(directory).map_err(lacks)?;
    let alignment = host::direct_alignment(directory).map_err(lacks)?;
    quick::plan(quick::QuickSurroundings {
        directory: directory.to_owned(),
        free_bytes: host.free_space(directory).map_err(lacks)?,
        memory_available_bytes: host.memory_available().map_err(lacks)?,
        direct_supported: alignment.is_some(),
        logical_block_bytes: alignment.unwrap_or(512),
        seed: session::random_seed(),
        uring: engine::uring_available().is_ok(),
    })
    .map_err(|error| Failure::new(Exit::HostLacks, anyhow::anyhow!("{}: {}", error.message, error.help)))
}

/// Prints the tables and writes the page.
fn show(directory: &Path) -> Result<(), Failure> {
    let run = Run::open(directory)?;
    print(&crate::report::tables(&run))?;
    let page = crate::report::page(&run).map_err(|error| Failure::new(Exit::Record, error))?;
    print(&format!("\nrecord {}\nreport {}\n", directory.display(), page.display()))
}

/// Keeps the live line up to date and says what cannot wait.
struct Told {
    line: LiveLine,
}

impl Watch for Told {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::PhaseStarted { case, repetition, phase, controls, .. } => {
                self.line.phase(&case.id, *repetition, *phase, controls);
            }
            Event::PhaseFinished(_) => self.line.phase_over(),
            Event::Warning(WarningRow { warning, .. }) => {
                self.line.say(&format!("warning: {warning}; {}", warning.advice()));
            }
            Event::Wiped { case, what } => self.line.say(&format!("{}: {what}", case.id)),
            Event::CaseFailed { case, message } => {
                self.line.phase_over();
                self.line.say(&format!("{} failed: {message}", case.id));
            }
            Event::CaseStarted { .. }
            | Event::CaseSkipped { .. }
            | Event::CaseFinished(_)
            | Event::Removed { .. } => {}
        }
    }
}

fn lines(notes: &[String]) -> String {
    notes.iter().map(|note| format!("{note}\n")).collect()
}
