//! How the time of single operations is spent, by their purpose.

use plan::Case;
use record::{HistoryRow, Provenance, Run};

use crate::figures::{DevicePart, Figure, HistoryContext, Subject};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, count, nanos, share, text, word},
};

/// Operations of a phase that were recorded one by one: all of them, or those of one purpose.
///
/// Source: study E, single small reads: 74 µs at the client, 55 µs of them in the round trip to the server, and the
/// context of each operation in the history.
#[derive(Debug, Clone, PartialEq)]
pub struct IoHistory(pub HistoryContext);

impl IoHistory {
    fn device(&self, of: impl Fn(&DevicePart) -> f64) -> Option<f64> {
        self.0.split.device.as_ref().map(of)
    }
}

impl Statement for IoHistory {
    const KIND: Kind = Kind::IoHistory;
    const OF: Of = Of::Point;
    const CAPTION: &'static str = "The last operations of each repetition, on average. Device: the part of the time \
         that the kernel's trace shows for the requests of an operation; rest: software, queues and the way there and \
         back. Of an operation without a request, a cache answered, or its request was not traced";
    const COLUMNS: &'static [Column<Self>] = &[
        word("context", "context", "Their purpose; empty for all.", |one| &one.0.context),
        word("kind", "kind", "What their bytes are.", |one| &one.0.kind),
        count("operations", "operations", "Recorded one by one.", |one| Some(one.0.split.operations)),
        nanos("latency", "each", "Mean time of one.", |one| Some(one.0.split.latency_ns)),
        nanos("gap", "start to start", "From the start of one to that of the next of its task.", |one| {
            one.0.split.gap_ns
        }),
        nanos(
            "device",
            "device",
            "Mean time on the device, of the operations whose requests were traced.",
            |one| one.device(|part| part.device_ns),
        ),
        nanos(
            "rest",
            "rest",
            "Mean time not on the device, of the operations whose requests were traced.",
            |one| one.device(|part| part.rest_ns),
        ),
        share("without_request", "no request", "Share for which no request of a device was found.", |one| {
            one.0.without_request
        }),
        text("found_by", "found by", "How requests were found.", |one| {
            match one.0.split.device.as_ref().map(|device| (device.by_sector, device.operations)) {
                None => "",
                Some((0, _)) => "time and size",
                Some((by_sector, all)) if by_sector == all => "sector",
                Some(_) => "sector; time and size",
            }
            .to_owned()
        }),
    ];
}

/// For every figure with recorded operations a row for all of them, and one for each purpose if there are several.
pub(crate) fn io_histories(run: &Run, gate: &Gate<'_>) -> Vec<Stated<IoHistory>> {
    let of_figure = |subject: &Subject<'_>| {
        let rows = run.history(&subject.figure.case);
        let counted: Vec<&HistoryRow> = of_counted(&rows, subject.figure).collect();
        let traced = subject.figure.counted().any(|pass| pass.phase.traced_requests.is_some());
        let contexts = HistoryContext::all(counted.iter().copied(), traced);
        // Of a printed history the whole is a round trip.
        let is_own = subject.case.workload.history.is_some();
        let all = HistoryContext::whole(counted, traced).filter(|_| is_own).into_iter().chain(contexts);
        all.map(|one| gate.state(vec![subject.index], IoHistory(one))).collect::<Vec<_>>()
    };
    let has_rows =
        |case: &Case| case.workload.history.is_some() || run.provenance(case) == Provenance::Imported;
    gate.subjects.iter().filter(|subject| has_rows(subject.case)).flat_map(of_figure).collect()
}

/// The recorded operations of the passes of `figure` that count.
pub(super) fn of_counted<'r>(
    rows: &'r [HistoryRow],
    figure: &'r Figure,
) -> impl Iterator<Item = &'r HistoryRow> {
    let is_counted = |row: &HistoryRow| figure.counted().any(|pass| pass.repetition == row.key.repetition);
    rows.iter().filter(move |row| row.key.phase == figure.phase && is_counted(row))
}
