//! Values that other tools print.

mod plausible;
mod printed_checks;
mod run_time;
