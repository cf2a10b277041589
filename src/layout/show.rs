//! Layouts as text: plans, executed commands, verification results.

use std::fmt::Write as _;

use host::{MadeLayout, Survey};
use plan::layout::{Action, Provenance, Undo};
use plan::{Layout, visible};
use record::{CommandEnd, CommandRun, LayoutFinding};

/// All commands in order, with their undo commands and the obstacles.
pub(super) fn plan(layout: &Layout, survey: &Survey) -> String {
    let mut text = format!("layout {}", layout.name);
    for (before, words) in [(": ", &layout.title), (", stands for ", &layout.stands_for)] {
        if !words.is_empty() {
            let _ = write!(text, "{before}{}", visible(words));
        }
    }
    text.push('\n');
    for (number, (given, node)) in layout.devices.iter().zip(&survey.devices).enumerate() {
        let node = node.to_string_lossy();
        let same = if *given == node { String::new() } else { format!(" ({given})") };
        let _ = writeln!(text, "  device {number}: {}", visible(&format!("{node}{same}")));
    }
    let mut told = None;
    if survey.steps.is_empty() {
        text.push_str("nothing to do\n");
    } else {
        text.push_str("to create it:\n");
    }
    for step in &survey.steps {
        line(&mut text, &step.action, &step.purpose, &step.provenance, &mut told);
    }
    if !survey.checks.is_empty() {
        text.push_str("to check it:\n");
    }
    for check in &survey.checks {
        let _ = writeln!(text, "  {}", visible(&check.to_string()));
    }
    let back: Vec<&Undo> = survey.steps.iter().rev().flat_map(|step| &step.undo).collect();
    if !back.is_empty() {
        text.push_str("to undo it:\n");
    }
    for undo in back {
        line(&mut text, &undo.action, &undo.purpose, &undo.provenance, &mut told);
    }
    if survey.obstacles.is_empty() {
        text.push_str("nothing prevents it\n");
    } else {
        text.push_str("this prevents it:\n");
    }
    for obstacle in &survey.obstacles {
        let _ = writeln!(text, "- {}", obstacle.to_string().replace('\n', "\n  "));
    }
    text
}

/// Formats a command with its purpose. The source is printed only once for consecutive commands.
fn line(
    text: &mut String,
    action: &Action,
    purpose: &str,
    provenance: &Provenance,
    told: &mut Option<Provenance>,
) {
    let _ = writeln!(text, "  {}\n      # {purpose}", visible(&action.to_string()));
    if let Some(remark) = provenance.remark() {
        let is_told = told.as_ref() == Some(provenance);
        let _ = writeln!(text, "      # {}", if is_told { short(provenance) } else { remark });
    }
    *told = Some(provenance.clone());
}

/// The shortened remark, without its reason.
fn short(provenance: &Provenance) -> String {
    match provenance {
        Provenance::Reconstructed { source, .. } => format!("reconstructed, not as printed ({source})"),
        _ => provenance.to_string(),
    }
}

/// An executed command with its output.
pub(super) fn run(run: &CommandRun) -> String {
    let mut text = format!("  {}\n", visible(&run.command));
    if run.status != CommandEnd::Exited(0) {
        let _ = writeln!(text, "      failed: {}", run.status);
    }
    for line in run.output.lines() {
        let _ = writeln!(text, "      {line}");
    }
    text
}

/// The verification results, with differences marked.
pub(super) fn findings(findings: &[LayoutFinding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let mark = if finding.differs() { "!" } else { " " };
        let _ = writeln!(text, "{mark} {}", visible(&finding.to_string()));
    }
    text
}

/// The commands that destroy the layout.
pub(super) fn undoing(standing: &MadeLayout) -> String {
    standing.undoing().map(|undo| format!("  {}\n", visible(&undo.action.to_string()))).collect()
}

/// Describes a layout in one line.
pub(super) fn standing(standing: &MadeLayout) -> String {
    let built = if standing.is_complete() { "is built" } else { "is partly built" };
    let whose = match standing.owner() {
        _ if !standing.is_here() => ", of another host".to_owned(),
        Some(pid) if pid == std::process::id() => String::new(),
        Some(pid) => format!(", of process {pid}, which is still running"),
        None if standing.is_leftover() => {
            ", left by a program that has ended: ioproof layout clean removes it".to_owned()
        }
        None => String::new(),
    };
    let devices: Vec<String> = standing.devices().iter().map(|path| path.display().to_string()).collect();
    let places: Vec<String> = standing.places().iter().map(|path| path.display().to_string()).collect();
    let over = if devices.is_empty() { String::new() } else { format!(" on {}", devices.join(" ")) };
    let at = if devices == places { String::new() } else { format!(" at {}", places.join(" ")) };
    let lost = standing.loss().map_or_else(String::new, |lost| format!("; {lost}"));
    format!("{} {built}{over}{at} (run {}{whose}){lost}", standing.name(), standing.run_id())
}
