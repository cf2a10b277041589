//! How rank 0 has its orders carried out by all ranks.
//!
//! An order goes to every rank; each one carries out its own part, as rank 0 does too, and the
//! answers are joined pair by pair on their way back. With one rank nothing is written down: the
//! order is carried out, and that is all.

use comm::{Clock, Comm};
use serde::{Deserialize, Serialize};
use serde_json::Error as JsonError;

use crate::hand::Hand;
use crate::order::{Answer, Order, PhaseOrder};
use crate::part::{Part, Rows, Table};
use crate::{ErrorKind, RunnerError};

/// Why a rank could not carry out its part.
#[derive(Debug, Serialize, Deserialize)]
struct Trouble {
    rank: u32,
    kind: ErrorKind,
    message: String,
    /// It ended because another rank failed, whose trouble says more.
    is_echo: bool,
}

type Reply = Result<Answer, Trouble>;

/// Gives `order` on rank 0, whose own part is `own`; the joined answer of all ranks.
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

/// Has every rank receive `order`, which nobody answers.
pub(crate) fn send(comm: &dyn Comm, order: &Order) -> Result<(), RunnerError> {
    comm.broadcast(written(order)?)?;
    Ok(())
}

/// The next order of rank 0.
pub(crate) fn receive(comm: &dyn Comm) -> Result<Order, RunnerError> {
    let bytes = comm.broadcast(Vec::new())?;
    serde_json::from_slice(&bytes).map_err(RunnerError::Words)
}

/// Joins the answers of all ranks. The first trouble counts on rank 0; the others learn nothing.
pub(crate) fn answer(comm: &dyn Comm, own: Result<Answer, RunnerError>) -> Result<Answer, RunnerError> {
    let (reply, mut kept): (Reply, _) = match own {
        Ok(answer) => (Ok(answer), None),
        Err(error) => {
            let trouble = Trouble {
                rank: comm.rank(),
                kind: error.kind(),
                message: error.to_string(),
                is_echo: error.is_echo(),
            };
            (Err(trouble), Some(error))
        }
    };
    let mut join = |one: Vec<u8>, two: Vec<u8>| joined(&one, &two);
    let Some(bytes) = comm.combine(written(&reply)?, &mut join)? else {
        return Ok(Answer::Done);
    };
    match serde_json::from_slice::<Reply>(&bytes).map_err(RunnerError::Words)? {
        Ok(answer) => Ok(answer),
        Err(trouble) => match kept.take_if(|_| trouble.rank == comm.rank()) {
            Some(own) => Err(own),
            None => {
                let topology = comm.topology();
                let node = topology.node_of()[trouble.rank as usize];
                let node = topology.names()[node as usize].clone();
                let Trouble { rank, kind, message, .. } = trouble;
                Err(RunnerError::Elsewhere { rank, node, kind, message })
            }
        },
    }
}

/// Two written replies as one. What cannot be read is what the ranks between made of it.
fn joined(one: &[u8], two: &[u8]) -> Vec<u8> {
    let read = |bytes: &[u8]| serde_json::from_slice::<Reply>(bytes);
    let reply = match (read(one), read(two)) {
        (Ok(one), Ok(two)) => join(one, two),
        (Err(error), _) | (_, Err(error)) => Err(unreadable(&error)),
    };
    serde_json::to_vec(&reply).unwrap_or_default()
}

fn unreadable(error: &JsonError) -> Trouble {
    let message = RunnerError::Words(serde::de::Error::custom(error)).to_string();
    Trouble { rank: 0, kind: ErrorKind::Internal, message, is_echo: false }
}

fn join(one: Reply, two: Reply) -> Reply {
    match (one, two) {
        (Ok(one), Ok(two)) => Ok(one.join(two)),
        (Err(one), Err(two)) => Err(if one.is_echo && !two.is_echo { two } else { one }),
        (Err(trouble), Ok(_)) | (Ok(_), Err(trouble)) => Err(trouble),
    }
}

fn written<T: Serialize>(value: &T) -> Result<Vec<u8>, RunnerError> {
    serde_json::to_vec(value).map_err(RunnerError::Words)
}

/// All ranks while a plan lives, seen from rank 0.
pub(crate) struct Crew<'a> {
    comm: &'a dyn Comm,
    /// Rank 0's own part of everything.
    pub(crate) hand: Hand<'a>,
}

impl<'a> Crew<'a> {
    /// The ranks of `comm`; `hand` carries out what falls to rank 0.
    pub(crate) fn new(comm: &'a dyn Comm, hand: Hand<'a>) -> Self {
        Self { comm, hand }
    }

    /// How the ranks reach each other.
    pub(crate) fn comm(&self) -> &'a dyn Comm {
        self.comm
    }

    /// Has every rank but the first take up the plan.
    ///
    /// # Errors
    /// A rank is lost.
    pub(crate) fn begin(&mut self, live: &Order) -> Result<(), RunnerError> {
        if self.comm.size() > 1 { send(self.comm, live) } else { Ok(()) }
    }

    /// Has every rank but the first put the plan away.
    ///
    /// # Errors
    /// A rank is lost.
    pub(crate) fn end(&mut self) -> Result<(), RunnerError> {
        self.begin(&Order::End)
    }

    /// Has `order` carried out.
    ///
    /// # Errors
    /// That of the first rank that has one, or a rank is lost.
    pub(crate) fn order(&mut self, order: &Order) -> Result<Answer, RunnerError> {
        give(self.comm, order, || self.hand.carry_out(order))
    }

    /// Has a phase run, and collects the rows of every rank in `table`.
    ///
    /// # Errors
    /// As [`Crew::order`].
    pub(crate) fn phase(&mut self, order: PhaseOrder, table: &mut Table<'_>) -> Result<Part, RunnerError> {
        if self.comm.size() == 1 {
            let (part, rows) = self.hand.phase(&order)?;
            table.add(rows);
            return Ok(part);
        }
        let order = Order::Phase(Box::new(order));
        send(self.comm, &order)?;
        let Order::Phase(order) = order else { return Err(RunnerError::OutOfPlace) };
        match finish_phase(self.comm, self.hand.take_part(&order), Some(table))? {
            Answer::Part(part) => Ok(*part),
            _ => Err(RunnerError::OutOfPlace),
        }
    }

    /// Compares the clocks of the nodes: by node, against that of rank 0.
    ///
    /// # Errors
    /// A rank is lost.
    pub(crate) fn synchronize(&mut self) -> Result<Vec<Clock>, RunnerError> {
        synchronize(self.comm)
    }
}

/// See [`Crew::synchronize`].
pub(crate) fn synchronize(comm: &dyn Comm) -> Result<Vec<Clock>, RunnerError> {
    if comm.size() > 1 {
        send(comm, &Order::Synchronize)?;
    }
    Ok(comm.synchronize()?)
}

/// Joins what the ranks saw in a phase, and hands their rows to rank 0, which puts them into `table`.
/// Ranks without tasks have seen nothing.
pub(crate) fn finish_phase(
    comm: &dyn Comm,
    seen: Result<Option<(Part, Rows)>, RunnerError>,
    table: Option<&mut Table<'_>>,
) -> Result<Answer, RunnerError> {
    let (own, rows) = match seen {
        Ok(Some((part, rows))) => (Ok(Answer::Part(Box::new(part))), Some(rows)),
        Ok(None) => (Ok(Answer::Done), None),
        Err(error) => (Err(error), None),
    };
    let whole = answer(comm, own);
    if let Err(error) = &whole
        && error.is_loss()
    {
        return whole;
    }
    // The others do not know how it ended: the rows come either way.
    let bytes = rows.map_or(Ok(Vec::new()), |rows| written(&rows))?;
    let mut unreadable = None;
    let mut table = table;
    comm.stream(bytes, &mut |_, bytes| {
        let Some(table) = table.as_mut().filter(|_| !bytes.is_empty()) else { return };
        match serde_json::from_slice(&bytes) {
            Ok(rows) => table.add(rows),
            Err(error) => unreadable = Some(error),
        }
    })?;
    unreadable.map_or(whole, |error| Err(RunnerError::Words(error)))
}
