//! The drives that a goal needs.

use crate::statistics::summary;

/// Strips of one stripe, some of which hold parity: 8 + 2 has ten, of which two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stripe {
    /// All strips, parity included.
    pub strips: u32,
    /// Strips of parity: 1 for 1P, 2 for 2P, 3 for 3P; 0 for none. Less than [`Stripe::strips`].
    pub parity: u32,
}

impl Stripe {
    /// Drives without redundancy.
    pub const NONE: Self = Self { strips: 1, parity: 0 };

    /// Bytes written ÷ bytes of data: `strips ÷ (strips − parity)`; none where no strip holds data.
    #[must_use]
    pub fn overhead(self) -> Option<f64> {
        let data = self.strips.checked_sub(self.parity).filter(|&data| data > 0)?;
        Some(f64::from(self.strips) / f64::from(data))
    }
}

/// The drives that a goal needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drives {
    /// `⌈goal ÷ rate of a drive⌉`: for reads of intact stripes, which touch no parity and find data on every drive where
    /// parity goes round; and without redundancy.
    pub data: u64,
    /// `⌈goal ÷ rate of a drive × strips ÷ (strips − parity)⌉`: for writes of whole stripes, whose parity is written at
    /// the same time. Smaller writes read before they write, and need more.
    pub with_parity: u64,
}

/// The drives for `goal` bytes per second of data where one drive moves `per_drive`; none where
/// the rates are not above 0, the stripe holds no data, or the drives are more than can be counted.
///
/// ```
/// use analysis::targets::{Stripe, drives};
/// let needed = drives(2.5e12, 100e6, Stripe { strips: 10, parity: 2 }).expect("a goal");
/// assert_eq!((needed.data, needed.with_parity), (25_000, 31_250));
/// ```
#[must_use]
pub fn drives(goal: f64, per_drive: f64, stripe: Stripe) -> Option<Drives> {
    let overhead = stripe.overhead()?;
    if !(goal > 0.0 && per_drive > 0.0) {
        return None;
    }
    Some(Drives { data: whole(goal / per_drive)?, with_parity: whole(goal / per_drive * overhead)? })
}

/// Rounded up; what is whole but for rounding does not become the next one.
fn whole(exact: f64) -> Option<u64> {
    let up = (exact * (1.0 - 1e-12)).ceil();
    (up < 9e15).then_some(summary::whole(up.max(1.0)))
}
