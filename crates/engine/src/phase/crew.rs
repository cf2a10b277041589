//! The threads of a phase: one per worker; the first worker runs on the caller's thread.

use crate::phase::barrier::BarrierGuard;
use crate::phase::common::Common;
use crate::{EngineError, LimitKind};

/// Stack size of a worker thread. Only touched pages use memory: one or two.
const STACK_BYTES: usize = 128 << 10;

/// Number of threads for `tasks` tasks. At most the processors that this process can use, and at most its
/// share of the host's processors among `processes` processes.
pub(crate) fn workers(tasks: usize, processes: u32) -> usize {
    let usable = rustix::thread::sched_getaffinity(None).map_or(1, |set| set.count() as usize);
    tasks.min(part(usable, crate::system::sys::processors(), processes))
}

/// If the launcher binds each process to its own processors, these are its share. Otherwise all processes
/// may use all processors, and too many threads would only preempt each other.
fn part(usable: usize, processors: usize, processes: u32) -> usize {
    usable.min(processors.div_ceil(processes.max(1) as usize)).max(1)
}

/// Runs `work` for each of `inputs` in its own thread. A worker that fails returns no report; its error is
/// kept in `common`.
pub(crate) fn run<S: Send, R: Send>(
    common: &Common<'_>,
    inputs: Vec<S>,
    work: impl Fn(S, BarrierGuard<'_>) -> Option<R> + Sync,
) -> Vec<R> {
    let all = inputs.len() as u64;
    let mut inputs = inputs.into_iter();
    let lead = |point| common.lead(point);
    let Some(own) = inputs.next() else {
        // A process without tasks still has to synchronise with its peers.
        drop(BarrierGuard::leader(&common.barriers, &lead));
        return Vec::new();
    };
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(inputs.len());
        for input in inputs {
            let work = || work(input, BarrierGuard::follower(&common.barriers));
            let builder = std::thread::Builder::new().name("transfers".to_owned()).stack_size(STACK_BYTES);
            if let Ok(thread) = builder.spawn_scoped(scope, work) {
                threads.push(thread);
            } else {
                common.fail(too_few_threads(threads.len() as u64 + 1, all));
                common.barriers.expect_followers(u32::try_from(threads.len()).unwrap_or(u32::MAX));
                break;
            }
        }
        let first = work(own, BarrierGuard::leader(&common.barriers, &lead));
        let rest = threads.into_iter().map(|thread| match thread.join() {
            Ok(report) => report,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(first).chain(rest).flatten().collect()
    })
}

fn too_few_threads(have: u64, need: u64) -> EngineError {
    EngineError::Limit {
        which: LimitKind::Threads,
        have,
        need,
        remedy: "use fewer tasks or the backend uring (few threads run many tasks), or raise `ulimit -u` \
                 and the control group's pids.max"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn processes_of_a_host_share_its_processors() {
        assert_eq!(part(48, 48, 1), 48, "alone");
        assert_eq!(part(48, 48, 24), 2, "bound to nothing");
        assert_eq!(part(24, 48, 24), 2, "bound to a socket");
        assert_eq!(part(1, 48, 24), 1, "bound to a processor");
        assert_eq!(part(2, 2, 64), 1, "more of them than processors");
        assert_eq!(part(4, 128, 1), 4, "in a control group");
    }
}
