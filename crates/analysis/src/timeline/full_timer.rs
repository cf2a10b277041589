//! What SAS calls FULLSTIMER: real time, CPU time, memory and I/O of each launch and each step, and whether the
//! parts agree with the whole.

use std::sync::Arc;

use plan::{JobSpace, Phase};
use record::{LaunchRow, PhaseKey, PhaseRow, Run, StepRow};

use super::{Timeline, complete, ran};
use crate::gate::{Gate, Kind, Stated};
use crate::table::{Column, Of, Quantity, Statement, Value};
use crate::{Check, Doubt, Figure, Summary};

/// CPU times of a launch agree where they differ by less than this share of what the kernel tells of its process.
pub const CPU_AGREES_SHARE: f64 = 0.02;
/// So much they may always differ: what a process needs to begin and to end is no step's.
pub const CPU_AGREES_NS: u64 = 30_000_000;
/// Bytes that the launches tell of and those that were sampled each second agree within this share.
const BYTES_AGREE_SHARE: f64 = 0.01;

/// One row of FULLSTIMER.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timer {
    /// It began so long after the phase's common start.
    pub start_ns: u64,
    /// From start to end.
    pub real_ns: u64,
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// The most memory that was resident at a time.
    pub memory_bytes: u64,
    /// Bytes that the kernel read from storage for it.
    pub block_input_bytes: u64,
    /// Bytes that the kernel wrote, or will, for it.
    pub block_output_bytes: u64,
    /// Context switches since it waited.
    pub voluntary_switches: u64,
    /// Context switches since its time was over.
    pub involuntary_switches: u64,
    /// Bytes read from each space, in the order of [`JobSpace::ALL`].
    pub read_bytes: [u64; 3],
    /// Bytes written to each.
    pub write_bytes: [u64; 3],
}

impl Timer {
    /// User and system time.
    #[must_use]
    pub const fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// One launch.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchTimer {
    /// As recorded.
    pub row: LaunchRow,
    /// Of the process as a whole, as the kernel tells it.
    pub timer: Timer,
    /// Its steps.
    pub steps: Vec<StepTimer>,
    /// Whether their CPU times add up.
    pub cpu: CpuAgreement,
}

/// One step of a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTimer {
    /// As recorded.
    pub row: StepRow,
    /// Its row of FULLSTIMER.
    pub timer: Timer,
}

/// A launch, or a step of one, with the pass that it was in.
#[derive(Debug, Clone, PartialEq)]
pub struct FullTimer {
    /// The case, phase and number of the pass.
    pub pass: Arc<PhaseKey>,
    /// Whether a figure is made of it.
    pub counts: bool,
    /// Of a pass that was cut off: which start of the case it belongs to, from 1, and the launches of a whole pass.
    pub attempt: Option<(u32, u64)>,
    /// The launch.
    pub launch: Arc<LaunchTimer>,
    /// The place of the step; none of the launch as a whole.
    pub step: Option<usize>,
}

impl FullTimer {
    fn step(&self) -> Option<&StepTimer> {
        self.launch.steps.get(self.step?)
    }

    fn timer(&self) -> &Timer {
        self.step().map_or(&self.launch.timer, |step| &step.timer)
    }

    /// The launch, where it is one.
    fn whole(&self) -> Option<&LaunchTimer> {
        self.step.is_none().then_some(&self.launch)
    }

    /// How it ended, where that is not as it should be.
    fn ended(&self) -> String {
        let Some(launch) = self.whole() else { return String::new() };
        match (launch.row.outcome.as_str(), launch.cpu.agrees) {
            ("complete", Some(false)) => "CPU of steps differs".to_owned(),
            ("complete", _) => String::new(),
            (outcome, _) if launch.row.message.is_empty() => outcome.to_owned(),
            (outcome, _) => format!("{outcome}: {}", launch.row.message),
        }
    }

    /// A column of nanoseconds.
    const fn nanos(
        key: &'static str,
        heading: &'static str,
        get: fn(&Self) -> Value,
        about: &'static str,
    ) -> Column<Self> {
        Column::new(key, heading, Quantity::Nanos, get, about)
    }
}

impl Statement for FullTimer {
    const KIND: Kind = Kind::FullTimer;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str =
        "Each launch, as the kernel accounts for its process, and below it each of its steps";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("case", |one: &Self| one.pass.case.to_string(), "The case.").detail(),
        Column::text(
            "phase",
            |one: &Self| one.pass.phase.name().to_owned(),
            "`jobs`, or `load` of a pass that was cut off.",
        )
        .detail(),
        Column::count(
            "repetition",
            |one: &Self| Some(one.pass.repetition.into()),
            "The number of the pass, from 0.",
        )
        .detail(),
        Column::flag("counts", |one: &Self| Some(one.counts), "Whether the figure is made of it.").detail(),
        Column::count(
            "attempt",
            |one: &Self| Some(one.attempt?.0.into()),
            "Which start of the case a pass that was cut off belongs to, from 1.",
        )
        .detail(),
        Column::count("launch", |one: &Self| Some(one.launch.row.launch.into()), "Its number."),
        Column::text("test", |one: &Self| one.launch.row.test.clone(), "Its test."),
        Column::text("kind", |one: &Self| one.launch.row.kind.clone(), "`computation`, `memory` or `io`.")
            .detail(),
        Column::count(
            "stream",
            |one: &Self| Some(one.launch.row.stream.into()),
            "Which data it worked on, from 0.",
        )
        .detail(),
        Column::count(
            "round",
            |one: &Self| Some(one.launch.row.round.into()),
            "Which of the launches of its stream it was, from 0.",
        )
        .detail(),
        Column::count(
            "step",
            |one: &Self| Some(one.step()?.row.step.into()),
            "Its number, from 0; nothing of the launch as a whole.",
        ),
        Column::text(
            "action",
            |one: &Self| one.step().map(|step| step.row.action.clone()).unwrap_or_default(),
            "What the step did.",
        )
        .headed("does"),
        Column::count("threads", |one: &Self| Some(one.step()?.row.threads.into()), "Threads that did it.")
            .detail(),
        Self::nanos(
            "start_ns",
            "start",
            |one: &Self| Value::Nanos(one.timer().start_ns as f64),
            "Since the start of the phase.",
        ),
        Self::nanos(
            "real_ns",
            "real",
            |one: &Self| Value::Nanos(one.timer().real_ns as f64),
            "From its start to its end.",
        ),
        Self::nanos(
            "user_cpu_ns",
            "user",
            |one: &Self| Value::Nanos(one.timer().user_ns as f64),
            "CPU time in user mode.",
        ),
        Self::nanos(
            "system_cpu_ns",
            "system",
            |one: &Self| Value::Nanos(one.timer().system_ns as f64),
            "CPU time in the kernel.",
        ),
        Column::bytes(
            "memory_bytes",
            |one: &Self| Some(one.timer().memory_bytes),
            "The most that was resident.",
        )
        .headed("memory"),
        Column::bytes(
            "block_input_bytes",
            |one: &Self| Some(one.timer().block_input_bytes),
            "Read from storage for it.",
        )
        .detail(),
        Column::bytes(
            "block_output_bytes",
            |one: &Self| Some(one.timer().block_output_bytes),
            "Written to storage for it.",
        )
        .detail(),
        Column::count(
            "voluntary_switches",
            |one: &Self| Some(one.timer().voluntary_switches),
            "Context switches since it waited.",
        )
        .headed("waits"),
        Column::count(
            "involuntary_switches",
            |one: &Self| Some(one.timer().involuntary_switches),
            "Context switches since its time was over.",
        )
        .headed("preempted"),
        Column::bytes(
            "permanent_read_bytes",
            |one: &Self| Some(one.timer().read_bytes[0]),
            "Read from permanent space.",
        )
        .detail(),
        Column::bytes(
            "permanent_write_bytes",
            |one: &Self| Some(one.timer().write_bytes[0]),
            "Written to it.",
        )
        .detail(),
        Column::bytes(
            "work_read_bytes",
            |one: &Self| Some(one.timer().read_bytes[1]),
            "Read from work space.",
        )
        .detail(),
        Column::bytes("work_write_bytes", |one: &Self| Some(one.timer().write_bytes[1]), "Written to it.")
            .detail(),
        Column::bytes(
            "utility_read_bytes",
            |one: &Self| Some(one.timer().read_bytes[2]),
            "Read from utility space.",
        )
        .detail(),
        Column::bytes("utility_write_bytes", |one: &Self| Some(one.timer().write_bytes[2]), "Written to it.")
            .detail(),
        Column::count("rows_in", |one: &Self| Some(one.step()?.row.rows_in), "Rows that the step read.")
            .detail(),
        Column::count("rows_out", |one: &Self| Some(one.step()?.row.rows_out), "Rows that it wrote or left.")
            .detail(),
        Self::nanos(
            "start_cost_ns",
            "start cost",
            |one: &Self| Value::or_none(one.whole(), |launch| Value::Nanos(launch.row.start_cost_ns as f64)),
            "From the start of the launch until its first step.",
        )
        .detail(),
        Self::nanos(
            "group_cpu_ns",
            "group",
            |one: &Self| {
                Value::or_none(one.whole().and_then(|launch| launch.cpu.group_ns), |nanos| {
                    Value::Nanos(nanos as f64)
                })
            },
            "CPU time of the control group of the launch.",
        )
        .detail(),
        Column::flag(
            "cpu_agrees",
            |one: &Self| one.whole()?.cpu.agrees,
            "Whether the CPU times of its steps and its control group are that of its process.",
        )
        .detail(),
        Column::text(
            "ended",
            |one: &Self| one.whole().map(|launch| launch.row.outcome.clone()).unwrap_or_default(),
            "`complete`, or how it ended otherwise.",
        )
        .detail(),
        Column::text(
            "message",
            |one: &Self| one.whole().map(|launch| launch.row.message.clone()).unwrap_or_default(),
            "Why it is not complete.",
        )
        .detail(),
        Column::text("problem", Self::ended, "How it ended, or what does not agree.").below(),
    ];

    fn part(&self) -> Option<String> {
        let PhaseKey { case, phase, repetition } = &*self.pass;
        Some(match self.attempt {
            Some((attempt, _)) => {
                format!("case {case}, {phase}, pass {repetition}, attempt {attempt}, which was cut off")
            }
            None => format!("case {case}, pass {repetition}"),
        })
    }

    fn notes(all: &[&Self]) -> Vec<String> {
        let launches: Vec<&&Self> = all.iter().filter(|one| one.step.is_none()).collect();
        let judged: Vec<bool> = launches.iter().filter_map(|one| one.launch.cpu.agrees).collect();
        let agreement = || {
            format!(
                "CPU time of the steps of {} of {} complete launches is that of their process as wait4 tells it, and of its control \
             group, within {} % or {} ms where that is more.",
                judged.iter().filter(|agrees| **agrees).count(),
                judged.len(),
                CPU_AGREES_SHARE * 100.0,
                CPU_AGREES_NS / 1_000_000
            )
        };
        let mut notes: Vec<String> = (!judged.is_empty()).then(agreement).into_iter().collect();
        notes.extend(launches.chunk_by(|a, b| (&a.pass, a.attempt) == (&b.pass, b.attempt)).filter_map(|pass| {
            let (_, planned) = pass[0].attempt?;
            let complete = pass.iter().filter(|one| one.launch.row.outcome == "complete").count();
            Some(format!(
                "C{}: {} of {planned} launches had ended, {complete} complete. No figure, sum, ratio or verdict is made of them.",
                &pass[0].part()?[1..],
                pass.len()
            ))
        }));
        notes
    }
}

/// Launches and steps of `timelines`, then those of passes of `run` that were cut off.
pub(crate) fn full_timers(run: &Run, gate: &Gate<'_>, timelines: &[Timeline]) -> Vec<Stated<FullTimer>> {
    let mut all = Vec::new();
    let mut put = |inputs: &[usize],
                   counts: bool,
                   pass: PhaseKey,
                   attempt: Option<(u32, u64)>,
                   launches: &[Arc<LaunchTimer>]| {
        let pass = Arc::new(pass);
        for launch in launches {
            for step in std::iter::once(None).chain((0..launch.steps.len()).map(Some)) {
                let one =
                    FullTimer { pass: Arc::clone(&pass), counts, attempt, launch: Arc::clone(launch), step };
                all.push(gate.state(Kind::FullTimer, inputs.to_vec(), one));
            }
        }
    };
    for one in timelines {
        let pass =
            PhaseKey { case: one.case.as_str().into(), repetition: one.repetition, phase: Phase::Jobs };
        put(&[one.figure], one.counts, pass, None, &one.launches);
    }
    for one in &run.interrupted {
        let mut launches: Vec<&LaunchRow> = one.launches.iter().collect();
        launches.sort_by_key(|row| row.launch);
        let planned = planned(run, &one.key).unwrap_or(launches.len() as u64);
        let timers = launch_timers(&launches, &one.steps.iter().collect::<Vec<_>>());
        put(&[], false, one.key.clone(), Some((one.attempt, planned)), &timers);
    }
    all
}

/// How many launches a pass has by the plan.
fn planned(run: &Run, key: &PhaseKey) -> Option<u64> {
    let case = run.manifest.plan.cases.iter().find(|case| *case.id == *key.case)?;
    let jobs = case.workload.work.jobs()?;
    Some(match key.phase {
        Phase::Load => jobs.tables.iter().map(|table| u64::from(jobs.replicas(&table.name))).sum(),
        _ => jobs.launch_count(),
    })
}

/// CPU time of a launch, from three sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuAgreement {
    /// Sum over its steps, as it measured them itself.
    pub steps_ns: u64,
    /// Of the process, as `wait4(2)` tells it.
    pub process_ns: u64,
    /// Of its control group; none where it had none.
    pub group_ns: Option<u64>,
    /// All are within [`CPU_AGREES_SHARE`] or [`CPU_AGREES_NS`] of the process's, whichever is more; none where the
    /// launch is not complete or the record has no steps of it.
    pub agrees: Option<bool>,
}

/// What launching and watching cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Harness {
    /// CPU time of whoever launched and watched; none where it was not recorded.
    pub cpu_ns: Option<u64>,
    /// That ÷ wall time: the share of one core.
    pub core_share: Option<f64>,
    /// Median time from the start of a launch until its first step.
    pub start_median_ns: u64,
    /// The longest of them.
    pub start_longest_ns: u64,
}

impl Harness {
    /// What it cost in `phase` to launch `launches`.
    #[must_use]
    pub fn of(phase: &PhaseRow, launches: &[&LaunchRow]) -> Self {
        let begun = launches.iter().filter(|row| ran(row) && row.start_cost_ns > 0);
        let costs: Vec<f64> = begun.map(|row| row.start_cost_ns as f64).collect();
        let all = Summary::of(&costs);
        let cpu_ns = phase.harness_cpu_ns;
        Self {
            cpu_ns,
            core_share: cpu_ns.filter(|_| phase.wall_ns > 0).map(|cpu| cpu as f64 / phase.wall_ns as f64),
            start_median_ns: all.map_or(0, |all| whole(all.median)),
            start_longest_ns: all.map_or(0, |all| whole(all.max)),
        }
    }
}

/// Nearest whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "made of numbers that were whole and not negative"
)]
pub(crate) fn whole(nanos: f64) -> u64 {
    nanos.round() as u64
}

/// The rows of FULLSTIMER of `launches` with their `steps`.
pub(super) fn launch_timers(launches: &[&LaunchRow], steps: &[&StepRow]) -> Vec<Arc<LaunchTimer>> {
    let timer = |row: &&LaunchRow| {
        let own = steps.iter().filter(|step| step.launch == row.launch);
        let steps: Vec<StepTimer> = own.map(|step| of_step(step)).collect();
        let process_ns = row.user_cpu_ns + row.system_cpu_ns;
        let steps_ns = steps.iter().map(|step| step.timer.cpu_ns()).sum();
        Arc::new(LaunchTimer {
            row: (*row).clone(),
            timer: of_launch(row),
            cpu: CpuAgreement {
                steps_ns,
                process_ns,
                group_ns: row.group_cpu_ns,
                agrees: (complete(row) && !steps.is_empty())
                    .then(|| agree(process_ns, steps_ns, row.group_cpu_ns)),
            },
            steps,
        })
    };
    launches.iter().map(timer).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a time is not negative and no longer than it"
)]
fn agree(process_ns: u64, steps_ns: u64, group_ns: Option<u64>) -> bool {
    let room = CPU_AGREES_NS.max((process_ns as f64 * CPU_AGREES_SHARE) as u64);
    std::iter::once(steps_ns).chain(group_ns).all(|other| other.abs_diff(process_ns) <= room)
}

fn of_launch(row: &LaunchRow) -> Timer {
    Timer {
        start_ns: row.start_ns,
        real_ns: row.end_ns.saturating_sub(row.start_ns),
        user_ns: row.user_cpu_ns,
        system_ns: row.system_cpu_ns,
        memory_bytes: row.peak_memory_bytes,
        block_input_bytes: row.block_input_bytes,
        block_output_bytes: row.block_output_bytes,
        voluntary_switches: row.voluntary_switches,
        involuntary_switches: row.involuntary_switches,
        read_bytes: read_bytes(row),
        write_bytes: write_bytes(row),
    }
}

/// Bytes that a launch read from each space.
pub(super) const fn read_bytes(row: &LaunchRow) -> [u64; 3] {
    [row.permanent_read_bytes, row.work_read_bytes, row.utility_read_bytes]
}

/// Bytes that it wrote to each.
pub(super) const fn write_bytes(row: &LaunchRow) -> [u64; 3] {
    [row.permanent_write_bytes, row.work_write_bytes, row.utility_write_bytes]
}

fn of_step(row: &StepRow) -> StepTimer {
    StepTimer {
        row: row.clone(),
        timer: Timer {
            start_ns: row.start_ns,
            real_ns: row.end_ns.saturating_sub(row.start_ns),
            user_ns: row.user_cpu_ns,
            system_ns: row.system_cpu_ns,
            memory_bytes: row.peak_memory_bytes,
            block_input_bytes: row.block_input_bytes,
            block_output_bytes: row.block_output_bytes,
            voluntary_switches: row.voluntary_switches,
            involuntary_switches: row.involuntary_switches,
            read_bytes: [row.permanent_read_bytes, row.work_read_bytes, row.utility_read_bytes],
            write_bytes: [row.permanent_write_bytes, row.work_write_bytes, row.utility_write_bytes],
        },
    }
}

/// What does not add up in `timelines`: one doubt for each pass and kind.
pub(crate) fn doubts(timelines: &[Timeline], figures: &[Figure]) -> Vec<Doubt> {
    let mut found = Vec::new();
    for one in timelines {
        let Some(figure) = figures.get(one.figure) else { continue };
        let doubt = |evidence: String, advice: &str| Doubt {
            check: Check::Accounts,
            figure: Some(one.figure),
            concerns: format!("{}, repetition {}", figure.conditions, one.repetition + 1),
            evidence,
            advice: advice.to_owned(),
        };
        let apart: Vec<&Arc<LaunchTimer>> =
            one.launches.iter().filter(|launch| launch.cpu.agrees == Some(false)).collect();
        if let Some(worst) = apart.iter().max_by_key(|launch| distance(&launch.cpu)) {
            let seconds = |nanos: u64| format!("{:.3} s", nanos as f64 / 1e9);
            let group = worst.cpu.group_ns.map(|group| format!(", its control group {}", seconds(group)));
            let evidence = format!(
                "CPU time of {} of {} launches is not that of their steps; launch {} ({}): steps {}, process {}{}",
                apart.len(),
                one.launches.len(),
                worst.row.launch,
                worst.row.test,
                seconds(worst.cpu.steps_ns),
                seconds(worst.cpu.process_ns),
                group.unwrap_or_default()
            );
            found.push(doubt(
                evidence,
                "work that no step accounts for, or the kernel counts CPU time by ticks",
            ));
        }
        found.extend(bytes_apart(one).map(|evidence| {
            doubt(
                evidence,
                "counters of a job that was killed between two samples; the launches' own sums are right",
            )
        }));
    }
    found
}

fn distance(cpu: &CpuAgreement) -> u64 {
    let all = std::iter::once(cpu.steps_ns).chain(cpu.group_ns);
    all.map(|other| other.abs_diff(cpu.process_ns)).max().unwrap_or(0)
}

/// The space whose seconds say something else than its launches, if there is one.
fn bytes_apart(one: &Timeline) -> Option<String> {
    if one.profile.seconds.is_empty() {
        return None;
    }
    let sampled = |space: usize| {
        let all = one.profile.seconds.iter();
        all.map(|second| second.read_bytes[space] + second.write_bytes[space]).sum::<u64>()
    };
    let told = |space: usize| {
        let all = one.launches.iter().map(|launch| &launch.timer);
        all.map(|timer| timer.read_bytes[space] + timer.write_bytes[space]).sum::<u64>()
    };
    (0..JobSpace::ALL.len()).find_map(|space| {
        let (sampled, told) = (sampled(space), told(space));
        let apart = sampled.abs_diff(told) as f64 > told as f64 * BYTES_AGREE_SHARE;
        apart.then(|| {
            format!(
                "{} space: launches moved {told} bytes, its seconds add up to {sampled}",
                JobSpace::ALL[space]
            )
        })
    })
}
