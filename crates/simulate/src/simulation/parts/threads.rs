//! Threads that share the processors of their nodes.
//!
//! A thread does its work in the order of arrival, one piece after another. The threads of a node that have work
//! take turns in using its processors, for one piece of work at a time.

use std::collections::VecDeque;

use crate::simulation::parts::service::whole;
use crate::simulation::time::Ticks;

/// All threads of a phase, and the processors of their nodes.
#[derive(Debug)]
pub(crate) struct Threads {
    all: Vec<Thread>,
    nodes: Vec<Processors>,
}

#[derive(Debug)]
struct Thread {
    node: u32,
    /// Whether it is on a processor or waits for one.
    is_busy: bool,
    /// Its work: the waiting request, and the duration.
    work: VecDeque<(u32, Ticks)>,
    used: Ticks,
}

#[derive(Debug, Clone)]
struct Processors {
    free: usize,
    /// Threads that are waiting for a processor.
    ready: VecDeque<u32>,
}

impl Threads {
    /// Creates a set without threads, on nodes with these numbers of processors.
    pub(crate) fn new(processors: impl Iterator<Item = usize>) -> Self {
        let nodes = processors.map(|free| Processors { free, ready: VecDeque::new() });
        Self { all: Vec::new(), nodes: nodes.collect() }
    }

    /// Adds a thread on `node`, and returns its number.
    pub(crate) fn add(&mut self, node: u32) -> u32 {
        self.all.push(Thread { node, is_busy: false, work: VecDeque::new(), used: 0 });
        u32::try_from(self.all.len() - 1).unwrap_or(u32::MAX)
    }

    /// Gives a thread the work of `request`, which takes `time`. If the work begins now, returns when it
    /// is done.
    pub(crate) fn give(&mut self, now: Ticks, thread: u32, request: u32, time: Ticks) -> Option<Ticks> {
        let own = &mut self.all[thread as usize];
        own.work.push_back((request, time));
        if own.is_busy {
            return None;
        }
        own.is_busy = true;
        let node = &mut self.nodes[own.node as usize];
        node.ready.push_back(thread);
        self.start(now, self.all[thread as usize].node).map(|(end, _)| end)
    }

    /// Ends the current work of a thread. Returns the request whose work now begins on its processor, and when
    /// that is done.
    pub(crate) fn done(&mut self, now: Ticks, thread: u32) -> Option<(Ticks, u32)> {
        let own = &mut self.all[thread as usize];
        let node = &mut self.nodes[own.node as usize];
        node.free += 1;
        own.is_busy = !own.work.is_empty();
        if own.is_busy {
            node.ready.push_back(thread);
        }
        self.start(now, self.all[thread as usize].node)
    }

    /// Gives a free processor to the first thread that is waiting for one.
    fn start(&mut self, now: Ticks, node: u32) -> Option<(Ticks, u32)> {
        let node = &mut self.nodes[node as usize];
        if node.free == 0 {
            return None;
        }
        let thread = node.ready.pop_front()?;
        node.free -= 1;
        let thread = &mut self.all[thread as usize];
        let (request, time) = thread.work.pop_front()?;
        thread.used = thread.used.saturating_add(time);
        Some((now.saturating_add(time), request))
    }

    /// Forgets the processor time used so far.
    pub(crate) fn restart_meter(&mut self) {
        self.all.iter_mut().for_each(|thread| thread.used = 0);
    }

    /// Processor time of each thread.
    pub(crate) fn used_by_each(&self) -> Vec<Ticks> {
        self.all.iter().map(|thread| thread.used).collect()
    }

    /// Adds `times` of the processor time that each thread has used since it was `before`.
    pub(crate) fn repeat(&mut self, before: &[Ticks], times: f64) {
        for (thread, before) in self.all.iter_mut().zip(before) {
            let used = thread.used.saturating_sub(*before) as f64;
            thread.used = thread.used.saturating_add(whole((used * times).round()));
        }
    }

    /// Processor time of all threads.
    pub(crate) fn used_by_all(&self) -> Ticks {
        self.all.iter().map(|thread| thread.used).fold(0, Ticks::saturating_add)
    }

    /// Processor time of a thread.
    pub(crate) fn used(&self, thread: u32) -> Ticks {
        self.all[thread as usize].used
    }
}

#[cfg(test)]
mod tests {
    use super::Threads;

    #[test]
    fn no_processor_rests_while_a_thread_waits() {
        let mut threads = Threads::new([2].into_iter());
        let numbers = [0, 1, 2].map(|_| threads.add(0));
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(threads.give(0, 0, 10, 5), Some(5));
        // Its second piece waits for the thread, although a processor is free.
        assert_eq!(threads.give(0, 0, 11, 5), None);
        assert_eq!(threads.give(1, 1, 20, 9), Some(10));
        assert_eq!(threads.give(2, 2, 30, 1), None, "both processors are taken");
        // In turn: the thread that has waited, then the first one again.
        assert_eq!(threads.done(5, 0), Some((6, 30)));
        assert_eq!(threads.done(6, 2), Some((11, 11)));
        assert_eq!(threads.done(10, 1), None);
        assert_eq!(threads.done(11, 0), None);
        assert_eq!([0, 1, 2].map(|thread| threads.used(thread)), [10, 9, 1]);
    }
}
