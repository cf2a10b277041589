//! The ranks of a run: what each of them does, and how rank 0 directs them.

pub(crate) mod follow;
pub(crate) mod machine_executor;
pub(crate) mod merge_ranks;
pub(crate) mod nodes;
pub(crate) mod order;
pub(crate) mod phase;
pub(crate) mod phase_barrier;
pub(crate) mod phase_result;
pub(crate) mod present_data;
pub(crate) mod rank_assignment;
pub(crate) mod rank_executor;
pub(crate) mod rank_group;
pub(crate) mod rows;
pub(crate) mod signals;
#[cfg(test)]
mod tests;
