//! Processes of this host: one for each launch, heard by one thread that sleeps in `poll(2)`.
//!
//! A process gets its order on its standard input once it is in its control group, so that nothing which it does
//! is accounted to another one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdout, Command, Stdio};
use std::time::Duration;

use host::{LaunchGroup, RunGroups};
use plan::{JobSpace, Named, named};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, OFlags, fcntl_getfl, fcntl_setfl, memfd_create, statvfs};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use rustix::time::{ClockId, clock_gettime};

use super::sys::reap;
use super::{Ending, LaunchTask, News, ProcessEnd, Processes};
use crate::{Counters, JobEvent, JobOrder, Usage};

/// Bytes of the standard error that are kept: the last ones say why.
const LAST_WORDS_BYTES: usize = 4096;
/// An event is no longer than this.
const LINE_BYTES_MAX: usize = 1 << 20;
/// Read at a time.
const CHUNK_BYTES: usize = 16 << 10;

/// The program of a job: what is executed, and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Program {
    /// The program that runs now, as a job.
    ///
    /// # Errors
    /// The kernel does not tell which it is.
    pub fn own() -> io::Result<Self> {
        let named = std::env::current_exe()?;
        // Where its file has been removed meanwhile, the kernel still has it.
        let path = if named.exists() { named } else { PathBuf::from("/proc/self/exe") };
        Ok(Self { path, arguments: vec!["job".to_owned()] })
    }
}

/// Processes of this host.
#[derive(Debug)]
pub struct RealProcesses<'a> {
    program: &'a Program,
    groups: &'a RunGroups,
    /// What space is looked at in: the directory of each space.
    spaces: [PathBuf; 3],
    /// `CLOCK_MONOTONIC` at the common start.
    started_ns: u64,
    running: BTreeMap<u32, Running>,
    /// What could not be done and changes no figure, each once.
    notes: BTreeSet<String>,
}

/// A process that runs.
#[derive(Debug)]
struct Running {
    process: Pid,
    /// Tells its end.
    handle: OwnedFd,
    events: Option<ChildStdout>,
    /// What has been read of a line.
    line: Vec<u8>,
    errors: Option<ChildStderr>,
    last_words: Vec<u8>,
    counters: File,
    group: Option<LaunchGroup>,
    /// Its own directories in work and utility space.
    directories: Vec<PathBuf>,
}

impl<'a> RealProcesses<'a> {
    /// None run yet; times count from now. `spaces`: the directory of each space.
    #[must_use]
    pub fn new(program: &'a Program, groups: &'a RunGroups, spaces: [PathBuf; 3]) -> Self {
        let notes = groups.missing().iter().map(|why| format!("no control group for {why}")).collect();
        Self { program, groups, spaces, started_ns: monotonic_ns(), running: BTreeMap::new(), notes }
    }

    /// What could not be done and changes no figure: control groups that this host does not have, directories
    /// that could not be removed.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str)
    }

    fn start_process(&mut self, task: &LaunchTask) -> Result<Running, String> {
        let Program { path, arguments } = self.program;
        let counters = memfd_create("counters", MemfdFlags::CLOEXEC)
            .map_err(|error| format!("cannot make a file in memory for its counters: {error}"))?;
        let order = JobOrder { counters_fd: Some(counters.as_raw_fd()), ..task.order.clone() };
        let text =
            serde_json::to_string(&order).map_err(|error| format!("the order cannot be written: {error}"))?;
        let mut command = Command::new(path);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: Ctrl-C is for the run, which ends its jobs.
        command.process_group(0);
        // Without it glibc keeps buffers that threads have given back, some MiB for each thread, beyond the memory
        // of a step: docs/journal/2026-11-22-jobs.md.
        command.env("MALLOC_MMAP_THRESHOLD_", "65536");
        host::ends_with_us(&mut command);
        // This one process is to have it. The launcher starts its processes from one thread.
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
        // Where the process has ended already, its end says why.
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(text.as_bytes()).and_then(|()| input.write_all(b"\n"));
        }
        let (group, handle) = match (group, handle) {
            (Ok(group), Ok(handle)) => (group, handle),
            (Err(error), _) => return Err(given_up(child, error)),
            (_, Err(error)) => return Err(given_up(child, format!("cannot listen to its process: {error}"))),
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

    /// The control group of a launch, with its process in it.
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

    /// Waits until one of the processes has something to tell, and says which; all of them where that is not known.
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
            // A signal came.
            Err(_) => Vec::new(),
        }
    }

    /// What the process `launch` has told and done.
    fn hear(&mut self, launch: u32, news: &mut Vec<News>) {
        let Some(one) = self.running.get_mut(&launch) else { return };
        // Looked at first: what was told before the end is read then.
        let reaped = reap(one.process);
        one.hear_errors();
        one.hear_events(launch, self.started_ns, news);
        let reaped = match reaped {
            Ok(None) => return,
            Ok(Some(reaped)) => Some(reaped),
            // Somebody else has taken its end: what it used is not known.
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
                    let over = self.last_words.len().saturating_sub(LAST_WORDS_BYTES);
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
                            _ if self.line.len() < LINE_BYTES_MAX => self.line.push(*byte),
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

/// A line of a process. Its times count from the common start then.
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
                .map_err(|error| format!("cannot make the directory {}: {error}", directory.display()))?;
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
            // It may have ended meanwhile; nobody else takes its end, so that the number is still its own.
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
    /// Nothing outlives the launcher, as after a panic.
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

/// A process that is not listened to is of no use.
fn given_up(mut child: std::process::Child, why: String) -> String {
    let _ = child.kill().and_then(|()| child.wait());
    why
}

fn unblocked<S: AsFd>(stream: &S) -> io::Result<()> {
    let stream: BorrowedFd<'_> = stream.as_fd();
    Ok(fcntl_setfl(stream, fcntl_getfl(stream)? | OFlags::NONBLOCK)?)
}

/// Removes the directory of a launch with the tables in it. What has no name of ours stays, and the directory with
/// it: whoever removes the roots tells of it.
fn remove_own(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_str().and_then(named) == Some(Named::File) {
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
