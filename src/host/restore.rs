//! `ioproof host restore`: restores the settings from before `host tune`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use host::tuning::{
    self, HostSettings, Ledger, PlannedRestore, RestoreAction, RestoreOutcome, RestoreResult,
};
use host::{HostIdentity, LedgerError, Root};
use plan::visible;

use super::common::{agreed, ledger_failure, state_of};
use crate::console::exit::{Exit, Failure};
use crate::console::{complain, print, print_line};

/// `ioproof host restore`.
#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// Show what would be written and exit.
    #[arg(long)]
    plan: bool,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
    /// Also restore settings that somebody else has changed since.
    #[arg(long)]
    force: bool,
    /// Read and write /proc, /sys, /dev and /etc below this directory.
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Directory with the previous settings [default: $IOPROOF_STATE, or var/lib/ioproof below the root].
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

/// Shows the changes, asks, and restores.
pub(crate) fn run(arguments: &RestoreArguments) -> Result<Exit, Failure> {
    let root = Root::new(arguments.root.clone());
    let settings = HostSettings::new(&root);
    let state = state_of(&root, arguments.state.as_deref());
    let Some(ledger) = Ledger::read(&state).map_err(ledger_failure)? else {
        return print_line(&format!("nothing to restore: no ledger in {}", state.display()))
            .map(|()| Exit::Success);
    };
    let host = HostIdentity::of(&root);
    if !ledger.host.is_same_machine(&host) {
        // The same check as when the ledger is opened, before any of its content is shown as that of this
        // host.
        let path = ledger.path().to_owned();
        let (theirs, ours) = (ledger.host.name, host.name);
        return Err(ledger_failure(LedgerError::OtherHost { path, theirs, ours }));
    }
    print(&planned(&ledger, &root, &settings, arguments.force))?;
    if arguments.plan {
        return Ok(Exit::Success);
    }
    ledger.check_writable().map_err(ledger_failure)?;
    if !agreed("Restore these?", arguments.yes)? {
        return print("nothing was written\n").map(|()| Exit::Success);
    }
    let ledger = Ledger::open(&state, &host).map_err(ledger_failure)?;
    let restored = tuning::restore(ledger, &root, &settings, arguments.force).map_err(ledger_failure)?;
    conclude(&restored)
}

fn planned(ledger: &Ledger, root: &Root, settings: &HostSettings<'_>, force: bool) -> String {
    let lost =
        ledger.loss.told(ledger.path()).map_or_else(String::new, |lost| format!("! {}\n", visible(&lost)));
    if ledger.entries.is_empty() {
        return format!(
            "{lost}{}: the ledger has no values: `host tune` was ended before it had set anything, or the lines \
             were lost; only the ledger is removed (`ioproof host check` shows the settings of the host)\n",
            ledger.host.name
        );
    }
    let profiles: Vec<&str> = ledger
        .applications
        .iter()
        .flat_map(|application| application.profiles.iter().map(String::as_str))
        .collect();
    let mut text = format!("{lost}{}: applied profiles: {}\n", ledger.host.name, profiles.join(", "));
    if ledger.applications.iter().any(|application| !application.finished) {
        text.push_str("! `host tune` was ended before it was complete: what it had set is restored\n");
    }
    let survey = tuning::survey(ledger, root, settings);
    let (undone, set_again): (Vec<_>, Vec<_>) =
        survey.iter().partition(|surveyed| surveyed.action == RestoreAction::Rebooted);
    if HostIdentity::of(root).boot_id != ledger.host.boot_id {
        let _ = writeln!(
            text,
            "! the host was rebooted since: {} of its settings were undone by the reboot, and {} that are set at \
             boot are examined",
            undone.len(),
            set_again.len()
        );
    }
    for PlannedRestore { setting, old, action, .. } in survey {
        let line = match action {
            RestoreAction::PutBack { now } => format!("  {setting}: {now} -> {old}"),
            RestoreAction::Foreign { now } if force => {
                format!("! {setting}: {now}, set by somebody else since -> {old}")
            }
            RestoreAction::Foreign { now } => {
                format!("! {setting}: {now}, set by somebody else since: kept (--force restores {old})")
            }
            RestoreAction::AsItWas => format!("- {setting}: {old}, as before"),
            RestoreAction::Gone => format!("- {setting}: it no longer exists"),
            RestoreAction::Replaced => {
                format!(
                    "! {setting}: this name now belongs to another device, which was never changed: left as it is"
                )
            }
            RestoreAction::NeverSet => format!("- {setting}: was never set"),
            RestoreAction::Rebooted => {
                format!("- {setting}: undone by the reboot, or set by somebody else since; it was {old}")
            }
        };
        let _ = writeln!(text, "{}", visible(&line));
    }
    for file in ledger.kept.iter().rev() {
        let _ = writeln!(text, "  {}: removed once the values are restored", visible(&file.path));
    }
    text
}

fn conclude(restored: &RestoreResult) -> Result<Exit, Failure> {
    let (mut back, mut nothing) = (0_usize, 0_usize);
    for (setting, what) in &restored.settings {
        match what {
            RestoreOutcome::Restored(text) => {
                back += 1;
                print_line(&format!("{setting}: reads {text}"))?;
            }
            RestoreOutcome::Nothing(_) => nothing += 1,
            RestoreOutcome::Foreign(now) => {
                complain(&format!(
                    "! {setting}: somebody else has set it to {now} since: kept (--force restores it)"
                ));
            }
            RestoreOutcome::Failed(why) => complain(&format!("! {setting}: not restored: {why}")),
        }
    }
    for (file, removed) in &restored.kept {
        match removed {
            Ok(()) => print_line(&format!("{}: removed", file.path))?,
            Err(why) => complain(&format!("! {}: {why}", file.path)),
        }
    }
    print_line(&format!("{back} restored and read back, {nothing} needed no change"))?;
    if !restored.is_partial() {
        return Ok(Exit::Success);
    }
    let message = "settings that were not restored stay in the ledger: `ioproof host restore` tries again";
    let exit = if restored.is_only_foreign() { Exit::Refused } else { Exit::HostLacks };
    Err(Failure::new(exit, anyhow::anyhow!(message)))
}
