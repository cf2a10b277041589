//! Processes that this program starts: their output and their end.
#![expect(unsafe_code, reason = "a child sets its own death signal before exec")]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::fs::MemfdFlags;
use rustix::process::Signal;

/// Makes the kernel kill the process of `command` when the thread that started it ends for any reason, so
/// that no orphan remains.
pub fn ends_with_us(command: &mut Command) {
    let us = rustix::process::getpid();
    let before_exec = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have ended before the call.
        match rustix::process::getppid() == Some(us) {
            true => Ok(()),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    };
    // SAFETY: between fork and exec it makes two system calls, and neither allocates nor locks.
    unsafe { command.pre_exec(before_exec) };
}

/// The output of a process in a memory file. Background processes may keep the file open; they are not waited
/// for.
#[derive(Debug)]
pub struct OutputFile(File);

impl OutputFile {
    /// Creates an empty output file.
    ///
    /// # Errors
    /// Errors if the kernel cannot create the file.
    pub fn new() -> io::Result<Self> {
        Ok(Self(File::from(rustix::fs::memfd_create("output", MemfdFlags::CLOEXEC)?)))
    }

    /// Returns a handle to be used as a process's output.
    ///
    /// # Errors
    /// Errors if this process has too many open files.
    pub fn for_child(&self) -> io::Result<Stdio> {
        Ok(self.0.try_clone()?.into())
    }

    /// Number of bytes printed so far.
    ///
    /// # Errors
    /// Errors if the size cannot be read.
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    /// Returns the first bytes of the output, at most `bytes_max`.
    ///
    /// # Errors
    /// Errors if the file cannot be read.
    pub fn first(&self, bytes_max: u64) -> io::Result<Vec<u8>> {
        self.read(0, self.bytes()?.min(bytes_max))
    }

    /// Returns the last bytes of the output, at most `bytes_max`, and the number of bytes before them.
    ///
    /// # Errors
    /// Errors if the file cannot be read.
    pub fn last(&self, bytes_max: u64) -> io::Result<(Vec<u8>, u64)> {
        let bytes = self.bytes()?;
        let cut = bytes.saturating_sub(bytes_max);
        Ok((self.read(cut, bytes - cut)?, cut))
    }

    /// Reads without moving the file offset, so that a running process continues at its position.
    fn read(&self, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
        let mut read = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
        self.0.read_exact_at(&mut read, from)?;
        Ok(read)
    }
}
