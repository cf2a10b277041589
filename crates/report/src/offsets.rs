//! Where the first transfers of the first tasks go, in the order in which they are made.

use std::fmt::Write as _;

use plan::{Case, Order, Phase, Placement, Sharing};

use crate::Colour;
use crate::format::{counted, grouped};
use crate::table::{Align, Table, wrapped};

/// Tasks and transfers that `--explain` shows.
const TASKS_SHOWN: u32 = 4;
const TRANSFERS_SHOWN: u64 = 6;
/// Blocks of the file that `--explain` shows.
const BLOCKS_SHOWN: u64 = 8;

/// The first offsets of `case`'s first result phase, as `--explain` shows them.
pub(crate) fn first(case: &Case) -> String {
    offsets(case, TASKS_SHOWN, TRANSFERS_SHOWN)
}

/// The offsets, in bytes, of the first `transfers` transfers of the first `tasks` tasks in the
/// order in which they are made, and the order of the blocks in a shared file.
///
/// Block\[i,j\] is the i-th block of task j, as in figure 2 of study B.
///
/// ```
/// use plan::{Bytes, Case, Geometry, Nanos, Phase, WorkloadSpec};
/// let geometry = Geometry { transfer: Bytes(1), block: Bytes(2), segments: 2 };
/// let mut spec = WorkloadSpec::new("figure 2", "file", geometry);
/// spec.tasks = 3;
/// let case = Case::new("figure-2", spec.validate()?, vec![Phase::Write]);
/// let text = report::offsets(&case, 3, 4);
/// assert!(text.contains("Block[0,0] Block[0,1] Block[0,2] Block[1,0] Block[1,1] Block[1,2]"));
/// assert!(text.contains("1  file  2, 3, 8, 9"));
/// # Ok::<(), plan::PlanError>(())
/// ```
#[must_use]
pub fn offsets(case: &Case, tasks: u32, transfers: u64) -> String {
    let Some(&phase) = case.phases.iter().find(|phase| phase.is_result()) else {
        return String::new();
    };
    let workload = &case.workload;
    let placement = Placement::new(workload);
    let shown = workload.tasks.min(tasks);
    let mut table =
        Table::new(&[("task", Align::Right), ("file", Align::Left), ("offsets in bytes", Align::Left)]);
    for task in 0..shown {
        let region = placement.region(task, phase, 0);
        let mut list: Vec<String> =
            (0..region.transfers().min(transfers)).map(|index| region.at(index).to_string()).collect();
        if region.transfers() > transfers {
            list.push("…".to_owned());
        }
        let file = placement.file(task, phase, 0).path;
        table.row(vec![task.to_string(), file.display().to_string(), list.join(", ")]);
    }
    let mut out = format!("  first transfers of each task ({phase})\n");
    out.push_str(&table.to_text("    ", Colour::Plain));
    if shown < workload.tasks {
        let _ = writeln!(out, "    … and {}", counted(u64::from(workload.tasks - shown), "more task"));
    }
    out.push_str(&file_layout(case, phase));
    out
}

/// The order of the blocks in a shared file.
fn file_layout(case: &Case, phase: Phase) -> String {
    let workload = &case.workload;
    let sequential = matches!(workload.order, Order::Sequential);
    if workload.files.sharing != Sharing::Shared || !sequential || !phase.is_result() {
        return String::new();
    }
    let tasks = u64::from(workload.tasks);
    let all = tasks * workload.geometry.segments;
    let mut blocks: Vec<String> = (0..all.min(BLOCKS_SHOWN))
        .map(|index| format!("Block[{},{}]", index / tasks, index % tasks))
        .collect();
    if all > BLOCKS_SHOWN {
        blocks.push("…".to_owned());
    }
    let per_block = counted(workload.geometry.transfers_per_block(), "transfer");
    let bytes = grouped(workload.geometry.block.0);
    let note = format!("(Block[segment,task], {per_block} and {bytes} bytes each)");
    wrapped("  file order  ", &format!("{} {note}", blocks.join(" ")), 100)
}
