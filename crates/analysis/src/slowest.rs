//! The slowest member of a group that works together, and what it lets the group reach.

use plan::Phase;
use record::{DeviceRow, TaskRow};

use crate::{Summary, device_means, task_rates};

/// A member that moved less than this share of what the busiest one did has no part in the work:
/// a system disk beside the disks of data.
pub(crate) const MEMBER_SHARE_MIN: f64 = 0.01;

/// The slowest of several members, and the bound that it sets.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowestMember {
    /// Members.
    pub members: usize,
    /// The slowest of them.
    pub name: String,
    /// Its rate.
    pub rate: f64,
    /// Members × its rate: what work that is shared out evenly, and waits for all, can reach.
    pub bound: f64,
    /// Median rate of the members.
    pub typical: f64,
    /// 1 − its rate ÷ the median rate: by how much it stays behind.
    pub behind: f64,
}

impl SlowestMember {
    /// `measured` ÷ the bound: near 1 where the slowest member limits the whole; above where it got
    /// less of the work than the others.
    #[must_use]
    pub fn share(&self, measured: f64) -> f64 {
        measured / self.bound
    }
}

/// The slowest of `members` (name, rate); none where there are none, or where one
/// stands still.
///
/// Source: study B: a collective transfer over sixteen disks, the slowest of which writes at
/// 350 MB/s, is bound by 5.6 GB/s.
///
/// ```
/// let disks: Vec<_> = (0..16).map(|n| (format!("disk {n}"), if n == 3 { 350e6 } else { 430e6 })).collect();
/// let slowest = analysis::slowest_member(&disks).expect("sixteen disks");
/// assert_eq!((slowest.name.as_str(), slowest.bound), ("disk 3", 5.6e9));
/// ```
#[must_use]
pub fn slowest_member(members: &[(String, f64)]) -> Option<SlowestMember> {
    let rates: Vec<f64> = members.iter().map(|(_, rate)| *rate).collect();
    let summary = Summary::of(&rates).filter(|summary| summary.min > 0.0)?;
    let (name, rate) = members.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(SlowestMember {
        members: members.len(),
        name: name.clone(),
        rate: *rate,
        bound: members.len() as f64 * rate,
        typical: summary.median,
        behind: 1.0 - rate / summary.median,
    })
}

/// The slowest task of `phase` of `case`, by the mean of its rates over the repetitions.
#[must_use]
pub fn slowest_task(rows: &[TaskRow], case: &str, phase: Phase) -> Option<SlowestMember> {
    let mut rates = task_rates(rows, case, phase);
    rates.sort_by_key(|rate| rate.task);
    let member = |rates: &[crate::TaskRate]| {
        let sum: f64 = rates.iter().map(|rate| rate.bytes_per_second).sum();
        (format!("task {} on {}", rates[0].task, rates[0].node), sum / rates.len() as f64)
    };
    let members: Vec<_> = rates.chunk_by(|a, b| a.task == b.task).map(member).collect();
    slowest_member(&members)
}

/// The slowest device of `phase` of `case`, by what the kernel counted in both directions over
/// all repetitions.
#[must_use]
pub fn slowest_device(rows: &[DeviceRow], case: &str, phase: Phase) -> Option<SlowestMember> {
    let means = device_means(rows, case, phase);
    let rates = means.into_iter().map(|(name, mean)| {
        let rate = mean.read_bytes_per_second + mean.write_bytes_per_second;
        (name, rate)
    });
    let rates: Vec<(String, f64)> = rates.collect();
    let most = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let members: Vec<_> = rates.into_iter().filter(|(_, rate)| *rate >= most * MEMBER_SHARE_MIN).collect();
    slowest_member(&members)
}
