//! What workers record of their operations.

pub(crate) mod account;
pub(crate) mod histogram;
pub(crate) mod history;
pub(crate) mod series;
