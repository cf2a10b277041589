//! The layouts of a plan, before they are made.

use std::fmt::Write as _;
use std::path::PathBuf;

use plan::layout::{Action, Step};
use plan::{Bytes, Layout, visible_lines};

use crate::table::PROSE_COLUMNS as COLUMNS;
use crate::table::wrapped;

/// What is known of a layout before it is made.
#[derive(Debug, Clone, PartialEq)]
pub struct LayoutOutlook {
    /// The layout.
    pub layout: Layout,
    /// Its devices in the order of the members, with their bytes where these are known.
    pub devices: Vec<(PathBuf, Option<u64>)>,
    /// What is done to make it, with the way back.
    pub steps: Vec<Step>,
    /// The user's own checks.
    pub checks: Vec<Action>,
    /// What stands against it.
    pub obstacles: Vec<String>,
}

impl LayoutOutlook {
    /// How many commands are executed to make it, check it and take it down. What this program does itself to
    /// devices and directories is shown as the command that does the same, and counts.
    #[must_use]
    pub fn commands(&self) -> usize {
        self.steps.iter().map(|step| 1 + step.undo.len()).sum::<usize>() + self.checks.len()
    }
}

/// The layouts one after another, each with its devices and what stands against it; with all of its `commands` too.
#[must_use]
pub fn layouts(outlooks: &[LayoutOutlook], commands: bool) -> String {
    let mut out = "Layouts, made and dismantled one after another\n".to_owned();
    for one in outlooks {
        out.push_str(&of_one(one, commands));
    }
    out
}

/// A command is never broken: it is to be copied, and nothing of it may be overlooked. Further lines of one begin as
/// a shell would ask for them.
fn command(action: &Action, out: &mut String) {
    let text = visible_lines(&action.to_string()).replace('\n', "\n    > ");
    // Writing to a String cannot fail.
    let _ = writeln!(out, "    # {text}");
}

fn commands(one: &LayoutOutlook, out: &mut String) {
    let head = |text: &str, is_empty: bool| if is_empty { String::new() } else { format!("    {text}\n") };
    out.push_str(&head("to make it:", one.steps.is_empty()));
    for step in &one.steps {
        command(&step.action, out);
        if let Some(remark) = step.provenance.remark() {
            out.push_str(&wrapped("      ", &remark, COLUMNS));
        }
    }
    out.push_str(&head("to check it:", one.checks.is_empty()));
    one.checks.iter().for_each(|action| command(action, out));
    let undo: Vec<&Action> =
        one.steps.iter().rev().flat_map(|step| &step.undo).map(|undo| &undo.action).collect();
    out.push_str(&head("to take it down:", undo.is_empty()));
    undo.into_iter().for_each(|action| command(action, out));
}

fn of_one(one: &LayoutOutlook, show_commands: bool) -> String {
    let layout = &one.layout;
    let mut head = layout.name.clone();
    for (before, words) in [(": ", &layout.title), ("; stands for ", &layout.stands_for)] {
        if !words.is_empty() {
            head.push_str(before);
            head.push_str(words);
        }
    }
    let mut out = wrapped("  ", &head, COLUMNS);
    if !one.devices.is_empty() {
        let known: Option<u64> = one.devices.iter().map(|(_, size)| *size).sum();
        let size = known.map_or_else(String::new, |bytes| format!(", {}", Bytes(bytes).both_units()));
        let names: Vec<String> = one.devices.iter().map(|(path, _)| path.display().to_string()).collect();
        let count = crate::format::counted(one.devices.len() as u64, "device");
        out.push_str(&wrapped("    ", &format!("{count}{size}: {}", names.join(" ")), COLUMNS));
    }
    if show_commands {
        commands(one, &mut out);
    }
    for obstacle in &one.obstacles {
        out.push_str(&wrapped("    ! ", obstacle, COLUMNS));
    }
    out
}
