//! Simulates one phase on the parts of a model, as discrete events on a virtual clock.
//!
//! A transfer passes through its node (processor time, network adapter), the links and servers of its layout,
//! and one or several devices. Each part serves requests in the order of arrival, so a request needs one
//! event for each part, or none if arrivals are in order anyway.

pub(crate) mod exchanges;
pub(crate) mod jobs;
pub(crate) mod objects;
pub(crate) mod parts;
pub(crate) mod phase;
pub(crate) mod queue;
pub(crate) mod recording;
mod repeats;
pub(crate) mod request;
pub(crate) mod steady;
pub(crate) mod system;
pub(crate) mod task;
pub(crate) mod time;

#[cfg(test)]
mod theory;
