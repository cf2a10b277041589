//! Doubts about figures.

mod absorbed;
mod doubts;
mod memory;
mod own;
mod promised;
mod published;
mod servers;
mod starved;
