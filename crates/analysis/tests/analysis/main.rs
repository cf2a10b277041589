//! What a reader of figures relies on: formulas against naive definitions and known values.

mod figures;
mod latency;
mod published;
mod rates;
mod regression;
mod rows;
mod settled;
mod summary;
mod verdicts;
