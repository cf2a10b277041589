//! The backend `stdio`: C library streams, as in programs that use `fread` and `fwrite`.
//!
//! A stream has a buffer in the process, here with the size of one transfer. Written data may stay in it
//! until the next transfer or the close, and data to be read may already be in it. This behaviour is what
//! the backend measures. The stream is only repositioned if a transfer does not follow the previous one, or
//! if a read follows a write.

#![expect(unsafe_code, reason = "calls of the C library's streams")]

use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};
use std::ptr::NonNull;

use crate::backend::contract::SyncBackend;
use crate::phase::rules::{Rules, TaskPlan};
use crate::system::file;
use crate::{EngineError, Errno};

/// An open stream.
#[derive(Debug)]
pub(crate) struct Stdio {
    stream: Stream,
    /// Position of the stream, and whether the last operation was a write; `None` if unknown.
    place: Option<(u64, bool)>,
}

/// A stream that is closed on drop, and its buffer, which is only accessed by the C library.
#[derive(Debug)]
struct Stream {
    file: NonNull<libc::FILE>,
    buffer: Vec<u8>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is ours and open; it is not used after this.
        let _ = unsafe { libc::fclose(self.file.as_ptr()) };
    }
}

impl Stream {
    /// Opens a stream on the file of `task`. Each way to fail has its own error.
    fn open(task: &TaskPlan, rules: &Rules<'_>) -> Result<Self, EngineError> {
        let path = &task.file.path;
        let fd = file::open(task, rules)?;
        let mode = if rules.writes { c"r+" } else { c"r" };
        let raw = fd.as_raw_fd();
        // SAFETY: the descriptor is open, and the mode is a string that ends in a zero and allows no more
        // than the descriptor was opened for.
        let file = NonNull::new(unsafe { libc::fdopen(raw, mode.as_ptr()) })
            .ok_or_else(|| file::call("fdopen", path, last_errno()))?;
        // The stream now owns it.
        let _ = fd.into_raw_fd();
        let mut stream = Self { file, buffer: vec![0; rules.transfer] };
        let (buffer, bytes) = (stream.buffer.as_mut_ptr().cast(), rules.transfer);
        // SAFETY: nothing was done with the stream yet, and the buffer lives as long as the stream.
        if unsafe { libc::setvbuf(stream.file.as_ptr(), buffer, libc::_IOFBF, bytes) } != 0 {
            return Err(file::call("setvbuf", path, last_errno()));
        }
        Ok(stream)
    }

    /// Returns the stream and its buffer. The caller has to close the stream.
    fn take(self) -> (NonNull<libc::FILE>, Vec<u8>) {
        let mut stream = std::mem::ManuallyDrop::new(self);
        (stream.file, std::mem::take(&mut stream.buffer))
    }

    fn flush(&self) -> Result<(), Errno> {
        // SAFETY: the stream is open.
        succeeded(unsafe { libc::fflush(self.file.as_ptr()) })
    }

    fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the stream is open, its descriptor is as long, and the borrow ends before.
        unsafe { BorrowedFd::borrow_raw(libc::fileno(self.file.as_ptr())) }
    }

    /// Determines why a call moved fewer bytes than requested.
    #[cold]
    fn stopped(&self, moved: usize) -> Result<usize, Errno> {
        let errno = last_errno();
        // SAFETY: the stream is open.
        let failed = unsafe {
            let failed = libc::ferror(self.file.as_ptr()) != 0;
            libc::clearerr(self.file.as_ptr());
            failed
        };
        if failed && moved == 0 { Err(errno) } else { Ok(moved) }
    }
}

impl Stdio {
    /// Seeks to `offset`, unless the stream is already there.
    #[inline(always)]
    fn turn_to(&mut self, offset: u64, writes: bool) -> Result<(), Errno> {
        if self.place == Some((offset, writes)) {
            return Ok(());
        }
        let offset = i64::try_from(offset).map_err(|_| Errno(libc::EOVERFLOW))?;
        // SAFETY: the stream is open.
        succeeded(unsafe { libc::fseeko(self.stream.file.as_ptr(), offset, libc::SEEK_SET) })
    }

    #[inline(always)]
    fn moved(&mut self, moved: usize, asked: usize, offset: u64, writes: bool) -> Result<usize, Errno> {
        if moved == asked {
            self.place = Some((offset + asked as u64, writes));
            return Ok(moved);
        }
        self.place = None;
        self.stream.stopped(moved)
    }
}

impl SyncBackend for Stdio {
    const MOVES: bool = true;

    fn open(task: &TaskPlan, rules: &Rules<'_>) -> Result<Self, EngineError> {
        Ok(Self { stream: Stream::open(task, rules)?, place: None })
    }

    #[inline(always)]
    fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        self.turn_to(offset, false)?;
        let (to, bytes) = (buffer.as_mut_ptr().cast(), buffer.len());
        // SAFETY: the stream is open, and the buffer is ours and has room for so many bytes.
        let moved = unsafe { libc::fread(to, 1, bytes, self.stream.file.as_ptr()) };
        self.moved(moved, bytes, offset, false)
    }

    #[inline(always)]
    fn write(&mut self, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        self.turn_to(offset, true)?;
        let (from, bytes) = (buffer.as_ptr().cast(), buffer.len());
        // SAFETY: the stream is open, and the buffer holds so many bytes.
        let moved = unsafe { libc::fwrite(from, 1, bytes, self.stream.file.as_ptr()) };
        self.moved(moved, bytes, offset, true)
    }

    fn sync(&mut self, _offset: u64, _bytes: usize) -> Result<(), Errno> {
        self.stream.flush()?;
        Ok(rustix::fs::fsync(self.stream.fd())?)
    }

    fn length(&self) -> u64 {
        // The stream depends on the position of its descriptor.
        let fd = self.stream.fd();
        let Ok(place) = rustix::fs::tell(fd) else { return 0 };
        let length = file::length(fd).unwrap_or(0);
        match rustix::fs::seek(fd, rustix::fs::SeekFrom::Start(place)) {
            Ok(_) => length,
            Err(_) => 0,
        }
    }

    fn close(self, task: &TaskPlan, sync: bool) -> Result<(), EngineError> {
        let path = &task.file.path;
        self.stream.flush().map_err(|errno| file::call("fflush", path, errno))?;
        if sync {
            file::fsync(self.stream.fd(), path)?;
        }
        let (file, buffer) = self.stream.take();
        // SAFETY: the stream is open, has no other user, and its buffer is still there. The library closes it
        // whatever it returns.
        let closed = succeeded(unsafe { libc::fclose(file.as_ptr()) });
        drop(buffer);
        closed.map_err(|errno| file::call("fclose", path, errno))
    }
}

fn succeeded(result: libc::c_int) -> Result<(), Errno> {
    if result == 0 { Ok(()) } else { Err(last_errno()) }
}

fn last_errno() -> Errno {
    Errno::from(&std::io::Error::last_os_error())
}
