//! Barriers at which the workers of a process wait for each other, and the process for its peers.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::futex;

use crate::Point;

/// A barrier with a leader. The followers wait until all workers have arrived and the leader has run its
/// action once.
///
/// It uses two futex words, so a release wakes the sleepers without queueing them for a lock: with hundreds
/// of tasks on few processors that would take milliseconds.
#[derive(Debug)]
struct PhaseBarrier {
    /// Number of workers other than the leader.
    followers: AtomicU32,
    arrived: AtomicU32,
    /// Number of times the barrier has been released.
    opened: AtomicU32,
}

impl PhaseBarrier {
    fn follow(&self) {
        let opened = self.opened.load(Ordering::SeqCst);
        let arrived = self.arrived.fetch_add(1, Ordering::SeqCst) + 1;
        if arrived == self.followers.load(Ordering::SeqCst) {
            wake(&self.arrived, 1);
        }
        while self.opened.load(Ordering::SeqCst) == opened {
            wait(&self.opened, opened);
        }
    }

    fn lead(&self, once: impl FnOnce()) {
        loop {
            let arrived = self.arrived.load(Ordering::SeqCst);
            if arrived == self.followers.load(Ordering::SeqCst) {
                break;
            }
            wait(&self.arrived, arrived);
        }
        once();
        self.arrived.store(0, Ordering::SeqCst);
        self.opened.fetch_add(1, Ordering::SeqCst);
        wake(&self.opened, u32::MAX >> 1);
    }
}

fn wait(word: &AtomicU32, value: u32) {
    // Returns at once if the word has changed, and early on a signal, so callers check again.
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, None);
}

fn wake(word: &AtomicU32, count: u32) {
    // Waking can only fail for an address that is not mapped.
    let _ = futex::wake(word, futex::Flags::PRIVATE, count);
}

/// The points of a phase, in order, with the barrier of each.
#[derive(Debug)]
pub(crate) struct PhaseBarriers {
    points: Vec<Point>,
    barrier: PhaseBarrier,
}

impl PhaseBarriers {
    /// Creates barriers at `points` for `workers` workers, including the leader.
    pub(crate) fn new(points: Vec<Point>, workers: usize) -> Self {
        let followers = u32::try_from(workers.saturating_sub(1)).unwrap_or(u32::MAX);
        let barrier = PhaseBarrier { followers: followers.into(), arrived: 0.into(), opened: 0.into() };
        Self { points, barrier }
    }

    /// Sets the number of followers if fewer workers could be started than expected. Only the leader may
    /// call this, before it passes a point.
    pub(crate) fn expect_followers(&self, followers: u32) {
        self.barrier.followers.store(followers, Ordering::SeqCst);
    }
}

/// One worker's passage through the barriers of a phase.
///
/// Every worker passes every point: a `BarrierGuard` that is dropped early, by an error or a panic, passes
/// the remaining points, so no worker waits for one that has gone.
pub(crate) struct BarrierGuard<'s> {
    barriers: &'s PhaseBarriers,
    next: usize,
    /// What the leader does at each point, once; `None` for the others.
    lead: Option<&'s dyn Fn(Point)>,
}

impl<'s> BarrierGuard<'s> {
    /// Creates the guard of a follower.
    pub(crate) fn follower(barriers: &'s PhaseBarriers) -> Self {
        Self { barriers, next: 0, lead: None }
    }

    /// Creates the guard of the leader. It calls `lead` at each point when all workers have arrived.
    pub(crate) fn leader(barriers: &'s PhaseBarriers, lead: &'s dyn Fn(Point)) -> Self {
        Self { barriers, next: 0, lead: Some(lead) }
    }

    /// Waits for the other workers at `point`. Returns at once for points that this phase does not have.
    pub(crate) fn pass(&mut self, point: Point) {
        if self.barriers.points.get(self.next) == Some(&point) {
            self.pass_next();
        } else {
            debug_assert!(!self.barriers.points[self.next..].contains(&point), "{point:?} is out of order");
        }
    }

    /// Passes all remaining points, the last of which is [`Point::Closed`]. Also works if the phase was given up at
    /// its start.
    pub(crate) fn finish(&mut self) {
        while self.next < self.barriers.points.len() {
            self.pass_next();
        }
    }

    fn pass_next(&mut self) {
        let point = self.barriers.points[self.next];
        self.next += 1;
        match self.lead {
            Some(lead) => self.barriers.barrier.lead(|| lead(point)),
            None => self.barriers.barrier.follow(),
        }
    }
}

impl Drop for BarrierGuard<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::{BarrierGuard, PhaseBarriers};
    use crate::Point;

    #[test]
    fn nobody_passes_before_all_have_come_and_the_leader_has_acted() {
        const WORKERS: u32 = 24;
        let points = vec![Point::Ready, Point::Start, Point::Closed];
        let barriers = PhaseBarriers::new(points.clone(), WORKERS as usize);
        let came = AtomicU32::new(0);
        let acted = Mutex::new(Vec::new());
        let lead = |point| {
            let number = acted.lock().expect("no panic").len() + 1;
            assert_eq!(came.load(Ordering::SeqCst) as usize, number * WORKERS as usize);
            acted.lock().expect("no panic").push(point);
        };
        let walk = |mut barrier: BarrierGuard<'_>| {
            for (number, &point) in [Point::Ready, Point::Start, Point::Closed].iter().enumerate() {
                came.fetch_add(1, Ordering::SeqCst);
                barrier.pass(point);
                assert!(acted.lock().expect("no panic").len() > number);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..WORKERS {
                scope.spawn(|| walk(BarrierGuard::follower(&barriers)));
            }
            walk(BarrierGuard::leader(&barriers, &lead));
        });
        assert_eq!(acted.into_inner().expect("no panic"), points);
    }

    #[test]
    fn a_worker_that_leaves_early_holds_nobody_up() {
        let barriers = PhaseBarriers::new(vec![Point::Ready, Point::Start, Point::Closed], 3);
        std::thread::scope(|scope| {
            scope.spawn(|| drop(BarrierGuard::follower(&barriers)));
            scope.spawn(|| BarrierGuard::follower(&barriers).pass(Point::Ready));
            let lead = |_| {};
            let mut barrier = BarrierGuard::leader(&barriers, &lead);
            barrier.pass(Point::Ready);
            barrier.pass(Point::Opened);
            barrier.pass(Point::Start);
        });
    }
}
