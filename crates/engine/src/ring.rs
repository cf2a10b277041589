//! An `io_uring` ring: availability, mode, and registered resources.

#![expect(unsafe_code, reason = "hands buffers to the kernel")]

use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use io_uring::squeue::Flags;
use io_uring::types::{Fd, Fixed, SubmitArgs, Timespec};
use io_uring::{CompletionQueue, IoUring, Probe, SubmissionQueue, Submitter, opcode, squeue};

use crate::{Errno, LimitKind, Note, UringUnavailable, limits};

/// Maximum number of entries of a submission ring (kernel limit).
const MOST_ENTRIES: usize = 32_768;
/// Maximum size of a registered buffer (kernel limit).
const MOST_REGISTERED: usize = 1 << 30;
/// Flag in a request's user data: it is an fsync. The bits below are the number of a slot or a file.
pub(crate) const SYNC: u64 = 1 << 32;
/// `IORING_ENTER_GETEVENTS` of `linux/io_uring.h`.
const ENTER_GETEVENTS: u32 = 1;

/// Whether `io_uring` can be used here, with every operation that transfers need.
///
/// # Errors
/// Why it cannot be used.
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

/// Whether the kernel has every operation that the items of trees need.
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
    // Kernels that cannot be probed (before 5.6) lack the probed operations.
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

/// A ring for `requests` in flight, in the cheapest mode the kernel supports.
pub(crate) fn set_up(requests: usize, notes: &mut Vec<Note>) -> Result<IoUring, UringUnavailable> {
    let entries = u32::try_from(requests.clamp(1, MOST_ENTRIES)).unwrap_or(1);
    let completions = entries.next_power_of_two().saturating_mul(2);
    let build = |defer: bool, coop: bool| {
        let mut builder = IoUring::builder();
        builder.setup_clamp().setup_cqsize(completions);
        if defer {
            // One thread submits, and completions are worked off in its own waits: no interrupts
            // into running code, no lock.
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

/// How the buffers of a worker are registered with its ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buffers {
    Plain,
    /// Registered in groups of this many buffers.
    Registered {
        per_group: usize,
    },
}

/// Registers the buffers in `memory`, `stride` bytes each, in as few groups as the kernel allows: looking up
/// one large buffer is no more expensive than a small one. All workers of this host together `need` this many
/// bytes of locked memory.
pub(crate) fn register_buffers(
    ring: &IoUring,
    memory: &mut [u8],
    stride: usize,
    required: bool,
    need: u64,
    notes: &mut Vec<Note>,
) -> Result<Buffers, crate::EngineError> {
    let per_group = MOST_REGISTERED / stride;
    if per_group == 0 {
        return Ok(Buffers::Plain);
    }
    let groups: Vec<libc::iovec> = memory
        .chunks_mut(per_group * stride)
        .map(|group| libc::iovec { iov_base: group.as_mut_ptr().cast(), iov_len: group.len() })
        .collect();
    // SAFETY: the groups lie in memory that the caller owns for longer than the ring lives.
    let register = || unsafe { ring.submitter().register_buffers(&groups) };
    let errno = match register() {
        Ok(()) => return Ok(Buffers::Registered { per_group }),
        Err(error) => Errno::from(&error),
    };
    let have = limits::locked_memory(need);
    if errno == Errno(libc::ENOMEM) && register().is_ok() {
        return Ok(Buffers::Registered { per_group });
    }
    if required && errno == Errno(libc::ENOMEM) {
        return Err(crate::EngineError::Limit {
            which: LimitKind::LockedMemory,
            have,
            need,
            remedy: limits::locked_memory_remedy(need),
        });
    }
    notes.push(Note::BuffersNotRegistered { have, need });
    Ok(Buffers::Plain)
}

/// One request for a transfer or a part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) writes: bool,
    /// Number of the file in the table of registered files, or its descriptor.
    pub(crate) file: i32,
    pub(crate) memory: *mut u8,
    pub(crate) bytes: u32,
    pub(crate) offset: u64,
    /// Number of the registered group containing the memory.
    pub(crate) group: u16,
    pub(crate) user_data: u64,
}

impl Request {
    /// The ring's entry for it.
    fn entry(&self, fixed_buffer: bool, fixed_file: bool) -> squeue::Entry {
        let Self { writes, file, memory, bytes, offset, group, user_data } = *self;
        let known = Fixed(file.cast_unsigned());
        let entry = match (writes, fixed_buffer, fixed_file) {
            (false, true, true) => opcode::ReadFixed::new(known, memory, bytes, group).offset(offset).build(),
            (false, true, false) => {
                opcode::ReadFixed::new(Fd(file), memory, bytes, group).offset(offset).build()
            }
            (false, false, true) => opcode::Read::new(known, memory, bytes).offset(offset).build(),
            (false, false, false) => opcode::Read::new(Fd(file), memory, bytes).offset(offset).build(),
            (true, true, true) => opcode::WriteFixed::new(known, memory, bytes, group).offset(offset).build(),
            (true, true, false) => {
                opcode::WriteFixed::new(Fd(file), memory, bytes, group).offset(offset).build()
            }
            (true, false, true) => opcode::Write::new(known, memory, bytes).offset(offset).build(),
            (true, false, false) => opcode::Write::new(Fd(file), memory, bytes).offset(offset).build(),
        };
        entry.user_data(user_data)
    }
}

/// An entry that is reused with other offsets.
#[derive(Clone)]
pub(crate) struct Template(squeue::Entry);

// The layout is the kernel's: `struct io_uring_sqe` of linux/io_uring.h.
const _: () = assert!(size_of::<squeue::Entry>() == 64);

impl Template {
    /// An entry that does nothing yet.
    pub(crate) fn idle() -> Self {
        Self(opcode::Nop::new().build())
    }

    /// Sets the offset of the transfer.
    #[inline(always)]
    pub(crate) fn set_offset(&mut self, offset: u64) {
        /// Byte at which `off` lies in the entry.
        const AT: usize = 8;
        // SAFETY: the entry is `repr(C)` around the kernel's structure, in which an offset of
        // 64 bits lies at this byte, aligned.
        unsafe { (&raw mut self.0).byte_add(AT).cast::<u64>().write(offset) };
    }

    /// Sets the operation, read or write, as in [`Queue::codes`].
    #[inline(always)]
    pub(crate) fn set_code(&mut self, code: u8) {
        // SAFETY: the entry is `repr(C)` around the kernel's structure, whose first byte is the
        // operation; reads and writes differ in nothing else.
        unsafe { (&raw mut self.0).cast::<u8>().write(code) };
    }
}

/// Submission side of a ring.
pub(crate) struct Queue<'r> {
    submitter: Submitter<'r>,
    submissions: SubmissionQueue<'r>,
    waits_with_timeout: bool,
    fixed_buffers: bool,
    fixed_files: bool,
}

impl<'r> Queue<'r> {
    /// Splits `ring` into its submission and completion sides.
    pub(crate) fn split(ring: &'r mut IoUring, buffers: Buffers) -> (Self, CompletionQueue<'r>) {
        let waits_with_timeout = ring.params().is_feature_ext_arg();
        let (mut submitter, submissions, completions) = ring.split();
        // Saves the kernel a look-up for each call. Older kernels do without.
        let _ = submitter.register_ring_fd();
        let fixed_buffers = buffers != Buffers::Plain;
        (Self { submitter, submissions, waits_with_timeout, fixed_buffers, fixed_files: false }, completions)
    }

    /// Registers the files; returns the number of each in the ring.
    pub(crate) fn register_files(&mut self, files: &[OwnedFd], notes: &mut Vec<Note>) -> Vec<i32> {
        let descriptors: Vec<i32> = files.iter().map(AsRawFd::as_raw_fd).collect();
        self.fixed_files = self.submitter.register_files(&descriptors).is_ok();
        if self.fixed_files {
            return (0..).take(files.len()).collect();
        }
        notes.push(Note::FilesNotRegistered);
        descriptors
    }

    /// Unregisters the files, so that each is closed when the caller closes it and not when the kernel has
    /// torn down the ring.
    pub(crate) fn release_files(&mut self) {
        if self.fixed_files {
            let _ = self.submitter.unregister_files();
            self.fixed_files = false;
        }
    }

    /// Unregisters the buffers, so that their memory is free when the caller releases it.
    fn release_buffers(&mut self) {
        if self.fixed_buffers {
            let _ = self.submitter.unregister_buffers();
            self.fixed_buffers = false;
        }
    }

    /// A reusable entry for `request`.
    pub(crate) fn template(&self, request: &Request) -> Template {
        Template(request.entry(self.fixed_buffers, self.fixed_files))
    }

    /// Opcodes of read and write, in this order.
    pub(crate) fn codes(&self) -> [u8; 2] {
        if self.fixed_buffers {
            [opcode::ReadFixed::CODE, opcode::WriteFixed::CODE]
        } else {
            [opcode::Read::CODE, opcode::Write::CODE]
        }
    }

    /// Queues a transfer. Returns whether there was room; if not, nothing was queued and [`Queue::submit`]
    /// makes room.
    ///
    /// # Safety
    /// The memory of the request must stay valid and untouched until its completion is reaped.
    #[inline(always)]
    pub(crate) unsafe fn push(&mut self, template: &Template) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { self.submissions.push(&template.0) }.is_ok()
    }

    /// Queues a transfer and an fsync that starts when it has succeeded, as [`Queue::push`] does.
    ///
    /// # Safety
    /// As [`Queue::push`].
    pub(crate) unsafe fn push_with_sync(&mut self, template: &Template, file: i32) -> bool {
        let entry = template.0.clone();
        let sync = self.sync_entry(file, entry.get_user_data());
        // SAFETY: passed on to the caller; an fsync refers to no memory.
        unsafe { self.submissions.push_multiple(&[entry.flags(Flags::IO_LINK), sync]) }.is_ok()
    }

    /// Queues any request; returns whether there was room.
    ///
    /// # Safety
    /// Memory the request refers to must stay in place and untouched until its completion is reaped.
    pub(crate) unsafe fn push_entry(&mut self, entry: &squeue::Entry) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { self.submissions.push(entry) }.is_ok()
    }

    /// Queues an fsync; returns whether there was room.
    pub(crate) fn push_sync(&mut self, file: i32, user_data: u64) -> bool {
        let entry = self.sync_entry(file, user_data);
        // SAFETY: an fsync refers to no memory.
        unsafe { self.submissions.push(&entry) }.is_ok()
    }

    fn sync_entry(&self, file: i32, user_data: u64) -> squeue::Entry {
        let entry = if self.fixed_files {
            opcode::Fsync::new(Fixed(file.cast_unsigned())).build()
        } else {
            opcode::Fsync::new(Fd(file)).build()
        };
        entry.user_data(user_data | SYNC)
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
                crate::pace::sleep(nanos.min(LOOK_EVERY_NS));
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

impl Drop for Queue<'_> {
    fn drop(&mut self) {
        self.release_files();
        self.release_buffers();
        // A registered ring would outlive its descriptor until the thread ends.
        let _ = self.submitter.unregister_ring_fd();
    }
}

/// An interrupted or timed-out call, or one to be repeated after reaping, is not an error.
fn tolerate(result: std::io::Result<usize>) -> Result<(), Errno> {
    match result {
        Ok(_) => Ok(()),
        Err(error) => match Errno::from(&error) {
            Errno(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY) => Ok(()),
            errno => Err(errno),
        },
    }
}
