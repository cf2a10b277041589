//! The number of drives needed for a goal.

use crate::statistics::summary;

/// The strips of one stripe, some of which hold parity: 8 + 2 has ten strips, two of them parity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stripe {
    /// All strips, including parity.
    pub strips: u32,
    /// Parity strips: 1 for 1P, 2 for 2P, 3 for 3P; 0 for none. Less than [`Stripe::strips`].
    pub parity: u32,
}

impl Stripe {
    /// No redundancy.
    pub const NONE: Self = Self { strips: 1, parity: 0 };

    /// Bytes written ÷ bytes of data: `strips ÷ (strips − parity)`. Returns `None` if no strip holds data.
    #[must_use]
    pub fn overhead(self) -> Option<f64> {
        let data = self.strips.checked_sub(self.parity).filter(|&data| data > 0)?;
        Some(f64::from(self.strips) / f64::from(data))
    }
}

/// The number of drives needed for a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drives {
    /// `⌈goal ÷ rate of a drive⌉`: for reads of intact stripes, which do not read parity and use every drive if
    /// parity rotates; also without redundancy.
    pub data: u64,
    /// `⌈goal ÷ rate of a drive × strips ÷ (strips − parity)⌉`: for writes of whole stripes, whose parity is written
    /// at the same time. Smaller writes have to read first, and need more drives.
    pub with_parity: u64,
}

/// The drives needed for `goal` bytes per second of data if one drive moves `per_drive`. Returns `None` if the rates
/// are not above 0, the stripe holds no data, or the number of drives overflows.
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

/// Rounds up; a whole number with a rounding error is not rounded up to the next one.
fn whole(exact: f64) -> Option<u64> {
    let up = (exact * (1.0 - 1e-12)).ceil();
    (up < 9e15).then_some(summary::whole(up.max(1.0)))
}
