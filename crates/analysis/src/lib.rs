//! Pure functions on records: statistics, rates, bounds. Nothing here reads a file or a clock.
//!
//! | what | for |
//! |---|---|
//! | [`figures`] | what tables, charts and pages show, with all that must stand beside it |
//! | [`Rates`], [`LATENCY_STATISTICS`] | named rates of a phase, statistics of its latencies |
//! | [`Summary`], [`difference`], [`lack_of_fit`], [`Regression`], [`Bootstrap`] | what repetitions say |
//! | [`audit`], [`phase_warnings`] | what is doubtful, with evidence |
//! | [`findings`] | what the figures of a study say together |
//! | [`Gate`], [`Stated`], [`POLICY`] | the only way to a statement, and what each kind needs |
//! | [`Table`], [`Statement`] | statements as typed columns, for every form of a report |
//! | [`paired`], [`beside`], [`claims`] | beside other runs, published figures and published statements |
//! | [`PrintedCheck`], [`imported_checks`] | whether what another tool printed together agrees |
//! | [`settled`] | whether the values so far are enough to end a case |
//!
//! ```no_run
//! use analysis::RateName;
//! let run = record::Run::open(std::path::Path::new("run"))?;
//! for figure in analysis::figures(&run, RateName::ByWall) {
//!     let rate = figure.bytes_per_second;
//!     println!("{}: {:.0} bytes/s ({})", figure.conditions, rate.median, figure.rate.name());
//! }
//! # Ok::<(), record::RecordError>(())
//! ```

mod agreement;
mod amount;
mod audit;
mod beside;
mod best;
mod bootstrap;
mod bound_by;
mod claims;
mod commitments;
mod compare;
mod consistency;
mod cost;
mod coverage;
mod cross_check;
mod curve;
mod curve_shape;
mod curves;
mod difference;
mod dips;
mod disk_view;
mod dispersion;
mod expected;
mod figure;
mod figures;
mod findings;
mod gate;
mod histogram;
mod history;
mod imported;
mod iops;
mod jobs;
mod lack_of_fit;
mod latency;
mod layers;
mod little;
mod matrix;
mod members;
mod names;
mod needs;
mod node_comparison;
mod nodes;
mod observed;
mod outlier;
mod overhead;
mod overlay;
mod phase_warnings;
mod plausible;
mod primary_metric;
mod printed_checks;
mod process_limit;
mod published;
mod quantities;
mod ranks;
mod rates;
mod reconciled;
mod regression;
mod scaling;
mod seek;
mod server_side;
mod servers;
mod settled;
mod starved;
mod subject;
mod summary;
pub mod table;
mod timeline;
mod weak_scaling;
mod weakest;

// Columns of seconds are called so, too.
pub use observed::seconds;
pub use plan::RateName;

pub use self::{
    agreement::*, amount::*, audit::*, beside::*, best::*, bootstrap::*, bound_by::*, claims::*,
    commitments::*, compare::*, consistency::*, cost::*, coverage::*, cross_check::*, curve::*,
    curve_shape::*, curves::*, difference::*, dips::*, disk_view::*, dispersion::*, expected::*, figure::*,
    figures::*, findings::*, gate::*, histogram::*, history::*, imported::*, iops::*, jobs::*,
    lack_of_fit::*, latency::*, layers::*, little::*, matrix::*, members::*, names::*, needs::*,
    node_comparison::*, nodes::*, observed::*, outlier::*, overhead::*, overlay::*, phase_warnings::*,
    plausible::*, primary_metric::*, printed_checks::*, process_limit::*, published::*, ranks::*, rates::*,
    reconciled::*, regression::*, scaling::*, seek::*, server_side::*, servers::*, settled::*, starved::*,
    subject::*, summary::*, table::*, timeline::*, weak_scaling::*, weakest::*,
};
