//! The list of ready studies, with what each one costs as it is written.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use plan::{Cost, Plan, RunEnvironment, visible};

use crate::format::screen::Screen;
use crate::format::table::wrapped;
use crate::format::{counted, duration};

/// Columns of the whole list.
const COLUMNS: usize = 80;
/// Columns of a name.
const NAME: usize = 24;
/// Columns of a time.
const TIME: usize = 11;
/// Columns of a size.
const SPACE: usize = 9;

/// A study of the list.
#[derive(Debug, Clone)]
pub struct ListedStudy<'a> {
    /// Its name.
    pub name: &'a str,
    /// The question that it asks.
    pub question: String,
    /// What it does as it is written.
    pub plan: Plan,
}

/// The groups of studies, each with its title: a line with the predicted time, the space and the needs of each study,
/// and its question below.
///
/// Nothing is known of the storage, so that time is that of the study's own expectations, or of an assumed device.
#[must_use]
pub fn studies(groups: &[(&str, Vec<ListedStudy<'_>>)], screen: Screen) -> String {
    let mut out = String::new();
    for (title, studies) in groups {
        let gap = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(
            out,
            "{gap}{title:<width$} {:>TIME$} {:>SPACE$}  needs",
            "time",
            "space",
            width = NAME + 2
        );
        for study in studies {
            let cost = Cost::of(&study.plan, &RunEnvironment::default());
            let row = format!(
                "  {:<NAME$} {:>TIME$} {:>SPACE$}  {}",
                study.name,
                duration(cost.seconds),
                cost.space.to_string(),
                needs(&study.plan)
            );
            let _ = writeln!(out, "{}", row.trim_end());
            out += &wrapped("    ", &visible(&study.question), screen.prose().min(COLUMNS));
        }
    }
    out
}

/// What a study needs besides time and space.
fn needs(plan: &Plan) -> String {
    let mut parts = Vec::new();
    let targets = plan.cases.iter().filter(|case| case.layout.is_none());
    let targets = targets.flat_map(|case| &case.workload.files.targets);
    let devices = targets.filter(|target| target.starts_with("/dev")).map(|target| target.as_os_str());
    let devices: BTreeSet<_> =
        devices.chain(plan.layouts.iter().flat_map(|one| &one.devices).map(AsRef::as_ref)).collect();
    if !devices.is_empty() {
        parts.push("root".to_owned());
        parts.push(counted(devices.len() as u64, "device"));
    }
    if !plan.layouts.is_empty() {
        parts.push(counted(plan.layouts.len() as u64, "layout"));
    }
    let nodes = plan.cases.iter().map(|case| case.workload.nodes).max().unwrap_or(1);
    if nodes > 1 {
        parts.push(counted(u64::from(nodes), "node"));
    }
    parts.join(", ")
}
