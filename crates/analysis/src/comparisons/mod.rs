//! Compares own figures with other runs, other tools, published figures, commitments and claims.

pub(crate) mod against_itself;
pub(crate) mod agreement;
pub(crate) mod claim_verdict;
pub(crate) mod claims;
pub(crate) mod commitments;
pub(crate) mod compare;
pub(crate) mod conditions;
pub(crate) mod cross_check;
pub(crate) mod flattered;
pub(crate) mod limits;
pub(crate) mod pairs;
pub(crate) mod percentile_need;
pub(crate) mod percentile_promise;
pub(crate) mod published;
pub(crate) mod published_comparison;
pub(crate) mod quantities;
pub(crate) mod repetition_need;
pub(crate) mod sides;
pub(crate) mod unruled;

pub use self::{
    against_itself::*, agreement::*, claim_verdict::*, claims::*, commitments::*, compare::*, cross_check::*,
    limits::*, percentile_need::*, published::*, published_comparison::*, repetition_need::*, sides::*,
};
