//! An `io_uring` ring: availability, mode and submission.

#![expect(unsafe_code, reason = "hands buffers to the kernel")]

use std::time::Duration;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{CompletionQueue, IoUring, Probe, SubmissionQueue, Submitter, opcode, squeue};

use crate::system::limits;
use crate::{EngineError, Errno, Note, UringUnavailable};

/// Maximum number of entries of a submission ring (kernel limit).
const MOST_ENTRIES: usize = 32_768;
/// `IORING_ENTER_GETEVENTS` of `linux/io_uring.h`.
const ENTER_GETEVENTS: u32 = 1;

/// Checks whether `io_uring` can be used here, with every operation that transfers need.
///
/// # Errors
/// Returns the reason if it cannot be used.
pub fn uring_available() -> Result<(), UringUnavailable> {
    let ring = IoUring::new(2).map_err(|error| explain(Errno::from(&error)))?;
    let needed = [
        ("IORING_OP_READ", opcode::Read::CODE),
        ("IORING_OP_WRITE", opcode::Write::CODE),
        ("IORING_OP_READ_FIXED", opcode::ReadFixed::CODE),
        ("IORING_OP_WRITE_FIXED", opcode::WriteFixed::CODE),
        ("IORING_OP_FSYNC", opcode::Fsync::CODE),
    ];
    has(&ring, &needed)
}

/// Checks whether the kernel has every operation that the items of trees need.
pub(crate) fn has_tree_operations() -> Result<(), UringUnavailable> {
    let ring = IoUring::new(2).map_err(|error| explain(Errno::from(&error)))?;
    let needed = [
        ("IORING_OP_OPENAT", opcode::OpenAt::CODE),
        ("IORING_OP_CLOSE", opcode::Close::CODE),
        ("IORING_OP_STATX", opcode::Statx::CODE),
        ("IORING_OP_MKDIRAT", opcode::MkDirAt::CODE),
        ("IORING_OP_UNLINKAT", opcode::UnlinkAt::CODE),
        ("IORING_OP_RENAMEAT", opcode::RenameAt::CODE),
    ];
    has(&ring, &needed)
}

fn has(ring: &IoUring, needed: &[(&'static str, u8)]) -> Result<(), UringUnavailable> {
    let mut probe = Probe::new();
    // Kernels that cannot be probed (before 5.6) lack these operations.
    let known = ring.submitter().register_probe(&mut probe).is_ok();
    match needed.iter().find(|(_, code)| !known || !probe.is_supported(*code)) {
        Some((name, _)) => Err(UringUnavailable::OpcodeMissing(name)),
        None => Ok(()),
    }
}

/// Interprets an error of `io_uring_setup(2)`.
fn explain(errno: Errno) -> UringUnavailable {
    match errno.0 {
        libc::ENOSYS => UringUnavailable::NoSyscall,
        libc::EPERM | libc::EACCES => {
            let setting = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
            match setting.ok().and_then(|text| text.trim().parse().ok()) {
                Some(value @ 1..) => UringUnavailable::Sysctl { value },
                _ => UringUnavailable::Seccomp,
            }
        }
        libc::ENOMEM => UringUnavailable::Memlock { have: limits::locked_memory(0) },
        _ => UringUnavailable::Other(errno),
    }
}

/// Creates a ring for `requests` in flight, in the cheapest mode that the kernel supports.
pub(crate) fn set_up(requests: usize, notes: &mut Vec<Note>) -> Result<IoUring, UringUnavailable> {
    let entries = u32::try_from(requests.clamp(1, MOST_ENTRIES)).unwrap_or(1);
    let completions = entries.next_power_of_two().saturating_mul(2);
    let build = |defer: bool, coop: bool| {
        let mut builder = IoUring::builder();
        builder.setup_clamp().setup_cqsize(completions);
        if defer {
            // Only one thread submits, and completions are processed while it waits. This avoids locks
            // and interrupts of running code.
            builder.setup_single_issuer().setup_defer_taskrun();
        } else if coop {
            builder.setup_coop_taskrun();
        }
        builder.build(entries)
    };
    let refused = |error: &std::io::Error| error.raw_os_error() == Some(libc::EINVAL);
    match build(true, false) {
        Err(error) if refused(&error) => {}
        ring => return ring.map_err(|error| explain(Errno::from(&error))),
    }
    notes.push(Note::OlderUringMode { without: "SINGLE_ISSUER and DEFER_TASKRUN" });
    match build(false, true) {
        Err(error) if refused(&error) => {}
        ring => return ring.map_err(|error| explain(Errno::from(&error))),
    }
    build(false, false).map_err(|error| explain(Errno::from(&error)))
}

/// Memory of a ring that counts as locked since Linux 6.14, as it did before 5.12, in bytes: its queues and their
/// header in one region, and its submission entries in another.
pub(crate) fn locked_bytes(ring: &IoUring) -> u64 {
    /// At least the size of `struct io_rings` with its padding.
    const HEADER_BYTES: u64 = 512;
    /// Sizes of a completion entry, an index into the submission entries, and a submission entry.
    const ENTRY_BYTES: (u64, u64, u64) = (16, 4, 64);
    let page = rustix::param::page_size() as u64;
    let (submissions, completions) =
        (u64::from(ring.params().sq_entries()), u64::from(ring.params().cq_entries()));
    let queues = HEADER_BYTES + completions * ENTRY_BYTES.0 + submissions * ENTRY_BYTES.1;
    queues.next_multiple_of(page) + (submissions * ENTRY_BYTES.2).next_multiple_of(page)
}

/// The submission side of a ring.
pub(crate) struct Ring<'r> {
    pub(crate) submitter: Submitter<'r>,
    pub(crate) submissions: SubmissionQueue<'r>,
    waits_with_timeout: bool,
}

impl<'r> Ring<'r> {
    /// Splits `ring` into its submission and completion sides.
    pub(crate) fn split(ring: &'r mut IoUring) -> (Self, CompletionQueue<'r>) {
        let waits_with_timeout = ring.params().is_feature_ext_arg();
        let (mut submitter, submissions, completions) = ring.split();
        // Saves the kernel a look-up in each call. Older kernels work without it.
        let _ = submitter.register_ring_fd();
        (Self { submitter, submissions, waits_with_timeout }, completions)
    }

    /// Queues any request; returns whether there was room.
    ///
    /// # Safety
    /// The memory that the request refers to must stay in place and untouched until its completion is
    /// reaped.
    #[inline(always)]
    pub(crate) unsafe fn push(&mut self, entry: &squeue::Entry) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { self.submissions.push(entry) }.is_ok()
    }

    /// Submits the queue without waiting.
    pub(crate) fn submit(&mut self) -> Result<(), Errno> {
        self.submissions.sync();
        let result = self.submitter.submit();
        self.submissions.sync();
        tolerate(result)
    }

    /// Submits the queue and waits for a completion.
    #[inline(always)]
    pub(crate) fn submit_and_wait(&mut self) -> Result<(), Errno> {
        self.submissions.sync();
        let result = self.submitter.submit_and_wait(1);
        self.submissions.sync();
        tolerate(result)
    }

    /// Submits the queue and waits at most `nanos` for a completion; `None` only polls.
    pub(crate) fn submit_and_wait_for(&mut self, nanos: Option<u64>) -> Result<(), Errno> {
        /// Polling interval if the kernel cannot wait with a timeout (before 5.11).
        const LOOK_EVERY_NS: u64 = 50_000;
        self.submissions.sync();
        let result = match nanos {
            Some(nanos) if self.waits_with_timeout => {
                let timeout = Timespec::from(Duration::from_nanos(nanos));
                self.submitter.submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
            }
            Some(nanos) => {
                let submitted = self.submitter.submit();
                crate::phase::pace::sleep(nanos.min(LOOK_EVERY_NS));
                submitted
            }
            None => {
                let queued = u32::try_from(self.submissions.len()).unwrap_or(u32::MAX);
                // SAFETY: no argument structure is passed, and `queued` entries were just published.
                unsafe { self.submitter.enter::<libc::sigset_t>(queued, 0, ENTER_GETEVENTS, None) }
            }
        };
        self.submissions.sync();
        tolerate(result)
    }
}

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        // A registered ring would stay open after its descriptor is closed, until the thread ends.
        let _ = self.submitter.unregister_ring_fd();
    }
}

/// Accepts the error of a call that was interrupted, has timed out, or is to be repeated after reaping.
fn tolerate(result: std::io::Result<usize>) -> Result<(), Errno> {
    match result {
        Ok(_) => Ok(()),
        Err(error) => match Errno::from(&error) {
            Errno(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY) => Ok(()),
            errno => Err(errno),
        },
    }
}

/// Makes the error of a ring that no longer works.
#[cold]
pub(crate) fn failed(errno: Errno) -> EngineError {
    EngineError::Uring(UringUnavailable::Other(errno))
}
