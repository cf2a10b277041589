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
mod single;
pub(crate) mod statements;
mod sweep;
mod targets;

use crate::report::Report;

pub(crate) use block::{
    Block, Extent, Second, Section, all_caveats, conditions, criterion, headline, line_name, only, place,
    point, promised_unit, promised_value, published_value, signed, title, which_target,
};
pub(crate) use cluster::nodes_line;
pub(crate) use operations::response;
pub(crate) use rates::rates;

/// Sections that compare own figures with what others have stated, measured or promised.
const BESIDE_OTHERS: [&str; 5] = ["summary", "claims", "expected", "beside", "matrix"];

/// All non-empty sections, in reading order.
pub(crate) fn sections(report: &Report, extent: Extent) -> Vec<Section> {
    let of = |section| report.statements.blocks(report, section, extent);
    // A user of `randomops` wants to see the job table first.
    let jobs_first = report.run.tool == plan::randomops::TOOL;
    let all = [
        ("summary", "Summary", true, of("summary")),
        ("claims", "Statements, tested with own data", true, of("claims")),
        ("matrix", "Jobs as a whole", true, of("matrix")),
        ("cross-check", "Beside another tool", true, of("cross-check")),
        ("scores", "Scores of IO500", true, of("scores")),
        ("best", "Best points", true, of("best")),
        ("metadata", "Files and directories", true, operations::metadata(report)),
        ("exchanges", "Requests between processes", true, operations::exchanges(report)),
        ("single", "Latency of single requests", true, single::blocks(report)),
        ("sweeps", "Sweeps", true, sweep::blocks(report, extent)),
        ("weak-scaling", "Weak scaling", true, of("weak-scaling")),
        ("nodes-compared", "Nodes compared", true, of("nodes-compared")),
        ("devices", "Devices one by one and together", true, of("devices")),
        ("layers", "Layer by layer", true, of("layers")),
        ("disk-view", "What the disks see", true, of("disk-view")),
        ("servers", "At the servers", true, of("servers")),
        ("job-times", "Jobs over time", true, of("job-times")),
        ("job-spaces", "Where jobs read and wrote", true, of("job-spaces")),
        ("targets", "Targets", true, targets::blocks(report, extent)),
        ("cost", "Cost, placement and fit", true, of("cost")),
        ("expected", "Expected and reached", true, of("expected")),
        ("repetitions", "Spread and drift of repetitions", true, repetitions::blocks(report, extent)),
        ("iops", "IOPS, by what is meant", false, of("iops")),
        ("jobs", "Jobs", jobs_first, of("jobs")),
        ("full-timer", "FULLSTIMER", false, of("full-timer")),
        ("limits", "Processor or storage", false, of("limits")),
        ("beside", "Published figures and own ones", false, {
            let list = of("beside");
            forms::blocks(report).into_iter().chain(list).collect()
        }),
        ("layouts", "Layouts", false, layouts::blocks(report)),
        ("time", "Where the time went", false, printed::time(report)),
        ("printed", "What was printed", false, printed::blocks(report, extent)),
        ("coverage", "Coverage of nodes", false, of("coverage")),
        ("nodes", "Nodes of the run", false, cluster::blocks(report)),
        ("audit", "Audit", false, audit::blocks(report)),
    ];
    let mut sections: Vec<Section> = all
        .into_iter()
        .filter(|(_, _, _, blocks)| !blocks.is_empty())
        .map(|(id, title, before_figures, blocks)| Section { id, title, before_figures, blocks })
        .collect();
    if let Some(mark) = &report.run.mark {
        for section in sections.iter_mut().filter(|one| BESIDE_OTHERS.contains(&one.id)) {
            section.blocks.insert(0, Block::Text(format!("Own figures: {mark}.")));
        }
    }
    if jobs_first {
        sections.sort_by_key(|section| section.id != "jobs");
    }
    sections
}
