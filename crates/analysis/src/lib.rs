//! Pure functions on records: statistics, rates, bounds. Nothing here reads a file or a clock.
//!
//! | what | for |
//! |---|---|
//! | [`figures`] | what tables, charts and pages show, with all that must stand beside it |
//! | [`Rates`], [`RateName`] | named rates of a phase, each with its definition |
//! | [`Latency`] | percentiles from the histogram of every transfer, merged exactly |
//! | [`Summary`] | median, spread and a confidence interval that assumes no distribution |
//! | [`seconds`], [`device_lines`], [`task_rates`] | what happened over time, by device and by task |
//! | [`DeviceShare`], [`phase_warnings`] | what the page cache did, and other doubts, as warnings |
//! | [`published_beside`] | published figures of the same command line |
//! | [`settled`], [`steady`] | whether the values so far are enough to end a case |
//! | [`Regression`], [`crossover`] | a line with its uncertainty; where it meets a plateau |
//! | [`overhead`] | what the instrument costs, from paired runs |
//!
//! ```no_run
//! use analysis::{RateName, View};
//! let run = record::Run::open(std::path::Path::new("run"))?;
//! for figure in analysis::figures(View::from(&run), RateName::ByWall) {
//!     let rate = figure.bytes_per_second;
//!     println!("{}: {:.0} bytes/s ({})", figure.conditions, rate.median, figure.rate.name());
//! }
//! # Ok::<(), record::RecordError>(())
//! ```

mod figures;
mod findings;
mod latency;
mod observed;
mod overhead;
mod published;
mod rates;
mod regression;
mod settled;
mod summary;
mod verdicts;

pub use figures::{Figure, OperationLatency, RepetitionFigure, View, figures};
pub use findings::{
    Beside, Best, BoundBy, Check, ClaimVerdict, Comparison, Consistency, Curve, CurvePoint, CurveRegression,
    Dips, Dispersion, DispersionPoint, Doubt, Expected, Findings, Judgement, Limit, Outcome, Scaling, Shape,
    Standing, Tax, Verdict, WeakestLink,
};
pub use latency::{CdfPoint, Latency};
pub use observed::{
    DeviceLine, DeviceMean, DeviceSecond, Second, SecondsLine, TaskRate, device_lines, device_means, seconds,
    task_rates,
};
pub use overhead::{Overhead, overhead};
pub use plan::RateName;
pub use published::{published_beside, published_near};
pub use rates::{DirectionRates, Rate, Rates, SUSTAINED_PERCENTILE, SUSTAINED_SECONDS_MIN, Split};
pub use regression::{Prediction, Regression, Uncertainty, crossover};
pub use settled::{
    Settled, SteadyState, all_settled, counted, interval_share, settled, steady, steady_state,
};
pub use summary::{CONFIDENCE, Interval, Summary};
pub use verdicts::{
    CPU_SHARE_MAX, DEVICE_SHARE_MAX, DEVICE_SHARE_MIN, DeviceShare, cache_verdict, harness_bound, incomplete,
    not_quiet, outliers, phase_warnings, too_short,
};
