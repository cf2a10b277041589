//! Errors of a phase.

use std::path::PathBuf;

use plan::{Bytes, Operation};
use thiserror::Error;

use crate::{Errno, Mismatch, NetworkError, RendezvousError};

/// Why a phase could not be completed. Each message is written to follow "failed to …:" and ends with the
/// next step.
#[derive(Debug, Error)]
pub enum EngineError {
    /// A file could not be opened.
    #[error("cannot open {} for {purpose}: {errno}; {}", path.display(), errno.advice())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why it was opened, for example `writing`.
        purpose: &'static str,
        /// The error reported by the kernel.
        errno: Errno,
    },
    /// A file, or a link, has the name of a file that the run creates.
    #[error(
        "cannot use {}: a file or link of that name has appeared there since the run began, and nothing was written to \
         it; find out who works in that directory, or choose one that only you can write",
        path.display()
    )]
    Appeared {
        /// The path.
        path: PathBuf,
    },
    /// The file system refuses `O_DIRECT`.
    #[error(
        "{}: the file system does not support direct I/O (O_DIRECT); leave direct I/O off, or choose another target",
        path.display()
    )]
    DirectUnsupported {
        /// The file.
        path: PathBuf,
    },
    /// The transfer size does not match the device's alignment.
    #[error(
        "{}: direct transfers must be a multiple of {} bytes here, but they have {}; use transfers of {} \
         bytes",
        path.display(), needed.0, transfer.0, suggestion.0
    )]
    DirectAlignment {
        /// The file.
        path: PathBuf,
        /// The transfer size of the workload.
        transfer: Bytes,
        /// The alignment: the size must be a multiple of this.
        needed: Bytes,
        /// The nearest size that works.
        suggestion: Bytes,
    },
    /// A transfer failed.
    #[error(
        "{}: {operation} of {asked} bytes at offset {offset} failed after {moved} bytes: {errno}; {}",
        path.display(), errno.advice()
    )]
    Transfer {
        /// The file.
        path: PathBuf,
        /// Whether it was a read or a write.
        operation: Operation,
        /// Offset at which the transfer starts.
        offset: u64,
        /// Number of bytes of the whole transfer.
        asked: u64,
        /// Number of bytes moved before the error.
        moved: u64,
        /// The error reported by the kernel.
        errno: Errno,
    },
    /// A read reached the end of the file before the plan's end.
    #[error(
        "{}: the file is shorter than the plan needs: a read of {asked} bytes at offset {offset} returned \
         {moved} bytes, and the file has {file_bytes}; write or fill it first, or lower the block size or \
         the segments",
        path.display()
    )]
    FileTooShort {
        /// The file.
        path: PathBuf,
        /// Offset at which the transfer starts.
        offset: u64,
        /// Number of bytes of the whole transfer.
        asked: u64,
        /// Number of bytes read.
        moved: u64,
        /// Present length of the file in bytes.
        file_bytes: u64,
    },
    /// A transfer was shorter than requested, and the workload allows only one attempt.
    #[error(
        "{}: {operation} at offset {offset} moved {moved} of {asked} bytes, but only a single attempt is \
         allowed; allow the rest to be continued, or find out why the file system shortens transfers",
        path.display()
    )]
    ShortTransfer {
        /// The file.
        path: PathBuf,
        /// Whether it was a read or a write.
        operation: Operation,
        /// Offset at which the transfer starts.
        offset: u64,
        /// Number of bytes of the whole transfer.
        asked: u64,
        /// Number of bytes moved.
        moved: u64,
    },
    /// Another call on a file failed.
    #[error("{}: {call} failed: {errno}; {}", path.display(), errno.advice())]
    Call {
        /// The call, for example `fsync`.
        call: &'static str,
        /// The file.
        path: PathBuf,
        /// The error reported by the kernel.
        errno: Errno,
    },
    /// An operation on an item of a tree, or on one of its directories, failed in such a way that later
    /// ones would fail too.
    #[error("cannot {operation} {}: {errno}{}; {}", path.display(), used_up(*exhausted), item_advice(*errno, *exhausted))]
    Item {
        /// The file or directory.
        path: PathBuf,
        /// The operation.
        operation: Operation,
        /// The error reported by the kernel.
        errno: Errno,
        /// For `ENOSPC`, the exhausted resource.
        exhausted: Option<Exhausted>,
    },
    /// The directory for a phase's items does not exist.
    #[error(
        "{} does not exist, but this phase works on a tree created by an earlier one; create the tree first \
         (tree-create), or name the target that contains it",
        path.display()
    )]
    NoTree {
        /// The directory.
        path: PathBuf,
    },
    /// Wrong data was read, and the workload stops at the first wrong byte.
    #[error("{0}; the phase ended there because the workload stops at the first wrong byte")]
    WrongData(Box<Mismatch>),
    /// Linux asynchronous I/O failed as a whole.
    #[error(
        "{call} failed: {errno}; use the backend uring or psync where the kernel has no asynchronous I/O"
    )]
    Libaio {
        /// The call, for example `io_setup`.
        call: &'static str,
        /// The error reported by the kernel.
        errno: Errno,
    },
    /// A limit of this process is too low for the plan.
    #[error("the limit on {which} is {have}, but this plan needs {need}; {remedy}")]
    Limit {
        /// Which limit.
        which: LimitKind,
        /// Its present value.
        have: u64,
        /// What the plan needs.
        need: u64,
        /// The command or setting that helps.
        remedy: String,
    },
    /// `io_uring` cannot be used here.
    #[error("io_uring cannot be used: {0}; use the backend psync, or do not specify a backend")]
    Uring(#[from] UringUnavailable),
    /// Memory for buffers could not be allocated.
    #[error("no memory for {what} ({size}): {errno}; use fewer tasks, a lower depth or smaller transfers")]
    Memory {
        /// What the memory was for.
        what: &'static str,
        /// The size requested.
        size: Bytes,
        /// The error reported by the kernel.
        errno: Errno,
    },
    /// The endpoints of exchanges could not connect, or lost a connection.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The processes of the run lost contact with each other.
    #[error("the processes of this run could not synchronise: {0}")]
    Rendezvous(#[source] RendezvousError),
    /// Another process of the run failed; its own message names the cause.
    #[error("another process of this run failed; see its message for the cause")]
    Peer,
}

/// The resource that a file system has exhausted when it reports `ENOSPC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// Inodes, although there is free space.
    Inodes {
        /// Total number of inodes.
        all: u64,
    },
    /// Space.
    Space {
        /// Total size in bytes.
        all: u64,
    },
    /// Neither of them, as far as the file system reports.
    Unknown,
}

/// Describes the exhausted resource as part of a message.
fn used_up(exhausted: Option<Exhausted>) -> String {
    match exhausted {
        None => String::new(),
        Some(Exhausted::Inodes { all }) => {
            format!(": all {all} inodes of the file system are in use, while it still has space")
        }
        Some(Exhausted::Space { all }) => format!(": all {} of the file system are in use", Bytes(all)),
        Some(Exhausted::Unknown) => ": the file system reports that it still has space and inodes".to_owned(),
    }
}

/// The next step to suggest after an error of an item.
fn item_advice(errno: Errno, exhausted: Option<Exhausted>) -> &'static str {
    match (exhausted, errno.0) {
        (Some(Exhausted::Inodes { .. }), _) => {
            "remove files there, choose a file system with more inodes, or ask for fewer items"
        }
        (Some(Exhausted::Space { .. }), _) => "free some space, or ask for fewer items or smaller files",
        (Some(Exhausted::Unknown), _) => {
            "the directory itself may be full, or a project quota reached: spread the items over more \
             directories (a tree per task, depth, branching), or ask for fewer"
        }
        (_, libc::EDQUOT) => "raise the quota of space or files, or ask for fewer items or smaller files",
        (_, libc::ENAMETOOLONG) => "shorten the path of the target, or ask for a less deep tree",
        (_, libc::EMLINK) => {
            "a directory of this file system cannot contain more directories: spread them over more (a tree \
             per task, depth, branching), or ask for fewer"
        }
        _ => errno.advice(),
    }
}

/// A limit of the process or the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    /// `RLIMIT_NOFILE`.
    OpenFiles,
    /// `RLIMIT_MEMLOCK`, in bytes.
    LockedMemory,
    /// Threads: `RLIMIT_NPROC`, `kernel.threads-max`, or `pids.max` of the control group.
    Threads,
    /// Memory mappings of a process: `vm.max_map_count`. Each thread needs four.
    Mappings,
    /// Asynchronous requests on the host: `fs.aio-max-nr`.
    AsyncRequests,
}

impl std::fmt::Display for LimitKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OpenFiles => "open files (RLIMIT_NOFILE)",
            Self::LockedMemory => "locked memory in bytes (RLIMIT_MEMLOCK)",
            Self::Threads => "threads",
            Self::AsyncRequests => "asynchronous requests of the host (fs.aio-max-nr)",
            Self::Mappings => "memory mappings of a process (vm.max_map_count)",
        })
    }
}

/// Why `io_uring` cannot be used on this machine by this user.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UringUnavailable {
    /// The administrator has switched it off.
    #[error(
        "it is disabled by the setting kernel.io_uring_disabled = {value}; an administrator can allow it \
         with `sysctl kernel.io_uring_disabled=0`"
    )]
    Sysctl {
        /// 1: off for users outside `kernel.io_uring_group`; 2: off for all users.
        value: u32,
    },
    /// A seccomp filter (container, sandbox or systemd unit) rejects the call.
    #[error(
        "the call is refused (EPERM) although the kernel allows it: a seccomp filter of the container or sandbox \
         forbids it; run outside of it, or with a profile that allows io_uring_setup"
    )]
    Seccomp,
    /// The kernel has no `io_uring`.
    #[error(
        "this kernel does not have it (ENOSYS); it was added in Linux 5.1 and can be disabled when a kernel \
         is built"
    )]
    NoSyscall,
    /// The kernel is too old and lacks a required operation.
    #[error(
        "this kernel lacks the operation {0}; Linux 5.6 has all operations for transfers, 5.15 those for \
         trees"
    )]
    OpcodeMissing(&'static str),
    /// The limit on locked memory is too low for the rings (kernels before 5.12).
    #[error("the limit on locked memory ({have} bytes) is too low for its rings; raise it with `ulimit -l`")]
    Memlock {
        /// The present limit in bytes.
        have: u64,
    },
    /// Any other error from the kernel.
    #[error("its setup failed: {0}")]
    Other(Errno),
}
