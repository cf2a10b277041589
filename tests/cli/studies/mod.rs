//! Studies and their plans: output before, during and after a run.

mod consent;
mod explain;
mod instrument;
mod limits;
mod messages;
mod modes;
mod places;
mod progress;
mod quick;
mod quick_in_turns;
mod ready_studies;
mod regression;
mod scaled;
mod study;
mod sweeps;
