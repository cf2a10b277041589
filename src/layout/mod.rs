//! `ioproof layout`: creates, verifies and destroys layouts of devices.

mod arguments;
mod show;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Controls;
use host::{CommandHash, Guard, LayoutError, Layouts, MadeLayout, Root, Survey};
use plan::Layout;
use record::CommandRun;

pub(crate) use arguments::LayoutCommand;
use arguments::{Described, State};

use crate::console::exit::{Exit, Failure};
use crate::console::signals;
use crate::console::{can_show_and_ask, confirm, print, print_line};

/// The run name recorded in the ledger for a layout that was created by hand.
const BY_HAND: &str = "by hand";

/// The default signature of the data that runs write.
const OWN_SIGNATURE: u64 = 0;

/// Runs the subcommand.
pub(crate) fn run(command: &LayoutCommand) -> Result<Exit, Failure> {
    match command {
        LayoutCommand::Plan(described) => plan(described),
        LayoutCommand::Create { described, yes } => create(described, *yes),
        LayoutCommand::Verify(named) => {
            let layouts = layouts(&named.state);
            let standing = find(&layouts, &named.name)?;
            standing.check_host().map_err(failure)?;
            verify(&layouts, &standing)
        }
        LayoutCommand::Destroy { named, yes } => {
            let layouts = layouts(&named.state);
            let standing = find(&layouts, &named.name)?;
            if !take_down(&standing, *yes)? {
                return Ok(Exit::Refused);
            }
            layouts.destroy(standing, &mut tell).map_err(failure)?;
            Ok(Exit::Success)
        }
        LayoutCommand::List(state) => list(&layouts(state)),
        LayoutCommand::Clean { forget: Some(name), state, yes } => forget(&layouts(state), name, *yes),
        LayoutCommand::Clean { forget: None, state, yes } => clean(&layouts(state), *yes),
    }
}

/// Layouts whose devices may contain data of earlier ioproof runs. Their ledgers are in `state`.
pub(crate) fn layouts_in(state: Option<&Path>) -> Layouts {
    let directory = state.map_or_else(host::layouts::default_state, Path::to_owned);
    let directory = std::path::absolute(&directory).unwrap_or(directory);
    let guard = Guard::new(Root::default()).with_stamp_test(|cell| engine::is_own_cell(OWN_SIGNATURE, cell));
    Layouts::new(Root::default(), directory, guard)
}

/// The absolute directory of the file at `path`.
pub(crate) fn directory_of(path: &Path) -> Option<PathBuf> {
    std::path::absolute(path).ok()?.parent().map(Path::to_owned)
}

fn layouts_of(described: &Described) -> Layouts {
    layouts(&described.state).with_study(described.study.as_deref().and_then(directory_of))
}

fn layouts(state: &State) -> Layouts {
    layouts_in(state.directory.as_deref())
}

fn plan(described: &Described) -> Result<Exit, Failure> {
    let layout = described.layout()?;
    let survey = layouts_of(described).survey(&layout, &described.destroy_data_on);
    print(&show::plan(&layout, &survey))?;
    if described.study.is_some() && !survey.steps.is_empty() {
        print(&how_to_agree(hash(&survey)))?;
    }
    match survey.obstacles.is_empty() {
        true => Ok(Exit::Success),
        false => {
            let error = LayoutError::Obstacles { layout: layout.name, obstacles: survey.obstacles };
            Ok(exit_of(&error))
        }
    }
}

fn create(described: &Described, yes: bool) -> Result<Exit, Failure> {
    let layout = described.layout()?;
    let controls = Arc::new(Controls::new());
    let _listening = signals::stop_on_signal(&controls.stop_flags())
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    let stopped = Arc::clone(&controls);
    let layouts = layouts_of(described).with_stop(move || stopped.is_stopped());
    let survey = layouts.survey(&layout, &described.destroy_data_on);
    if survey.obstacles.is_empty() && !is_agreed(described, &layout, &survey, yes)? {
        return Ok(Exit::Refused);
    }
    let consents = &described.destroy_data_on;
    let mut standing =
        layouts.create(&layout, consents, survey.commands, BY_HAND, &mut tell).map_err(failure)?;
    layouts.keep(&mut standing).map_err(failure)?;
    verify(&layouts, &standing)
}

/// Whether the user agrees to the commands of a layout and to the loss of the data they overwrite. `--yes`
/// covers commands that the user typed. Those of a study, which may come from others, need their hash.
/// Otherwise the user must answer at the terminal.
fn is_agreed(described: &Described, layout: &Layout, survey: &Survey, yes: bool) -> Result<bool, Failure> {
    let is_of_study = described.study.is_some();
    let hash = hash(survey).to_string();
    let is_consented = match is_of_study {
        true => survey.steps.is_empty() || described.allow_commands.as_ref() == Some(&hash),
        false => yes || layout.devices.is_empty(),
    };
    if is_consented {
        return Ok(true);
    }
    print(&show::plan(layout, survey))?;
    let how = if is_of_study { format!("--allow-commands {hash}") } else { "--yes".to_owned() };
    if is_of_study && !can_show_and_ask() {
        return not_done(&how);
    }
    let devices: Vec<String> = survey.devices.iter().map(|path| path.display().to_string()).collect();
    let lost = match devices.is_empty() {
        true => String::new(),
        false => format!(" All data on {} is lost.", devices.join(", ")),
    };
    if confirm(&format!("Create it?{lost}"), false)? { Ok(true) } else { not_done(&how) }
}

fn not_done(how: &str) -> Result<bool, Failure> {
    print_line(&format!("nothing was done; to agree, add {how}"))?;
    Ok(false)
}

/// A line that explains how to agree to the shown commands.
pub(crate) fn how_to_agree(hash: CommandHash) -> String {
    format!("to agree to exactly these commands: --allow-commands {hash}\n")
}

/// The hash with which a user agrees to the commands of only this layout.
fn hash(survey: &Survey) -> CommandHash {
    CommandHash::of_all(&[survey.commands])
}

/// Asks, unless already agreed. If there is no terminal, the answer is no.
fn agreed(yes: bool, question: &str) -> Result<bool, Failure> {
    if yes || confirm(question, false)? { Ok(true) } else { not_done("--yes") }
}

/// Prints the properties of the layout. A difference from its description is an error.
fn verify(layouts: &Layouts, standing: &MadeLayout) -> Result<Exit, Failure> {
    let findings = layouts.verify(standing);
    print(&show::findings(&findings))?;
    print_line(&show::standing(standing))?;
    let is_right = standing.is_complete() && !findings.iter().any(record::LayoutFinding::differs);
    Ok(if is_right { Exit::Success } else { Exit::NotKept })
}

/// Whether the user agrees to the shown commands that destroy the layout.
pub(crate) fn take_down(standing: &MadeLayout, yes: bool) -> Result<bool, Failure> {
    print_line(&show::standing(standing))?;
    print(&show::undoing(standing))?;
    agreed(yes, "Dismantle it? All data on it is lost.")
}

fn list(layouts: &Layouts) -> Result<Exit, Failure> {
    let all = layouts.standing().map_err(failure)?;
    if all.is_empty() {
        print("there is no layout\n")?;
    }
    for standing in &all {
        print_line(&show::standing(standing))?;
    }
    Ok(Exit::Success)
}

fn clean(layouts: &Layouts, yes: bool) -> Result<Exit, Failure> {
    let (left, others): (Vec<_>, Vec<_>) =
        layouts.standing().map_err(failure)?.into_iter().partition(MadeLayout::is_leftover);
    for standing in &others {
        print_line(&show::standing(standing))?;
        print_line("  it is kept")?;
    }
    if left.is_empty() {
        print("no layout was left by a program that has ended\n")?;
        return Ok(Exit::Success);
    }
    let mut worst = Ok(Exit::Success);
    for standing in left {
        if !take_down(&standing, yes)? {
            worst = worst.and(Ok(Exit::Refused));
            continue;
        }
        // A failure does not prevent the destruction of the other layouts.
        if let Err(error) = layouts.destroy(standing, &mut tell) {
            worst = Err(failure(error));
        }
    }
    worst
}

fn forget(layouts: &Layouts, name: &str, yes: bool) -> Result<Exit, Failure> {
    let standing = find(layouts, name)?;
    print_line(&show::standing(&standing))?;
    if !agreed(yes, "Remove it from the ledger, and undo nothing?")? {
        return Ok(Exit::Refused);
    }
    layouts.forget(standing).map_err(failure)?;
    Ok(Exit::Success)
}

fn find(layouts: &Layouts, name: &str) -> Result<MadeLayout, Failure> {
    let all = layouts.standing().map_err(failure)?;
    let names: Vec<String> = all.iter().map(|standing| standing.name().to_owned()).collect();
    all.into_iter().find(|standing| standing.name() == name).ok_or_else(|| {
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Failure::usage(format!("there is no layout {name:?}; existing layouts: {known}"))
    })
}

/// Prints a finished command. A closed pipe does not stop an undo.
fn tell(run: &CommandRun) {
    let _ = print(&show::run(run));
}

fn exit_of(error: &LayoutError) -> Exit {
    match error {
        LayoutError::Obstacles { obstacles, .. }
            if obstacles.iter().any(|obstacle| matches!(obstacle, host::layouts::Obstacle::Problem(_))) =>
        {
            Exit::Usage
        }
        _ if error.is_refusal() => Exit::Refused,
        LayoutError::Interrupted { .. } => Exit::Interrupted,
        LayoutError::Ledger(error) if error.is_refusal() => Exit::Record,
        _ => Exit::HostLacks,
    }
}

fn failure(error: LayoutError) -> Failure {
    Failure::new(exit_of(&error), error)
}
