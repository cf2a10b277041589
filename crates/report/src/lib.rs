//! Tables, charts and pages, made from records and analysis.

mod format;
mod offsets;
mod preflight;
mod progress;
mod table;
mod words;

pub use offsets::offsets;
pub use preflight::{explain, preflight};
pub use progress::{Progress, TimeLeft};
