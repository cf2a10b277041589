//! The backend `uring`: transfers by `io_uring`, with registered files and buffers.

#![expect(unsafe_code, reason = "hands buffers to the kernel")]

use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::squeue::Flags;
use io_uring::types::{Fd, Fixed};
use io_uring::{CompletionQueue, IoUring, opcode, squeue};

use crate::backend::contract::{BufferMemory, Queue, QueuedBackend, Request, SYNC};
use crate::system::limits;
use crate::system::ring::{self, Ring};
use crate::{EngineError, Errno, LimitKind, Note};

/// Maximum size of a registered buffer (kernel limit).
const MOST_REGISTERED: usize = 1 << 30;

/// The backend.
pub(crate) struct Uring;

impl QueuedBackend for Uring {
    type Context = IoUring;
    type Queue<'c> = UringQueue<'c>;

    fn set_up(requests: usize, notes: &mut Vec<Note>) -> Result<IoUring, EngineError> {
        Ok(ring::set_up(requests, notes)?)
    }

    fn queue<'c>(
        context: &'c mut IoUring,
        buffers: BufferMemory<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<UringQueue<'c>, EngineError> {
        let registered = register_buffers(context, buffers, notes)?;
        let (ring, completions) = Ring::split(context);
        Ok(UringQueue { ring, completions, registered, fixed_files: false })
    }
}

/// The leading buffers of a worker that are registered, in groups.
#[derive(Debug, Clone, Copy)]
struct Registered {
    buffers: usize,
    per_group: usize,
}

/// Number of the group of a buffer that is not registered. The kernel's limit on groups is far below.
const UNREGISTERED: u16 = u16::MAX;

/// One in so many buffers is left out of each further attempt to register them.
const LEFT_OUT: usize = 8;
/// One in so many buffers has to be registered for the run not to say that they are not.
const REGISTERED_LEAST: usize = 2;

/// Registers the buffers in as few groups as the kernel allows, since looking up a large buffer costs no more than
/// looking up a small one. If the limit on locked memory is too low for all of them, as many as it allows are
/// registered: transfers with the others cost the kernel a look-up of their pages. It is told if it concerns more than
/// half of them.
fn register_buffers(
    ring: &IoUring,
    buffers: BufferMemory<'_>,
    notes: &mut Vec<Note>,
) -> Result<Registered, EngineError> {
    let BufferMemory { memory, stride, all_bytes, required } = buffers;
    let per_group = MOST_REGISTERED / stride;
    let none = Registered { buffers: 0, per_group: 1 };
    if per_group == 0 {
        return Ok(none);
    }
    let all = memory.len() / stride;
    // Each worker of this host has a ring of this size.
    let workers = all_bytes.div_ceil(memory.len().max(1) as u64);
    let need = all_bytes.saturating_add(workers.saturating_mul(ring::locked_bytes(ring)));
    let mut register = |count: usize| {
        let groups: Vec<libc::iovec> = memory[..count * stride]
            .chunks_mut(per_group * stride)
            .map(|group| libc::iovec { iov_base: group.as_mut_ptr().cast(), iov_len: group.len() })
            .collect();
        // SAFETY: the groups lie in memory that the caller owns for longer than the ring lives.
        unsafe { ring.submitter().register_buffers(&groups) }.map_err(|error| Errno::from(&error))
    };
    let mut count = all;
    let mut have = None;
    while count > 0 {
        match register(count) {
            Ok(()) => break,
            Err(Errno(libc::ENOMEM)) if have.is_none() => have = Some(limits::locked_memory(need)),
            Err(Errno(libc::ENOMEM)) => count -= count.div_ceil(LEFT_OUT),
            Err(_) => count = 0,
        }
    }
    if count >= all.div_ceil(REGISTERED_LEAST) {
        return Ok(Registered { buffers: count, per_group });
    }
    if let Some(have) = have.filter(|_| required) {
        let remedy = limits::locked_memory_remedy(need);
        return Err(EngineError::Limit { which: LimitKind::LockedMemory, have, need, remedy });
    }
    let have = have.unwrap_or_else(|| limits::locked_memory(need));
    notes.push(Note::BuffersNotRegistered { have, need });
    Ok(if count == 0 { none } else { Registered { buffers: count, per_group } })
}

/// An entry that is reused with other offsets.
#[derive(Clone)]
pub(crate) struct Template(squeue::Entry);

// The layout is defined by the kernel: `struct io_uring_sqe` in linux/io_uring.h.
const _: () = assert!(size_of::<squeue::Entry>() == 64);

/// The submission and completion sides of a ring.
pub(crate) struct UringQueue<'r> {
    ring: Ring<'r>,
    completions: CompletionQueue<'r>,
    registered: Registered,
    fixed_files: bool,
}

impl UringQueue<'_> {
    fn sync_entry(&self, file: i32, user_data: u64) -> squeue::Entry {
        let entry = if self.fixed_files {
            opcode::Fsync::new(Fixed(file.cast_unsigned())).build()
        } else {
            opcode::Fsync::new(Fd(file)).build()
        };
        entry.user_data(user_data | SYNC)
    }
}

impl Queue for UringQueue<'_> {
    type Template = Template;

    const LINKS_SYNC: bool = true;

    fn idle() -> Template {
        Template(opcode::Nop::new().build())
    }

    fn template(&self, request: &Request) -> Template {
        let Request { writes, file, memory, bytes, offset, group, user_data } = *request;
        let known = Fixed(file.cast_unsigned());
        let entry = match (writes, group != UNREGISTERED, self.fixed_files) {
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
        Template(entry.user_data(user_data))
    }

    #[inline(always)]
    fn set_offset(template: &mut Template, offset: u64) {
        /// Position of the field `off` in the entry, in bytes.
        const AT: usize = 8;
        // SAFETY: the entry is `repr(C)` around the kernel's structure, in which an offset of
        // 64 bits lies at this byte, aligned.
        unsafe { (&raw mut template.0).byte_add(AT).cast::<u64>().write(offset) };
    }

    #[inline(always)]
    fn set_writes(&self, template: &mut Template, writes: bool) {
        // SAFETY: the entry is `repr(C)` around the kernel's structure, whose first byte is the
        // operation; reads and writes differ in nothing else.
        unsafe {
            let code = (&raw mut template.0).cast::<u8>();
            let fixed = matches!(code.read(), opcode::ReadFixed::CODE | opcode::WriteFixed::CODE);
            code.write(match (fixed, writes) {
                (true, false) => opcode::ReadFixed::CODE,
                (true, true) => opcode::WriteFixed::CODE,
                (false, false) => opcode::Read::CODE,
                (false, true) => opcode::Write::CODE,
            });
        }
    }

    fn group(&self, index: usize) -> u16 {
        match index < self.registered.buffers {
            true => u16::try_from(index / self.registered.per_group).unwrap_or(UNREGISTERED),
            false => UNREGISTERED,
        }
    }

    fn register_files(&mut self, files: &[OwnedFd], notes: &mut Vec<Note>) -> Vec<i32> {
        let descriptors: Vec<i32> = files.iter().map(AsRawFd::as_raw_fd).collect();
        self.fixed_files = self.ring.submitter.register_files(&descriptors).is_ok();
        if self.fixed_files {
            return (0..).take(files.len()).collect();
        }
        notes.push(Note::FilesNotRegistered);
        descriptors
    }

    /// After this, each file is closed when the caller closes it, and not only when the kernel has torn
    /// down the ring.
    fn release_files(&mut self) {
        if self.fixed_files {
            let _ = self.ring.submitter.unregister_files();
            self.fixed_files = false;
        }
    }

    #[inline(always)]
    unsafe fn push(&mut self, template: &Template) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { self.ring.push(&template.0) }
    }

    unsafe fn push_with_sync(&mut self, template: &Template, file: i32) -> bool {
        let entry = template.0.clone();
        let sync = self.sync_entry(file, entry.get_user_data());
        // SAFETY: passed on to the caller; an fsync refers to no memory.
        unsafe { self.ring.submissions.push_multiple(&[entry.flags(Flags::IO_LINK), sync]) }.is_ok()
    }

    fn push_sync(&mut self, file: i32, user_data: u64) -> bool {
        let entry = self.sync_entry(file, user_data);
        // SAFETY: an fsync refers to no memory.
        unsafe { self.ring.push(&entry) }
    }

    fn submit(&mut self) -> Result<(), Errno> {
        self.ring.submit()
    }

    #[inline(always)]
    fn submit_and_wait(&mut self) -> Result<(), Errno> {
        self.ring.submit_and_wait()
    }

    fn submit_and_wait_for(&mut self, nanos: Option<u64>) -> Result<(), Errno> {
        self.ring.submit_and_wait_for(nanos)
    }

    #[inline(always)]
    fn sync_completions(&mut self) {
        self.completions.sync();
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u64, i32)> {
        self.completions.next().map(|completion| (completion.user_data(), completion.result()))
    }

    #[cold]
    fn failed(errno: Errno) -> EngineError {
        ring::failed(errno)
    }
}

impl Drop for UringQueue<'_> {
    fn drop(&mut self) {
        self.release_files();
        // The memory of the buffers is then freed when the caller releases it.
        if self.registered.buffers > 0 {
            let _ = self.ring.submitter.unregister_buffers();
        }
    }
}
