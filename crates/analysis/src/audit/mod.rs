//! The audit: finds doubtful figures and gives the numbers that show why. Each check here would
//! have caught an error in a published study, and each works on own or on published figures.

mod absorbed;
mod criteria;
mod damaged;
mod issue;
mod measured;
mod memory;
mod own;
mod passes;
mod policy;
mod promised;
mod published;
mod recomputed;
mod servers;

pub(crate) use absorbed::absorbed;
pub(crate) use criteria::above_links;
pub(crate) use damaged::damaged;
pub(crate) use issue::DEVICE_LATENCY_MIN_NS;
pub use issue::{AuditIssue, doubted};
pub use own::audit;
pub(crate) use own::beyond_devices;
pub(crate) use policy::OF_PROMISES;
pub use policy::{CHECKS, Check, CheckPolicy, OnModels, Outcome, Use};
pub(crate) use promised::promised;
pub use published::audit_published;
