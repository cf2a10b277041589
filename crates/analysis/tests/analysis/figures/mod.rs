//! Figures of a run.

mod history;
mod latency;
mod of_run;
mod rates;
