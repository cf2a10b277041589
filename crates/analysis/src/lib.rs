//! Pure functions on records: statistics, rates, bounds. Nothing here reads files or clocks.
//!
//! | module | contents |
//! |---|---|
//! | [`figures`] | the figures of each result phase for tables, charts and pages: rates, latencies, nodes, devices, warnings |
//! | [`statistics`] | summaries of repetitions, tests of differences, lines, intervals, and whether a case may end |
//! | [`audit`] | doubts about figures, with evidence |
//! | [`gate`] | the only way to make a statement, the requirements of each kind, and statements as typed columns |
//! | [`caveats`] | what belongs to a figure wherever it is quoted |
//! | [`findings`] | all findings from the figures of a study |
//! | [`sweeps`], [`scaling`], [`nodes`], [`targets`] | findings about points of a sweep; numbers of devices, tasks and layers; nodes; targets and their devices |
//! | [`together`] | findings about workloads that ran at the same time |
//! | [`comparisons`] | comparisons with other runs, other tools, published figures, commitments and claims |
//! | [`over_time`] | one figure of many runs, and where its level changed |
//! | [`predictions`] | the rates that an earlier run predicts for a plan |
//! | [`printed`] | consistency checks of values that other tools printed |
//! | [`jobs`] | jobs of analytics servers, and the table of the runs of all cases |
//!
//! ```no_run
//! use analysis::RateName;
//! let run = record::Run::open(std::path::Path::new("run"))?;
//! for figure in analysis::figures::figures(&run, RateName::ByWall) {
//!     let rate = figure.bytes_per_second;
//!     println!("{}: {:.0} bytes/s ({})", figure.conditions, rate.median, figure.rate.name());
//! }
//! # Ok::<(), record::RecordError>(())
//! ```

pub mod audit;
pub mod caveats;
pub mod comparisons;
pub mod figures;
pub mod findings;
pub mod gate;
pub mod jobs;
pub mod nodes;
pub mod over_time;
pub mod predictions;
pub mod printed;
pub mod scaling;
pub mod statistics;
pub mod sweeps;
pub mod targets;
pub mod together;

pub use plan::RateName;
