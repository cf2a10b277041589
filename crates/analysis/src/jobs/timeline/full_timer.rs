//! What SAS calls FULLSTIMER: real time, CPU time, memory and I/O of each launch and each step, and whether the
//! parts add up to the whole.

use std::sync::Arc;

use plan::{Bytes, Phase};
use record::{PhaseKey, Run, StepRow};

use super::launch_timer::{
    CPU_AGREES_NS, CPU_AGREES_SHARE, LaunchTimer, Launches, cpu_ns, launch_timers, real_ns,
};
use super::{Timeline, complete, in_seconds};
use crate::audit::{AuditIssue, Check};
use crate::figures::Figure;
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, below, bytes, count, detail, flag, nanos, text, word},
};

/// The bytes reported by launches and those sampled each second agree if they differ by at most this share.
const BYTES_AGREE_SHARE: f64 = 0.01;

/// A launch, or a step of one, with its pass.
#[derive(Debug, Clone, PartialEq)]
pub struct FullTimer {
    /// Whether the pass is part of a figure.
    counts: bool,
    /// For an interrupted pass: the number of the start of the case that it belongs to, starting at 1, and the
    /// number of launches of a full pass.
    attempt: Option<(u32, u64)>,
    launch: Arc<LaunchTimer>,
    /// The index of the step. `None` for the launch as a whole.
    step: Option<usize>,
}

impl FullTimer {
    fn key(&self) -> &PhaseKey {
        &self.launch.row.key
    }

    fn step(&self) -> Option<&StepRow> {
        self.launch.steps.get(self.step?)
    }

    fn took(&self) -> &StepRow {
        self.step().unwrap_or(&self.launch.whole)
    }

    /// The launch, if this is one.
    fn whole(&self) -> Option<&LaunchTimer> {
        self.step.is_none().then_some(&self.launch)
    }

    /// How it ended, if it did not end normally.
    fn ended(&self) -> String {
        let Some(launch) = self.whole() else { return String::new() };
        let (outcome, message) = (&launch.row.outcome, &launch.row.message);
        match launch.cpu_agrees() {
            Some(false) => "CPU of steps differs".to_owned(),
            _ if complete(&launch.row) => String::new(),
            _ if message.is_empty() => outcome.to_string(),
            _ => format!("{outcome}: {message}"),
        }
    }
}

impl Statement for FullTimer {
    const KIND: Kind = Kind::FullTimer;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str =
        "Each launch, as the kernel accounts for its process, followed by its steps";
    const COLUMNS: &'static [Column<Self>] = &[
        detail(text("case", "case", "The case.", |one| one.key().case.to_string())),
        detail(word("phase", "phase", "`jobs`, or `load` of a pass that was cut off.", |one| {
            one.key().phase.name()
        })),
        detail(count("repetition", "repetition", "The number of the pass, from 0.", |one| {
            Some(one.key().repetition.into())
        })),
        detail(flag("counts", "counts", "Whether the figure includes it.", |one| Some(one.counts))),
        detail(count(
            "attempt",
            "attempt",
            "Which start of the case a pass that was cut off belongs to, from 1.",
            |one| Some(one.attempt?.0.into()),
        )),
        count("launch", "launch", "Its number.", |one| Some(one.launch.row.launch.into())),
        word("test", "test", "Its test.", |one| &one.launch.row.test),
        detail(word("kind", "kind", "`computation`, `memory` or `io`.", |one| &one.launch.row.kind)),
        detail(count("stream", "stream", "Which data it worked on, from 0.", |one| {
            Some(one.launch.row.stream.into())
        })),
        detail(count("round", "round", "Its number among the launches of its stream, from 0.", |one| {
            Some(one.launch.row.round.into())
        })),
        count("step", "step", "Its number, from 0; empty for the launch as a whole.", |one| {
            Some(one.step()?.step.into())
        }),
        text("action", "does", "What the step did.", |one| one.took().action.to_string()),
        detail(count("threads", "threads", "Threads of the step.", |one| Some(one.step()?.threads.into()))),
        nanos("start_ns", "start", "Since the start of the phase.", |one| Some(one.took().start_ns as f64)),
        nanos("real_ns", "real", "From its start to its end.", |one| Some(real_ns(one.took()) as f64)),
        nanos("user_cpu_ns", "user", "CPU time in user mode.", |one| Some(one.took().user_cpu_ns as f64)),
        nanos("system_cpu_ns", "system", "CPU time in the kernel.", |one| {
            Some(one.took().system_cpu_ns as f64)
        }),
        bytes("memory_bytes", "memory", "Peak of resident memory.", |one| Some(one.took().peak_memory_bytes)),
        detail(bytes("block_input_bytes", "block input bytes", "Read from storage for it.", |one| {
            Some(one.took().block_input_bytes)
        })),
        detail(bytes("block_output_bytes", "block output bytes", "Written to storage for it.", |one| {
            Some(one.took().block_output_bytes)
        })),
        count("voluntary_switches", "waits", "Context switches because it waited.", |one| {
            Some(one.took().voluntary_switches)
        }),
        count("involuntary_switches", "preempted", "Context switches because its time slice ended.", |one| {
            Some(one.took().involuntary_switches)
        }),
        detail(bytes("permanent_read_bytes", "permanent read bytes", "Read from permanent space.", |one| {
            Some(one.took().permanent_read_bytes)
        })),
        detail(bytes("permanent_write_bytes", "permanent write bytes", "Written to it.", |one| {
            Some(one.took().permanent_write_bytes)
        })),
        detail(bytes("work_read_bytes", "work read bytes", "Read from work space.", |one| {
            Some(one.took().work_read_bytes)
        })),
        detail(bytes("work_write_bytes", "work write bytes", "Written to it.", |one| {
            Some(one.took().work_write_bytes)
        })),
        detail(bytes("utility_read_bytes", "utility read bytes", "Read from utility space.", |one| {
            Some(one.took().utility_read_bytes)
        })),
        detail(bytes("utility_write_bytes", "utility write bytes", "Written to it.", |one| {
            Some(one.took().utility_write_bytes)
        })),
        detail(count("rows_in", "rows in", "Rows that the step read.", |one| Some(one.step()?.rows_in))),
        detail(count("rows_out", "rows out", "Rows that it wrote or left.", |one| {
            Some(one.step()?.rows_out)
        })),
        detail(nanos(
            "start_cost_ns",
            "start cost",
            "From the start of the launch until its first step.",
            |one| Some(one.whole()?.row.start_cost_ns as f64),
        )),
        detail(nanos("group_cpu_ns", "group", "CPU time of the control group of the launch.", |one| {
            Some(one.whole()?.row.group_cpu_ns? as f64)
        })),
        detail(flag(
            "cpu_agrees",
            "cpu agrees",
            "Whether the CPU times of its steps and its control group agree with that of its process.",
            |one| one.whole()?.cpu_agrees(),
        )),
        detail(word("ended", "ended", "`complete`, or how it ended otherwise.", |one| {
            one.whole().map_or("", |launch| &launch.row.outcome)
        })),
        detail(word("message", "message", "Why it is not complete.", |one| {
            one.whole().map_or("", |launch| &launch.row.message)
        })),
        below(text("problem", "problem", "How it ended, or what does not agree.", Self::ended)),
    ];

    fn part(&self) -> Option<String> {
        let PhaseKey { case, phase, repetition } = self.key();
        Some(match self.attempt {
            Some((attempt, _)) => {
                format!("case {case}, {phase}, pass {repetition}, attempt {attempt}, which was cut off")
            }
            None => format!("case {case}, pass {repetition}"),
        })
    }

    fn notes(all: &[&Self]) -> Vec<String> {
        let launches: Vec<&&Self> = all.iter().filter(|one| one.step.is_none()).collect();
        let judged: Vec<bool> = launches.iter().filter_map(|one| one.launch.cpu_agrees()).collect();
        let agreement = || {
            format!(
                "CPU time of the steps of {} of {} complete launches agrees with that of their process (by \
             wait4) and of its control group, within {} % or {} ms, whichever is more.",
                judged.iter().filter(|agrees| **agrees).count(),
                judged.len(),
                CPU_AGREES_SHARE * 100.0,
                CPU_AGREES_NS / 1_000_000
            )
        };
        let mut notes: Vec<String> = (!judged.is_empty()).then(agreement).into_iter().collect();
        notes.extend(launches.chunk_by(|a, b| (a.key(), a.attempt) == (b.key(), b.attempt)).filter_map(|pass| {
            let (_, planned) = pass[0].attempt?;
            let complete = pass.iter().filter(|one| complete(&one.launch.row)).count();
            Some(format!(
                "C{}: {} of {planned} launches had ended, {complete} complete. No figure, sum, ratio or verdict is made of them.",
                &pass[0].part()?[1..],
                pass.len()
            ))
        }));
        notes
    }
}

/// Launches and steps of `timelines`, followed by those of interrupted passes of `run`.
pub(crate) fn full_timers(run: &Run, gate: &Gate<'_>, timelines: &[Timeline]) -> Vec<Stated<FullTimer>> {
    let mut all = Vec::new();
    let mut put = |inputs: &[usize], counts: bool, attempt: Option<(u32, u64)>, launches: &Launches| {
        for launch in launches {
            for step in std::iter::once(None).chain((0..launch.steps.len()).map(Some)) {
                let one = FullTimer { counts, attempt, launch: Arc::clone(launch), step };
                all.push(gate.state(inputs.to_vec(), one));
            }
        }
    };
    for one in timelines {
        put(&[one.figure], one.counts, None, &one.launches);
    }
    for one in &run.interrupted {
        let planned = planned(run, &one.key).unwrap_or(one.launches.len() as u64);
        let launches = launch_timers(one.launches.iter(), one.steps.iter());
        put(&[], false, Some((one.attempt, planned)), &launches);
    }
    all
}

/// The number of launches in a pass, according to the plan.
fn planned(run: &Run, key: &PhaseKey) -> Option<u64> {
    let case = run.manifest.plan.cases.iter().find(|case| *case.id == *key.case)?;
    let jobs = case.workload.work.jobs()?;
    Some(match key.phase {
        Phase::Load => jobs.tables.iter().map(|table| u64::from(jobs.replicas(&table.name))).sum(),
        _ => jobs.launch_count(),
    })
}

/// The inconsistencies in `timelines`: one doubt for each pass and kind.
pub(crate) fn doubts(timelines: &[Timeline], figures: &[Figure]) -> Vec<AuditIssue> {
    let of_pass = |one: &Timeline| {
        let doubt = |evidence: String, advice: &str| AuditIssue {
            check: Check::Accounts,
            figure: Some(one.figure),
            commitment: None,
            concerns: format!("{}, repetition {}", figures[one.figure].conditions, one.repetition + 1),
            evidence,
            advice: advice.to_owned(),
            severity: 0.0,
        };
        let cpu = "the launch did work outside its steps, or the kernel counts CPU time by ticks";
        let memory =
            "the memory of a launch is at least that of its largest step: read the rows of the steps";
        let bytes = "a job was killed between two samples of its counters; the launches' own sums are right";
        [(cpu_apart(one), cpu), (memory_apart(one), memory), (bytes_apart(one), bytes)]
            .map(|(told, advice)| told.map(|told| doubt(told, advice)))
    };
    timelines.iter().flat_map(of_pass).flatten().collect()
}

/// The launches whose CPU time differs from that of their steps, if there are any.
fn cpu_apart(one: &Timeline) -> Option<String> {
    let apart: Vec<_> = one.launches.iter().filter(|launch| launch.cpu_agrees() == Some(false)).collect();
    let worst = apart.iter().max_by_key(|launch| launch.cpu_apart_ns())?;
    let seconds = |of: u64| format!("{:.3} s", in_seconds(of));
    let group = worst.row.group_cpu_ns.map(|group| format!(", its control group {}", seconds(group)));
    Some(format!(
        "CPU time of {} of {} launches differs from that of their steps; launch {} ({}): steps {}, process \
         {}{}",
        apart.len(),
        one.launches.len(),
        worst.row.launch,
        worst.row.test,
        seconds(worst.steps_ns()),
        seconds(cpu_ns(&worst.whole)),
        group.unwrap_or_default()
    ))
}

/// The launches whose memory is less than that of one of their steps, if there are any.
fn memory_apart(one: &Timeline) -> Option<String> {
    let missing =
        |launch: &LaunchTimer| launch.steps_memory_bytes().checked_sub(launch.row.peak_memory_bytes);
    let apart: Vec<_> = one.launches.iter().filter(|launch| missing(launch) > Some(0)).collect();
    let worst = apart.iter().max_by_key(|launch| missing(launch))?;
    Some(format!(
        "memory of {} of {} launches is less than that of one of their steps; launch {} ({}): {}, its step {}",
        apart.len(),
        one.launches.len(),
        worst.row.launch,
        worst.row.test,
        Bytes(worst.row.peak_memory_bytes),
        Bytes(worst.steps_memory_bytes())
    ))
}

/// The space whose per-second counts differ from those of its launches, if there is one.
fn bytes_apart(one: &Timeline) -> Option<String> {
    let sampled = |space: usize| one.seconds.iter().map(|second| second.of_spaces[space]).sum::<u64>();
    let of_space = |(place, space): (usize, &super::SpaceUse)| {
        let (sampled, told, name) = (sampled(place), space.bytes(), space.space);
        let apart = sampled.abs_diff(told) as f64 > told as f64 * BYTES_AGREE_SHARE;
        apart.then(|| format!("{name} space: launches moved {told} bytes, its samples add up to {sampled}"))
    };
    one.spaces.iter().enumerate().filter(|_| !one.seconds.is_empty()).find_map(of_space)
}
