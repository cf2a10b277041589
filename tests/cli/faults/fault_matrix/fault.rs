//! The faults, and how each of them is injected.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use testbed::{Effect, Fault as Injected, Program, Programme, Running, When};

use super::draw::Draw;
use super::site::{Site, lives};
use super::work::Work;

/// The longest time for which a program is stopped or a file system is frozen.
const STANDSTILL_MS: u64 = 250;
/// The furthest that a clock is set.
const CLOCK_SECONDS: u64 = 2 * 60 * 60;
/// One in this many requests meets a fault that the others do not.
const SPARSE: u64 = 7;

/// The kinds of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    Killed,
    Terminated,
    InterruptedTwice,
    Stopped,
    BusError,
    OutOfMemory,
    Descriptors,
    Threads,
    OpenFails,
    ReadFails,
    WriteFails,
    SyncFails,
    CloseFails,
    NoSpace,
    Quota,
    ReadOnly,
    ShortTransfers,
    InterruptedCalls,
    ClockSet,
    Frozen,
    ShutDown,
    RecordFull,
    LostRank,
    LostLauncher,
    FileCut,
    BitFlipped,
    FileMissing,
}

/// Where the data of an attempt are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    Disk,
    Fuse,
    Ext4,
}

impl Fault {
    pub(super) const ALL: [Self; 27] = [
        Self::Killed,
        Self::Terminated,
        Self::InterruptedTwice,
        Self::Stopped,
        Self::BusError,
        Self::OutOfMemory,
        Self::Descriptors,
        Self::Threads,
        Self::OpenFails,
        Self::ReadFails,
        Self::WriteFails,
        Self::SyncFails,
        Self::CloseFails,
        Self::NoSpace,
        Self::Quota,
        Self::ReadOnly,
        Self::ShortTransfers,
        Self::InterruptedCalls,
        Self::ClockSet,
        Self::Frozen,
        Self::ShutDown,
        Self::RecordFull,
        Self::LostRank,
        Self::LostLauncher,
        Self::FileCut,
        Self::BitFlipped,
        Self::FileMissing,
    ];

    /// The fault's name in the table.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Killed => "kill -9",
            Self::Terminated => "SIGTERM",
            Self::InterruptedTwice => "SIGINT twice",
            Self::Stopped => "SIGSTOP, SIGCONT",
            Self::BusError => "SIGBUS, until it ends",
            Self::OutOfMemory => "out of memory",
            Self::Descriptors => "no descriptors",
            Self::Threads => "no threads",
            Self::OpenFails => "EIO on open",
            Self::ReadFails => "EIO on read",
            Self::WriteFails => "EIO on write",
            Self::SyncFails => "EIO on fsync",
            Self::CloseFails => "EIO on close",
            Self::NoSpace => "ENOSPC",
            Self::Quota => "EDQUOT",
            Self::ReadOnly => "EROFS",
            Self::ShortTransfers => "short transfers",
            Self::InterruptedCalls => "EINTR",
            Self::ClockSet => "clock set",
            Self::Frozen => "frozen file system",
            Self::ShutDown => "device vanishes",
            Self::RecordFull => "record disk full",
            Self::LostRank => "lost rank",
            Self::LostLauncher => "lost launcher",
            Self::FileCut => "file cut",
            Self::BitFlipped => "bit flipped",
            Self::FileMissing => "file missing",
        }
    }

    /// How the fault is injected.
    pub(super) const fn mechanism(self) -> &'static str {
        match self {
            Self::Killed => "SIGKILL; at a random system call for short commands (strace)",
            Self::Terminated => "SIGTERM",
            Self::InterruptedTwice => "SIGINT, and again some milliseconds later",
            Self::Stopped => "SIGSTOP, and SIGCONT up to 250 ms later",
            Self::BusError => "SIGBUS",
            Self::OutOfMemory => "the OOM killer, in a control group whose memory another process takes",
            Self::Descriptors => "RLIMIT_NOFILE is set to 3",
            Self::Threads => "`pids.max` of the control group is set to what is there",
            Self::OpenFails | Self::ReadFails | Self::WriteFails | Self::SyncFails => {
                "FUSE, at once or at a later call, once or for good; strace for short commands"
            }
            Self::CloseFails => "FUSE, `flush`",
            Self::NoSpace => "FUSE; strace for short commands",
            Self::Quota => "FUSE, for writes",
            Self::ReadOnly => "FUSE, for everything that changes the file system",
            Self::ShortTransfers => {
                "FUSE moves 512 bytes of every seventh transfer; only of reads with uring and libaio"
            }
            Self::InterruptedCalls => "FUSE, every seventh transfer; strace for short commands",
            Self::ClockSet => {
                "the wall clock of the program jumps by up to two hours, ahead or back (a library in front of the C library)"
            }
            Self::Frozen => "FIFREEZE of ext4 on a loop device, for up to 250 ms",
            Self::ShutDown => "EXT4_IOC_SHUTDOWN: all calls fail from then on",
            Self::RecordFull => "a file takes the rest of the tmpfs that has the record",
            Self::LostRank => "SIGKILL to the last rank",
            Self::LostLauncher => "SIGKILL to mpirun",
            Self::FileCut => "a random file of a record is cut at a random place",
            Self::BitFlipped => "a random bit of a random file of a record",
            Self::FileMissing => "a random file of a record is removed",
        }
    }

    pub(super) const fn storage(self) -> Storage {
        match self {
            Self::OpenFails
            | Self::ReadFails
            | Self::WriteFails
            | Self::SyncFails
            | Self::CloseFails
            | Self::NoSpace
            | Self::Quota
            | Self::ReadOnly
            | Self::ShortTransfers
            | Self::InterruptedCalls => Storage::Fuse,
            Self::Frozen | Self::ShutDown => Storage::Ext4,
            _ => Storage::Disk,
        }
    }

    /// Whether a run with this fault continues to its end as if nothing had happened.
    pub(super) const fn is_overcome(self) -> bool {
        matches!(
            self,
            Self::Stopped | Self::ShortTransfers | Self::InterruptedCalls | Self::ClockSet | Self::Frozen
        )
    }

    /// Whether the fault is a failing call on the storage.
    pub(super) const fn is_of_storage(self) -> bool {
        !matches!(self.storage(), Storage::Disk)
    }

    /// Whether the program is killed before it can report how it ended.
    pub(super) const fn ends_at_once(self) -> bool {
        matches!(self, Self::Killed | Self::BusError | Self::OutOfMemory)
    }

    /// Whether files of ioproof may remain until `ioproof clean`, because the process that would remove them was
    /// killed or is not allowed to.
    pub(super) const fn may_leave_claimed(self) -> bool {
        self.ends_at_once()
            || matches!(
                self,
                Self::InterruptedTwice
                    | Self::Descriptors
                    | Self::Threads
                    | Self::OpenFails
                    | Self::ReadOnly
                    | Self::ShutDown
                    | Self::LostRank
                    | Self::LostLauncher
            )
    }

    /// Exit codes of a run that was hit by this fault; empty if a signal ends the run.
    pub(super) const fn codes(self) -> &'static [i32] {
        match self {
            Self::Killed | Self::BusError => &[],
            // A killed launch is an error of its own.
            Self::OutOfMemory => &[5],
            Self::Terminated | Self::InterruptedTwice => &[130],
            Self::Stopped | Self::ShortTransfers | Self::InterruptedCalls | Self::ClockSet | Self::Frozen => {
                &[0]
            }
            Self::Descriptors | Self::Threads => &[4, 5, 7],
            Self::RecordFull => &[7],
            Self::LostRank => &[9],
            Self::LostLauncher => &[],
            // The check whether data are in the page cache tolerates a failed open of its file, if it fails once.
            Self::OpenFails => &[0, 4, 5],
            // A fault found before the first transfer is reported as a limitation of the host.
            _ => &[4, 5],
        }
    }

    /// Words of which the message must contain one, if the message is always the same.
    pub(super) const fn words(self) -> &'static [&'static str] {
        match self {
            Self::OpenFails | Self::ReadFails | Self::WriteFails | Self::SyncFails | Self::CloseFails => {
                &["EIO", "Input/output error"]
            }
            Self::ShutDown => &["EIO", "Input/output error"],
            Self::NoSpace => &["ENOSPC", "No space left"],
            Self::Quota => &["EDQUOT", "quota"],
            Self::ReadOnly => &["EROFS", "Read-only"],
            Self::RecordFull => &["No space left"],
            Self::Terminated => &["interrupted", "--resume"],
            _ => &[],
        }
    }

    /// The FUSE faults, starting with the next request.
    fn programme(self, work: Work, draw: &mut Draw) -> Programme {
        let once_or_for_good = |draw: &mut Draw| {
            let number = 1 + draw.below(4);
            // The kernel reads pages of a mapping ahead, and reads them again when they are needed.
            if draw.below(2) == 0 && work != Work::Mmap { When::Number(number) } else { When::From(number) }
        };
        let mut programme = Programme::default();
        let faults = match self {
            Self::OpenFails => vec![Injected::on_open(once_or_for_good(draw), Errno::IO.raw_os_error())],
            Self::CloseFails => vec![Injected::on_close(once_or_for_good(draw), Errno::IO.raw_os_error())],
            Self::SyncFails => vec![Injected::on_sync(once_or_for_good(draw), Errno::IO.raw_os_error())],
            Self::ReadFails => vec![Injected::on_read(once_or_for_good(draw), Effect::EIO)],
            Self::WriteFails => vec![Injected::on_write(once_or_for_good(draw), Effect::EIO)],
            Self::NoSpace => {
                vec![Injected::on_write(once_or_for_good(draw), Effect::Error(Errno::NOSPC.raw_os_error()))]
            }
            Self::Quota => {
                vec![Injected::on_write(once_or_for_good(draw), Effect::Error(Errno::DQUOT.raw_os_error()))]
            }
            // The kernel turns a short asynchronous write into an error (fs/fuse/file.c).
            Self::ShortTransfers if work.is_queued() => {
                vec![Injected::on_read(When::Every(SPARSE), Effect::Short(512))]
            }
            Self::ShortTransfers => both(Effect::Short(512)),
            Self::InterruptedCalls => both(Effect::Error(Errno::INTR.raw_os_error())),
            Self::ReadOnly => {
                programme.read_only = true;
                Vec::new()
            }
            _ => Vec::new(),
        };
        programme.faults = faults;
        programme
    }

    /// Injects the fault, and undoes it if it is only meant to last for a moment.
    pub(super) fn strike(
        self,
        work: Work,
        site: &Site,
        running: &Running,
        draw: &mut Draw,
    ) -> Result<(), String> {
        let say = |error: testbed::Error| error.to_string();
        match self {
            Self::Killed | Self::LostLauncher => running.signal(Signal::KILL).map_err(say),
            Self::BusError => {
                // Rust's runtime takes the first signal for a stack fault and retries the access.
                while running.signal(Signal::BUS).is_ok() && lives(running.id()) {
                    thread::sleep(Duration::from_millis(1));
                }
                Ok(())
            }
            Self::Terminated => running.signal(Signal::TERM).map_err(say),
            Self::InterruptedTwice => {
                running.signal(Signal::INT).map_err(say)?;
                thread::sleep(Duration::from_millis(draw.below(30)));
                // The program may already have ended in order.
                let _ = running.signal(Signal::INT);
                Ok(())
            }
            Self::Stopped => {
                running.signal(Signal::STOP).map_err(say)?;
                thread::sleep(Duration::from_millis(draw.below(STANDSTILL_MS)));
                running.signal(Signal::CONT).map_err(say)
            }
            Self::ClockSet => {
                let seconds =
                    i64::try_from(1 + draw.below(CLOCK_SECONDS)).map_err(|error| error.to_string())?;
                site.clock()?.step(if draw.below(2) == 0 { seconds } else { -seconds })
            }
            Self::Frozen => {
                let frozen = site.ext4()?.freeze().map_err(say)?;
                thread::sleep(Duration::from_millis(draw.below(STANDSTILL_MS)));
                frozen.thaw().map_err(say)
            }
            Self::ShutDown => site.ext4()?.shut_down().map_err(say),
            Self::OutOfMemory => out_of_memory(site, running),
            Self::Descriptors => {
                let limit = Rlimit { current: Some(3), maximum: Some(3) };
                let process = i32::try_from(running.id()).ok().and_then(Pid::from_raw);
                prlimit(process, Resource::Nofile, limit).map(drop).map_err(|error| error.to_string())
            }
            Self::Threads => {
                let group = site.group()?;
                group.set(group.threads()?)
            }
            Self::RecordFull => site.fill_record_disk(),
            Self::LostRank => {
                let ranks = running.processes();
                let last = ranks.iter().filter(|one| one.name() == "ioproof").max_by_key(|one| one.rank());
                last.ok_or("no rank runs")?.signal(Signal::KILL);
                Ok(())
            }
            Self::FileCut | Self::BitFlipped | Self::FileMissing => Err("not a fault of a run".to_owned()),
            _ => {
                site.fuse()?.set_programme(self.programme(work, draw));
                Ok(())
            }
        }
    }
}

fn both(effect: Effect) -> Vec<Injected> {
    vec![Injected::on_read(When::Every(SPARSE), effect), Injected::on_write(When::Every(SPARSE), effect)]
}

/// Another process in the group uses up the group's memory until the kernel kills a process. The processes of ioproof
/// are made the preferred victims.
fn out_of_memory(site: &Site, running: &Running) -> Result<(), String> {
    let ours = running.processes().into_iter().map(|one| one.id()).chain([running.id()]);
    for process in ours {
        let path = format!("/proc/{process}/oom_score_adj");
        if Path::new(&path).exists() {
            let _ = std::fs::write(path, "1000");
        }
    }
    // The run is stopped in the meantime, so that it does not finish before the memory is used up.
    running.signal(Signal::STOP).map_err(|error| error.to_string())?;
    let hog = site.group()?.inside(&Program::new("timeout").args(["10", "tail", "/dev/zero"]));
    let taken = hog.run();
    // The process may be gone.
    let _ = running.signal(Signal::CONT);
    taken.map(drop).map_err(|error| error.to_string())
}
