//! The means of many devices, such as those of all nodes of a run, as a distribution.

use crate::figures::DeviceMean;
use crate::gate::{LISTED_MAX, QUANTILES};
use crate::statistics::{quantile, sorted};

/// With more than [`LISTED_MAX`] devices, one row for each of [`QUANTILES`] instead of one per device. Each value is
/// the quantile of that column over all devices, so a row does not describe a single device. Returns `None` with
/// fewer devices.
///
/// ```
/// use analysis::{figures::DeviceMean, nodes::device_spread};
///
/// let mean = |rate: u32| DeviceMean {
///     read_bytes_per_second: rate.into(),
///     write_bytes_per_second: 0.0,
///     busy_share: Some(1.0 / f64::from(rate)),
///     queue_requests: Some(1.0),
///     wait_ns: None,
/// };
/// let devices: Vec<_> = (1..=101).map(|rate| (format!("disk{rate}"), mean(rate))).collect();
/// let rows = device_spread(&devices).expect("many");
/// let median = rows.iter().find(|(quantile, _)| quantile == "median").expect("it is shown");
/// assert_eq!((median.1.read_bytes_per_second, median.1.busy_share), (51.0, Some(1.0 / 51.0)));
/// assert!(device_spread(&devices[..32]).is_none());
/// ```
#[must_use]
pub fn device_spread(devices: &[(String, DeviceMean)]) -> Option<Vec<(String, DeviceMean)>> {
    let values = |of: fn(&DeviceMean) -> Option<f64>| {
        sorted(&devices.iter().filter_map(|(_, mean)| of(mean)).collect::<Vec<_>>())
    };
    let (read, write) =
        (values(|one| Some(one.read_bytes_per_second)), values(|one| Some(one.write_bytes_per_second)));
    let (busy, queue) = (values(|one| one.busy_share), values(|one| one.queue_requests));
    let wait = values(|one| one.wait_ns);
    let at = |values: &[f64], share| quantile(values, share).unwrap_or_default();
    let known_at = |values: &[f64], share| quantile(values, share).filter(|_| !values.is_empty());
    let row = |(heading, share): (&str, f64)| {
        let mean = DeviceMean {
            read_bytes_per_second: at(&read, share),
            write_bytes_per_second: at(&write, share),
            busy_share: known_at(&busy, share),
            queue_requests: known_at(&queue, share),
            wait_ns: known_at(&wait, share),
        };
        (heading.to_owned(), mean)
    };
    (devices.len() > LISTED_MAX).then(|| QUANTILES.map(row).to_vec())
}
