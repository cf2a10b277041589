//! mdtest.

use plan::Phase;
use record::PhaseRow;

use super::{Found, Printout};
use crate::printed::Reconciled;

/// The times of all phases of one iteration and its delay, compared with the printed start and end.
pub(super) fn reconciled(printout: &Printout<'_>) -> Vec<Found> {
    times(printout).map(|time| (None, time.check())).into_iter().collect()
}

fn times(printout: &Printout<'_>) -> Option<Reconciled> {
    let Printout { case, rows: phases, printed, .. } = printout;
    let moment = |label: &str| printed.iter().find(|row| row.label == label)?.number;
    let (started, finished) = moment("started").zip(moment("finished"))?;
    let once = phases.iter().all(|row| row.key.repetition == 0) && case.repetitions == 1;
    if !once || finished < started {
        return None;
    }
    let is_tree = |row: &&PhaseRow| matches!(row.key.phase, Phase::TreeCreate | Phase::TreeRemove);
    let (trees, others): (Vec<&PhaseRow>, Vec<&PhaseRow>) = phases.iter().partition(|row| is_tree(row));
    let seconds = |rows: &[&PhaseRow]| rows.iter().map(|row| row.wall_ns as f64 / 1e9).sum::<f64>();
    let delay = case.delay.as_secs_f64();
    let parts = [("files and directories", seconds(&others)), ("tree", seconds(&trees)), ("delay", delay)];
    let parts = parts.into_iter().filter(|(_, seconds)| *seconds > 0.0).collect();
    // The tools print clock times in whole seconds.
    Some(Reconciled::new(parts, finished - started, 1.0))
}
