//! Sections of sentences and tables, which every format renders in its own way.
//!
//! Each section is self-contained: its tables name their units, and every figure has its conditions in the
//! same row or one link away.

mod audit;
mod block;
pub(crate) mod chosen;
mod cluster;
mod forms;
mod layouts;
mod operations;
mod printed;
mod rates;
mod repetitions;
mod scaled;
mod single;
pub(crate) mod statements;
mod sweep;
mod targets;
mod utilisation;

use crate::report::Report;

pub(crate) use block::{
    Block, Extent, Second, Section, all_caveats, conditions, criterion, headline, in_unit, is_result,
    line_name, only, place, point, promised_unit, promised_value, published_value, signed, title,
    which_target, workload_place,
};
pub(crate) use forms::in_published_form;
pub(crate) use operations::response;
pub(crate) use rates::rates;

/// Sections that compare own figures with what others have stated, measured or promised.
const BESIDE_OTHERS: [&str; 5] = ["summary", "claims", "expected", "beside", "matrix"];

/// The blocks of the section with a name.
type Blocks = fn(&Report, &'static str, Extent) -> Vec<Block>;

/// All sections in reading order: name, title, whether it stands before the figures, and its blocks.
const ALL: [(&str, &str, bool, Blocks); 36] = [
    ("summary", "Summary", true, statements),
    ("claims", "Statements, tested with own data", true, statements),
    ("together", "Workloads at the same time", true, statements),
    ("scaled", "What was given up", true, |report, _, _| scaled::blocks(report)),
    ("matrix", "Jobs as a whole", true, statements),
    ("cross-check", "Beside another tool", true, statements),
    ("scores", "Scores of IO500", true, statements),
    ("best", "Best points", true, statements),
    ("metadata", "Files and directories", true, |report, _, _| operations::metadata(report)),
    ("exchanges", "Requests between processes", true, |report, _, _| operations::exchanges(report)),
    ("single", "Latency of single requests", true, |report, _, _| single::blocks(report)),
    ("sweeps", "Sweeps", true, |report, _, extent| sweep::blocks(report, extent)),
    ("weak-scaling", "Weak scaling", true, statements),
    ("nodes-compared", "Nodes compared", true, statements),
    ("devices", "Devices one by one and together", true, statements),
    ("utilisation", "How busy the devices were", true, |report, _, extent| {
        utilisation::blocks(report, extent)
    }),
    ("layers", "Layer by layer", true, statements),
    ("disk-view", "Single operations, and what the disks see", true, statements),
    ("servers", "At the servers", true, statements),
    ("job-times", "Jobs over time", true, statements),
    ("job-spaces", "Where jobs read and wrote", true, statements),
    ("targets", "Targets", true, |report, _, extent| targets::blocks(report, extent)),
    ("cost", "Cost, placement and fit", true, statements),
    ("expected", "Expected and reached", true, statements),
    ("repetitions", "Spread and drift of repetitions", true, |report, _, extent| {
        repetitions::blocks(report, extent)
    }),
    ("iops", "IOPS, by what is meant", false, statements),
    ("jobs", "Jobs", false, statements),
    ("full-timer", "FULLSTIMER", false, statements),
    ("limits", "Processor or storage", false, statements),
    ("beside", "Published figures and own ones", false, beside),
    ("layouts", "Layouts", false, |report, _, _| layouts::blocks(report)),
    ("time", "Where the time went", false, |report, _, _| printed::time(report)),
    ("printed", "What was printed", false, |report, _, extent| printed::blocks(report, extent)),
    ("coverage", "Coverage of nodes", false, statements),
    ("nodes", "Nodes of the run", false, |report, _, _| cluster::blocks(report)),
    ("audit", "Audit", false, |report, _, _| audit::blocks(report)),
];

fn statements(report: &Report, section: &'static str, extent: Extent) -> Vec<Block> {
    report.statements.blocks(report, section, extent)
}

fn beside(report: &Report, section: &'static str, extent: Extent) -> Vec<Block> {
    forms::blocks(report).into_iter().chain(statements(report, section, extent)).collect()
}

/// The section called `name`, unless it is empty.
pub(crate) fn section(report: &Report, name: &str, extent: Extent) -> Option<Section> {
    ALL.iter().find(|(id, ..)| *id == name).and_then(|entry| filled(report, entry, extent))
}

/// All non-empty sections, in reading order.
pub(crate) fn sections(report: &Report, extent: Extent) -> Vec<Section> {
    let mut sections: Vec<Section> = ALL.iter().filter_map(|entry| filled(report, entry, extent)).collect();
    if is_of_jobs(report) {
        sections.sort_by_key(|section| section.id != "jobs");
    }
    sections
}

/// Whether the run is one of `randomops`, whose users want to see the job table first.
fn is_of_jobs(report: &Report) -> bool {
    report.run.tool == plan::randomops::TOOL
}

/// A section with its blocks, if there are any.
fn filled(
    report: &Report,
    &(id, title, before, blocks): &(&'static str, &'static str, bool, Blocks),
    extent: Extent,
) -> Option<Section> {
    let mut blocks = blocks(report, id, extent);
    if blocks.is_empty() {
        return None;
    }
    if let Some(mark) = report.run.mark.as_ref().filter(|_| BESIDE_OTHERS.contains(&id)) {
        blocks.insert(0, Block::Text(format!("Own figures: {mark}.")));
    }
    let before_figures = before || (id == "jobs" && is_of_jobs(report));
    Some(Section { id, title, before_figures, blocks })
}
