//! When the tasks of a node did their own I/O, without the time in which they waited for other nodes.

use std::ops::Range;

use plan::{Phase, Workload};
use record::TaskRow;

/// Whether the transfers of `phase` are only complete after the close.
pub(crate) fn ends_with_close(workload: &Workload, phase: Phase) -> bool {
    workload.sync.at_close && phase.writes()
}

/// The length of the [`own_spans`].
pub(crate) fn own_ns(tasks: &[&TaskRow], workload: &Workload, phase: Phase) -> u64 {
    own_spans(tasks, workload, phase).map(|span| span.end - span.start).sum()
}

/// When the `tasks` of one node did their own I/O in one pass: from the first transfer to the last, and to the end of
/// the close if the transfers are only complete after it. Tasks may wait for those of other nodes before they close;
/// that wait is not part of any node's own time.
pub(crate) fn own_spans<'s>(
    tasks: &'s [&TaskRow],
    workload: &Workload,
    phase: Phase,
) -> impl Iterator<Item = Range<u64>> + use<'s> {
    let transfers: (Moment, Moment) = (|task| task.io_start_ns, |task| task.io_end_ns);
    let close: (Moment, Moment) = (|task| task.close_start_ns, |task| task.close_end_ns);
    let (first, second) = match (ends_with_close(workload, phase), workload.barriers) {
        (false, _) => (transfers, None),
        (true, true) => (transfers, Some(close)),
        (true, false) => ((transfers.0, close.1), None),
    };
    [Some(first), second].into_iter().flatten().map(|(start, end)| span(tasks, start, end))
}

/// A moment in a task.
pub(crate) type Moment = fn(&TaskRow) -> u64;

/// From the first start to the last end of the tasks that moved something.
pub(crate) fn span(tasks: &[&TaskRow], start: Moment, end: Moment) -> Range<u64> {
    let moved = || tasks.iter().filter(|task| task.transfers > 0);
    let first = moved().map(|task| start(task)).min().unwrap_or(0);
    first..moved().map(|task| end(task)).max().unwrap_or(0).max(first)
}
