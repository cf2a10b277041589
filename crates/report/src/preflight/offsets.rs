//! The offsets of the first transfers of the first tasks, in the order of execution.

use plan::{Case, Order, Placement, Sharing};

use crate::format::screen::Screen;
use crate::format::table::{Table, wrapped};
use crate::format::{counted, grouped};

/// Tasks, transfers and blocks of the file that `--explain` shows.
const TASKS_SHOWN: u32 = 4;
const TRANSFERS_SHOWN: u64 = 6;
const BLOCKS_SHOWN: u64 = 8;

/// The offsets, in bytes, of the first transfers of the first tasks of `case`'s first result phase, and the order of
/// the blocks in a shared file.
///
/// Block\[i,j\] is the i-th block of task j, as in figure 2 of study B.
pub(crate) fn first(case: &Case, screen: Screen) -> String {
    let Some(&phase) = case.phases.iter().find(|phase| phase.is_result()) else {
        return String::new();
    };
    let workload = &case.workload;
    let placement = Placement::new(workload);
    let shown = workload.tasks.min(TASKS_SHOWN);
    let offsets = |task: u32| {
        let region = placement.region(task, phase, 0);
        let first = (0..region.transfers().min(TRANSFERS_SHOWN)).map(|index| region.at(index).to_string());
        let more = (region.transfers() > TRANSFERS_SHOWN).then(|| "…".to_owned());
        first.chain(more).collect::<Vec<_>>().join(", ")
    };
    let table = Table::of(0..shown)
        .right("task", |task| task.to_string())
        .left("file", |&task| placement.file(task, phase, 0).path.display().to_string())
        .left("offsets in bytes", |&task| offsets(task))
        .done()
        .to_text("    ", screen);
    let more = match workload.tasks - shown {
        0 => String::new(),
        more => format!("    … and {}\n", counted(u64::from(more), "more task")),
    };
    format!("  first transfers of each task ({phase})\n{table}{more}{}", file_layout(case, screen))
}

/// The order of the blocks in a shared file.
fn file_layout(case: &Case, screen: Screen) -> String {
    let (workload, geometry) = (&case.workload, case.workload.geometry);
    if workload.files.sharing != Sharing::Shared || workload.order != Order::Sequential {
        return String::new();
    }
    let tasks = u64::from(workload.tasks);
    let all = tasks * geometry.segments;
    let blocks = (0..all.min(BLOCKS_SHOWN)).map(|at| format!("Block[{},{}] ", at / tasks, at % tasks));
    let blocks: String = blocks.chain((all > BLOCKS_SHOWN).then(|| "… ".to_owned())).collect();
    let per_block = counted(geometry.transfers_per_block(), "transfer");
    let bytes = grouped(geometry.block.0);
    let note = format!("(Block[segment,task], {per_block} and {bytes} bytes each)");
    wrapped("  file order  ", &format!("{blocks}{note}"), screen.prose())
}
