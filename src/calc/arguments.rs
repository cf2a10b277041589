//! What `ioproof calc` can be asked.

use std::path::PathBuf;

use analysis::printed::PrintedStatistics;
use clap::{Args, Subcommand};
use plan::{Amount, Bytes, Nanos};

/// A formula and its numbers.
#[derive(Debug, Subcommand)]
pub(crate) enum Calculation {
    /// Measured rate ÷ (devices × rate of one device).
    Scalability {
        /// Total rate of all devices, for example 24.1GB/s.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        measured: Amount,
        /// The rate of one device.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        baseline: Amount,
        /// Number of devices.
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        devices: u32,
        /// Number of tasks, for the maximum that they can reach.
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        tasks: Option<u32>,
    },
    /// (reference − other) ÷ reference: what one layout loses compared with another.
    Tax {
        /// The reference rate.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        reference: Amount,
        /// The other rate.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        other: Amount,
    },
    /// The share of the total rate of all targets that a number of tasks can reach.
    Balance {
        /// Number of tasks.
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        tasks: u32,
        /// Number of targets.
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        targets: u32,
    },
    /// A rate in MB/s, MiB/s and transfers per second.
    Units {
        /// Rate, for example 4491MiB/s or 1149696/s.
        #[arg(value_name = "RATE", value_parser = rate)]
        rate: Amount,
        /// Size of one transfer, for example 4KiB.
        #[arg(long, value_name = "SIZE", value_parser = crate::arguments::values::size)]
        transfer: Option<Bytes>,
    },
    /// Number of drives that a rate needs, with parity.
    Drives {
        /// The required rate.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        goal: Amount,
        /// The rate of one drive; may be repeated.
        #[arg(long, value_name = "RATE", value_parser = rate, required = true)]
        per_drive: Vec<Amount>,
        /// Data drives of one stripe.
        #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
        data: u32,
        /// Parity drives of one stripe.
        #[arg(long, default_value_t = 0)]
        parity: u32,
    },
    /// The lowest of several limits, and how much of it was reached.
    Bound {
        /// A limit, for example drives=60x120000/s; may be repeated.
        #[arg(long = "limit", value_name = "NAME=COUNTxRATE", value_parser = limit, required = true)]
        limits: Vec<(String, f64, Amount)>,
        /// The measured rate.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        measured: Option<Amount>,
    },
    /// Operations per second of a job, from its wall time.
    Job {
        /// Number of tasks.
        #[arg(long)]
        tasks: u64,
        /// Number of operations of each task.
        #[arg(long)]
        operations: u64,
        /// Wall time of the job in seconds.
        #[arg(long, value_parser = number)]
        seconds: f64,
    },
    /// Little's law: operations in flight = rate × latency.
    Little {
        /// Operations per second, for example 1200000/s.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        rate: Amount,
        /// Mean latency, for example 50us.
        #[arg(long, value_name = "TIME", value_parser = time)]
        latency: Nanos,
        /// Operations that were in flight.
        #[arg(long, value_parser = number)]
        in_flight: Option<f64>,
    },
    /// How far a measured rate is above or below a promised one.
    Margin {
        /// The promised rate.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        promised: Amount,
        /// The measured rate.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        measured: Amount,
    },
    /// The number of nodes at which a growing rate overtakes a constant one.
    Crossover {
        /// The rate that each node adds.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        slope: Amount,
        /// The constant rate.
        #[arg(long, value_name = "RATE", value_parser = rate)]
        plateau: Amount,
    },
    /// The difference of two numbers, and its share of the first.
    Difference {
        /// The first number.
        #[arg(long, value_parser = number, allow_negative_numbers = true)]
        before: f64,
        /// The second number.
        #[arg(long, value_parser = number, allow_negative_numbers = true)]
        after: f64,
    },
    /// Check whether printed statistics can be true.
    Statistics(Given),
    /// Statistics of a column of numbers.
    Values {
        /// File with one number on each line [default: standard input].
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Check whether two columns of numbers differ by more than their scatter.
    Compare {
        /// File with one number on each line.
        #[arg(value_name = "BEFORE")]
        before: PathBuf,
        /// File with one number on each line.
        #[arg(value_name = "AFTER")]
        after: PathBuf,
    },
    /// A straight line through points, with its uncertainty.
    Regression {
        /// File with x and y on each line [default: standard input].
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Extrapolate to this x; may be repeated.
        #[arg(long, value_name = "X", value_parser = number, allow_negative_numbers = true)]
        at: Vec<f64>,
    },
    /// Peak, knee, plateau, sweet spot and regular dips of a curve.
    Curve {
        /// File with x and y on each line [default: standard input].
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

/// Statistics as they were printed.
#[derive(Debug, Args)]
pub(crate) struct Given {
    /// Number of values.
    #[arg(long, short, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) n: Option<u64>,
    /// Standard deviation.
    #[arg(long, value_parser = number, allow_negative_numbers = true)]
    pub(crate) sdev: Option<f64>,
    /// Largest − smallest.
    #[arg(long, value_parser = number, conflicts_with_all = ["min", "max"])]
    pub(crate) range: Option<f64>,
    /// Smallest.
    #[arg(long, value_parser = number, allow_negative_numbers = true, requires = "max")]
    pub(crate) min: Option<f64>,
    /// Largest.
    #[arg(long, value_parser = number, allow_negative_numbers = true, requires = "min")]
    pub(crate) max: Option<f64>,
    /// Mean.
    #[arg(long, value_parser = number, allow_negative_numbers = true)]
    pub(crate) mean: Option<f64>,
}

impl Given {
    /// As the analysis takes them; printed numbers count as exact.
    pub(crate) fn printed(&self) -> PrintedStatistics {
        PrintedStatistics {
            n: self.n,
            min: self.min,
            max: self.max,
            range: self.range,
            mean: self.mean,
            deviation: self.sdev,
            ..PrintedStatistics::default()
        }
    }
}

/// A rate or a number above this is a slip: all the storage of the world moves less in a second.
const AMOUNT_MAX: f64 = 1e18;

fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.abs() <= AMOUNT_MAX => Ok(number),
        _ => Err(format!(
            "`{text}` is not a number up to 1e18; write, for example, 5153 or 4.4e9, without a unit"
        )),
    }
}

fn rate(text: &str) -> Result<Amount, String> {
    match Amount::parse_rate(text) {
        Ok(Amount::BytesPerSecond(value) | Amount::OperationsPerSecond(value)) if value > AMOUNT_MAX => {
            Err(format!("`{text}` is more than 1e18 per second, which nothing reaches"))
        }
        Ok(rate) => Ok(rate),
        Err(error) => Err(format!("{}; {}", error.message, error.help)),
    }
}

fn time(text: &str) -> Result<Nanos, String> {
    Nanos::parse_study(text).map_err(|error| format!("{}; {}", error.message, error.help))
}

/// `drives=60x120000/s`.
fn limit(text: &str) -> Result<(String, f64, Amount), String> {
    let allowed = "write it as NAME=COUNTxRATE, for example drives=60x120000/s";
    let (name, value) = text.split_once('=').ok_or(allowed)?;
    let (count, each) = value.split_once('x').unwrap_or(("1", value));
    let count: f64 = count.parse().ok().filter(|count| *count > 0.0).ok_or(allowed)?;
    Ok((name.to_owned(), count, rate(each)?))
}
