//! Simulated processes: their actions are logged, and time only advances during waits.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Ending, LaunchTask, News, ProcessEnd, Processes};
use crate::{Counters, JobEvent};

pub(super) const MILLISECOND: u64 = 1_000_000;

/// Behaviour of a process.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// Run time.
    pub(super) length_ns: u64,
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) out_of_memory: bool,
    /// Events reported before its end.
    pub(super) events: Vec<JobEvent>,
    /// It ignores a request to end.
    pub(super) stubborn: bool,
    /// It cannot be started.
    pub(super) refused: bool,
    /// Output right after its start that is not an event.
    pub(super) garbled: Option<String>,
    /// Bytes read from permanent space, evenly over its run time.
    pub(super) read_bytes: u64,
}

impl Script {
    /// One step, completed successfully.
    pub(super) fn well(milliseconds: u64) -> Self {
        Self {
            length_ns: milliseconds * MILLISECOND,
            code: Some(0),
            signal: None,
            out_of_memory: false,
            events: vec![JobEvent::Step(Box::default()), JobEvent::Done],
            stubborn: false,
            refused: false,
            garbled: None,
            read_bytes: 0,
        }
    }
}

struct One {
    script: Script,
    start_ns: u64,
    end_ns: u64,
    told: bool,
    signal: Option<i32>,
}

/// All simulated processes.
#[derive(Default)]
pub(super) struct FakeProcesses {
    scripts: BTreeMap<u32, Script>,
    running: BTreeMap<u32, One>,
    now_ns: u64,
    /// In order of their starts.
    pub(super) started: Vec<u32>,
    /// Maximum number running at a time.
    pub(super) most: usize,
    /// The launches ended, and how.
    pub(super) ended: Vec<(u32, Ending)>,
}

impl FakeProcesses {
    /// Processes that follow `scripts`; one without a script succeeds after 10 ms.
    pub(super) fn new(scripts: &[(u32, Script)]) -> Self {
        Self { scripts: scripts.iter().cloned().collect(), ..Self::default() }
    }

    fn moved(&self, one: &One, now_ns: u64) -> Counters {
        let share = (now_ns - one.start_ns).min(one.script.length_ns) as f64 / one.script.length_ns as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small u64")]
        let bytes = (one.script.read_bytes as f64 * share) as u64;
        Counters { read_bytes: [bytes, 0, 0], ..Counters::default() }
    }
}

impl Processes for FakeProcesses {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn start(&mut self, task: &LaunchTask) -> Result<(), String> {
        let launch = task.order.launch;
        let script = self.scripts.get(&launch).cloned().unwrap_or_else(|| Script::well(10));
        if script.refused {
            return Err("no such program".to_owned());
        }
        self.started.push(launch);
        let end_ns = self.now_ns + script.length_ns;
        let one = One { script, start_ns: self.now_ns, end_ns, told: false, signal: None };
        self.running.insert(launch, one);
        self.most = self.most.max(self.running.len());
        Ok(())
    }

    fn wait(&mut self, most: Duration) -> Vec<News> {
        let mut news = Vec::new();
        for (launch, one) in &mut self.running {
            if !std::mem::replace(&mut one.told, true) {
                let event = JobEvent::Began { at_ns: one.start_ns + MILLISECOND };
                news.push(match one.script.garbled.clone() {
                    Some(text) => News::Garbled { launch: *launch, text },
                    None => News::Told { launch: *launch, event },
                });
            }
        }
        if !news.is_empty() {
            return news;
        }
        let until = self.now_ns + u64::try_from(most.as_nanos()).unwrap();
        let next = self.running.values().map(|one| one.end_ns).min().unwrap_or(until);
        self.now_ns = until.min(next);
        let over: Vec<u32> =
            self.running.iter().filter(|(_, one)| one.end_ns <= self.now_ns).map(|(n, _)| *n).collect();
        for launch in over {
            let one = self.running.remove(&launch).unwrap();
            let counters = self.moved(&one, self.now_ns);
            if one.signal.is_none() {
                let told = |event: &JobEvent| News::Told { launch, event: event.clone() };
                news.extend(one.script.events.iter().map(told));
            }
            let end = ProcessEnd {
                at_ns: self.now_ns,
                code: if one.signal.is_some() { None } else { one.script.code },
                signal: one.signal.or(one.script.signal),
                out_of_memory: one.script.out_of_memory,
                counters,
                ..ProcessEnd::default()
            };
            news.push(News::Ended { launch, end: Box::new(end) });
        }
        news
    }

    fn counters(&self, launch: u32) -> Counters {
        self.moved(&self.running[&launch], self.now_ns)
    }

    fn end(&mut self, launch: u32, how: Ending) {
        self.ended.push((launch, how));
        let Some(one) = self.running.get_mut(&launch) else { return };
        let signal = match how {
            Ending::Asked if one.script.stubborn => return,
            Ending::Asked => 15,
            Ending::Killed => 9,
        };
        (one.signal, one.end_ns) = (Some(signal), self.now_ns + MILLISECOND);
    }

    fn free_bytes(&self) -> [Option<u64>; 3] {
        [Some(1 << 40), None, None]
    }

    fn own_cpu_ns(&self) -> u64 {
        self.now_ns / 100
    }
}
