//! Block device requests during a phase, from the kernel's tracing
//! (`Documentation/trace/events.rst`, events `block_rq_issue` and `block_rq_complete`).
//!
//! The kernel writes the events into a trace instance of the run. It is read after the phase, so that
//! nothing runs concurrently with the transfers. The instance is removed when the trace is dropped. Its name
//! contains the process number, so that a later run can remove the instance of a killed one.

mod events;
mod pages;

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::activity::trace::events::{Event, Layout};
use crate::devices::block;
use crate::file_systems::file_system;
use crate::file_systems::mounts::DeviceNumber;
use crate::{Root, Unobservable};

/// Prefix of an instance's name.
const PREFIX: &str = "ioproof-";
/// The file of an instance that is kept open.
const HELD: &str = "tracing_on";
/// Usual mount points of tracefs: since Linux 4.1, and before.
const USUAL: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Approximate number of buffer bytes needed by the two events of a request.
const REQUEST_BYTES: u64 = 160;
/// Range of the buffer size per processor. The larger size is for a million operations.
const BUFFER_KIB: std::ops::RangeInclusive<u64> = 256..=65_536;
/// Number of requests returned per operation: a large operation is split into several, and others use the
/// devices too.
const REQUESTS_EACH: u64 = 4;
const REQUESTS_LEAST: u64 = 4096;
/// Maximum number of issued requests without a completion; further ones are dropped.
const OPEN_MAX: usize = 1 << 20;

/// One request of a block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockRequest {
    /// The kernel's name of the whole device, for example `nvme0n1`.
    pub device: String,
    /// First sector of 512 bytes.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u64,
    /// Whether the request writes to the device.
    pub writes: bool,
    /// When it was passed to the driver: `CLOCK_MONOTONIC_RAW`.
    pub issued_raw_ns: u64,
    /// When the driver had completed it.
    pub completed_raw_ns: u64,
}

/// A running trace.
#[derive(Debug)]
pub struct BlockTrace {
    instance: Instance,
    devices: Vec<(DeviceNumber, String)>,
    /// Maximum number of returned requests; only the last ones are kept.
    most: usize,
}

/// A trace instance, removed on drop.
#[derive(Debug)]
struct Instance {
    path: PathBuf,
    /// One of its files, open. The kernel does not remove an instance with an open file, so no other run does, even if
    /// it has PIDs of its own (`pid_namespaces(7)`) and takes the process of this one for gone.
    held: Option<File>,
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.held = None;
        // The kernel's files in the directory are removed with it. If it cannot be removed now, the next
        // run will remove it.
        let _ = fs::remove_dir(&self.path);
    }
}

impl BlockTrace {
    /// Starts tracing the whole devices under `devices` (kernel names). The buffers hold the requests of
    /// about the last `operations` operations.
    ///
    /// # Errors
    /// Returns the reason if tracing is not available.
    pub fn start(root: &Root, devices: &[String], operations: u64) -> Result<Self, Unobservable> {
        let tracing = find(root)?;
        remove_stale(&tracing.join("instances"));
        let mut leaves = Vec::new();
        for device in devices {
            find_leaves(root, device, 0, &mut leaves);
        }
        if leaves.is_empty() {
            return Err(Unobservable::because("there is no block device below the targets".to_owned()));
        }
        let instance = Instance::make(&tracing)?;
        let kib =
            (operations.saturating_mul(REQUEST_BYTES) / 1024).clamp(*BUFFER_KIB.start(), *BUFFER_KIB.end());
        let filter: Vec<String> =
            leaves.iter().map(|(number, _)| format!("dev == {}", events::kernel_number(*number))).collect();
        let filter = filter.join(" || ");
        instance.write("tracing_on", "0")?;
        instance.write("trace_clock", "mono_raw")?;
        instance.write("buffer_size_kb", &kib.to_string())?;
        for event in [events::ISSUE, events::COMPLETE] {
            instance.write(&format!("events/block/{event}/filter"), &filter)?;
            instance.write(&format!("events/block/{event}/enable"), "1")?;
        }
        instance.write("tracing_on", "1")?;
        let most = operations.saturating_mul(REQUESTS_EACH).max(REQUESTS_LEAST);
        Ok(Self { instance, devices: leaves, most: usize::try_from(most).unwrap_or(usize::MAX) })
    }

    /// Ends the trace. Returns all requests issued and completed during it, ordered by issue time.
    ///
    /// # Errors
    /// Returns the reason if the buffers cannot be read.
    pub fn stop(self) -> Result<Vec<BlockRequest>, Unobservable> {
        let Self { instance, devices, most } = &self;
        instance.write("tracing_on", "0")?;
        let layout = Layout::read(&instance.path).map_err(Unobservable::because)?;
        let mut events = Vec::new();
        let cpus = fs::read_dir(instance.path.join("per_cpu"))
            .map_err(|error| instance.because("per_cpu", &error))?;
        for cpu in cpus.flatten() {
            let path = cpu.path().join("trace_pipe_raw");
            read_pages(&path, &layout, &mut events)
                .map_err(|error| instance.because("trace_pipe_raw", &error))?;
        }
        events.sort_by_key(|event| event.at_ns);
        let mut requests = pair(&events, devices);
        requests.drain(..requests.len().saturating_sub(*most));
        Ok(requests)
    }
}

/// Matches issues with their completions.
fn pair(events: &[Event], devices: &[(DeviceNumber, String)]) -> Vec<BlockRequest> {
    let names: HashMap<u32, &String> =
        devices.iter().map(|(number, name)| (events::kernel_number(*number), name)).collect();
    let mut open: HashMap<(u32, u64), VecDeque<&Event>> = HashMap::new();
    let mut requests = Vec::new();
    for event in events {
        let key = (event.device, event.sector);
        if !event.completes {
            if open.len() < OPEN_MAX {
                open.entry(key).or_default().push_back(event);
            }
            continue;
        }
        let Some(issued) = open.get_mut(&key).and_then(VecDeque::pop_front) else { continue };
        let Some(name) = names.get(&event.device) else { continue };
        requests.push(BlockRequest {
            device: (*name).clone(),
            sector: event.sector,
            sectors: u64::from(issued.sectors),
            writes: issued.writes,
            issued_raw_ns: issued.at_ns,
            completed_raw_ns: event.at_ns,
        });
    }
    requests.sort_by_key(|request| request.issued_raw_ns);
    requests
}

/// Reads the whole buffer of one processor.
fn read_pages(path: &Path, layout: &Layout, events: &mut Vec<Event>) -> io::Result<()> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut page = vec![0; pages::PAGE_BYTES_MAX];
    loop {
        match file.read(&mut page) {
            Ok(0) => return Ok(()),
            Ok(length) => pages::entries(&page[..length], layout.page_head, |at_ns, entry| {
                events.extend(layout.event(at_ns, entry));
            }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Instance {
    fn make(tracing: &Path) -> Result<Self, Unobservable> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let pid = std::process::id();
        let name = format!("{PREFIX}{pid}-{}-{number}", started(pid).unwrap_or_default());
        let path = tracing.join("instances").join(name);
        fs::create_dir(&path).map_err(|error| {
            let help = if error.kind() == io::ErrorKind::PermissionDenied { "; run as root" } else { "" };
            Unobservable::because(format!("{} cannot be created: {error}{help}", path.display()))
        })?;
        let mut instance = Self { path, held: None };
        let held = File::open(instance.path.join(HELD)).map_err(|error| instance.because(HELD, &error))?;
        instance.held = Some(held);
        Ok(instance)
    }

    fn write(&self, file: &str, text: &str) -> Result<(), Unobservable> {
        let open = |path: &Path| OpenOptions::new().write(true).open(path);
        let path = self.path.join(file);
        let written = open(&path).and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
        written.map_err(|error| self.because(file, &error))
    }

    fn because(&self, file: &str, error: &io::Error) -> Unobservable {
        Unobservable::because(format!("{}: {error}", self.path.join(file).display()))
    }
}

/// Finds the directory of the tracer's files.
fn find(root: &Root) -> Result<PathBuf, Unobservable> {
    let table = file_system::mount_table(root).unwrap_or_default();
    let mounted =
        table.iter().find(|mount| mount.kind == "tracefs").map(|mount| root.path(&mount.mount_point));
    let usual = USUAL.iter().map(|path| root.path(path));
    let all = mounted.into_iter().chain(usual);
    all.into_iter().find(|path| path.join("instances").is_dir()).ok_or_else(|| {
        Unobservable::because(
            "the kernel's tracer cannot be reached: run as root, and mount it with \
             `mount -t tracefs tracefs /sys/kernel/tracing`"
                .to_owned(),
        )
    })
}

/// Removes the instances of processes that no longer exist.
fn remove_stale(instances: &Path) {
    let Ok(entries) = fs::read_dir(instances) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let mut parts = rest.split('-');
        let pid: Option<u32> = parts.next().and_then(|pid| pid.parse().ok());
        let start: Option<u64> = parts.next().and_then(|start| start.parse().ok());
        if let (Some(pid), Some(start)) = (pid, start)
            && started(pid) != Some(start)
        {
            // Another process may have removed it already.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Start time of a process, in clock ticks since boot (`/proc/PID/stat`, field 22).
fn started(pid: u32) -> Option<u64> {
    let mut text = String::new();
    File::open(format!("/proc/{pid}/stat")).ok()?.read_to_string(&mut text).ok()?;
    // The name, in parentheses, may contain any characters.
    text.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Finds the whole devices that eventually carry out requests to `device`.
fn find_leaves(root: &Root, device: &str, layer: usize, leaves: &mut Vec<(DeviceNumber, String)>) {
    let whole = block::whole_of(root, device).unwrap_or_else(|| device.to_owned());
    let below = block::slaves(root, &whole);
    if below.is_empty() || layer >= block::LAYERS_MAX {
        if let Some(number) = block::number_of(root, &whole)
            && !leaves.iter().any(|(known, _)| *known == number)
        {
            leaves.push((number, whole));
        }
        return;
    }
    for device in below {
        find_leaves(root, &device, layer + 1, leaves);
    }
}

/// The whole device that contains the sectors of `device`, and the sector at which `device` begins there.
/// Returns `None` for stacked devices, which map sectors in their own way.
pub(crate) fn base_of(root: &Root, device: &str) -> Option<(String, u64)> {
    let (whole, start) = match block::whole_of(root, device) {
        Some(whole) => {
            let start = root.number::<u64>(&format!("/sys/class/block/{device}/start"));
            (whole, *start.known()?)
        }
        None => (device.to_owned(), 0),
    };
    block::slaves(root, &whole).is_empty().then_some((whole, start))
}
