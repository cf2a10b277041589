//! Several threads on the pages of a table.

use crate::JobError;

/// Does `work` on so many threads, one at least, and gives it the number of the thread; returns the first error.
pub(crate) fn on_threads(
    threads: u32,
    work: impl Fn(u32) -> Result<(), JobError> + Sync,
) -> Result<(), JobError> {
    if threads <= 1 {
        return work(0);
    }
    std::thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        let ended = workers.into_iter().map(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        // All of them have ended before the first error is told.
        ended.fold(Ok(()), Result::and)
    })
}
