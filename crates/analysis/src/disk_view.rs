//! What the application asked for in a row, and what the disks got in a row.

use std::collections::HashMap;

use plan::Case;
use record::{HistoryRow, PhaseRow, Run};

use crate::Figure;
use crate::gate::{Gate, Kind, Stated};
use crate::summary::{median, whole};
use crate::table::{Column, Of, Statement, bytes, count, share};

/// How sequential a phase was at the application and at the devices, by the last operations that were kept and
/// the requests that were traced beside them.
///
/// Source: study E, "what the disk really sees": each of many streams is sequential, the disk that serves them
/// all sees something else.
#[derive(Debug, Clone, PartialEq)]
pub struct DiskView {
    /// Tasks: streams of the application.
    pub tasks: u32,
    /// Operations that followed another one of the same task in the same file.
    pub operations: u64,
    /// Share of them that began where the one before had ended.
    pub application_share: f64,
    /// Median distance of the others from there, in bytes; none where there are none.
    pub application_seek_bytes: Option<f64>,
    /// What the devices got; none where they were not traced.
    pub devices: Option<DevicesView>,
}

/// Requests of the devices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DevicesView {
    /// Requests that followed another one of the same device in the same direction.
    pub requests: u64,
    /// Share of them that began where the one before had ended.
    pub share: f64,
    /// Median distance of the others from there, in bytes: of several passes the median of their medians.
    pub seek_bytes: Option<f64>,
}

impl Statement for DiskView {
    const KIND: Kind = Kind::DiskView;
    const OF: Of = Of::Point;
    const CAPTION: &'static str = "Of the last operations that were kept, and of the requests that the kernel traced beside them: in a row \
         means that one begins where the one before it, of the same task or of the same device and direction, has \
         ended. Jumps: median distance of the others. Tracing costs what the history costs; without it nothing";
    const COLUMNS: &'static [Column<Self>] = &[
        count("streams", "streams", "Tasks of the application.", |one| Some(one.tasks.into())),
        count("operations", "operations", "Operations that followed one of the same task.", |one| {
            Some(one.operations)
        }),
        share("in_a_row", "in a row", "Share of them that began where it ended.", |one| {
            Some(one.application_share)
        }),
        bytes("jumps", "jumps", "Median distance of the others.", |one| {
            one.application_seek_bytes.map(whole)
        }),
        count("requests", "requests", "Requests that followed one of the same device.", |one| {
            Some(one.devices?.requests)
        }),
        share("in_a_row_there", "in a row there", "Share of them that began where it ended.", |one| {
            Some(one.devices?.share)
        }),
        bytes("jumps_there", "jumps there", "Median distance of the others.", |one| {
            one.devices?.seek_bytes.map(whole)
        }),
    ];
}

/// Every figure of which operations were kept, in the order of the figures.
#[must_use]
pub(crate) fn disk_views(run: &Run, gate: &Gate<'_>) -> Vec<Stated<DiskView>> {
    let kept = run.manifest.plan.cases.iter().filter(|case| case.workload.history.is_some());
    let kept: HashMap<&str, &Case> = kept.map(|case| (case.id.as_str(), case)).collect();
    let view = |(place, figure): (usize, &Figure)| {
        let tasks = kept.get(figure.case.as_str())?.workload.tasks;
        let rows = run.history(&figure.case);
        let of_figure = rows.iter().filter(|row| {
            row.key.phase == figure.phase
                && figure.counted().any(|pass| pass.repetition == row.key.repetition)
        });
        let (operations, application_share, application_seek_bytes) = in_a_row(of_figure)?;
        let devices = of_devices(figure);
        let view = DiskView { tasks, operations, application_share, application_seek_bytes, devices };
        Some(gate.state(Kind::DiskView, vec![place], view))
    };
    gate.figures.iter().enumerate().filter_map(view).collect()
}

/// How many operations followed another one of their task, which share of them in a row, and how far the others
/// jumped, as a median.
fn in_a_row<'a>(rows: impl Iterator<Item = &'a HistoryRow>) -> Option<(u64, f64, Option<f64>)> {
    let mut sorted: Vec<&HistoryRow> = rows.filter(|row| row.bytes > 0).collect();
    sorted.sort_by_key(|row| (row.key.repetition, row.task, row.start_ns));
    let pairs = sorted.windows(2).map(|pair| (pair[0], pair[1]));
    let same = pairs.filter(|(a, b)| {
        a.key.repetition == b.key.repetition && a.task == b.task && a.node == b.node && a.file == b.file
    });
    let jumps: Vec<u64> = same.map(|(a, b)| b.offset_bytes.abs_diff(a.offset_bytes + a.bytes)).collect();
    let far: Vec<f64> = jumps.iter().filter(|&&jump| jump > 0).map(|&jump| jump as f64).collect();
    let share = (jumps.len() - far.len()) as f64 / jumps.len() as f64;
    (!jumps.is_empty()).then(|| (jumps.len() as u64, share, median(&far)))
}

fn of_devices(figure: &Figure) -> Option<DevicesView> {
    let sum = |of: fn(&PhaseRow) -> Option<u64>| -> u64 {
        figure.counted().filter_map(|pass| of(&pass.phase)).sum()
    };
    let requests = sum(|phase| phase.traced_requests);
    let seeks = figure.counted().filter_map(|pass| Some(pass.phase.traced_seek_bytes? as f64));
    (requests > 0).then(|| DevicesView {
        requests,
        share: sum(|phase| phase.traced_contiguous) as f64 / requests as f64,
        seek_bytes: median(&seeks.collect::<Vec<_>>()),
    })
}
