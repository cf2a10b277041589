//! Jobs of analytics servers, and the table of the runs of all cases.

pub(crate) mod job_table;
pub(crate) mod matrix;
pub(crate) mod timeline;

pub use self::{job_table::*, matrix::*, timeline::*};
