//! Interference with a run by its node: load of the processors, control groups and memory during the run,
//! and delays of the run's threads.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use record::{LoadRow, PhaseKey};
use serde::{Deserialize, Serialize};

use crate::activity::cgroup::Groups;
use crate::file_systems::mounts;
use crate::{CpuTimes, Root};

/// If there are more threads than this, only a fraction is sampled, so that a sample takes at most a
/// millisecond or two.
const THREADS_MAX: usize = 256;
/// Maximum interval at which the sampling thread checks the clock. A stop that ends between two checks is
/// not noticed.
pub(crate) const LOOK: Duration = Duration::from_millis(20);
/// A check that is late by less than this was delayed by the timer or the scheduler.
const LATE_MIN: Duration = Duration::from_millis(10);
/// The cause of a shorter delay is not determined.
const EXPLAINED_MIN: Duration = Duration::from_millis(1);
/// A shorter stop in an interval is not significant.
const STOPPED_MIN: Duration = Duration::from_millis(50);
/// Nanoseconds per tick of `USER_HZ`, which is 100 on all Linux architectures except alpha and ia64.
const TICK_NS: u64 = 10_000_000;

/// The values of one node in one interval. The fields are those of [`LoadRow`].
#[expect(missing_docs, reason = "the row of the record says what they are")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadSample {
    pub start_ns: u64,
    pub length_ns: u64,
    pub busy_cpu_ns: Option<u64>,
    pub stolen_cpu_ns: Option<u64>,
    pub quota_periods: Option<u64>,
    pub throttled_periods: Option<u64>,
    pub cpu_wait_ns: Option<u64>,
    pub memory_stall_ns: Option<u64>,
    pub stopped_ns: u64,
    pub blocked_threads: u32,
    pub blocked_in: String,
}

impl LoadSample {
    /// Converts the sample to a row of the record for this node.
    #[must_use]
    pub fn into_row(self, key: PhaseKey, node: &str) -> LoadRow {
        LoadRow {
            key,
            node: node.into(),
            start_ns: self.start_ns,
            length_ns: self.length_ns,
            busy_cpu_ns: self.busy_cpu_ns,
            stolen_cpu_ns: self.stolen_cpu_ns,
            quota_periods: self.quota_periods,
            throttled_periods: self.throttled_periods,
            cpu_wait_ns: self.cpu_wait_ns,
            memory_stall_ns: self.memory_stall_ns,
            stopped_ns: self.stopped_ns,
            blocked_threads: self.blocked_threads,
            blocked_in: self.blocked_in.into(),
        }
    }
}

/// The node's counter values at one time.
#[derive(Debug)]
struct Counted {
    at: Instant,
    cpu: Option<CpuTimes>,
    /// Number of periods and of throttled periods of each group, innermost first.
    quotas: Vec<(u64, u64)>,
    waited: RunQueueDelay,
    memory_stall_ns: Option<u64>,
}

/// Time that threads have waited for a processor.
#[derive(Debug, Clone, Default)]
struct RunQueueDelay {
    /// Waiting time of each sampled thread in nanoseconds.
    threads: HashMap<u32, u64>,
    /// Only threads whose number is a multiple of this power of two were sampled.
    step: u32,
}

/// Watches a node. Used by the thread that calls [`LoadWatch::sample`].
#[derive(Debug)]
pub(crate) struct LoadWatch {
    root: Root,
    /// The file `cpu.stat` of each control group of this process.
    quota_files: Vec<String>,
    /// The file with the memory pressure of this process's control group.
    pressure_file: Option<String>,
    /// The run's processes on this node.
    processes: BTreeSet<u32>,
    last: Counted,
    /// Last reading of the time that the sampling thread has waited for a processor.
    own_waited_ns: u64,
    /// How long the process has been stopped since the last sample: the delays that are not explained by
    /// waiting for a processor.
    stopped: Duration,
}

impl LoadWatch {
    /// Starts watching. This process and `mates` are the processes of the run.
    pub(crate) fn new(root: &Root, mates: &BTreeSet<u32>) -> Self {
        let mounts = root.read("/proc/self/mountinfo").map(|text| mounts::parse(&text)).unwrap_or_default();
        let groups = |controller| Groups::of(root, &mounts, controller);
        let file = |directory: &std::path::PathBuf, name| directory.join(name).display().to_string();
        let quotas = groups("cpu").into_iter().flat_map(|all| all.directories);
        let group = groups("memory").and_then(|all| all.directories.into_iter().next());
        // The value of the root group is that of the whole node, and others may have caused it. Only the
        // root group lacks `cgroup.events`.
        let own = group.filter(|group| root.read(&file(group, "cgroup.events")).is_ok());
        let mut processes = mates.clone();
        processes.insert(std::process::id());
        let mut watch = Self {
            // The sampling thread has not waited for a processor yet.
            own_waited_ns: 0,
            stopped: Duration::ZERO,
            quota_files: quotas.map(|group| file(&group, "cpu.stat")).collect(),
            pressure_file: own.map(|group| file(&group, "memory.pressure")),
            processes,
            root: root.clone(),
            last: Counted {
                at: Instant::now(),
                cpu: None,
                quotas: Vec::new(),
                waited: RunQueueDelay::default(),
                memory_stall_ns: None,
            },
        };
        watch.last = watch.counted();
        watch
    }

    /// Checks the clock, in the sampling thread. The check was due `late` ago.
    pub(crate) fn look(&mut self, late: Duration) {
        if late < EXPLAINED_MIN {
            return;
        }
        let (late, least) = match self.own_wait() {
            Some(waited) => (late.saturating_sub(waited), LATE_MIN),
            None => (late, STOPPED_MIN),
        };
        if late >= least {
            // On average a stop began halfway between two checks.
            self.stopped += late + LOOK / 2;
        }
    }

    /// How long the sampling thread has waited for a processor since the last call.
    fn own_wait(&mut self) -> Option<Duration> {
        let waited_ns = waited_ns(&self.root.read("/proc/thread-self/schedstat").ok()?)?;
        let last = std::mem::replace(&mut self.own_waited_ns, waited_ns);
        Some(Duration::from_nanos(waited_ns.saturating_sub(last)))
    }

    /// Returns the changes since the last sample, or since the start. `idle` means that there are devices and
    /// that none of them had a request.
    pub(crate) fn sample(&mut self, started: Instant, idle: bool) -> LoadSample {
        // Short waits in this interval must not explain a stop in the next one.
        let _ = self.own_wait();
        let mut now = self.counted();
        now.waited.threads.remove(&rustix::thread::gettid().as_raw_pid().unsigned_abs());
        let last = std::mem::replace(&mut self.last, now);
        let now = &self.last;
        let cpu = now.cpu.zip(last.cpu);
        let quota = most_throttled(&now.quotas, &last.quotas);
        let stolen_cpu_ns = cpu.map(|(now, last)| now.stolen_ticks_since(&last) * TICK_NS);
        let length = now.at.duration_since(last.at);
        // A delay is also explained by time stolen by a hypervisor.
        let stolen = Duration::from_nanos(stolen_cpu_ns.unwrap_or(0));
        let stopped = std::mem::take(&mut self.stopped).saturating_sub(stolen);
        let throttled = quota.is_some_and(|(_, throttled)| throttled > 0);
        let stopped = if throttled || stopped < STOPPED_MIN { Duration::ZERO } else { stopped };
        let stopped = if self.has_stopped_mate() { length } else { stopped };
        let (blocked_threads, blocked_in) = if idle { self.blocked() } else { (0, String::new()) };
        LoadSample {
            start_ns: nanoseconds(last.at.duration_since(started)),
            length_ns: nanoseconds(length),
            busy_cpu_ns: cpu.map(|(now, last)| now.busy_ticks_since(&last) * TICK_NS),
            stolen_cpu_ns,
            quota_periods: quota.map(|(periods, _)| periods),
            throttled_periods: quota.map(|(_, throttled)| throttled),
            cpu_wait_ns: waited_since(&now.waited, &last.waited),
            memory_stall_ns: now.memory_stall_ns.zip(last.memory_stall_ns).map(|(a, b)| a.saturating_sub(b)),
            stopped_ns: nanoseconds(stopped),
            blocked_threads,
            blocked_in,
        }
    }

    fn counted(&self) -> Counted {
        let quota = |path: &String| {
            let text = self.root.read(path).ok()?;
            Some((number_after(&text, "nr_periods")?, number_after(&text, "nr_throttled")?))
        };
        Counted {
            at: Instant::now(),
            cpu: CpuTimes::read(&self.root).ok(),
            quotas: self.quota_files.iter().map(|path| quota(path).unwrap_or_default()).collect(),
            waited: self.waited(),
            memory_stall_ns: self.memory_stall_ns(),
        }
    }

    /// The run's threads, as process and thread, or only those whose number is a multiple of a power of
    /// two. Also returns that power.
    fn threads(&self) -> (Vec<(u32, u32)>, u32) {
        let of = |process: &u32| {
            let entries = std::fs::read_dir(self.root.path(format!("/proc/{process}/task")));
            let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
            names.filter_map(|name| Some((*process, name.to_str()?.parse().ok()?))).collect::<Vec<_>>()
        };
        let mut all: Vec<(u32, u32)> = self.processes.iter().flat_map(of).collect();
        // Threads are selected by number, so that threads which start or end do not change the selection
        // of the others.
        let step =
            u32::try_from(all.len().div_ceil(THREADS_MAX)).unwrap_or(u32::MAX >> 1).next_power_of_two();
        all.retain(|(_, id)| id % step == 0);
        (all, step)
    }

    fn waited(&self) -> RunQueueDelay {
        let of = |(process, thread): (u32, u32)| {
            let text = self.root.read(&format!("/proc/{process}/task/{thread}/schedstat")).ok()?;
            Some((thread, waited_ns(&text)?))
        };
        let (threads, step) = self.threads();
        RunQueueDelay { threads: threads.into_iter().filter_map(of).collect(), step }
    }

    /// Parses the total of the first line, in microseconds: `some avg10=0.00 avg60=0.00 avg300=0.00
    /// total=13`.
    fn memory_stall_ns(&self) -> Option<u64> {
        let text = self.root.read(self.pressure_file.as_ref()?).ok()?;
        let total = text.lines().find(|line| line.starts_with("some "))?.rsplit_once("total=")?.1;
        Some(total.trim().parse::<u64>().ok()?.saturating_mul(1000))
    }

    /// Whether another process of the run is stopped at this moment.
    fn has_stopped_mate(&self) -> bool {
        let of = |process: &u32| state(&self.root.read(&format!("/proc/{process}/stat")).ok()?);
        let own = std::process::id();
        self.processes.iter().filter(|process| **process != own).any(|process| of(process) == Some('T'))
    }

    /// Number of threads in uninterruptible sleep, and what blocks most of them.
    fn blocked(&self) -> (u32, String) {
        let mut held: HashMap<String, u32> = HashMap::new();
        let (threads, step) = self.threads();
        for (process, thread) in threads {
            let read = |name| self.root.read(&format!("/proc/{process}/task/{thread}/{name}")).ok();
            if read("stat").is_some_and(|stat| state(&stat) == Some('D')) {
                *held.entry(read("wchan").unwrap_or_default()).or_default() += 1;
            }
        }
        let most = held.iter().max_by_key(|(name, count)| (**count, name.len()));
        let most = most.map(|(name, _)| name.trim().trim_start_matches('0').to_owned()).unwrap_or_default();
        let count: u32 = held.values().sum();
        (count.saturating_mul(step), most)
    }
}

/// The state in a line of `stat`. The command name before it, in parentheses, may contain any characters.
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// The second number in `schedstat`: time spent waiting on a run queue, in nanoseconds.
fn waited_ns(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn number_after(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Number of periods and of throttled periods of the group with the most throttled periods.
fn most_throttled(now: &[(u64, u64)], last: &[(u64, u64)]) -> Option<(u64, u64)> {
    let since =
        now.iter().zip(last).map(|(now, last)| (now.0.saturating_sub(last.0), now.1.saturating_sub(last.1)));
    since.filter(|(periods, _)| *periods > 0).max_by_key(|(_, throttled)| *throttled)
}

/// Sum over the current threads. A new thread counts from its start.
fn waited_since(now: &RunQueueDelay, last: &RunQueueDelay) -> Option<u64> {
    // Both are powers of two, so multiples of the larger one were sampled both times.
    let step = now.step.max(last.step).max(1);
    let since =
        |(thread, now): (&u32, &u64)| now.saturating_sub(last.threads.get(thread).copied().unwrap_or(0));
    let waited = now.threads.iter().filter(|(thread, _)| *thread % step == 0).map(since);
    let sum = waited.fold(None, |sum: Option<u64>, one| Some(sum.unwrap_or(0).saturating_add(one)))?;
    Some(sum.saturating_mul(u64::from(step)))
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::{Duration, Instant};

    use super::{LoadSample, LoadWatch, RunQueueDelay, waited_since};
    use crate::fake::Tree;

    /// A host whose process 7 of the run has a thread of this state that has waited `waited_ns`, and whose group was
    /// throttled in `throttled` of 10 periods.
    fn host(tree: Tree, state: char, waited_ns: u64, throttled: u64) -> Tree {
        let cpu = format!("cpu  {throttled} 0 1 50 0 0 0 2 0 0\n");
        let quota = format!("nr_periods {}\nnr_throttled {throttled}\n", throttled + 3);
        let pressure = format!("some avg10=0.00 total={throttled}\nfull avg10=0.00 total=0\n");
        tree.files(&[
            ("/proc/stat", &cpu),
            ("/proc/self/cgroup", "3:cpu:/job\n0::/job\n"),
            (
                "/proc/self/mountinfo",
                "1 0 0:1 / /cg/cpu rw - cgroup cgroup rw,cpu\n2 0 0:2 / /cg/unified rw - cgroup2 cgroup2 rw\n",
            ),
            ("/cg/cpu/job/cpu.stat", &quota),
            ("/cg/cpu/cpu.stat", "nr_periods 0\nnr_throttled 0\n"),
            ("/cg/unified/job/cgroup.events", "populated 1\n"),
            ("/cg/unified/job/memory.pressure", &pressure),
            ("/cg/unified/memory.pressure", &pressure),
            ("/proc/pressure/memory", &pressure),
            ("/proc/7/stat", &format!("7 (a ) b) {state} 1 1")),
            ("/proc/7/task/9/stat", &format!("9 (a ) b) {state} 1 1")),
            ("/proc/7/task/9/schedstat", &format!("5 {waited_ns} 3\n")),
            ("/proc/7/task/9/wchan", "percpu_rwsem_wait"),
        ])
    }

    /// The sample between two states of a host.
    fn sample(state: char, late: Duration, idle: bool, throttled: u64) -> LoadSample {
        let tree = host(Tree::new(&[]), 'S', 1_000, 0);
        let started = Instant::now();
        let mut watch = LoadWatch::new(tree.root(), &BTreeSet::from([7]));
        let tree = host(tree, state, 5_000, throttled);
        watch.look(late);
        let sample = watch.sample(started, idle);
        drop(tree);
        sample
    }

    #[test]
    fn counters_are_told_as_what_was_added() {
        let seen = sample('R', Duration::ZERO, false, 4);
        assert_eq!((seen.busy_cpu_ns, seen.stolen_cpu_ns), (Some(40_000_000), Some(0)));
        assert_eq!((seen.quota_periods, seen.throttled_periods), (Some(4), Some(4)));
        assert_eq!((seen.cpu_wait_ns, seen.memory_stall_ns), (Some(4_000), Some(4_000)));
        assert_eq!((seen.stopped_ns, seen.blocked_threads, &*seen.blocked_in), (0, 0, ""));
    }

    #[test]
    fn a_late_look_is_a_stop_unless_the_quota_was_used_up() {
        let late = Duration::from_secs(3);
        assert_eq!(sample('R', late, false, 0).stopped_ns, 3_010_000_000);
        assert_eq!(sample('R', late, false, 4).stopped_ns, 0);
        assert_eq!(sample('R', Duration::from_millis(39), false, 0).stopped_ns, 0, "a late wake-up");
        let mate = sample('T', Duration::ZERO, false, 0);
        assert_eq!(mate.stopped_ns, mate.length_ns, "another process of the run is stopped");
    }

    #[test]
    fn many_short_stops_are_as_long_as_their_sum() {
        let tree = host(Tree::new(&[]), 'S', 0, 0).files(&[("/proc/thread-self/schedstat", "5 0 3\n")]);
        let mut watch = LoadWatch::new(tree.root(), &BTreeSet::new());
        (0..10).for_each(|_| watch.look(Duration::from_millis(30)));
        (0..100).for_each(|_| watch.look(Duration::from_millis(9)));
        assert_eq!(watch.sample(Instant::now(), false).stopped_ns, 400_000_000);
        assert_eq!(watch.sample(Instant::now(), false).stopped_ns, 0);
    }

    #[test]
    fn stolen_time_explains_a_late_look() {
        let tree = host(Tree::new(&[]), 'S', 0, 0);
        let mut watch = LoadWatch::new(tree.root(), &BTreeSet::from([7]));
        let tree = tree.files(&[("/proc/stat", "cpu  0 0 1 50 0 0 0 102 0 0\n")]);
        watch.look(Duration::from_secs(1));
        let seen = watch.sample(Instant::now(), false);
        drop(tree);
        assert_eq!((seen.stolen_cpu_ns, seen.stopped_ns), (Some(1_000_000_000), 0));
    }

    #[test]
    fn pressure_on_the_memory_of_the_node_is_not_that_of_the_run() {
        let tree = host(Tree::new(&[]), 'S', 0, 0).files(&[("/proc/self/cgroup", "0::/\n")]);
        let mut watch = LoadWatch::new(tree.root(), &BTreeSet::new());
        assert_eq!(watch.sample(Instant::now(), false).memory_stall_ns, None);
    }

    #[test]
    fn a_thread_that_is_made_in_an_interval_has_waited_in_it() {
        let tree = host(Tree::new(&[]), 'S', 1_000, 0);
        let mut watch = LoadWatch::new(tree.root(), &BTreeSet::from([7]));
        let tree = host(tree, 'S', 5_000, 0).files(&[("/proc/7/task/12/schedstat", "5 7000 3\n")]);
        let seen = watch.sample(Instant::now(), false);
        drop(tree);
        assert_eq!(seen.cpu_wait_ns, Some(4_000 + 7_000));
    }

    #[test]
    fn of_many_threads_those_count_that_were_looked_at_both_times() {
        let all = |step: u32, each: u64| RunQueueDelay {
            threads: (1..=1000).filter(|thread| thread % step == 0).map(|thread| (thread, each)).collect(),
            step,
        };
        assert_eq!(waited_since(&all(4, 9), &all(1, 2)), Some(7 * 1000));
        assert_eq!(waited_since(&all(1, 9), &all(4, 2)), Some(7 * 1000), "the others had waited before");
        let few = RunQueueDelay { threads: [(2, 50)].into(), step: 1 };
        assert_eq!(waited_since(&all(4, 9), &few), Some(9 * 1000), "threads of the phase are new");
        assert_eq!(waited_since(&RunQueueDelay::default(), &few), None);
    }

    #[test]
    fn threads_that_the_kernel_holds_are_told_where_no_device_has_a_request() {
        let seen = sample('D', Duration::ZERO, true, 0);
        assert_eq!((seen.blocked_threads, &*seen.blocked_in), (1, "percpu_rwsem_wait"));
        assert_eq!(sample('D', Duration::ZERO, false, 0).blocked_threads, 0);
        assert_eq!(sample('S', Duration::ZERO, true, 0).blocked_threads, 0);
    }
}
