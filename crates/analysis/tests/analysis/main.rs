//! What a reader of figures relies on: formulas against naive definitions and known values.

mod audit_own;
mod audit_published;
mod beside;
mod bootstrap;
mod claims;
mod compare;
mod curves;
mod documented;
mod expected;
mod figures;
mod latency;
mod outlier;
mod plausible;
mod published;
mod quantities;
mod ranks;
mod rates;
mod regression;
mod rows;
mod settled;
mod shape;
mod studies;
mod study;
mod summary;
mod verdict;
mod verdicts;
