//! Steps that compute: regression, factorisation, Fourier transforms, simulation, and visits to memory.
//!
//! Each module has its numbers on plain slices, and beside them the step that reads a table first, does as much as
//! the operations ask for, and says what it found. How operations are counted is in `docs/JOBS.md` and at each
//! `OPERATIONS…` constant.
//!
//! What is found does not depend on the number of threads: work is cut into [`LANES`] of its own whatever their
//! number is, and what lanes have found is put together in their order.

pub(crate) mod factorisation;
pub(crate) mod fourier;
pub(crate) mod regression;
pub(crate) mod shuffle;
pub(crate) mod simulation;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::StepOutcome;

/// Parts that work is cut into. Many more than the threads that a step usually has, so that all of them have
/// something to do until the end.
pub(crate) const LANES: u64 = 64;

/// What `work` makes of each of `lanes` lanes, in their order, done by so many threads.
pub(crate) fn in_lanes<T: Send>(threads: u32, lanes: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
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
    let threads = u64::from(threads).clamp(1, lanes.max(1));
    let mut done = std::thread::scope(|scope| {
        // This thread is one of them.
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(take)).collect();
        let mut done = take();
        for other in others {
            match other.join() {
                Ok(own) => done.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(lane, _)| *lane);
    done.into_iter().map(|(_, made)| made).collect()
}

/// How many of `all` are those of `lane`, where they are dealt out to `lanes` in turn.
pub(crate) const fn dealt(all: u64, lane: u64, lanes: u64) -> u64 {
    all / lanes + if lane < all % lanes { 1 } else { 0 }
}

/// `all` divided by `each`, to the nearest whole number.
pub(crate) const fn times(all: u64, each: u64) -> u64 {
    let each = if each == 0 { 1 } else { each };
    all / each + if all % each >= each.div_ceil(2) { 1 } else { 0 }
}

/// A count as the numbers that a step finds.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of operations are far below 2^53, or need no last digit"
)]
pub(crate) const fn real(count: u64) -> f64 {
    count as f64
}

/// A count as an index into memory: what does not fit has no place there either.
pub(crate) fn index(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// What a step reports that has read so many rows, written none and found these.
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
            let squares = in_lanes(threads, 64, |lane| lane * lane);
            assert_eq!(squares, (0..64).map(|lane| lane * lane).collect::<Vec<_>>());
        }
    }

    #[test]
    fn as_many_threads_work_as_were_asked_for() {
        let seen = Mutex::new(BTreeSet::new());
        let meeting = std::sync::Barrier::new(3);
        // Each lane waits for two others: fewer threads than three would wait for ever.
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
