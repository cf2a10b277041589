//! Pauses of a run.

use crate::PhaseRow;

/// A time during which a run did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// Last recorded time before it, nanoseconds since 1970-01-01 UTC.
    pub from_unix_ns: i64,
    /// Time at which the run was resumed, in the same unit.
    pub to_unix_ns: i64,
    /// Whether the run was killed or its host went down, as opposed to ending by itself.
    pub killed: bool,
}

/// Moves the start of each pause to the end of the last phase before it, because not every event has a
/// time.
pub(crate) fn narrow(pauses: &mut [Pause], phases: impl Iterator<Item = PhaseRow>) {
    for row in phases {
        let end = row.started_unix_ns.saturating_add_unsigned(row.wall_ns);
        for pause in pauses.iter_mut().filter(|pause| end <= pause.to_unix_ns) {
            pause.from_unix_ns = pause.from_unix_ns.max(end);
        }
    }
}
