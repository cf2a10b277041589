//! What a backend implements: [`SyncBackend`] with one call for each transfer, or [`QueuedBackend`] with requests
//! that are submitted and reaped.

#![expect(unsafe_code, reason = "requests refer to memory that the kernel fills")]

use std::os::fd::{AsRawFd, OwnedFd};

use crate::phase::rules::{Rules, TaskPlan};
use crate::{EngineError, Errno, Note};

/// An open file of a backend with synchronous calls.
pub(crate) trait SyncBackend: Sized {
    /// Whether the backend moves any data (false for the null engine).
    const MOVES: bool;

    /// Opens the file of `task`, ready for transfers.
    fn open(task: &TaskPlan, rules: &Rules<'_>) -> Result<Self, EngineError>;

    /// `pread(2)` or its equivalent.
    fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize, Errno>;

    /// `pwrite(2)` or its equivalent.
    fn write(&mut self, buffer: &[u8], offset: u64) -> Result<usize, Errno>;

    /// Drops the range at `offset` from the page cache, if there is one.
    fn forget(&self, _offset: u64, _bytes: usize) {}

    /// Syncs the data written at `offset`.
    fn sync(&mut self, offset: u64, bytes: usize) -> Result<(), Errno>;

    /// Length of the file in bytes.
    fn length(&self) -> u64;

    /// Closes the file, after syncing its data if `sync` is set.
    fn close(self, task: &TaskPlan, sync: bool) -> Result<(), EngineError>;
}

/// A backend with many transfers in flight.
pub(crate) trait QueuedBackend {
    /// The kernel's side of a worker's queue.
    type Context;
    /// The queue, which borrows it.
    type Queue<'c>: Queue;

    /// Makes room for `requests` in flight. The worker's buffers live longer than the context.
    fn set_up(requests: usize, notes: &mut Vec<Note>) -> Result<Self::Context, EngineError>;

    /// The queue of a worker whose transfers use `buffers`.
    fn queue<'c>(
        context: &'c mut Self::Context,
        buffers: BufferMemory<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<Self::Queue<'c>, EngineError>;
}

/// The memory of a worker's buffers.
pub(crate) struct BufferMemory<'m> {
    pub(crate) memory: &'m mut [u8],
    /// Distance between two buffers.
    pub(crate) stride: usize,
    /// Total size of the buffers of all workers on this host, in bytes.
    pub(crate) all_bytes: u64,
    /// Whether the user asked for the backend by name.
    pub(crate) required: bool,
}

/// Flag in a request's user data that marks an fsync. The lower bits hold the number of a slot or a
/// file.
pub(crate) const SYNC: u64 = 1 << 32;

/// The queue of a worker: requests are pushed, submitted and reaped.
pub(crate) trait Queue {
    /// A request that is reused with other offsets.
    type Template;

    /// Whether the kernel starts the fsync of [`Queue::push_with_sync`] by itself when the write has succeeded.
    /// Otherwise only the write is pushed.
    const LINKS_SYNC: bool;

    /// A placeholder request that is never pushed.
    fn idle() -> Self::Template;

    /// A reusable request.
    fn template(&self, request: &Request) -> Self::Template;

    /// Sets the offset of a transfer.
    fn set_offset(template: &mut Self::Template, offset: u64);

    /// Sets the direction of a transfer.
    fn set_writes(&self, template: &mut Self::Template, writes: bool);

    /// Number of the buffer group that contains buffer `index`.
    fn group(&self, _index: usize) -> u16 {
        0
    }

    /// Makes the files known to the kernel. Returns the number of each in requests.
    fn register_files(&mut self, files: &[OwnedFd], _notes: &mut Vec<Note>) -> Vec<i32> {
        files.iter().map(AsRawFd::as_raw_fd).collect()
    }

    /// Undoes the effect of [`Queue::register_files`].
    fn release_files(&mut self) {}

    /// Queues a transfer. Returns whether there was room; if not, nothing was queued and [`Queue::submit`]
    /// makes room.
    ///
    /// # Safety
    /// The memory of the request must stay valid and untouched until its completion is reaped.
    unsafe fn push(&mut self, template: &Self::Template) -> bool;

    /// Queues a write and an fsync that follows it. Returns whether there was room, as [`Queue::push`]
    /// does.
    ///
    /// # Safety
    /// Same as for [`Queue::push`].
    unsafe fn push_with_sync(&mut self, template: &Self::Template, file: i32) -> bool;

    /// Queues an fsync; returns whether there was room.
    fn push_sync(&mut self, file: i32, user_data: u64) -> bool;

    /// Submits the queue without waiting.
    fn submit(&mut self) -> Result<(), Errno>;

    /// Submits the queue and waits for a completion.
    fn submit_and_wait(&mut self) -> Result<(), Errno>;

    /// Submits the queue and waits at most `nanos` for a completion; `None` only polls.
    fn submit_and_wait_for(&mut self, nanos: Option<u64>) -> Result<(), Errno>;

    /// Exchanges the positions in the queue of completions with the kernel, before and after reaping.
    fn sync_completions(&mut self) {}

    /// The next completion: user data, and bytes or a negative error number.
    fn reap(&mut self) -> Option<(u64, i32)>;

    /// Converts an error of the queue itself.
    fn failed(errno: Errno) -> EngineError;
}

/// One request for a transfer or a part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) writes: bool,
    /// Number of the file, as returned by [`Queue::register_files`].
    pub(crate) file: i32,
    pub(crate) memory: *mut u8,
    pub(crate) bytes: u32,
    pub(crate) offset: u64,
    /// Number of the buffer group that contains the memory, as returned by [`Queue::group`].
    pub(crate) group: u16,
    pub(crate) user_data: u64,
}
