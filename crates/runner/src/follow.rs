//! What every rank but the first does: it carries out orders until the last one.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use comm::{Comm, CommError};
use engine::Controls;
use host::{Host, PermittedDevice};

use crate::RunnerError;
use crate::check::{Part, devices, remaining, targets};
use crate::crew::{answer, finish_phase, receive, send};
use crate::hand::{Brief, Hand};
use crate::handshake::find;
use crate::order::{Answer, Order, Question};
use crate::seen::look;
use crate::signals::keep_in_touch;

/// Carries out what rank 0 orders, until [`dismiss`] is called there. Returns early where the ranks
/// lose each other; what this rank has made is removed then.
///
/// # Errors
/// The ranks have lost each other, or do not understand each other. What only this rank could not do
/// is told on rank 0.
pub fn follow(host: &Host, comm: &dyn Comm, controls: Arc<Controls>) -> Result<(), RunnerError> {
    let mut known: Option<(Question, Vec<PermittedDevice>)> = None;
    loop {
        match receive(comm)? {
            Order::Look { targets, uring } => {
                answer(comm, Ok(Answer::Seen(look(host, comm, &targets, uring))))?;
            }
            Order::Find { paths } => {
                answer(comm, Ok(find(comm, &paths)))?;
            }
            Order::Synchronize => {
                comm.synchronize()?;
            }
            Order::Check(question) => {
                let question = *question;
                let mut permits = Vec::new();
                let part = Part {
                    plan: &question.plan,
                    finished: &question.finished,
                    separate: &question.separate,
                    host,
                    comm,
                };
                let found = part.check(&question.run_id, &mut permits).map(|(found, _)| Answer::Found(found));
                answer(comm, found)?;
                known = Some((question, permits));
            }
            Order::Live { run_directory, started_unix_ns } => {
                let Some((question, permits)) = &known else { return Err(RunnerError::OutOfPlace) };
                let brief = Brief {
                    plan: &question.plan,
                    run_id: &question.run_id,
                    run_directory,
                    started_unix_ns,
                    separate: &question.separate,
                    permits,
                    program: None,
                };
                let boot_id = host.boot_id();
                let mates = question.mates.iter().find(|(kernel, _)| *kernel == boot_id);
                let quiet = host
                    .quiet_watch(devices(&targets(&question.plan, &question.finished), host))
                    .with_mates(mates.map(|(_, pids)| pids.clone()).unwrap_or_default());
                let uses = remaining(&question.plan, &question.finished);
                let hand = Hand::new(host, comm, Arc::clone(&controls), brief, uses, quiet);
                keep_in_touch(comm, &controls, || live(comm, hand))?;
            }
            Order::Dismiss => return Ok(()),
            _ => return Err(RunnerError::OutOfPlace),
        }
    }
}

/// Lets the ranks that [`follow`] go, on rank 0, when nothing more is to be done.
///
/// # Errors
/// The ranks have lost each other.
pub fn dismiss(comm: &dyn Comm) -> Result<(), RunnerError> {
    match comm.size() {
        1 => Ok(()),
        _ => send(comm, &Order::Dismiss),
    }
}

/// Rank 0 closes the record, and removes what it can, within this time after a rank was lost.
const CLOSING: Duration = Duration::from_secs(10);

/// Leaves rank 0 the time to close the record, on a rank whose [`follow`] ended with `error`: whoever
/// ends the job before that, as a launcher does when a process ends badly, ends rank 0 in the middle.
/// Where rank 0 itself is lost there is nothing to wait for.
pub fn give_way(error: &RunnerError) {
    if error.is_loss() && !loses_first(error) {
        thread::sleep(CLOSING);
    }
}

/// Whether this rank, of those that [`follow`], is the one that tells of `error`. Rank 0 does where it is
/// there; where it is lost, the first rank on another node does.
#[must_use]
pub fn speaks(error: &RunnerError, comm: &dyn Comm) -> bool {
    let mut ranks = (0..).zip(comm.topology().node_of());
    let elsewhere = ranks.find(|(_, node)| Some(*node) != comm.topology().node_of().first());
    loses_first(error) && comm.rank() == elsewhere.map_or(1, |(rank, _)| rank)
}

/// Whether rank 0 is lost.
fn loses_first(error: &RunnerError) -> bool {
    match error {
        RunnerError::Comm(CommError::Lost { rank, .. } | CommError::PeerGone { rank, .. }) => *rank == 0,
        RunnerError::Comm(CommError::TimedOut { missing, .. }) => missing.contains(&0),
        _ => false,
    }
}

/// Carries out orders about one plan.
fn live(comm: &dyn Comm, mut hand: Hand<'_>) -> Result<(), RunnerError> {
    let result = carry_out_all(comm, &mut hand);
    if result.is_err() {
        // The loss is what counts; what could not be removed is still claimed.
        let _ = hand.save_what_can_be();
    }
    result
}

fn carry_out_all(comm: &dyn Comm, hand: &mut Hand<'_>) -> Result<(), RunnerError> {
    loop {
        match receive(comm)? {
            Order::End => return Ok(()),
            Order::Synchronize => {
                comm.synchronize()?;
            }
            Order::Phase(order) => {
                finish_phase(comm, hand.take_part(&order), None)?;
            }
            order => {
                answer(comm, hand.carry_out(&order))?;
            }
        }
    }
}
