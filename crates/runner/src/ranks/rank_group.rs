//! Distributes the orders of rank 0 to all ranks and collects the answers.
//!
//! An order is sent to every rank, including rank 0. Each rank carries out its own part, and the answers
//! are merged pairwise on their way back. If there is a single rank, nothing is serialized.

use std::sync::Arc;
use std::time::{Duration, Instant};

use comm::{Clock, Comm};
use engine::Controls;
use serde::{Deserialize, Serialize};

use crate::execution::jobs::KeepLaunches;
use crate::ranks::machine_executor::MachineExecutor;
use crate::ranks::merge_ranks::PhaseTotals;
use crate::ranks::order::{Answer, Order, PhaseOrder};
use crate::ranks::rank_executor::RankExecutor;
use crate::ranks::rows::{Rows, Table};
use crate::{ErrorKind, RunnerError};

/// A pause consists of steps of this length, after each of which it may be ended.
const REST_STEP: Duration = Duration::from_millis(20);

/// Why a rank could not carry out its part.
#[derive(Debug, Serialize, Deserialize)]
struct RankError {
    rank: u32,
    kind: ErrorKind,
    message: String,
    /// Whether it failed only because of another rank, whose error is more informative.
    is_echo: bool,
}

type Reply = Result<Answer, RankError>;

/// Sends `order` from rank 0, whose own part is `own`. Returns the merged answer of all ranks.
pub(crate) fn give(
    comm: &dyn Comm,
    order: &Order,
    own: impl FnOnce() -> Result<Answer, RunnerError>,
) -> Result<Answer, RunnerError> {
    if comm.size() == 1 {
        return own();
    }
    send(comm, order)?;
    answer(comm, own())
}

/// Sends `order` to every rank, without an answer.
pub(crate) fn send(comm: &dyn Comm, order: &Order) -> Result<(), RunnerError> {
    comm.broadcast(written(order)?)?;
    Ok(())
}

/// The next order of rank 0.
pub(crate) fn receive(comm: &dyn Comm) -> Result<Order, RunnerError> {
    let bytes = comm.broadcast(Vec::new())?;
    serde_json::from_slice(&bytes).map_err(RunnerError::Words)
}

/// Merges the answers of all ranks. Rank 0 gets the first error; the other ranks get none.
pub(crate) fn answer(comm: &dyn Comm, own: Result<Answer, RunnerError>) -> Result<Answer, RunnerError> {
    let (reply, mut kept): (Reply, _) = match own {
        Ok(answer) => (Ok(answer), None),
        Err(error) => {
            let failed = RankError {
                rank: comm.rank(),
                kind: error.kind(),
                message: error.to_string(),
                is_echo: error.is_echo(),
            };
            (Err(failed), Some(error))
        }
    };
    let mut join = |one: Vec<u8>, two: Vec<u8>| joined(comm.rank(), &one, &two);
    let Some(bytes) = comm.combine(written(&reply)?, &mut join)? else {
        return Ok(Answer::Done);
    };
    match serde_json::from_slice::<Reply>(&bytes).map_err(RunnerError::Words)? {
        Ok(answer) => Ok(answer),
        Err(failed) => match kept.take_if(|_| failed.rank == comm.rank()) {
            Some(own) => Err(own),
            None => {
                let RankError { rank, kind, message, .. } = failed;
                Err(elsewhere(comm, rank, kind, message))
            }
        },
    }
}

/// The error of another rank.
fn elsewhere(comm: &dyn Comm, rank: u32, kind: ErrorKind, message: String) -> RunnerError {
    let topology = comm.topology();
    let node = topology.node_of().get(rank as usize).and_then(|&node| topology.names().get(node as usize));
    RunnerError::Elsewhere { rank, node: node.map_or("unknown", String::as_str).to_owned(), kind, message }
}

/// Merges two serialized replies on the rank `here`. If one of them cannot be parsed, the reply says so: it can
/// only have been sent by a rank that is next to this one on the way back.
fn joined(here: u32, one: &[u8], two: &[u8]) -> Vec<u8> {
    let read = |bytes: &[u8]| serde_json::from_slice::<Reply>(bytes);
    let reply = match (read(one), read(two)) {
        (Ok(one), Ok(two)) => join(one, two),
        (Err(error), _) | (_, Err(error)) => {
            let message = RunnerError::Words(error).to_string();
            Err(RankError { rank: here, kind: ErrorKind::Internal, message, is_echo: false })
        }
    };
    serde_json::to_vec(&reply).unwrap_or_default()
}

fn join(one: Reply, two: Reply) -> Reply {
    match (one, two) {
        (Ok(one), Ok(two)) => Ok(one.join(two)),
        (Err(one), Err(two)) => Err(if one.is_echo && !two.is_echo { two } else { one }),
        (Err(failed), Ok(_)) | (Ok(_), Err(failed)) => Err(failed),
    }
}

fn written<T: Serialize>(value: &T) -> Result<Vec<u8>, RunnerError> {
    serde_json::to_vec(value).map_err(RunnerError::Words)
}

/// All ranks of a run, as directed by rank 0; or the machine of a simulated run, which has no ranks.
pub(crate) struct RankGroup<'a> {
    comm: &'a dyn Comm,
    carrier: Carrier<'a>,
    started: Instant,
}

/// What carries out the orders.
enum Carrier<'a> {
    /// The executor of rank 0's own part, and the other ranks.
    Ranks(Box<RankExecutor<'a>>),
    Machine(MachineExecutor<'a>),
}

impl<'a> RankGroup<'a> {
    /// The ranks of `comm`; `executor` carries out the part of rank 0.
    pub(crate) fn new(comm: &'a dyn Comm, executor: RankExecutor<'a>) -> Self {
        Self { comm, carrier: Carrier::Ranks(Box::new(executor)), started: Instant::now() }
    }

    /// Creates a group for a machine, whose nodes are those of `comm`.
    pub(crate) fn on_machine(comm: &'a dyn Comm, executor: MachineExecutor<'a>) -> Self {
        Self { comm, carrier: Carrier::Machine(executor), started: Instant::now() }
    }

    /// The communicator of the ranks.
    pub(crate) fn comm(&self) -> &'a dyn Comm {
        self.comm
    }

    /// The executor of rank 0, or `None` for a simulated run.
    pub(crate) fn executor(&mut self) -> Option<&mut RankExecutor<'a>> {
        match &mut self.carrier {
            Carrier::Ranks(executor) => Some(executor),
            Carrier::Machine(_) => None,
        }
    }

    /// Whether the run is simulated, so that it has no files.
    pub(crate) fn is_simulated(&self) -> bool {
        matches!(self.carrier, Carrier::Machine(_))
    }

    /// Time since the start, on the clock of the run.
    pub(crate) fn elapsed(&self) -> Duration {
        match &self.carrier {
            Carrier::Ranks(_) => self.started.elapsed(),
            Carrier::Machine(executor) => executor.machine.elapsed(),
        }
    }

    /// Waits for `time` on the clock of the run, in steps. `stopped` may end the wait after each step.
    pub(crate) fn pause(&mut self, time: Duration, stopped: impl Fn() -> bool) {
        match &mut self.carrier {
            Carrier::Machine(executor) => executor.machine.pause(time),
            Carrier::Ranks(_) => {
                let until = Instant::now() + time;
                while Instant::now() < until && !stopped() {
                    std::thread::sleep(REST_STEP.min(until.saturating_duration_since(Instant::now())));
                }
            }
        }
    }

    /// Makes all other ranks start the plan.
    ///
    /// # Errors
    /// Errors if a rank was lost.
    pub(crate) fn begin(&mut self, live: &Order) -> Result<(), RunnerError> {
        if self.comm.size() > 1 { send(self.comm, live) } else { Ok(()) }
    }

    /// Makes all other ranks end the plan.
    ///
    /// # Errors
    /// Errors if a rank was lost.
    pub(crate) fn end(&mut self) -> Result<(), RunnerError> {
        self.begin(&Order::End)
    }

    /// Makes all ranks carry out `order`.
    ///
    /// # Errors
    /// Returns the error of the first rank that has one, or errors if a rank was lost.
    pub(crate) fn order(&mut self, order: &Order) -> Result<Answer, RunnerError> {
        match &mut self.carrier {
            Carrier::Ranks(executor) => give(self.comm, order, || executor.carry_out(order)),
            Carrier::Machine(executor) => Ok(executor.carry_out(order)),
        }
    }

    /// Runs a phase on all ranks and collects their rows in `table`. Finished jobs are passed to `keep`
    /// before others are launched.
    ///
    /// # Errors
    /// Same as for [`RankGroup::order`].
    pub(crate) fn phase(
        &mut self,
        order: PhaseOrder,
        table: &mut Table<'_>,
        keep: &mut KeepLaunches<'_>,
    ) -> Result<PhaseTotals, RunnerError> {
        let executor = match &mut self.carrier {
            Carrier::Ranks(executor) => executor,
            Carrier::Machine(executor) => return executor.phase(&order, self.comm.topology(), table),
        };
        if self.comm.size() == 1 {
            let (totals, rows) = executor.phase(&order, keep)?;
            table.add(rows);
            return Ok(totals);
        }
        let order = Order::Phase(Box::new(order));
        send(self.comm, &order)?;
        let Order::Phase(order) = order else { return Err(RunnerError::OutOfPlace) };
        match finish_phase(self.comm, executor.take_part(&order), Some(table))? {
            Answer::PhaseTotals(totals) => Ok(*totals),
            _ => Err(RunnerError::OutOfPlace),
        }
    }

    /// Runs phases of several cases at the same time on all ranks, with a table and the controls for each.
    ///
    /// # Errors
    /// Same as for [`RankGroup::order`]. If several phases fail, the error of the first of them that is no echo of
    /// another one.
    pub(crate) fn together(
        &mut self,
        orders: Vec<PhaseOrder>,
        tables: &mut [Table<'_>],
        streams: &[Arc<Controls>],
    ) -> Result<Vec<PhaseTotals>, RunnerError> {
        let Carrier::Ranks(executor) = &mut self.carrier else { return Err(RunnerError::OutOfPlace) };
        let comm = self.comm;
        if comm.size() > 1 {
            send(comm, &Order::Together(orders.clone()))?;
        }
        let mut all = Vec::new();
        let mut failed: Option<RunnerError> = None;
        for (done, table) in executor.together(&orders, streams).into_iter().zip(tables) {
            let finished = match done {
                Ok(Some((totals, rows))) if comm.size() == 1 => {
                    table.add(rows);
                    Ok(Answer::PhaseTotals(Box::new(totals)))
                }
                done => finish_phase(comm, done, Some(table)),
            };
            match finished {
                Ok(Answer::PhaseTotals(totals)) => all.push(*totals),
                Ok(_) => return Err(RunnerError::OutOfPlace),
                Err(error) if error.is_loss() => return Err(error),
                Err(error) => {
                    let says_more = failed.as_ref().is_none_or(|first| first.is_echo() && !error.is_echo());
                    failed = if says_more { Some(error) } else { failed };
                }
            }
        }
        failed.map_or(Ok(all), Err)
    }

    /// Compares the clocks of the nodes with that of rank 0; one entry per node.
    ///
    /// # Errors
    /// Errors if a rank was lost.
    pub(crate) fn synchronize(&mut self) -> Result<Vec<Clock>, RunnerError> {
        match &self.carrier {
            Carrier::Machine(executor) => Ok(executor.machine.clocks()),
            _ => synchronize(self.comm),
        }
    }
}

/// See [`RankGroup::synchronize`].
pub(crate) fn synchronize(comm: &dyn Comm) -> Result<Vec<Clock>, RunnerError> {
    if comm.size() > 1 {
        send(comm, &Order::Synchronize)?;
    }
    Ok(comm.synchronize()?)
}

/// Merges the results of a phase and sends the rows of all ranks to rank 0, which adds them to `table`. Ranks
/// without tasks have no result.
pub(crate) fn finish_phase(
    comm: &dyn Comm,
    seen: Result<Option<(PhaseTotals, Rows)>, RunnerError>,
    table: Option<&mut Table<'_>>,
) -> Result<Answer, RunnerError> {
    let (own, rows) = match seen {
        Ok(Some((totals, rows))) => (Ok(Answer::PhaseTotals(Box::new(totals))), Some(rows)),
        Ok(None) => (Ok(Answer::Done), None),
        Err(error) => (Err(error), None),
    };
    let whole = answer(comm, own);
    if let Err(error) = &whole
        && error.is_loss()
    {
        return whole;
    }
    // Rows are sent even after a failure, because the other ranks do not know about it.
    let bytes = rows.map_or(Ok(Vec::new()), |rows| written(&rows))?;
    let mut unreadable = None;
    let mut table = table;
    comm.stream(bytes, &mut |rank, bytes| {
        let Some(table) = table.as_mut().filter(|_| !bytes.is_empty()) else { return };
        match serde_json::from_slice(&bytes) {
            Ok(rows) => table.add(rows),
            Err(error) => {
                unreadable.get_or_insert((rank, RunnerError::Words(error).to_string()));
            }
        }
    })?;
    match unreadable {
        Some((rank, message)) => Err(elsewhere(comm, rank, ErrorKind::Internal, message)),
        None => whole,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use comm::{Comm, Fake};
    use engine::{Controls, PhaseJob};
    use host::Observed;
    use plan::{Backend, Bytes, Geometry, Phase, WorkloadSpec};
    use record::PhaseKey;

    use super::finish_phase;
    use crate::ranks::merge_ranks::PhaseTotals;
    use crate::ranks::order::Answer;
    use crate::ranks::rows::{Rows, Table, TraceSource};

    /// Tasks of study D's largest run.
    const TASKS: u32 = 14_616;
    const RANKS: u32 = 64;

    /// Prints the time taken: `--release -- --nocapture`.
    #[test]
    #[expect(clippy::print_stderr, reason = "a figure for the reader")]
    fn results_of_fourteen_thousand_tasks_come_to_rank_0_whole() {
        let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::mib(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "unused", geometry);
        spec.backend = Backend::Null;
        let workload = spec.validate().expect("valid");
        let job = PhaseJob::new(&workload, Phase::Read, 0);
        let mut outcome = engine::run(&job, &engine::SingleProcess, &Controls::new()).expect("moves nothing");
        let task = outcome.tasks[0].clone();
        let each = TASKS / RANKS;
        let names: Vec<String> = (0..RANKS).map(|rank| format!("node{}", rank / 8)).collect();
        let world = Fake::world(&names.iter().map(String::as_str).collect::<Vec<_>>());
        // As many distinct latencies as in a phase of some seconds.
        outcome.latency[0].histogram =
            (0..200_000_u64).fold(engine::LatencyHistogram::new(), |mut all, n| {
                all.add(1_000 + n * n / 40, 1);
                all
            });
        let started = Instant::now();
        let whole = std::thread::scope(|scope| {
            let threads: Vec<_> = world
                .iter()
                .map(|comm| {
                    let mut own = outcome.clone();
                    let last = if comm.rank() == RANKS - 1 { TASKS } else { (comm.rank() + 1) * each };
                    own.tasks = (comm.rank() * each..last)
                        .map(|number| engine::TaskOutcome { task: number, ..task.clone() })
                        .collect();
                    scope.spawn(move || {
                        let key = PhaseKey { case: "c".into(), repetition: 0, phase: Phase::Read };
                        let node = comm.topology().node_of()[comm.rank() as usize];
                        let (totals, rows) = (
                            PhaseTotals::of(&own),
                            Rows::of(&own, node, Observed::default(), true, TraceSource::default()),
                        );
                        let mut table = Table::new(key.clone(), comm.topology().names());
                        let table_of_first = Some(&mut table).filter(|_| comm.rank() == 0);
                        let answer = finish_phase(comm, Ok(Some((totals, rows))), table_of_first);
                        table.close();
                        match answer.expect("all came") {
                            Answer::PhaseTotals(totals) => {
                                Some((totals.phase_row(&key, None), table.record.tasks, table.record.nodes))
                            }
                            _ => None,
                        }
                    })
                })
                .collect();
            threads.into_iter().find_map(|thread| thread.join().expect("no panic"))
        });
        let took = started.elapsed();
        let (row, tasks, nodes) = whole.expect("rank 0 has it");
        eprintln!("{TASKS} tasks of {RANKS} ranks joined in {:.1} ms", took.as_secs_f64() * 1e3);
        assert_eq!(row.reads, outcome.reads * u64::from(RANKS));
        let numbers: Vec<u32> = tasks.iter().map(|row| row.task).collect();
        assert_eq!(numbers, (0..TASKS).collect::<Vec<_>>());
        assert_eq!(tasks.last().map(|row| row.node.as_str()), Some("node7"));
        assert_eq!(nodes.iter().map(|row| row.transfers).sum::<u64>(), row.reads);
    }
}
