//! What a goal needs: drives, and the bytes behind created files.

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
    /// `⌈goal ÷ rate of a drive⌉`: for reads of intact stripes, which touch no parity and find data
    /// on every drive where parity goes round; and without redundancy.
    pub data: u64,
    /// `⌈goal ÷ rate of a drive × strips ÷ (strips − parity)⌉`: for writes of whole stripes, whose
    /// parity is written at the same time. Smaller writes read before they write, and need more.
    pub with_parity: u64,
    /// Groups of as many drives as a stripe has strips, where stripes do not spread over more:
    /// `⌈with parity ÷ strips⌉`.
    pub groups: u64,
    /// Drives of those groups.
    pub in_groups: u64,
}

/// The drives for `goal` bytes per second of data where one drive moves `per_drive`; none where
/// the rates are not above 0, the stripe holds no data, or the drives are more than can be counted.
///
/// ```
/// use analysis::{Stripe, drives};
/// let needed = drives(2.5e12, 100e6, Stripe { strips: 10, parity: 2 }).expect("a goal");
/// assert_eq!((needed.data, needed.with_parity), (25_000, 31_250));
/// ```
#[must_use]
pub fn drives(goal: f64, per_drive: f64, stripe: Stripe) -> Option<Drives> {
    let overhead = stripe.overhead()?;
    if !(goal > 0.0 && per_drive > 0.0) {
        return None;
    }
    let with_parity = whole(goal / per_drive * overhead)?;
    let groups = with_parity.div_ceil(u64::from(stripe.strips));
    Some(Drives {
        data: whole(goal / per_drive)?,
        with_parity,
        groups,
        in_groups: groups * u64::from(stripe.strips),
    })
}

/// Rounded up; what is whole but for rounding does not become the next one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is above 0 and below 2^53"
)]
fn whole(exact: f64) -> Option<u64> {
    let up = (exact * (1.0 - 1e-12)).ceil();
    (up < 9e15).then_some(up.max(1.0) as u64)
}

/// Bytes per second that `creates_per_second` files of `bytes` bring with them.
///
/// ```
/// assert_eq!(analysis::bytes_behind_creates(2.6e6, plan::Bytes::kib(32)), 85.1968e9);
/// ```
#[must_use]
pub fn bytes_behind_creates(creates_per_second: f64, plan::Bytes(bytes): plan::Bytes) -> f64 {
    creates_per_second * bytes as f64
}
