//! Random numbers from a seed that is printed, so that an attempt can be reproduced.

/// A linear congruential generator: the quality of the numbers does not matter.
#[derive(Debug, Clone)]
pub(super) struct Draw(u64);

impl Draw {
    /// The random numbers for the attempt with this number.
    pub(super) const fn of(seed: u64, number: u64) -> Self {
        Self(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `end`; 0 if `end` is 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33).checked_rem(end).unwrap_or(0)
    }
}
