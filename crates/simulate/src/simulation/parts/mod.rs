//! The parts of a model: what serves a request, and for how long.

pub(crate) mod drive;
pub(crate) mod names;
pub(crate) mod quantiles;
pub(crate) mod route;
pub(crate) mod service;
pub(crate) mod station;
pub(crate) mod threads;
