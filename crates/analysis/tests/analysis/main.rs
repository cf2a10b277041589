//! What a reader of figures relies on: formulas against naive definitions and known values.

mod figures;
mod latency;
mod published;
mod rates;
mod rows;
mod summary;
mod verdicts;
