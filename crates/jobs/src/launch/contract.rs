//! Contract of all launchers: an ended launch is reported before another one starts. Checked with simulated
//! processes and with real ones.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use host::{Root, RunGroups};
use plan::{JobSpace, Nanos};
use proptest::prelude::{prop_assert, proptest};

use super::fake::{FakeProcesses, Script};
use super::tests::{script, task};
use super::{
    Ending, LaunchOutcome, LaunchProgress, LaunchReport, LaunchRules, LaunchTask, LaunchWatch, Launched,
    News, Processes, Program, RealProcesses, launch,
};
use crate::Counters;

/// Recorded events, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchEvent {
    Started(u32),
    /// Its process has ended, or could not be started.
    Over(u32),
    Told(u32),
}

type Log = RefCell<Vec<WatchEvent>>;

/// Processes whose starts and ends are logged.
struct Logged<'a, P>(P, &'a Log);

impl<P: Processes> Processes for Logged<'_, P> {
    fn now_ns(&self) -> u64 {
        self.0.now_ns()
    }

    fn start(&mut self, task: &LaunchTask) -> Result<(), String> {
        let launch = task.order.launch;
        self.1.borrow_mut().push(WatchEvent::Started(launch));
        self.0.start(task).inspect_err(|_| self.1.borrow_mut().push(WatchEvent::Over(launch)))
    }

    fn wait(&mut self, most: Duration) -> Vec<News> {
        let news = self.0.wait(most);
        let ended = |news: &News| match news {
            News::Ended { launch, .. } => Some(WatchEvent::Over(*launch)),
            _ => None,
        };
        self.1.borrow_mut().extend(news.iter().filter_map(ended));
        news
    }

    fn counters(&self, launch: u32) -> Counters {
        self.0.counters(launch)
    }

    fn end(&mut self, launch: u32, how: Ending) {
        self.0.end(launch, how);
    }

    fn free_bytes(&self) -> [Option<u64>; 3] {
        self.0.free_bytes()
    }

    fn own_cpu_ns(&self) -> u64 {
        self.0.own_cpu_ns()
    }
}

/// Logs reported launches; its log is full after `full_at` launches.
struct LoggingWatch<'a> {
    log: &'a Log,
    full_at: usize,
}

impl LaunchWatch for LoggingWatch<'_> {
    fn is_stopped(&self) -> bool {
        self.full_at == 0
    }

    fn ended(&mut self, ended: &[&LaunchReport]) {
        self.full_at = self.full_at.saturating_sub(ended.len());
        self.log.borrow_mut().extend(ended.iter().map(|one| WatchEvent::Told(one.launch)));
    }

    fn progress(&mut self, _: LaunchProgress) {}
}

fn launched(
    tasks: &[LaunchTask],
    most: u32,
    processes: impl Processes,
    full_at: usize,
) -> (Launched, Vec<WatchEvent>) {
    let log = Log::default();
    let rules = LaunchRules { concurrency: most, limit: None, interval: Nanos::millis(50) };
    let launched =
        launch(tasks, rules, &mut Logged(processes, &log), &mut LoggingWatch { log: &log, full_at });
    (launched, log.into_inner())
}

/// Whether each ended launch had been reported when the next one started, and all were at the end.
fn is_kept(log: &[WatchEvent], launches: usize) -> bool {
    let mut untold: Vec<u32> = Vec::new();
    let mut told: Vec<u32> = Vec::new();
    for seen in log {
        match seen {
            WatchEvent::Started(_) if !untold.is_empty() => return false,
            WatchEvent::Started(_) => {}
            WatchEvent::Over(launch) => untold.push(*launch),
            WatchEvent::Told(launch) => {
                untold.retain(|one| one != launch);
                told.push(*launch);
            }
        }
    }
    told.sort_unstable();
    untold.is_empty() && told.len() == launches && told.windows(2).all(|two| two[0] < two[1])
}

/// Nothing started after the log was full, and running launches were ended.
fn ends_when_full(launched: &Launched, log: &[WatchEvent], full_at: usize) {
    let told = |seen: &WatchEvent| matches!(seen, WatchEvent::Told(_));
    let full = log.iter().enumerate().filter(|(_, seen)| told(seen)).nth(full_at - 1).map(|(place, _)| place);
    let after = &log[full.expect("it was filled")..];
    assert!(!after.iter().any(|seen| matches!(seen, WatchEvent::Started(_))), "{log:?}");
    let stopped = launched.launches.iter().filter(|one| one.outcome == LaunchOutcome::Stopped).count();
    let complete = launched.launches.iter().filter(|one| one.outcome == LaunchOutcome::Complete).count();
    assert!(stopped > 0 && stopped + complete == launched.launches.len(), "{:?}", launched.launches);
}

/// Two chains of launches, each after its predecessor.
fn tasks(count: u32) -> Vec<LaunchTask> {
    (0..count)
        .map(|number| task(number, &number.checked_sub(2).map_or(Vec::new(), |one| vec![one])))
        .collect()
}

proptest! {
    #[test]
    fn the_fake_tells_each_end_before_the_next_start(
        scripts in proptest::collection::vec(script(), 1..20), refused in 0_u32..40, most in 0_u32..4,
    ) {
        let mut scripts: Vec<(u32, Script)> = (0_u32..).zip(scripts).collect();
        scripts.iter_mut().filter(|(number, _)| *number == refused).for_each(|(_, one)| one.refused = true);
        let tasks = tasks(u32::try_from(scripts.len()).unwrap());
        let (_, log) = launched(&tasks, most, FakeProcesses::new(&scripts), usize::MAX);
        prop_assert!(is_kept(&log, tasks.len()), "{:?}", log);
    }
}

#[test]
fn the_fake_ends_when_nothing_more_can_be_kept() {
    let scripts: Vec<(u32, Script)> =
        (0..9).map(|number| (number, Script::well(u64::from(number) + 5))).collect();
    let (launched, log) = launched(&tasks(9), 2, FakeProcesses::new(&scripts), 3);
    ends_when_full(&launched, &log, 3);
}

/// Shells that end after some milliseconds, in directories below `place`.
fn shells(place: &Path, count: u32, full_at: usize) -> (Launched, Vec<WatchEvent>) {
    let root = Root::default();
    let name = format!("contract-{}-{full_at}", std::process::id());
    let groups = RunGroups::make(&root, &name);
    let script =
        r#"read -r order; echo '{"event":"began","at_ns":0}'; sleep 0.0$(($$ % 7)); echo '{"event":"done"}'"#;
    let program = Program { path: "/bin/sh".into(), arguments: vec!["-c".to_owned(), script.to_owned()] };
    let mut tasks = tasks(count);
    for task in &mut tasks {
        let number = task.order.launch;
        task.order.directories = JobSpace::ALL.map(|space| place.join(format!("{space}.{number}")));
    }
    let spaces = JobSpace::ALL.map(|_| place.to_owned());
    let done = launched(&tasks, 3, RealProcesses::new(&program, &groups, spaces), full_at);
    groups.remove().unwrap();
    done
}

#[test]
fn the_real_launcher_tells_each_end_before_the_next_start() {
    let place = tempfile::tempdir().unwrap();
    let (_, log) = shells(place.path(), 24, usize::MAX);
    assert!(is_kept(&log, 24), "{log:?}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn the_real_launcher_ends_when_nothing_more_can_be_kept() {
    let place = tempfile::tempdir().unwrap();
    let (launched, log) = shells(place.path(), 24, 7);
    ends_when_full(&launched, &log, 7);
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "what ran was ended and removed");
}
