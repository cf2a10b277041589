//! Parallel processing of the pages of a table.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use crate::JobError;
use crate::row::Origin;
use crate::table::TableReader;

/// Runs `work` on `threads` threads (at least one), passing the number of the thread. Returns the first
/// error.
pub(crate) fn on_threads(
    threads: u32,
    work: impl Fn(u32) -> Result<(), JobError> + Sync,
) -> Result<(), JobError> {
    if threads <= 1 {
        return work(0);
    }
    std::thread::scope(|scope| {
        let work = &work;
        let start = |thread| Builder::new().spawn_scoped(scope, move || work(thread));
        let workers: Result<Vec<_>, _> = (0..threads).map(start).collect();
        let workers = workers.map_err(|error| JobError::Threads { threads, error })?;
        let ended = workers.into_iter().map(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        // All threads have ended before the first error is returned.
        ended.fold(Ok(()), Result::and)
    })
}

/// A worker's result for a page.
struct Made {
    page: u64,
    rows: u64,
    origin: Origin,
    output: Vec<u8>,
}

/// Reads the pages of `table` on `threads` threads, and runs `work` on the rows of each page there. Passes
/// the vectors filled by `work` to `take` on the calling thread, in page order, together with the origin
/// of the table. Returns the number of rows read.
///
/// It needs three page buffers for each thread.
pub(crate) fn in_order(
    table: &TableReader,
    threads: u32,
    work: impl Fn(&[u8], &mut Vec<u8>) + Sync,
    mut take: impl FnMut(Origin, &[u8]) -> Result<(), JobError>,
) -> Result<u64, JobError> {
    if threads <= 1 {
        let (mut buffer, mut output, mut rows) = (table.buffer(), Vec::new(), 0);
        for page in 0..table.pages() {
            let header = table.read_header(page, &mut buffer)?;
            output.clear();
            work(header.records_of(&buffer), &mut output);
            take(header.origin, &output)?;
            rows += u64::from(header.records);
        }
        return Ok(rows);
    }
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let (give_back, free) = mpsc::channel();
        let (tell, told) = mpsc::channel();
        (0..2 * threads).for_each(|_| give_back.send(Vec::new()).unwrap_or_default());
        let free = Arc::new(Mutex::new(free));
        for _ in 0..threads {
            let (free, tell, next, work) = (Arc::clone(&free), tell.clone(), &next, &work);
            Builder::new()
                .spawn_scoped(scope, move || work_off(table, next, work, &free, &tell))
                .map_err(|error| JobError::Threads { threads, error })?;
        }
        drop((tell, free));
        collect(&told, &give_back, &mut take)
    })
}

/// Processes pages until none are left, the receiver is gone, or a page is damaged.
fn work_off(
    table: &TableReader,
    next: &AtomicU64,
    work: impl Fn(&[u8], &mut Vec<u8>),
    free: &Mutex<Receiver<Vec<u8>>>,
    tell: &Sender<Result<Made, JobError>>,
) {
    let mut buffer = table.buffer();
    loop {
        // The vector is taken first, so that the thread with the next awaited page can always finish it.
        let vector = free.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(mut output) = vector else { return };
        let page = next.fetch_add(1, Relaxed);
        if page >= table.pages() {
            return;
        }
        let made = table.read_header(page, &mut buffer).map(|header| {
            output.clear();
            work(header.records_of(&buffer), &mut output);
            Made { page, rows: u64::from(header.records), origin: header.origin, output }
        });
        let stops = made.is_err();
        if tell.send(made).is_err() || stops {
            return;
        }
    }
}

/// Puts the workers' results into page order.
fn collect(
    told: &Receiver<Result<Made, JobError>>,
    give_back: &Sender<Vec<u8>>,
    take: &mut impl FnMut(Origin, &[u8]) -> Result<(), JobError>,
) -> Result<u64, JobError> {
    let mut waiting = BTreeMap::new();
    let (mut wanted, mut rows) = (0, 0);
    for made in told {
        let made = made?;
        waiting.insert(made.page, made);
        while let Some(made) = waiting.remove(&wanted) {
            take(made.origin, &made.output)?;
            rows += made.rows;
            wanted += 1;
            // Workers that have ended do not need any.
            give_back.send(made.output).unwrap_or_default();
        }
    }
    Ok(rows)
}
