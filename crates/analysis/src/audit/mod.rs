//! The audit: what is doubtful in figures, with the numbers that show it. Every check here would
//! have caught a slip of a published study, and each runs over own figures or published ones.

mod absorbed;
mod criteria;
mod damaged;
mod issue;
mod measured;
mod memory;
mod own;
mod passes;
mod policy;
mod published;
mod recomputed;
mod servers;

pub(crate) use absorbed::absorbed;
pub(crate) use criteria::above_links;
pub(crate) use damaged::damaged;
pub use issue::{AuditIssue, doubted};
pub use own::audit;
pub(crate) use own::beyond_devices;
pub use policy::{CHECKS, Check, CheckPolicy, OnModels, Outcome, Use};
pub use published::audit_published;
