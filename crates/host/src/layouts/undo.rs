//! Destroys a complete or partial layout.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use plan::layout::{Action, Undo};
use record::CommandRun;

use super::commands::{self, Remarks};
use super::devices::{DeviceLocation, locate};
use super::ledger::{self, Event, LedgerStep, MadeLayout, OwnedDevice, StepState};
use super::ownership::{self, Ownership};
use super::{LayoutError, Layouts, log};
use crate::guard::Signature;
use crate::{Guard, Refusal};

/// Number of attempts to undo a step that is still busy, and the pause between them. udev and other
/// programs briefly open released devices.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

impl Layouts {
    /// Undoes all steps in reverse, and wipes the devices.
    ///
    /// # Errors
    /// Errors if something could not be undone. It is named and stays in the ledger.
    pub fn destroy(
        &self,
        mut standing: MadeLayout,
        tell: &mut dyn FnMut(&CommandRun),
    ) -> Result<(), LayoutError> {
        let Some(path) = standing.ledger_path().map(Path::to_owned) else { return Ok(()) };
        let layout = standing.name().to_owned();
        standing.check_host()?;
        if let Some(pid) = standing.owner()
            && !standing.ledger.owner.is_this()
        {
            return Err(LayoutError::StillRunning { layout, pid, run_id: standing.ledger.run_id.clone() });
        }
        let _lock = ledger::lock(&self.state)?;
        if !path.exists() {
            // Another program has destroyed it already.
            return Ok(());
        }
        standing.note(Event::Destroying)?;
        let left = undo_all(self, &mut standing, &mut log::logged(&self.state, &layout, tell));
        close(standing, &left)?;
        if left.is_empty() { Ok(()) } else { Err(LayoutError::Left { layout, left, ledger: path }) }
    }
}

/// Removes the ledger if nothing is left.
pub(super) fn close(standing: MadeLayout, left: &[String]) -> Result<(), LayoutError> {
    if left.is_empty() { standing.remove() } else { Ok(()) }
}

/// Undoes started steps in reverse order. A failed undo is reported and does not stop the others; a device
/// that is still in use is not wiped.
pub(super) fn undo_all(
    layouts: &Layouts,
    standing: &mut MadeLayout,
    tell: &mut dyn FnMut(&CommandRun),
) -> Vec<String> {
    let mut left = Vec::new();
    for index in (0..standing.ledger.steps.len()).rev() {
        let state = standing.ledger.steps[index].state;
        if !matches!(state, StepState::Begun | StepState::Done) {
            continue;
        }
        let before = left.len();
        for undo in standing.ledger.steps[index].step.undo.clone() {
            if let Err(reason) = one(layouts, standing, index, &undo, tell) {
                left.push(reason);
            }
        }
        if left.len() == before {
            let undone = Event::Step { step: index, state: StepState::Undone };
            if let Err(error) = standing.note(undone) {
                left.push(error.to_string());
            }
        }
    }
    left
}

fn one(
    layouts: &Layouts,
    standing: &MadeLayout,
    index: usize,
    undo: &Undo,
    tell: &mut dyn FnMut(&CommandRun),
) -> Result<(), String> {
    let mut tries = 0;
    loop {
        match ownership::examine(&layouts.root, &undo.when) {
            Ownership::Nothing => return Ok(()),
            Ownership::Foreign(reason) => return Err(reason),
            Ownership::Own => {}
        }
        let remarks = Remarks { purpose: &undo.purpose, printed: None };
        let run = commands::perform(&undo.action, remarks, |action| match action {
            Action::RemoveDirectory(_) => remove_directories(&standing.ledger.steps[index].made),
            Action::Wipe(device) => wipe(layouts, standing, device),
            Action::MakeDirectory(_) | Action::Command(_) | Action::Shell(_) => {
                Err("this is not an undo action".to_owned())
            }
        });
        tries += 1;
        let is_over = run.succeeded() || !may_be_busy(&undo.action) || tries == TRIES;
        if is_over {
            tell(&run);
            return ended(layouts, standing, &run, &undo.action);
        }
        thread::sleep(PAUSE);
    }
}

/// Whether to retry the action. A user's line is not retried, because it may have any effect.
fn may_be_busy(action: &Action) -> bool {
    matches!(action, Action::Command(_) | Action::Wipe(_))
}

/// Whether the undo is complete. The user's lines undo a complete layout; on a partial one some of them have
/// nothing to undo and fail. In that case the undo is complete if nothing is left at the layout's place.
fn ended(layouts: &Layouts, standing: &MadeLayout, run: &CommandRun, action: &Action) -> Result<(), String> {
    if run.succeeded() {
        return Ok(());
    }
    let is_half_built = standing.ledger.steps.iter().any(|step| step.state != StepState::Done);
    let mount_point = &standing.ledger.layout.mount_point;
    let is_free = ownership::mount_at(&layouts.root, mount_point).is_none();
    if matches!(action, Action::Shell(_)) && is_half_built && is_free {
        return Ok(());
    }
    let last = run.output.lines().last().map(|line| format!(": {line}")).unwrap_or_default();
    Err(format!("`{}` ({}){last}", run.command, run.status))
}

/// Removes directories, inner ones first. A directory that contains other files is kept.
fn remove_directories(made: &[PathBuf]) -> Result<String, String> {
    for path in made.iter().rev() {
        match fs::remove_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("cannot remove {}: {error}", path.display())),
            Ok(()) => {}
        }
    }
    Ok(if made.is_empty() { "it existed before and is kept".to_owned() } else { String::new() })
}

/// Wipes a device of the layout if it is unchanged, not in use, and only has signatures of the layout.
fn wipe(layouts: &Layouts, standing: &MadeLayout, path: &Path) -> Result<String, String> {
    let Some(device) = standing.ledger.devices.iter().find(|device| device.path == path) else {
        return Err(format!("{} is not in the ledger", path.display()));
    };
    let is_same_boot = standing.here.is_same_boot(&standing.ledger.host);
    let (path, number) = match locate(&layouts.root, device, is_same_boot)? {
        DeviceLocation::At(path, number) => (path, number),
        DeviceLocation::Ended => return Ok("it disappeared when the host was rebooted".to_owned()),
    };
    let permit = layouts.guard.reclaim(&path, number).map_err(|refusal| told(&refusal))?;
    let found = Guard::signatures(permit.path()).map_err(|reason| reason.to_string())?;
    if let Some(signature) = foreign(standing, device, &found) {
        let (kind, offset) = (&signature.kind, &signature.offset);
        return Err(format!(
            "{0} has a signature of {kind} at {offset} that the layout did not write: it is left as it is; \
             if its data may be lost, remove it with wipefs -a {0}",
            path.display()
        ));
    }
    permit.wipe().map(|wiped| wiped.to_string()).map_err(|error| error.to_string())
}

fn told(refusal: &Refusal) -> String {
    let reasons: Vec<String> = refusal.reasons.iter().map(ToString::to_string).collect();
    format!("{} is still in use: {}", refusal.path.display(), reasons.join("; "))
}

/// The first signature that does not belong to the layout. For a completed layout its signatures are known.
/// For a partial one, only those of its commands count, on devices that one of them has used; for a user's
/// commands, none.
fn foreign<'a>(standing: &MadeLayout, device: &OwnedDevice, found: &'a [Signature]) -> Option<&'a Signature> {
    let is_written = standing.ledger.steps.iter().any(|LedgerStep { step, state, .. }| {
        *state != StepState::Planned && step.action.needs_device() && step.action.names(&device.path)
    });
    let kinds = standing.ledger.layout.recipe.signatures();
    let is_own = |signature: &Signature| match (&device.signatures, &kinds) {
        (Some(own), _) => {
            let same = |own: &Signature| own.kind == signature.kind && own.uuid == signature.uuid;
            own.contains(signature) || device.covered.iter().any(same)
        }
        (None, _) if !is_written => false,
        (None, Some(kinds)) => kinds.contains(&signature.kind.as_str()),
        (None, None) => true,
    };
    found.iter().find(|signature| !is_own(signature))
}
