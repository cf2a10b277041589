//! Published figures beside own ones.

use plan::{Case, Order, ReadFrom, Sharing};
use record::{Operation, Published, PublishedParameters};

use crate::jobs::nodes_of;

/// The published figures that were measured with the command line of `case`: transfer, direct
/// I/O, fsync, file per task, order, tasks and targets are equal, and so are nodes, block, segments and
/// reordering where the study prints them. A figure of a direction that no phase of the case
/// has is left out.
#[must_use]
pub fn published_beside(case: &Case) -> Vec<&'static Published> {
    beside(case, |published, own| {
        published.transfer_bytes == own.transfer_bytes && same_segments(published, own)
    })
}

/// As [`published_beside`], except for one of two things: the transfer size, where the study names
/// the best of several sizes, or the segments, as in a miniature that moves less. Say so beside
/// them.
#[must_use]
pub fn published_near(case: &Case) -> Vec<&'static Published> {
    beside(case, |published, own| {
        let same_transfer = published.transfer_bytes == own.transfer_bytes;
        same_transfer != same_segments(published, own)
    })
}

fn beside(
    case: &Case,
    sizes: impl Fn(&PublishedParameters, &PublishedParameters) -> bool,
) -> Vec<&'static Published> {
    let own = own_parameters(case);
    record::published()
        .figures
        .iter()
        .filter(|figure| figure.parameters.targets.is_some())
        .filter(|figure| sizes(&figure.parameters, &own) && same_otherwise(&figure.parameters, &own))
        .filter(|figure| has_direction(case, figure.operation.direction()))
        .collect()
}

/// The case in the words of the command line. Devices and layout are not part of it.
fn own_parameters(case: &Case) -> PublishedParameters {
    let workload = &case.workload;
    PublishedParameters {
        direct: Some(workload.direct),
        fsync: Some(workload.sync.at_close),
        file_per_process: Some(workload.files.sharing == Sharing::PerTask),
        reorder_tasks: Some(matches!(workload.read_from, ReadFrom::Shift { .. })),
        random: Some(matches!(workload.order, Order::Random { .. })),
        transfer_bytes: Some(workload.geometry.transfer.0),
        block_bytes: Some(workload.geometry.block.0),
        segments: Some(workload.geometry.segments),
        tasks: Some(workload.tasks),
        nodes: Some(u32::try_from(nodes_of(case)).unwrap_or(u32::MAX)),
        targets: Some(u32::try_from(workload.files.targets.len()).unwrap_or(u32::MAX)),
        ..PublishedParameters::default()
    }
}

/// What a study does not print is taken to be equal.
fn printed_equal<T: PartialEq>(published: Option<T>, own: Option<T>) -> bool {
    published.is_none() || published == own
}

fn same_segments(published: &PublishedParameters, own: &PublishedParameters) -> bool {
    printed_equal(published.segments, own.segments)
}

fn same_otherwise(published: &PublishedParameters, own: &PublishedParameters) -> bool {
    published.direct == own.direct
        && published.fsync == own.fsync
        && published.file_per_process == own.file_per_process
        && published.random == own.random
        && published.tasks == own.tasks
        && printed_equal(published.nodes, own.nodes)
        && published.targets == own.targets
        && printed_equal(published.reorder_tasks, own.reorder_tasks)
        && printed_equal(published.block_bytes, own.block_bytes)
}

fn has_direction(case: &Case, operation: Option<Operation>) -> bool {
    let phase = match operation {
        Some(Operation::Read) => plan::Phase::Read,
        Some(Operation::Write) => plan::Phase::Write,
        _ => return false,
    };
    case.phases.contains(&phase)
}
