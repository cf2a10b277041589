//! What the application asked for in a row, and what the disks got in a row.

use std::collections::HashMap;

use plan::Plan;
use record::{HistoryRow, PhaseRow, Run};

use crate::gate::{Gate, Kind, Stated};
use crate::table::{Column, Of, Statement};
use crate::{Figure, Summary};

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
        Column::count("streams", |one| Some(one.tasks.into()), "Tasks of the application."),
        Column::count(
            "operations",
            |one| Some(one.operations),
            "Operations that followed one of the same task.",
        ),
        Column::share(
            "in_a_row",
            |one| Some(one.application_share),
            "Share of them that began where it ended.",
        ),
        Column::bytes("jumps", |one| bytes(one.application_seek_bytes), "Median distance of the others."),
        Column::count(
            "requests",
            |one| Some(one.devices?.requests),
            "Requests that followed one of the same device.",
        ),
        Column::share(
            "in_a_row_there",
            |one| Some(one.devices?.share),
            "Share of them that began where it ended.",
        ),
        Column::bytes("jumps_there", |one| bytes(one.devices?.seek_bytes), "Median distance of the others."),
    ];
}

/// Whole bytes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a distance of whole bytes")]
fn bytes(distance: Option<f64>) -> Option<u64> {
    distance.map(|bytes| bytes as u64)
}

/// Every figure of which operations were kept, in the order of the figures.
#[must_use]
pub(crate) fn disk_views(run: &Run, gate: &Gate<'_>) -> Vec<Stated<DiskView>> {
    let tasks = tasks(&run.manifest.plan);
    let view = |(place, figure): (usize, &Figure)| {
        let tasks = *tasks.get(figure.case.as_str())?;
        let rows = run.history(&figure.case);
        let of_figure = rows.iter().filter(|row| {
            row.key.phase == figure.phase
                && figure.counted().any(|pass| pass.repetition == row.key.repetition)
        });
        let (operations, share, seeks) = in_a_row(of_figure)?;
        let view = DiskView {
            tasks,
            operations,
            application_share: share,
            application_seek_bytes: Summary::of(&seeks).map(|all| all.median),
            devices: of_devices(figure.counted().map(|pass| &*pass.phase)),
        };
        Some(gate.state(Kind::DiskView, vec![place], view))
    };
    gate.figures.iter().enumerate().filter_map(view).collect()
}

/// The tasks of cases that keep operations.
fn tasks(plan: &Plan) -> HashMap<&str, u32> {
    let kept = plan.cases.iter().filter(|case| case.workload.history.is_some());
    kept.map(|case| (case.id.as_str(), case.workload.tasks)).collect()
}

/// How many operations followed another one of their task, which share of them in a row, and how far the others
/// jumped.
fn in_a_row<'a>(rows: impl Iterator<Item = &'a HistoryRow>) -> Option<(u64, f64, Vec<f64>)> {
    let mut sorted: Vec<&HistoryRow> = rows.filter(|row| row.bytes > 0).collect();
    let place = |row: &&HistoryRow| (row.key.repetition, row.task, row.start_ns);
    sorted.sort_by_key(place);
    let (mut followed, mut contiguous, mut seeks) = (0_u64, 0_u64, Vec::new());
    for pair in sorted.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        let same = before.key.repetition == after.key.repetition && before.task == after.task;
        if !same || before.node != after.node || before.file != after.file {
            continue;
        }
        followed += 1;
        match after.offset_bytes.abs_diff(before.offset_bytes + before.bytes) {
            0 => contiguous += 1,
            distance => seeks.push(distance as f64),
        }
    }
    (followed > 0).then(|| (followed, contiguous as f64 / followed as f64, seeks))
}

fn of_devices<'a>(phases: impl Iterator<Item = &'a PhaseRow>) -> Option<DevicesView> {
    let (mut requests, mut contiguous, mut seeks) = (0_u64, 0_u64, Vec::new());
    for phase in phases {
        requests += phase.traced_requests.unwrap_or(0);
        contiguous += phase.traced_contiguous.unwrap_or(0);
        seeks.extend(phase.traced_seek_bytes.map(|bytes| bytes as f64));
    }
    (requests > 0).then(|| DevicesView {
        requests,
        share: contiguous as f64 / requests as f64,
        seek_bytes: Summary::of(&seeks).map(|all| all.median),
    })
}
