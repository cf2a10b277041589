//! Creates a layout, step by step.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use plan::layout::{Action, Step};
use plan::{Layout, Recipe};
use record::CommandRun;

use super::commands::{self, Remarks};
use super::ledger::{self, Event, MadeLayout, StepState};
use super::survey::Inspection;
use super::{CommandHash, LayoutError, Layouts, log, undo};
use crate::devices::block;
use crate::{Guard, HostError, PermittedDevice, Root};

/// Number of attempts to find a node that appears some time after a command. udev creates partition nodes
/// within a second, even on a busy host.
const NODE_TRIES: u32 = 200;
const NODE_PAUSE: Duration = Duration::from_millis(50);

impl Layouts {
    /// Creates the layout with the agreed commands ([`super::Survey::commands`]). `tell` is called with
    /// each finished command.
    ///
    /// # Errors
    /// Errors if the commands differ from the agreed ones or there is an obstacle, in which case nothing
    /// was done; or if a step failed, in which case all steps were undone. Anything that could not be
    /// undone is named and stays in the ledger.
    pub fn create(
        &self,
        layout: &Layout,
        consents: &[String],
        agreed: CommandHash,
        run_id: &str,
        tell: &mut dyn FnMut(&CommandRun),
    ) -> Result<MadeLayout, LayoutError> {
        let mut tell = log::logged(&self.state, &layout.name, tell);
        let refuse = |obstacles| LayoutError::Obstacles { layout: layout.name.clone(), obstacles };
        let Inspection { survey, owned, permits } = self.inspect(layout, consents);
        if !survey.obstacles.is_empty() {
            return Err(refuse(survey.obstacles));
        }
        if survey.commands != agreed {
            return Err(LayoutError::CommandsChanged { layout: layout.name.clone() });
        }
        let mut standing = MadeLayout::begin(&self.root, layout, run_id, owned, survey.steps);
        if standing.needs_ledger() {
            let _lock = ledger::lock(&self.state)?;
            // Another program may have started a layout since the survey.
            let obstacles = self.neighbours(layout, &survey.devices);
            if !obstacles.is_empty() {
                return Err(refuse(obstacles));
            }
            standing.create_ledger(&self.state)?;
        }
        let failure = match build(self, &mut standing, permits, &mut tell) {
            Ok(()) => return Ok(standing),
            Err(failure) => failure,
        };
        let left = undo::undo_all(self, &mut standing, &mut tell);
        let (layout, ledger) = (layout.name.clone(), standing.ledger_place());
        // The first error is the one that is reported.
        let _ = undo::close(standing, &left);
        Err(match failure {
            Failure::Step(step) => LayoutError::Step { layout, step, left, ledger },
            Failure::Interrupted => LayoutError::Interrupted { layout, left, ledger },
            // The disk of the ledger is full or gone. The error names the file. The ledger contains what is left,
            // as far as it could be written.
            Failure::Ledger(error) if left.is_empty() => error,
            Failure::Ledger(_) => LayoutError::Left { layout, left, ledger },
        })
    }
}

/// Why a layout was not created.
enum Failure {
    Step(Box<CommandRun>),
    Interrupted,
    Ledger(LayoutError),
}

/// Executes all steps. The permitted devices are held until a command takes them over.
fn build(
    layouts: &Layouts,
    standing: &mut MadeLayout,
    mut permits: Vec<PermittedDevice>,
    tell: &mut dyn FnMut(&CommandRun),
) -> Result<(), Failure> {
    for index in 0..standing.ledger.steps.len() {
        if (layouts.stop)() {
            return Err(Failure::Interrupted);
        }
        let run = step(layouts, standing, index, &mut permits).map_err(Failure::Ledger)?;
        tell(&run);
        if !run.succeeded() {
            return Err(Failure::Step(Box::new(run)));
        }
        let done = Event::Step { step: index, state: StepState::Done };
        standing.note(done).map_err(Failure::Ledger)?;
    }
    let covered = standing.ledger.layout.recipe.covered();
    let covered: Vec<_> = covered.iter().filter_map(|node| Guard::signatures(node).ok()).flatten().collect();
    let mut devices = standing.ledger.devices.clone();
    for device in &mut devices {
        device.signatures = Guard::signatures(&device.path).ok();
        device.covered.clone_from(&covered);
    }
    standing.note(Event::Complete { devices }).map_err(Failure::Ledger)
}

/// Executes one step, whose start has been recorded before.
fn step(
    layouts: &Layouts,
    standing: &mut MadeLayout,
    index: usize,
    permits: &mut Vec<PermittedDevice>,
) -> Result<CommandRun, LayoutError> {
    standing.note(Event::Step { step: index, state: StepState::Begun })?;
    let step = standing.ledger.steps[index].step.clone();
    let remarks = Remarks { purpose: &step.purpose, printed: step.provenance.remark() };
    if let Err(reason) = prepare(&layouts.root, standing, &step, permits) {
        return Ok(commands::not_begun(&step.action, remarks, reason));
    }
    Ok(commands::perform(&step.action, remarks, |action| match action {
        Action::MakeDirectory(directory) => {
            make_directory(standing, index, directory).map_err(|error| error.to_string())
        }
        Action::Wipe(device) => wipe(permits, device).map_err(|error| error.to_string()),
        Action::RemoveDirectory(_) | Action::Command(_) | Action::Shell(_) => {
            Err("this is not a step for creating a layout".to_owned())
        }
    }))
}

/// Waits for the node, checks that the devices are unchanged, and releases those that the command names,
/// because the command claims them itself.
fn prepare(
    root: &Root,
    standing: &MadeLayout,
    step: &Step,
    permits: &mut Vec<PermittedDevice>,
) -> Result<(), String> {
    if let Some(node) = &step.awaits {
        let mut tries = 0;
        while !root.path(node).exists() {
            if tries == NODE_TRIES {
                return Err(format!("{} did not appear", node.display()));
            }
            tries += 1;
            thread::sleep(NODE_PAUSE);
        }
    }
    for device in standing.ledger.devices.iter().filter(|device| step.action.names(&device.path)) {
        match block::number_at(root, &device.path) {
            Some(number) if number == device.number() => {}
            Some(_) => return Err(format!("another device took the place of {}", device.path.display())),
            None => return Err(format!("{} has disappeared", device.path.display())),
        }
    }
    // The GPFS servers open the NSDs, although no command names them.
    let takes_all = matches!(standing.ledger.layout.recipe, Recipe::Gpfs { .. });
    if step.action.needs_device() {
        let is_taken = |permit: &mut PermittedDevice| takes_all || step.action.names(permit.path());
        permits.extract_if(.., is_taken).for_each(|permit| permit.release(root));
    }
    Ok(())
}

fn wipe(permits: &[PermittedDevice], device: &Path) -> Result<String, HostError> {
    let Some(permit) = permits.iter().find(|permit| permit.path() == device) else {
        return Err(HostError::io("wipe", device, io::Error::other("the guard has not permitted it")));
    };
    permit.wipe().map(|wiped| wiped.to_string())
}

/// Creates a directory and its parents. Each is recorded before it is created.
fn make_directory(standing: &mut MadeLayout, index: usize, directory: &Path) -> Result<String, LayoutError> {
    let missing: Vec<PathBuf> = directory
        .ancestors()
        .take_while(|path| fs::symlink_metadata(path).is_err())
        .map(Path::to_owned)
        .collect();
    let made: Vec<PathBuf> = missing.into_iter().rev().collect();
    standing.note(Event::Directories { step: index, made: made.clone() })?;
    for path in &made {
        fs::create_dir(path).map_err(|error| LayoutError::io("make", path, error))?;
    }
    Ok(if made.is_empty() { "it already exists and is kept".to_owned() } else { String::new() })
}
