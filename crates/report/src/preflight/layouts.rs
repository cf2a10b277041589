//! The layouts of a plan, before they are made.

use std::path::PathBuf;

use plan::layout::{Action, Step};
use plan::{Bytes, Layout, visible_lines};

use crate::format::counted;
use crate::table::{PROSE_COLUMNS as COLUMNS, wrapped};

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
        let layout = &one.layout;
        let head = [("", &layout.name), (": ", &layout.title), ("; stands for ", &layout.stands_for)];
        let head = head.into_iter().filter(|(_, words)| !words.is_empty());
        let head: String = head.map(|(before, words)| format!("{before}{words}")).collect();
        out += &wrapped("  ", &head, COLUMNS);
        if !one.devices.is_empty() {
            let known: Option<u64> = one.devices.iter().map(|(_, size)| *size).sum();
            let size = known.map_or_else(String::new, |bytes| format!(", {}", Bytes(bytes).both_units()));
            let names: Vec<String> = one.devices.iter().map(|(path, _)| path.display().to_string()).collect();
            let count = counted(one.devices.len() as u64, "device");
            out += &wrapped("    ", &format!("{count}{size}: {}", names.join(" ")), COLUMNS);
        }
        if commands {
            out += &of_one(one);
        }
        out.extend(one.obstacles.iter().map(|obstacle| wrapped("    ! ", obstacle, COLUMNS)));
    }
    out
}

/// The commands of a layout. None is ever broken: it is to be copied, and nothing of it may be overlooked. Further
/// lines of one begin as a shell would ask for them.
fn of_one(one: &LayoutOutlook) -> String {
    let command =
        |action: &Action| format!("    # {}\n", visible_lines(&action.to_string()).replace('\n', "\n    > "));
    let make = one.steps.iter().map(|step| {
        let remark = step.provenance.remark().map(|remark| wrapped("      ", &remark, COLUMNS));
        command(&step.action) + &remark.unwrap_or_default()
    });
    let undo = one.steps.iter().rev().flat_map(|step| &step.undo).map(|undo| command(&undo.action));
    let parts: [(&str, String); 3] = [
        ("to make it", make.collect()),
        ("to check it", one.checks.iter().map(command).collect()),
        ("to take it down", undo.collect()),
    ];
    let parts = parts.into_iter().filter(|(_, commands)| !commands.is_empty());
    parts.map(|(head, commands)| format!("    {head}:\n{commands}")).collect()
}
