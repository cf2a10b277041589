//! The guarantees for readers of figures: formulas are compared with naive definitions and known values.

mod audit;
mod common;
mod comparisons;
mod cross_checks;
mod documented;
mod figures;
mod findings;
mod jobs;
mod nodes;
mod over_time;
mod predictions;
mod printed;
mod scaling;
mod simulated;
mod statistics;
mod sweeps;
mod targets;
mod together;
