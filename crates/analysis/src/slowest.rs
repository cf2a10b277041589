//! The slowest member of a group that works together, and what it lets the group reach.

use crate::Summary;

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
}

impl SlowestMember {
    /// `measured` ÷ the bound: near 1 where the slowest member limits the whole; above where it got
    /// less of the work than the others.
    #[must_use]
    pub fn share(&self, measured: f64) -> f64 {
        measured / self.bound
    }
}

/// The slowest of `members` (name, rate); none where there are none, or where one stands still.
///
/// Source: study B: a collective transfer over sixteen disks, the slowest of which writes at
/// 350 MB/s, is bound by 5.6 GB/s.
#[must_use]
pub fn slowest_member(members: &[(String, f64)]) -> Option<SlowestMember> {
    let rates: Vec<f64> = members.iter().map(|(_, rate)| *rate).collect();
    let all = Summary::of(&rates).filter(|all| all.min > 0.0)?;
    let (name, rate) = members.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let bound = all.n as f64 * rate;
    Some(SlowestMember { members: all.n, name: name.clone(), rate: *rate, bound, typical: all.median })
}
