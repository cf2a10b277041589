//! Simulated phases and runs against what is known without a simulation: queueing theory, closed forms of
//! devices, and the same bytes from the same seed.

mod bench;
mod caches;
mod clocks;
mod closed_networks;
mod devices;
mod exchanges;
mod jobs;
mod objects;
mod open_loops;
mod records;
mod same_bytes;
mod steady;
mod together;
