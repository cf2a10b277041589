//! The layouts of a plan, before they are made.

use std::fmt::Write as _;
use std::path::PathBuf;

use plan::layout::Step;
use plan::{Bytes, Layout, visible};

use super::COLUMNS;
use crate::table::wrapped;

/// What is known of a layout before it is made.
#[derive(Debug, Clone, PartialEq)]
pub struct LayoutOutlook {
    /// The layout.
    pub layout: Layout,
    /// Its devices in the order of the members, with their bytes where these are known.
    pub devices: Vec<(PathBuf, Option<u64>)>,
    /// What is done to make it.
    pub steps: Vec<Step>,
    /// What stands against it.
    pub obstacles: Vec<String>,
}

/// The layouts one after another, each with its devices, its commands and what stands against it; `all`
/// commands, or of those that are alike the first and the last.
#[must_use]
pub fn layouts(outlooks: &[LayoutOutlook], all: bool) -> String {
    let mut out = "Layouts, made and dismantled one after another\n".to_owned();
    for one in outlooks {
        out.push_str(&of_one(one, all));
    }
    out
}

/// Whether both do the same to different devices.
fn alike(one: &Step, next: &Step) -> bool {
    let program = |step: &Step| step.action.to_string().split(' ').next().map(str::to_owned);
    (program(one), &one.provenance) == (program(next), &next.provenance)
}

/// A command is never broken: it is to be copied.
fn step(step: &Step, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "    # {}", visible(&step.action.to_string()));
    if let Some(remark) = step.provenance.remark() {
        out.push_str(&wrapped("      ", &remark, COLUMNS));
    }
}

fn of_one(one: &LayoutOutlook, all: bool) -> String {
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
    for group in one.steps.chunk_by(alike) {
        match group {
            [first, middle @ .., last] if !all && middle.len() > 1 => {
                step(first, &mut out);
                let _ = writeln!(out, "    … {} more like these: --explain shows all", middle.len());
                step(last, &mut out);
            }
            some => some.iter().for_each(|one| step(one, &mut out)),
        }
    }
    for obstacle in &one.obstacles {
        out.push_str(&wrapped("    ! ", obstacle, COLUMNS));
    }
    out
}
