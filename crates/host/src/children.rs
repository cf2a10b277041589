//! Processes that this program starts: what they print, and when they end.
#![expect(unsafe_code, reason = "a child sets its own death signal before exec")]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::fs::MemfdFlags;
use rustix::process::Signal;

/// Has the process of `command` killed when the thread that starts it ends, however that happens: nobody would
/// look after it any more.
pub fn ends_with_us(command: &mut Command) {
    let us = rustix::process::getpid();
    let before_exec = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // Whoever started it may have ended before the call.
        match rustix::process::getppid() == Some(us) {
            true => Ok(()),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    };
    // SAFETY: between fork and exec it makes two system calls, and neither allocates nor locks.
    unsafe { command.pre_exec(before_exec) };
}

/// What a process prints, in a file in memory: what it may leave running in the background keeps the file open, and
/// nobody waits for that.
#[derive(Debug)]
pub struct OutputFile(File);

impl OutputFile {
    /// An empty one.
    ///
    /// # Errors
    /// The kernel gives no file.
    pub fn new() -> io::Result<Self> {
        Ok(Self(File::from(rustix::fs::memfd_create("output", MemfdFlags::CLOEXEC)?)))
    }

    /// For a process to print to.
    ///
    /// # Errors
    /// This process has too many files open.
    pub fn for_child(&self) -> io::Result<Stdio> {
        Ok(self.0.try_clone()?.into())
    }

    /// How many bytes were printed until now.
    ///
    /// # Errors
    /// That cannot be asked.
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    /// The first bytes of what was printed, at most `bytes_max`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn first(&self, bytes_max: u64) -> io::Result<Vec<u8>> {
        self.read(0, self.bytes()?.min(bytes_max))
    }

    /// The last bytes of what was printed, at most `bytes_max`, and how many were before them.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn last(&self, bytes_max: u64) -> io::Result<(Vec<u8>, u64)> {
        let bytes = self.bytes()?;
        let cut = bytes.saturating_sub(bytes_max);
        Ok((self.read(cut, bytes - cut)?, cut))
    }

    /// A process that goes on prints where it was: the place in the file is not moved.
    fn read(&self, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
        let mut read = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
        self.0.read_exact_at(&mut read, from)?;
        Ok(read)
    }
}
