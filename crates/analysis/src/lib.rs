//! Pure functions on records: statistics, rates, bounds. Nothing here reads a file or a clock.
//!
//! | module | what it has |
//! |---|---|
//! | [`figures`] | what tables, charts and pages show of each result phase: rates, latencies, nodes, devices, warnings |
//! | [`statistics`] | summaries of repetitions, tests of differences, lines, intervals, and whether a case may end |
//! | [`audit`] | what is doubtful, with evidence |
//! | [`gate`] | the only way to a statement, what each kind needs, and statements as typed columns |
//! | [`findings`] | everything that the figures of a study say together |
//! | [`sweeps`], [`scaling`], [`nodes`], [`targets`] | findings on points of a sweep, on numbers of devices, tasks and layers, on nodes, on targets and their devices |
//! | [`comparisons`] | beside other runs, other tools, published figures, commitments and claims |
//! | [`predictions`] | the rates that an earlier run predicts for a plan |
//! | [`printed`] | whether what another tool printed agrees with itself |
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
pub mod comparisons;
pub mod figures;
pub mod findings;
pub mod gate;
pub mod jobs;
pub mod nodes;
pub mod predictions;
pub mod printed;
pub mod scaling;
pub mod statistics;
pub mod sweeps;
pub mod targets;

pub use plan::RateName;
