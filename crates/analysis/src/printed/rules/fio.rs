//! fio.

use super::{Found, Printout, statistics};

/// Latencies that cannot belong to the same requests. Bandwidths are of samples, of which each job has its own.
pub(super) fn latencies(printout: &Printout<'_>) -> Vec<Found> {
    statistics::of_some_values_if(printout, |label| label.ends_with("lat"))
}
