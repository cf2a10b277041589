//! Compute steps: regression, factorisation, Fourier transforms, simulation, and memory accesses.
//!
//! Each module contains its numerics on plain slices, and the step that reads a table, performs the
//! requested number of operations, and reports its results. `docs/JOBS.md` and the documentation of each
//! `OPERATIONS…` constant describe how operations are counted.
//!
//! Results do not depend on the number of threads: work is always split into [`LANES`] lanes, whose results
//! are combined in order.

pub(crate) mod factorisation;
pub(crate) mod fourier;
pub(crate) mod regression;
pub(crate) mod shuffle;
pub(crate) mod simulation;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::Builder;

use crate::{JobError, StepOutcome};

/// Number of lanes. It is much larger than the usual number of threads, so that all of them stay busy
/// until the end.
pub(crate) const LANES: u64 = 64;

/// Runs `work` for each of `lanes` lanes on `threads` threads, and returns the results in order.
pub(crate) fn in_lanes<T: Send>(
    threads: u32,
    lanes: u64,
    work: impl Fn(u64) -> T + Sync,
) -> Result<Vec<T>, JobError> {
    let next = AtomicU64::new(0);
    let take = || {
        let mut own = Vec::new();
        loop {
            let lane = next.fetch_add(1, Relaxed);
            if lane >= lanes {
                return own;
            }
            own.push((lane, work(lane)));
        }
    };
    let mut done = std::thread::scope(|scope| {
        // The calling thread is one of them.
        let others = (1..u64::from(threads).min(lanes)).map(|_| Builder::new().spawn_scoped(scope, take));
        let others: Result<Vec<_>, _> = others.collect();
        let others = others.map_err(|error| {
            // Makes those that have started end.
            next.store(lanes, Relaxed);
            JobError::Threads { threads, error }
        })?;
        let mut done = take();
        for other in others {
            match other.join() {
                Ok(own) => done.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(done)
    })?;
    done.sort_unstable_by_key(|(lane, _)| *lane);
    Ok(done.into_iter().map(|(_, made)| made).collect())
}

/// Number of `all` items that `lane` gets if they are distributed to `lanes` lanes in turn.
pub(crate) const fn dealt(all: u64, lane: u64, lanes: u64) -> u64 {
    all / lanes + if lane < all % lanes { 1 } else { 0 }
}

/// `all` divided by `each`, to the nearest whole number.
pub(crate) const fn times(all: u64, each: u64) -> u64 {
    let each = if each == 0 { 1 } else { each };
    all / each + if all % each >= each.div_ceil(2) { 1 } else { 0 }
}

/// Converts a count to a floating-point result.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of operations are far below 2^53, or need no last digit"
)]
pub(crate) const fn real(count: u64) -> f64 {
    count as f64
}

/// Converts a count to a memory index; saturates.
pub(crate) fn index(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The outcome of a step that read this many rows, wrote none, and has these results.
fn outcome(rows_in: u64, found: impl IntoIterator<Item = (&'static str, f64)>) -> StepOutcome {
    let found: BTreeMap<String, f64> =
        found.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    StepOutcome { rows_in, found, ..StepOutcome::default() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use proptest::prelude::proptest;

    use super::{dealt, in_lanes, times};

    #[test]
    fn lanes_come_back_in_their_order_whatever_the_number_of_threads() {
        for threads in [0, 1, 3, 200] {
            let squares = in_lanes(threads, 64, |lane| lane * lane).unwrap();
            assert_eq!(squares, (0..64).map(|lane| lane * lane).collect::<Vec<_>>());
        }
    }

    #[test]
    fn as_many_threads_work_as_were_asked_for() {
        let seen = Mutex::new(BTreeSet::new());
        let meeting = std::sync::Barrier::new(3);
        // Each lane waits for two others: fewer than three threads would wait forever.
        let _ = in_lanes(3, 3, |_| {
            meeting.wait();
            seen.lock().unwrap().insert(format!("{:?}", std::thread::current().id()));
        });
        assert_eq!(seen.lock().unwrap().len(), 3);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_in_dealing(all in 0..100_000_u64, lanes in 1..100_u64) {
            assert_eq!((0..lanes).map(|lane| dealt(all, lane, lanes)).sum::<u64>(), all);
        }

        #[test]
        fn times_are_the_nearest(all in 0..1_000_000_u64, each in 1..10_000_u64) {
            let exact = super::real(all) / super::real(each);
            assert!((super::real(times(all, each)) - exact).abs() <= 0.5);
        }
    }
}
