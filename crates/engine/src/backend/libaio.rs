//! The backend `libaio`: Linux asynchronous I/O through the system calls `io_submit(2)` and
//! `io_getevents(2)`, which the library of that name wraps.
//!
//! Only direct transfers are asynchronous in the kernel; through the page cache, `io_submit` does the transfer.

#![expect(unsafe_code, reason = "system calls without a safe binding")]

use std::mem::MaybeUninit;
use std::time::Duration;

use crate::backend::contract::{BufferMemory, Queue, QueuedBackend, Request, SYNC};
use crate::{EngineError, Errno, LimitKind, Note};

/// The backend.
pub(crate) struct Libaio;

// Operation codes from linux/aio_abi.h.
const READ: u16 = 0;
const WRITE: u16 = 1;
const FSYNC: u16 = 2;

/// `struct iocb` from linux/aio_abi.h.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Iocb {
    data: u64,
    /// Key and flags, whose order depends on the machine; both stay 0.
    key_and_flags: [u32; 2],
    operation: u16,
    priority: i16,
    file: u32,
    memory: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_file: u32,
}

const _: () = assert!(size_of::<Iocb>() == 64);

/// `struct io_event` from linux/aio_abi.h.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Event {
    data: u64,
    request: u64,
    result: i64,
    second_result: i64,
}

/// A kernel AIO context, and memory for as many requests as it can hold.
#[derive(Debug)]
pub(crate) struct Context {
    id: libc::c_ulong,
    /// The first `pushed` entries are requests that have not been submitted yet.
    requests: Box<[Iocb]>,
    pushed: usize,
    /// The entries `reaped..filled` are completions that have not been reaped yet.
    events: Box<[Event]>,
    reaped: usize,
    filled: usize,
    /// Number of requests submitted to the kernel and not completed.
    in_flight: usize,
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is ours. The call waits until nothing is in flight.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
    }
}

impl QueuedBackend for Libaio {
    type Context = Context;
    type Queue<'c> = &'c mut Context;

    fn set_up(requests: usize, _notes: &mut Vec<Note>) -> Result<Context, EngineError> {
        let mut id: libc::c_ulong = 0;
        let count = libc::c_long::try_from(requests).unwrap_or(libc::c_long::MAX);
        // SAFETY: the pointer is valid for a write of one context number, which is 0 before, as required.
        match result(unsafe { libc::syscall(libc::SYS_io_setup, count, &raw mut id) }) {
            Ok(_) => {}
            Err(Errno(libc::EAGAIN)) => return Err(too_few_requests(requests)),
            Err(errno) => return Err(EngineError::Libaio { call: "io_setup", errno }),
        }
        let requests = vec![Iocb::default(); requests].into_boxed_slice();
        let events = vec![Event::default(); requests.len()].into_boxed_slice();
        Ok(Context { id, requests, pushed: 0, events, reaped: 0, filled: 0, in_flight: 0 })
    }

    fn queue<'c>(
        context: &'c mut Context,
        _buffers: BufferMemory<'_>,
        _notes: &mut Vec<Note>,
    ) -> Result<&'c mut Context, EngineError> {
        Ok(context)
    }
}

impl Context {
    fn push(&mut self, request: Iocb) -> bool {
        let Some(free) = self.requests.get_mut(self.pushed) else { return false };
        *free = request;
        self.pushed += 1;
        true
    }

    /// Removes the first `count` requests from the queue.
    fn remove(&mut self, count: usize) {
        self.requests.copy_within(count..self.pushed, 0);
        self.pushed -= count;
    }

    /// Submits as many queued requests as the kernel accepts. A request that it rejects becomes a
    /// completion.
    fn submit_all(&mut self) -> Result<(), Errno> {
        while self.pushed > 0 {
            match submit(self.id, &mut self.requests[..self.pushed]) {
                Ok(count) => {
                    self.remove(count);
                    self.in_flight += count;
                }
                Err(Errno(libc::EINTR)) => {}
                // The kernel has no memory for more requests at the moment; completions will free some.
                Err(Errno(libc::EAGAIN)) if self.in_flight > 0 => break,
                Err(errno) => self.refuse_first(errno),
            }
        }
        Ok(())
    }

    /// Turns the first request in the queue into a completion with this error.
    #[cold]
    fn refuse_first(&mut self, errno: Errno) {
        // Room for it: a request has its completion here, in the queue, or in flight, and never two of them.
        self.events.copy_within(self.reaped..self.filled, 0);
        (self.reaped, self.filled) = (0, self.filled - self.reaped);
        let event = Event { data: self.requests[0].data, result: -i64::from(errno.0), ..Event::default() };
        self.events[self.filled] = event;
        self.filled += 1;
        self.remove(1);
    }

    /// Waits for a completion until `timeout`, unless one is already available.
    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), Errno> {
        if self.reaped < self.filled || self.in_flight == 0 {
            return Ok(());
        }
        (self.reaped, self.filled) = (0, 0);
        match events(self.id, &mut self.events, timeout) {
            Ok(count) => {
                self.filled = count;
                self.in_flight -= count;
                Ok(())
            }
            Err(Errno(libc::EINTR)) => Ok(()),
            Err(errno) => Err(errno),
        }
    }
}

impl Queue for &mut Context {
    type Template = Iocb;

    const LINKS_SYNC: bool = false;

    fn idle() -> Iocb {
        Iocb::default()
    }

    fn template(&self, request: &Request) -> Iocb {
        let mut template = Iocb {
            data: request.user_data,
            file: request.file.cast_unsigned(),
            memory: request.memory as u64,
            bytes: u64::from(request.bytes),
            ..Iocb::default()
        };
        Self::set_offset(&mut template, request.offset);
        self.set_writes(&mut template, request.writes);
        template
    }

    #[inline(always)]
    fn set_offset(template: &mut Iocb, offset: u64) {
        template.offset = offset.cast_signed();
    }

    #[inline(always)]
    fn set_writes(&self, template: &mut Iocb, writes: bool) {
        template.operation = if writes { WRITE } else { READ };
    }

    #[inline(always)]
    unsafe fn push(&mut self, template: &Iocb) -> bool {
        Context::push(self, *template)
    }

    unsafe fn push_with_sync(&mut self, template: &Iocb, _file: i32) -> bool {
        Context::push(self, *template)
    }

    fn push_sync(&mut self, file: i32, user_data: u64) -> bool {
        let (data, file) = (user_data | SYNC, file.cast_unsigned());
        Context::push(self, Iocb { data, file, operation: FSYNC, ..Iocb::default() })
    }

    fn submit(&mut self) -> Result<(), Errno> {
        self.submit_all()
    }

    #[inline(always)]
    fn submit_and_wait(&mut self) -> Result<(), Errno> {
        self.submit_all()?;
        self.wait(None)
    }

    fn submit_and_wait_for(&mut self, nanos: Option<u64>) -> Result<(), Errno> {
        self.submit_all()?;
        let nanos = nanos.unwrap_or(0);
        // The kernel returns at once if no request is in flight, so sleep until the next start instead.
        if nanos > 0 && self.in_flight == 0 && self.reaped == self.filled {
            crate::phase::pace::sleep(nanos);
        }
        self.wait(Some(Duration::from_nanos(nanos)))
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u64, i32)> {
        let event = self.events[..self.filled].get(self.reaped)?;
        self.reaped += 1;
        // A transfer is always smaller than 2 GiB.
        Some((event.data, i32::try_from(event.result).unwrap_or(i32::MAX)))
    }

    #[cold]
    fn failed(errno: Errno) -> EngineError {
        EngineError::Libaio { call: "io_getevents", errno }
    }
}

/// Calls `io_submit(2)` and returns how many requests were accepted, counted from the first.
#[inline(always)]
fn submit(context: libc::c_ulong, requests: &mut [Iocb]) -> Result<usize, Errno> {
    /// Maximum number of requests per call.
    const MOST: usize = 64;
    // Left uninitialised beyond `count`, since most calls submit few requests.
    let mut list = [const { MaybeUninit::<*mut Iocb>::uninit() }; MOST];
    let count = requests.len().min(MOST);
    for (entry, request) in list.iter_mut().zip(requests) {
        entry.write(request);
    }
    // SAFETY: the list has `count` pointers to requests, which the kernel copies within the call. The caller of
    // `Queue::push` keeps the memory they refer to in place until the completion is reaped.
    result(unsafe { libc::syscall(libc::SYS_io_submit, context, count, list.as_mut_ptr()) })
}

/// Calls `io_getevents(2)`: waits for a completion, then returns all that are available.
#[inline(always)]
fn events(context: libc::c_ulong, events: &mut [Event], timeout: Option<Duration>) -> Result<usize, Errno> {
    let least = libc::c_long::from(timeout.is_none_or(|timeout| !timeout.is_zero()));
    let most = events.len();
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().cast_signed(),
        tv_nsec: libc::c_long::from(timeout.subsec_nanos().cast_signed()),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: there is room for `most` events, and the timeout is null or a timespec that outlives the call.
    result(unsafe {
        libc::syscall(libc::SYS_io_getevents, context, least, most, events.as_mut_ptr(), timeout)
    })
}

fn result(returned: libc::c_long) -> Result<usize, Errno> {
    usize::try_from(returned).map_err(|_| Errno::from(&std::io::Error::last_os_error()))
}

/// The error for a host that does not allow enough asynchronous requests.
fn too_few_requests(need: usize) -> EngineError {
    let have = std::fs::read_to_string("/proc/sys/fs/aio-max-nr").ok();
    EngineError::Limit {
        which: LimitKind::AsyncRequests,
        have: have.and_then(|text| text.trim().parse().ok()).unwrap_or(0),
        need: need as u64,
        remedy:
            "use fewer tasks or a lower depth, end other programs with asynchronous I/O, or raise it with \
                 `sysctl fs.aio-max-nr`"
                .to_owned(),
    }
}
