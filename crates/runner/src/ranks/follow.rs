//! The ranks other than 0, which carry out orders until the last one.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use comm::{Comm, CommError};
use engine::Controls;
use host::{Host, PermittedDevice};

use crate::RunnerError;
use crate::check::rank_check::RankCheck;
use crate::files::file_sets::{FileSets, targets};
use crate::files::targets::observable_devices;
use crate::ranks::nodes::directory_probe::find_missing;
use crate::ranks::nodes::report_host;
use crate::ranks::order::{Answer, CheckRequest, Order};
use crate::ranks::rank_executor::{RankContext, RankExecutor};
use crate::ranks::rank_group::{answer, finish_phase, receive, send};
use crate::ranks::signals::forward_signals;

/// Carries out the orders of rank 0 until [`dismiss`] is called there. Returns early if a rank is lost,
/// after removing the files of this rank.
///
/// # Errors
/// Errors if a rank was lost, or if a message could not be parsed. Other errors of this rank are reported
/// on rank 0.
pub fn follow(host: &Host, comm: &dyn Comm, controls: Arc<Controls>) -> Result<(), RunnerError> {
    let mut known: Option<(CheckRequest, Vec<PermittedDevice>)> = None;
    loop {
        match receive(comm)? {
            Order::ReportHost { targets, uring } => {
                answer(comm, Ok(Answer::HostReports(report_host(host, comm, &targets, uring))))?;
            }
            Order::FindMissing { paths } => {
                answer(comm, Ok(find_missing(comm, &paths)))?;
            }
            Order::Synchronize => {
                comm.synchronize()?;
            }
            Order::Check(request) => {
                let request = *request;
                let mut permits = Vec::new();
                let rank = RankCheck { request: &request, host, comm };
                let found = rank.check(&mut permits).map(|(found, _)| Answer::CheckFindings(found));
                answer(comm, found)?;
                known = Some((request, permits));
            }
            Order::Start { run_directory, started_unix_ns } => {
                let Some((request, permits)) = &known else { return Err(RunnerError::OutOfPlace) };
                let context = RankContext {
                    plan: &request.plan,
                    run_id: &request.run_id,
                    run_directory,
                    started_unix_ns,
                    local_directories: &request.local_directories,
                    permits,
                    program: None,
                };
                let boot_id = host.boot_id();
                let mates = request.mates.iter().find(|(kernel, _)| *kernel == boot_id);
                let quiet = host
                    .quiet_watch(observable_devices(&targets(&request.plan, &request.finished), host))
                    .with_mates(mates.map(|(_, pids)| pids.clone()).unwrap_or_default());
                let file_sets = FileSets::of_unfinished(&request.plan, &request.finished);
                let executor =
                    RankExecutor::new(host, comm, Arc::clone(&controls), context, file_sets, quiet);
                forward_signals(comm, &controls, || run_plan(comm, executor))??;
            }
            Order::Dismiss => return Ok(()),
            _ => return Err(RunnerError::OutOfPlace),
        }
    }
}

/// Releases the ranks in [`follow`]. Called on rank 0 when there is no more work.
///
/// # Errors
/// Errors if a rank was lost.
pub fn dismiss(comm: &dyn Comm) -> Result<(), RunnerError> {
    match comm.size() {
        1 => Ok(()),
        _ => send(comm, &Order::Dismiss),
    }
}

/// Time that rank 0 gets to close the record and remove files after a rank was lost.
const CLOSING: Duration = Duration::from_secs(10);

/// Waits for rank 0 to close the record. Called on a rank whose [`follow`] ended with `error`, because a
/// launcher ends the whole job, including rank 0, when a process exits with an error. Does not wait if rank
/// 0 itself is lost.
pub fn wait_for_rank_0(error: &RunnerError) {
    if error.is_loss() && !loses_first(error) {
        thread::sleep(CLOSING);
    }
}

/// Whether this rank, among those in [`follow`], has to report `error`. Normally rank 0 does; if it is lost,
/// the first rank on another node does.
#[must_use]
pub fn reports_loss(error: &RunnerError, comm: &dyn Comm) -> bool {
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

/// Carries out the orders for one plan.
fn run_plan(comm: &dyn Comm, mut executor: RankExecutor<'_>) -> Result<(), RunnerError> {
    let result = carry_out_all(comm, &mut executor);
    if result.is_err() {
        // The lost rank is the error to report. What could not be removed is still claimed.
        let _ = executor.save_what_can_be();
    }
    result
}

fn carry_out_all(comm: &dyn Comm, executor: &mut RankExecutor<'_>) -> Result<(), RunnerError> {
    loop {
        match receive(comm)? {
            Order::End => return Ok(()),
            Order::Synchronize => {
                comm.synchronize()?;
            }
            Order::Phase(order) => {
                finish_phase(comm, executor.take_part(&order), None)?;
            }
            Order::Together(orders) => {
                let streams: Vec<Arc<Controls>> = executor.streams(orders.len());
                for done in executor.together(&orders, &streams) {
                    finish_phase(comm, done, None)?;
                }
            }
            order => {
                answer(comm, executor.carry_out(&order))?;
            }
        }
    }
}
