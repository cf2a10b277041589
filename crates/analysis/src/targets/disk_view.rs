//! How sequential the application's requests were, and how sequential those that the disks received.

use record::{HistoryRow, PhaseRow, Run};

use crate::figures::{Figure, Subject};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, bytes, count, share},
};
use crate::statistics::{median, whole};
use crate::targets::io_history::of_counted;

/// How sequential a phase was at the application and at the devices, from the last recorded operations and the
/// requests that were traced at the same time.
///
/// Source: study E, "what the disk really sees": each of many streams is sequential, but the disk that serves them
/// all sees a different pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct DiskView {
    /// The number of streams of the application.
    tasks: u32,
    application: InARow,
    /// `None` if the requests were not traced.
    devices: Option<InARow>,
}

/// Operations that followed another one of the same task in the same file, or requests that followed another one of
/// the same device in the same direction.
#[derive(Debug, Clone, Copy, PartialEq)]
struct InARow {
    all: u64,
    /// The share of them that started where the one before ended.
    share: f64,
    /// Median distance of the others from that position, in bytes; for several passes of devices, the median of
    /// their medians.
    jump: Option<f64>,
}

impl Statement for DiskView {
    const KIND: Kind = Kind::DiskView;
    const OF: Of = Of::Point;
    const CAPTION: &'static str = "For the last recorded operations, and for the requests that the kernel \
         traced alongside. In a row: one begins where the previous one of the same task, or of the same \
         device and direction, ended. Jumps: median distance of the others. Tracing costs as much as the \
         history, and nothing when it is off";
    const COLUMNS: &'static [Column<Self>] = &[
        count("streams", "streams", "Tasks of the application.", |one| Some(one.tasks.into())),
        count("operations", "operations", "Operations that followed another one of the same task.", |one| {
            Some(one.application.all)
        }),
        share("in_a_row", "in a row", "Share that began where it ended.", |one| Some(one.application.share)),
        bytes("jumps", "jumps", "Median distance of the others.", |one| one.application.jump.map(whole)),
        count(
            "requests",
            "requests",
            "Requests that followed another one of the same device and direction.",
            |one| Some(one.devices?.all),
        ),
        share("in_a_row_there", "in a row there", "Share that began where it ended.", |one| {
            Some(one.devices?.share)
        }),
        bytes(
            "jumps_there",
            "jumps there",
            "Median distance of the requests that did not begin where the one before ended.",
            |one| one.devices?.jump.map(whole),
        ),
    ];
}

/// Every figure with recorded operations, in the order of the figures.
pub(crate) fn disk_views(run: &Run, gate: &Gate<'_>) -> Vec<Stated<DiskView>> {
    let kept = gate.subjects.iter().filter(|subject| subject.case.workload.history.is_some());
    let view = |subject: &Subject<'_>| {
        let figure = subject.figure;
        let rows = run.history(&figure.case);
        let application = of_operations(of_counted(&rows, figure))?;
        let tasks = subject.case.workload.tasks;
        let view = DiskView { tasks, application, devices: of_devices(figure) };
        Some(gate.state(vec![subject.index], view))
    };
    kept.filter_map(view).collect()
}

fn of_operations<'a>(rows: impl Iterator<Item = &'a HistoryRow>) -> Option<InARow> {
    let mut sorted: Vec<&HistoryRow> = rows.filter(|row| row.bytes > 0).collect();
    sorted.sort_by_key(|row| (row.key.repetition, row.task, row.start_ns));
    let pairs = sorted.windows(2).map(|pair| (pair[0], pair[1]));
    let same = pairs.filter(|(a, b)| {
        a.key.repetition == b.key.repetition && a.task == b.task && a.node == b.node && a.file == b.file
    });
    let jumps: Vec<f64> =
        same.map(|(a, b)| b.offset_bytes.abs_diff(a.offset_bytes + a.bytes) as f64).collect();
    let far: Vec<f64> = jumps.iter().copied().filter(|&jump| jump > 0.0).collect();
    let share = (jumps.len() - far.len()) as f64 / jumps.len() as f64;
    (!jumps.is_empty()).then(|| InARow { all: jumps.len() as u64, share, jump: median(&far) })
}

fn of_devices(figure: &Figure) -> Option<InARow> {
    let sum = |of: fn(&PhaseRow) -> Option<u64>| -> u64 {
        figure.counted().filter_map(|pass| of(&pass.phase)).sum()
    };
    let all = sum(|phase| phase.traced_requests);
    let seeks = figure.counted().filter_map(|pass| Some(pass.phase.traced_seek_bytes? as f64));
    let share = sum(|phase| phase.traced_contiguous) as f64 / all as f64;
    (all > 0).then(|| InARow { all, share, jump: median(&seeks.collect::<Vec<_>>()) })
}
