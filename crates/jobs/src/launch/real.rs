//! Processes on this host: one per launch, all observed by a thread that sleeps in `poll(2)`.
//!
//! A process only receives its order on standard input once it is in its control group, so that all of its
//! activity is accounted to the group.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdout, Command, Stdio};
use std::time::Duration;

use host::{LaunchGroup, RunGroups};
use plan::limits::{JOB_EVENT_BYTES, JOB_LAST_WORDS_BYTES};
use plan::{EntryType, JobSpace, entry_type};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, OFlags, fcntl_getfl, fcntl_setfl, memfd_create, statvfs};
use rustix::io::Errno;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use rustix::time::{ClockId, clock_gettime};

use super::sys::reap;
use super::{Ending, LaunchTask, News, ProcessEnd, Processes};
use crate::{Counters, JobEvent, JobOrder, Usage};

/// Size of one read.
const CHUNK_BYTES: usize = 16 << 10;
/// Polling interval for processes whose news cannot be waited for.
const UNHEARD_PAUSE: Duration = Duration::from_millis(10);

/// The program of a job: executable and arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its path.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Program {
    /// The program that is running, called as a job.
    ///
    /// # Errors
    /// Errors if the kernel does not report its path.
    pub fn own() -> io::Result<Self> {
        let named = std::env::current_exe()?;
        // If its file has been removed, it can still be executed through the kernel's link.
        let path = if named.exists() { named } else { PathBuf::from("/proc/self/exe") };
        Ok(Self { path, arguments: vec!["job".to_owned()] })
    }
}

/// Processes of this host.
#[derive(Debug)]
pub struct RealProcesses<'a> {
    program: &'a Program,
    groups: &'a RunGroups,
    /// Directories whose free space is measured, one per space.
    spaces: [PathBuf; 3],
    /// `CLOCK_MONOTONIC` at the common start.
    started_ns: u64,
    running: BTreeMap<u32, Running>,
    /// Failures that do not affect any figure (missing control groups, directories that could not be
    /// removed), without duplicates.
    notes: BTreeSet<String>,
}

/// A running process.
#[derive(Debug)]
struct Running {
    process: Pid,
    /// Its pidfd, which reports its end.
    handle: OwnedFd,
    events: Option<ChildStdout>,
    /// A partially read line.
    line: Vec<u8>,
    errors: Option<ChildStderr>,
    last_words: Vec<u8>,
    counters: File,
    group: Option<LaunchGroup>,
    /// Its private directories in work and utility space.
    directories: Vec<PathBuf>,
}

impl<'a> RealProcesses<'a> {
    /// Creates the manager of processes. Times count from now; `spaces` are the directories of the
    /// spaces.
    #[must_use]
    pub fn new(program: &'a Program, groups: &'a RunGroups, spaces: [PathBuf; 3]) -> Self {
        let notes = groups.missing().iter().map(|why| format!("no control group for {why}")).collect();
        Self { program, groups, spaces, started_ns: monotonic_ns(), running: BTreeMap::new(), notes }
    }

    /// Failures that do not affect any figure (missing control groups, directories that could not be
    /// removed), without duplicates.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str)
    }

    fn start_process(&mut self, task: &LaunchTask) -> Result<Running, String> {
        let Program { path, arguments } = self.program;
        let counters = memfd_create("counters", MemfdFlags::CLOEXEC)
            .map_err(|error| format!("cannot create a file in memory for its counters: {error}"))?;
        let order = JobOrder { counters_fd: Some(counters.as_raw_fd()), ..task.order.clone() };
        let text =
            serde_json::to_string(&order).map_err(|error| format!("the order cannot be written: {error}"))?;
        let mut command = Command::new(path);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // It has its own process group: Ctrl-C is handled by the run, which ends its jobs.
        command.process_group(0);
        // Otherwise glibc keeps buffers freed by threads, some MiB per thread, in addition to the memory
        // of a step: docs/journal/2026-11-22-jobs.md.
        command.env("MALLOC_MMAP_THRESHOLD_", "65536");
        host::ends_with_us(&mut command);
        // Only this process inherits it, because the launcher starts its processes from a single thread.
        let inherited =
            |flags| fcntl_setfd(&counters, flags).map_err(|error| format!("its counters: {error}"));
        inherited(FdFlags::empty())?;
        let child = command.spawn();
        inherited(FdFlags::CLOEXEC)?;
        let mut child = child.map_err(|error| format!("cannot start {}: {error}", path.display()))?;
        let process = Pid::from_child(&child);
        let heard = || -> io::Result<OwnedFd> {
            child.stdout.as_ref().map_or(Ok(()), unblocked)?;
            child.stderr.as_ref().map_or(Ok(()), unblocked)?;
            Ok(pidfd_open(process, PidfdFlags::empty())?)
        };
        let handle = heard();
        let group = self.group(task, child.id());
        // If the process has already ended, its end tells the reason.
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(text.as_bytes()).and_then(|()| input.write_all(b"\n"));
        }
        let (group, handle) = match (group, handle) {
            (Ok(group), Ok(handle)) => (group, handle),
            (Err(error), _) => return Err(given_up(child, error)),
            (_, Err(error)) => return Err(given_up(child, format!("cannot monitor its process: {error}"))),
        };
        Ok(Running {
            process,
            handle,
            events: child.stdout.take(),
            line: Vec::new(),
            errors: child.stderr.take(),
            last_words: Vec::new(),
            counters: counters.into(),
            group,
            directories: Vec::new(),
        })
    }

    /// Creates the control group of a launch, and puts its process into it.
    fn group(&mut self, task: &LaunchTask, process: u32) -> Result<Option<LaunchGroup>, String> {
        let name = format!("launch.{}", task.order.launch);
        let group = match self.groups.launch(&name, task.memory_max.map(|bytes| bytes.0)) {
            Ok(group) => group,
            Err(error) if task.memory_max.is_none() => {
                self.notes.insert(format!("no control group for some launches: {error}"));
                return Ok(None);
            }
            Err(error) => return Err(error.to_string()),
        };
        match group.take(process) {
            Ok(()) => Ok(Some(group)),
            Err(error) => {
                let _ = group.remove();
                Err(error.to_string())
            }
        }
    }

    /// Waits until one of the processes has news. Returns the processes with news, or all if this is
    /// unknown.
    fn heard(&self, most: Duration) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(self.running.len() * 3);
        let mut all = Vec::with_capacity(self.running.len() * 3);
        for (number, one) in &self.running {
            let streams = [one.events.as_ref().map(AsFd::as_fd), one.errors.as_ref().map(AsFd::as_fd)];
            for stream in streams.into_iter().flatten().chain([one.handle.as_fd()]) {
                numbers.push(*number);
                all.push(PollFd::from_borrowed_fd(stream, PollFlags::IN));
            }
        }
        let timeout = Timespec::try_from(most).ok();
        match poll(&mut all, timeout.as_ref()) {
            Ok(_) => {
                let some = numbers.iter().zip(&all).filter(|(_, one)| !one.revents().is_empty());
                let mut some: Vec<u32> = some.map(|(number, _)| *number).collect();
                some.dedup();
                some
            }
            Err(Errno::INTR) => Vec::new(),
            // The limit on descriptors is now lower than the number polled (EINVAL), so each process is
            // checked in turn.
            Err(_) => {
                std::thread::sleep(most.min(UNHEARD_PAUSE));
                numbers.dedup();
                numbers
            }
        }
    }

    /// Collects the news of the process `launch`.
    fn hear(&mut self, launch: u32, news: &mut Vec<News>) {
        let Some(one) = self.running.get_mut(&launch) else { return };
        // Checked first, so that output written before the end is read afterwards.
        let reaped = reap(one.process);
        one.hear_errors();
        one.hear_events(launch, self.started_ns, news);
        let reaped = match reaped {
            Ok(None) => return,
            Ok(Some(reaped)) => Some(reaped),
            // It was reaped by somebody else, so its resource usage is unknown.
            Err(_) => None,
        };
        let Some(one) = self.running.remove(&launch) else { return };
        let at_ns = self.now_ns();
        let end = ProcessEnd {
            at_ns,
            code: reaped.as_ref().and_then(|one| one.code),
            signal: reaped.as_ref().and_then(|one| one.signal),
            out_of_memory: one.group.as_ref().is_some_and(|group| group.killed_for_memory() > 0),
            usage: reaped.map_or_else(Usage::default, |one| one.usage),
            group_cpu_ns: one.group.as_ref().and_then(LaunchGroup::cpu_ns),
            counters: Counters::read_from(one.counters.as_fd()).unwrap_or_default(),
            last_words: String::from_utf8_lossy(&one.last_words).trim().to_owned(),
        };
        if let Some(Err(error)) = one.group.map(LaunchGroup::remove) {
            self.notes.insert(error.to_string());
        }
        one.directories.iter().for_each(|directory| remove_own(directory));
        news.push(News::Ended { launch, end: Box::new(end) });
    }
}

impl Running {
    fn hear_errors(&mut self) {
        let Some(stream) = &mut self.errors else { return };
        let mut chunk = [0; CHUNK_BYTES];
        let open = loop {
            match stream.read(&mut chunk) {
                Ok(0) => break false,
                Ok(bytes) => {
                    self.last_words.extend_from_slice(&chunk[..bytes]);
                    let over = self.last_words.len().saturating_sub(JOB_LAST_WORDS_BYTES);
                    self.last_words.drain(..over);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break error.kind() == io::ErrorKind::WouldBlock,
            }
        };
        if !open {
            self.errors = None;
        }
    }

    fn hear_events(&mut self, launch: u32, started_ns: u64, news: &mut Vec<News>) {
        let Some(stream) = &mut self.events else { return };
        let mut chunk = [0; CHUNK_BYTES];
        let open = loop {
            match stream.read(&mut chunk) {
                Ok(0) => break false,
                Ok(bytes) => {
                    for byte in &chunk[..bytes] {
                        match byte {
                            b'\n' => news.push(told(launch, started_ns, &std::mem::take(&mut self.line))),
                            _ if self.line.len() < JOB_EVENT_BYTES => self.line.push(*byte),
                            _ => {}
                        }
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break error.kind() == io::ErrorKind::WouldBlock,
            }
        };
        if !open {
            self.events = None;
        }
    }
}

/// Parses a line of a process, and converts its times to the common start.
fn told(launch: u32, started_ns: u64, line: &[u8]) -> News {
    let since = |at_ns: u64| at_ns.saturating_sub(started_ns);
    match serde_json::from_slice::<JobEvent>(line) {
        Ok(event) => {
            let event = match event {
                JobEvent::Began { at_ns } => JobEvent::Began { at_ns: since(at_ns) },
                JobEvent::Step(mut step) => {
                    (step.start_ns, step.end_ns) = (since(step.start_ns), since(step.end_ns));
                    JobEvent::Step(step)
                }
                other => other,
            };
            News::Told { launch, event }
        }
        Err(_) => {
            let start = &line[..line.len().min(80)];
            News::Garbled { launch, text: String::from_utf8_lossy(start).into_owned() }
        }
    }
}

impl Processes for RealProcesses<'_> {
    fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.started_ns)
    }

    fn start(&mut self, task: &LaunchTask) -> Result<(), String> {
        let own =
            [JobSpace::Work, JobSpace::Utility].map(|space| task.order.directories[space as usize].clone());
        for directory in &own {
            fs::create_dir(directory)
                .map_err(|error| format!("cannot create the directory {}: {error}", directory.display()))?;
        }
        match self.start_process(task) {
            Ok(running) => {
                self.running.insert(task.order.launch, Running { directories: own.to_vec(), ..running });
                Ok(())
            }
            Err(message) => {
                own.iter().for_each(|directory| remove_own(directory));
                Err(message)
            }
        }
    }

    fn wait(&mut self, most: Duration) -> Vec<News> {
        let mut news = Vec::new();
        for launch in self.heard(most) {
            self.hear(launch, &mut news);
        }
        news
    }

    fn counters(&self, launch: u32) -> Counters {
        let one = self.running.get(&launch);
        one.and_then(|one| Counters::read_from(one.counters.as_fd()).ok()).unwrap_or_default()
    }

    fn end(&mut self, launch: u32, how: Ending) {
        let signal = match how {
            Ending::Asked => Signal::TERM,
            Ending::Killed => Signal::KILL,
        };
        if let Some(one) = self.running.get(&launch) {
            // It may have ended in the meantime. Only this thread reaps it, so the number still belongs
            // to it.
            let _ = kill_process(one.process, signal);
        }
    }

    fn free_bytes(&self) -> [Option<u64>; 3] {
        let free = |path: &PathBuf| statvfs(path).ok().map(|one| one.f_bavail.saturating_mul(one.f_frsize));
        [free(&self.spaces[0]), free(&self.spaces[1]), free(&self.spaces[2])]
    }

    fn own_cpu_ns(&self) -> u64 {
        let own = Usage::own();
        own.user_cpu_ns + own.system_cpu_ns
    }
}

impl Drop for RealProcesses<'_> {
    /// Kills all processes, so that none outlives the launcher, even after a panic.
    fn drop(&mut self) {
        for one in self.running.values() {
            let _ = kill_process(one.process, Signal::KILL);
            while matches!(reap(one.process), Ok(None)) {
                let mut end = [PollFd::new(&one.handle, PollFlags::IN)];
                let _ = poll(&mut end, None);
            }
        }
        for (_, one) in std::mem::take(&mut self.running) {
            let _ = one.group.map(LaunchGroup::remove);
            one.directories.iter().for_each(|directory| remove_own(directory));
        }
    }
}

/// Kills a process that cannot be observed.
fn given_up(mut child: std::process::Child, why: String) -> String {
    let _ = child.kill().and_then(|()| child.wait());
    why
}

fn unblocked<S: AsFd>(stream: &S) -> io::Result<()> {
    let stream: BorrowedFd<'_> = stream.as_fd();
    Ok(fcntl_setfl(stream, fcntl_getfl(stream)? | OFlags::NONBLOCK)?)
}

/// Removes the directory of a launch with the tables in it. Files that do not have our names are kept,
/// and so is the directory then; the removal of the roots reports it.
fn remove_own(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_str().and_then(entry_type) == Some(EntryType::File) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir(directory);
}

/// `CLOCK_MONOTONIC`, nanoseconds.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec)
}
