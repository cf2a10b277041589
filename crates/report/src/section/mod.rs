//! What a study says, as sections of sentences and tables that every form shows in its own way.
//!
//! Each section stands alone: its tables name their units, and every figure has its conditions in
//! the same row or one link away.

mod audit;
mod block;
mod cluster;
mod forms;
mod layouts;
mod operations;
mod printed;
mod rates;
mod repetitions;
mod single;
mod sweep;
mod targets;

use crate::report::Report;

pub(crate) use block::{
    Block, Second, Section, conditions, criterion, figure, headline, in_unit, line_name, only, place, point,
    promised_value, signed, title, which_target,
};
pub(crate) use cluster::nodes_line;
pub(crate) use operations::response;
pub(crate) use rates::rates;

/// All sections that have something to say, in the order in which they are read.
pub(crate) fn sections(report: &Report) -> Vec<Section> {
    // Whoever asks for so many operations of each task, asks for the job table.
    let jobs_first = report.run.tool == plan::randomops::TOOL;
    let all = [
        ("summary", "Summary", true, report.statements.blocks(report, "summary")),
        ("claims", "Statements, tested with own data", true, report.statements.blocks(report, "claims")),
        ("matrix", "Jobs as a whole", true, report.statements.blocks(report, "matrix")),
        ("cross-check", "Beside another tool", true, report.statements.blocks(report, "cross-check")),
        ("best", "Best points", true, report.statements.blocks(report, "best")),
        ("metadata", "Files and directories", true, operations::metadata(report)),
        ("exchanges", "Requests between processes", true, operations::exchanges(report)),
        ("single", "Latency of single requests", true, single::blocks(report)),
        ("sweeps", "Sweeps", true, sweep::blocks(report)),
        ("weak-scaling", "Weak scaling", true, report.statements.blocks(report, "weak-scaling")),
        ("nodes-compared", "Nodes compared", true, report.statements.blocks(report, "nodes-compared")),
        ("devices", "Devices one by one and together", true, report.statements.blocks(report, "devices")),
        ("layers", "Layer by layer", true, report.statements.blocks(report, "layers")),
        ("disk-view", "What the disks see", true, report.statements.blocks(report, "disk-view")),
        ("servers", "At the servers", true, report.statements.blocks(report, "servers")),
        ("job-times", "Jobs over time", true, report.statements.blocks(report, "job-times")),
        ("job-spaces", "Where jobs read and wrote", true, report.statements.blocks(report, "job-spaces")),
        ("targets", "Targets", true, targets::blocks(report)),
        ("cost", "Cost, placement and fit", true, report.statements.blocks(report, "cost")),
        ("expected", "Expected and reached", true, report.statements.blocks(report, "expected")),
        ("repetitions", "Spread and drift of repetitions", true, repetitions::blocks(report)),
        ("iops", "IOPS, by what is meant", false, report.statements.blocks(report, "iops")),
        ("jobs", "Jobs", jobs_first, report.statements.blocks(report, "jobs")),
        ("full-timer", "FULLSTIMER", false, report.statements.blocks(report, "full-timer")),
        ("limits", "Processor or storage", false, report.statements.blocks(report, "limits")),
        ("beside", "Published figures and own ones", false, {
            let list = report.statements.blocks(report, "beside");
            forms::blocks(report).into_iter().chain(list).collect()
        }),
        ("layouts", "Layouts", false, layouts::blocks(report)),
        ("time", "Where the time went", false, printed::time(report)),
        ("printed", "What was printed", false, printed::blocks(report)),
        ("coverage", "Coverage of nodes", false, report.statements.blocks(report, "coverage")),
        ("nodes", "Nodes of the run", false, cluster::blocks(report)),
        ("audit", "Audit", false, audit::blocks(report)),
    ];
    let mut sections: Vec<Section> = all
        .into_iter()
        .filter(|(_, _, _, blocks)| !blocks.is_empty())
        .map(|(id, title, before_figures, blocks)| Section { id, title, before_figures, blocks })
        .collect();
    if jobs_first {
        sections.sort_by_key(|section| section.id != "jobs");
    }
    sections
}
