//! What the tasks were waiting for: the processors, the storage, or the rate that the study sets.

use std::collections::HashMap;

use plan::{Case, Plan};

use crate::audit::Use;
use crate::figures::{CPU_SHARE_MAX, Figure};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, nanos, share, word},
};

/// If the tasks waited for at least this share of the time, the storage determined the rate.
pub const WAIT_SHARE_MIN: f64 = 0.5;

/// From this share of a set rate on, the set rate was the limit.
const OF_SET_RATE: f64 = 0.95;

/// What the tasks were waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The rate that the study sets was reached.
    SetRate,
    /// Processor time accounts for all of their time.
    Processor,
    /// They waited for transfers.
    Storage,
    /// Processors and storage both contributed substantially.
    Both,
}

impl Limit {
    /// Whether the program itself determined the rate, whatever the storage could do.
    const fn is_of_program(self) -> bool {
        matches!(self, Self::Processor | Self::SetRate)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::SetRate => "set rate",
            Self::Processor => "processor",
            Self::Storage => "storage",
            Self::Both => "both",
        }
    }
}

/// The processor time of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundBy {
    /// The figure.
    pub figure: usize,
    /// User time ÷ (I/O time × the smaller of tasks and processors), or ÷ the total time that threads ran or were
    /// runnable, if that is more.
    pub user_share: f64,
    /// System time divided in the same way.
    pub(crate) system_share: f64,
    /// Time during which threads were runnable but waited for a processor, divided in the same way. `None` if it was
    /// not observed.
    pub(crate) ready_share: Option<f64>,
    /// The remaining share.
    pub wait_share: f64,
    /// Processor nanoseconds per transfer.
    pub cpu_ns_per_transfer: f64,
    /// The verdict.
    pub limit: Limit,
}

impl Statement for BoundBy {
    const KIND: Kind = Kind::LimitedBy;
    const OF: Of = Of::Point;
    const CAPTION: &'static str = "Processor time ÷ (I/O time × tasks or processors, whichever are fewer); ready: waiting for a processor; the rest is waiting for the storage, or for the other end of exchanges";
    const COLUMNS: &'static [Column<Self>] = &[
        word("limit", "limited by", "`processor`, `storage`, `both`, or `set rate`.", |one| one.limit.name()),
        share("user", "user", "Share of user time.", |one| Some(one.user_share)),
        share("system", "system", "Share of system time.", |one| Some(one.system_share)),
        share("ready", "ready", "Share of time in which threads waited for a processor.", |one| {
            one.ready_share
        }),
        share("wait", "waiting", "What is left.", |one| Some(one.wait_share)),
        nanos("cpu_per_operation", "CPU per operation", "Of one transfer or operation.", |one| {
            Some(one.cpu_ns_per_transfer)
        }),
    ];
}

/// The statements for [`limits`].
pub(crate) fn of_gate(gate: &Gate<'_>, limits: Vec<BoundBy>) -> Vec<Stated<BoundBy>> {
    let state = |one: BoundBy| {
        let statement = if one.limit.is_of_program() { Use::Other } else { Use::Waiting };
        gate.state_as(statement, vec![one.figure], one)
    };
    limits.into_iter().map(state).collect()
}

/// What limited each figure, starting with those that the processors limited, from the processor time of the program.
/// Over the counted repetitions, user and system time are divided by (I/O time × the smaller of tasks and
/// processors), and so is the time during which threads were runnable but waited for a processor. The rest is
/// waiting. `usable_cpus` is the number of processors of one node. The result is [`Limit::SetRate`] at 95 % of a rate
/// that the study sets, [`Limit::Processor`] if the processors account for at least [`CPU_SHARE_MAX`],
/// [`Limit::Storage`] if waiting accounts for at least [`WAIT_SHARE_MIN`], else [`Limit::Both`]. Of an imported figure,
/// only a set rate that it reached is known.
///
/// The processor time is that of the whole process in the phase, including open and close, so a short phase with many
/// files appears busier than its transfers were. Figures without processor time, such as imported ones, are left out,
/// and so are those of workloads at the same time, whose processor time is that of all, and those of the null backend, which
/// never waits. Figures of processes that exchanged requests are also
/// left out if they are below the limit of the processors: the limit may be the network or the other end.
#[must_use]
pub fn limits(plan: &Plan, figures: &[Figure], usable_cpus: u32) -> Vec<BoundBy> {
    let cases: HashMap<&str, &Case> = plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let limit = |(place, figure): (usize, &Figure)| {
        let case = cases.get(&*figure.case).filter(|case| case.workload.backend.moves_data())?;
        if figure.is_concurrent {
            return None;
        }
        let exchanges = !case.workload.work.has_target();
        bound_by(place, figure, case, usable_cpus).filter(|found| found.limit.is_of_program() || !exchanges)
    };
    let mut limits: Vec<BoundBy> = figures.iter().enumerate().filter_map(limit).collect();
    limits.sort_by_key(|one| one.limit == Limit::Storage);
    limits
}

fn bound_by(figure_place: usize, figure: &Figure, case: &Case, usable_cpus: u32) -> Option<BoundBy> {
    let (mut user_ns, mut system_ns, mut io_ns, mut transfers) = (0.0, 0.0, 0.0, 0.0);
    for one in figure.counted() {
        user_ns += one.phase.user_cpu_ns as f64;
        system_ns += one.phase.system_cpu_ns as f64;
        io_ns += one.phase.io_ns as f64;
        transfers += one.phase.transfers() as f64;
    }
    let tasks = case.tasks()?.max(1);
    // How many processors another tool's host had is not known.
    let usable = match case.stated {
        Some(_) => tasks,
        None => usable_cpus.saturating_mul(case.nodes()?.max(1)),
    };
    let processors = f64::from(usable.min(tasks).max(1));
    let (time_ns, busy_ns) = (io_ns * processors, user_ns + system_ns);
    if time_ns <= 0.0 || busy_ns <= 0.0 || transfers <= 0.0 {
        return None;
    }
    // With more tasks than processors, each task waits for the others.
    let waited: Option<Vec<u64>> = figure.counted().map(|one| one.phase.cpu_wait_ns).collect();
    let ready_ns = waited.map(|all| {
        let of_threads = all.into_iter().sum::<u64>() as f64;
        of_threads * processors / f64::from(tasks)
    });
    // Helper threads of the program and open and close may add up to more than the tasks' own time.
    let whole = time_ns.max(busy_ns + ready_ns.unwrap_or(0.0));
    let wait_share = 1.0 - (busy_ns + ready_ns.unwrap_or(0.0)) / whole;
    let keeps =
        |pace: plan::Pace| figure.transfers_per_second.median >= OF_SET_RATE * pace.transfers_per_second;
    let limit = if case.workload.pace.is_some_and(keeps) {
        Limit::SetRate
    } else if case.stated.is_some() {
        // The processors of another tool's host are not known, nor what else its options made it wait for.
        return None;
    } else if 1.0 - wait_share >= CPU_SHARE_MAX {
        Limit::Processor
    } else if wait_share >= WAIT_SHARE_MIN {
        Limit::Storage
    } else {
        Limit::Both
    };
    Some(BoundBy {
        figure: figure_place,
        user_share: user_ns / whole,
        system_share: system_ns / whole,
        ready_share: ready_ns.map(|ns| ns / whole),
        wait_share,
        cpu_ns_per_transfer: busy_ns / transfers,
        limit,
    })
}
