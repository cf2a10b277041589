//! `ioproof host tune`: shows every write, applies them, and stores the previous settings.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use host::tuning::{
    self, Applied, Compliance, Finding, HostSettings, Ledger, Outcome, PersistenceOutcome, PersistentFile,
    PersistentForm, Step, TuningContext, TuningPlan, UnknownDevice,
};
use host::{Host, HostIdentity, Root};
use plan::visible;

use super::common::{agreed, ledger_failure, profiles_named, state_of};
use crate::console::exit::{Exit, Failure};
use crate::console::{complain, print, print_line};

/// `ioproof host tune`.
#[derive(Debug, Args)]
pub(crate) struct TuneArguments {
    /// Profiles to apply; `ioproof host check --list` shows the profiles.
    #[arg(value_name = "PROFILE", required = true)]
    profiles: Vec<String>,
    /// Show every write and exit.
    #[arg(long)]
    plan: bool,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
    /// Devices whose settings may be changed: a device's path or name, a directory on it, or `all`.
    #[arg(long = "device", value_name = "DEVICE")]
    devices: Vec<PathBuf>,
    /// Also apply the settings at each boot, by a script and a systemd unit or a line in /etc/rc.local, which are
    /// shown before they are written and removed by `host restore`.
    #[arg(long)]
    persist: bool,
    /// Read and write /proc, /sys, /dev and /etc below this directory.
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Directory for the previous settings [default: $IOPROOF_STATE, or var/lib/ioproof below the root].
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

/// Plans the writes, asks, and applies them.
pub(crate) fn run(arguments: &TuneArguments) -> Result<Exit, Failure> {
    let profiles = profiles_named(&arguments.profiles)?;
    let steps = tuning::steps_of(&profiles);
    let root = Root::new(arguments.root.clone());
    let settings = HostSettings::new(&root);
    let usage = |error: UnknownDevice| Failure::new(Exit::Usage, error);
    let mut context = TuningContext::new(&root, &settings, &arguments.devices).map_err(usage)?;
    if arguments.devices.is_empty() && tuning::needs_devices(&steps) {
        return Err(devices_missing(&root, &settings, &steps));
    }
    let mut plan =
        TuningPlan::new(&mut context, profiles.iter().map(|profile| profile.name).collect(), &steps);
    plan.persist = arguments.persist;
    let state = state_of(&root, arguments.state.as_deref());
    let kept = if arguments.persist {
        let ledger = Ledger::read(&state).map_err(ledger_failure)?;
        tuning::persistent_files(&plan, ledger.as_ref(), &root)
    } else {
        Vec::new()
    };
    print(&planned(&Host::new(root.clone()).node(), &plan, &steps))?;
    if !plan.writes.is_empty() {
        print(&kept.iter().map(kept_text).collect::<String>())?;
    }
    let forbidden = tuning::forbidden(&plan, &root);
    if plan.writes.is_empty() {
        let kept = if arguments.persist {
            "; settings that are already as advised are not made persistent: restore first, then tune with --persist"
        } else {
            ""
        };
        print_line(&format!("nothing to write{kept}"))?;
        return if arguments.plan { Ok(Exit::Success) } else { in_force(&plan, &[]).map(|()| Exit::Success) };
    }
    if arguments.plan {
        if let [(setting, why), ..] = forbidden.as_slice() {
            complain(&format!("! this user may not write {setting}: {why}"));
        }
        return Ok(Exit::Success);
    }
    if let [(setting, why), ..] = forbidden.as_slice() {
        let message = format!(
            "{setting} cannot be written: {why}; nothing was changed, {} of {} writes would have failed",
            forbidden.len(),
            plan.writes.len()
        );
        return Err(Failure::new(Exit::HostLacks, anyhow::anyhow!(message)));
    }
    if !agreed("Write these?", arguments.yes)? {
        return print("nothing was written\n").map(|()| Exit::Success);
    }
    let mut ledger = Ledger::open(&state, &HostIdentity::of(&root)).map_err(ledger_failure)?;
    let now = i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX);
    let mut tell = |applied: &Applied| {
        // A closed pipe must not leave the work half done.
        let _ = print_line(&applied_line(applied));
    };
    let all = tuning::apply(&plan, &root, &settings, &mut ledger, now, &mut tell).map_err(ledger_failure)?;
    let written = tuning::write_persistent_files(&kept, &mut ledger, &root).map_err(ledger_failure)?;
    conclude(&plan, &all, &written)
}

/// Errors if a step is not in force.
fn in_force(plan: &TuningPlan, applied: &[Applied]) -> Result<(), Failure> {
    let unapplied = plan.unapplied(applied);
    if unapplied.is_empty() {
        return Ok(());
    }
    let each: Vec<String> = unapplied.iter().map(|one| format!("{} ({})", one.step, one.why)).collect();
    let restore =
        if applied.is_empty() { "" } else { "; `ioproof host restore` restores the previous settings" };
    let message = format!("not applied: {}{restore}", each.join(", "));
    Err(Failure::new(Exit::HostLacks, anyhow::anyhow!(visible(&message).into_owned())))
}

fn devices_missing(root: &Root, settings: &HostSettings<'_>, steps: &[&Step]) -> Failure {
    let all = TuningContext::new(root, settings, &[PathBuf::from(tuning::ALL_DEVICES)]);
    let names: Vec<String> = all.map_or_else(
        |_| Vec::new(),
        |context| context.devices().iter().map(|device| device.path.clone()).collect(),
    );
    let names = if names.is_empty() { "none here".to_owned() } else { names.join(", ") };
    let step = steps.iter().find(|step| step.scope == tuning::Scope::Devices);
    Failure::usage(format!(
        "{} changes settings of devices: name them with --device, or use --device all ({names})",
        step.map_or("the profile", |step| step.name)
    ))
}

/// Lists every write under its step, with reason and source, then the skipped settings with their reasons.
fn planned(node: &str, plan: &TuningPlan, steps: &[&Step]) -> String {
    let mut text = format!("{node}: {} writes of profile {}\n", plan.writes.len(), plan.profiles.join(", "));
    for step in steps {
        let writes: Vec<_> = plan.writes.iter().filter(|write| write.step == step.name).collect();
        let Some(first) = writes.first() else { continue };
        let _ = writeln!(text, "\n{}: {}", step.name, step.title);
        let _ = writeln!(text, "  why      {}\n  source   {}", step.reason, step.source);
        if let Some(published) = step.published {
            let _ = writeln!(text, "  printed  {published}");
        }
        if let Some(note) = step.note {
            let _ = writeln!(text, "  note     {note}");
        }
        let _ = writeln!(text, "  reverted by {}", first.reverted_by());
        for write in writes {
            let _ = writeln!(
                text,
                "  {}",
                visible(&format!("{}: {} -> {}", write.setting, write.old, write.new))
            );
        }
    }
    let mut separate = "\n";
    for finding in &plan.others {
        let said = match &finding.state.compliance {
            Compliance::NotHere(why) => format!("not here: {why}"),
            Compliance::ByHand(todo) => format!("by hand: {todo}"),
            Compliance::AsAdvised | Compliance::Shown | Compliance::Differs => continue,
        };
        let _ = writeln!(text, "{separate}- {}", visible(&format!("{}: {said}", finding.state.what)));
        separate = "";
    }
    for step in steps {
        let is_so = |finding: &&Finding| {
            finding.step == step.name && finding.state.compliance == Compliance::AsAdvised
        };
        let count = plan.others.iter().filter(is_so).count();
        if count > 0 {
            let _ = writeln!(text, "{separate}- {}: already as advised, in {count} places", step.name);
            separate = "";
        }
    }
    text + "\n"
}

fn kept_text(file: &PersistentFile) -> String {
    let indented = |text: &str| text.lines().map(|line| format!("  | {line}\n")).collect::<String>();
    match &file.form {
        PersistentForm::Text(text) => {
            format!("at each boot, by a new file {}\n{}\n", file.path, indented(text))
        }
        PersistentForm::Link(target) => format!("at each boot, by a new link {} to {target}\n\n", file.path),
        PersistentForm::Line(line) => {
            format!("at each boot, by a line in {}\n{}\n", file.path, indented(line))
        }
    }
}

fn applied_line(applied: &Applied) -> String {
    let setting = &applied.write.setting;
    match &applied.outcome {
        Outcome::Set(text) => format!("{setting}: reads {text}"),
        Outcome::Changed(text) => {
            format!("! {setting}: {} was written, but it reads {text}", applied.write.new)
        }
        Outcome::Refused(why) => format!("! {setting}: refused: {why}"),
    }
}

fn conclude(plan: &TuningPlan, all: &[Applied], kept: &[PersistenceOutcome]) -> Result<Exit, Failure> {
    let count = |wanted: fn(&Outcome) -> bool| all.iter().filter(|applied| wanted(&applied.outcome)).count();
    let set = count(|outcome| matches!(outcome, Outcome::Set(_)));
    let changed = count(|outcome| matches!(outcome, Outcome::Changed(_)));
    let refused = count(|outcome| matches!(outcome, Outcome::Refused(_)));
    let mut text = format!("{set} set and read back");
    if changed > 0 {
        let _ = write!(text, ", {changed} read back differently");
    }
    if refused > 0 {
        let _ = write!(text, ", {refused} refused by the kernel and left as they were");
    }
    print_line(&format!("{text}; `ioproof host restore` restores the previous settings"))?;
    let mut failed = false;
    for (file, written) in kept {
        match written {
            Ok(()) => print_line(&format!("{}: written", file.path))?,
            Err(why) => {
                failed = true;
                complain(&format!("! {}: {why}", file.path));
            }
        }
    }
    in_force(plan, all)?;
    Ok(if failed { Exit::HostLacks } else { Exit::Success })
}
