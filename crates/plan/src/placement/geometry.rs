//! Transfers, blocks and segments, and the order in which transfers are visited.
//!
//! A file is laid out as IOR does it: a *segment* holds one *block* of each task (in a shared
//! file) or one block (in a file of its own); a block is moved in *transfers*.
//! Source: the file structure figure of the IOR user guide, figure 2 of study B.

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// Bytes of a transfer of a fill, if the block allows it: large enough for the full rate of any device.
const FILL_TRANSFER: Bytes = Bytes::mib(1);
/// Size of the cells in which data is stamped; see the stamps of `engine`.
const CELL_BYTES: u64 = 512;

/// The sizes of one workload. Checked only by [`crate::WorkloadSpec::validate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Geometry {
    /// Bytes of one I/O call.
    pub transfer: Bytes,
    /// Contiguous bytes of one task; a whole number of transfers.
    pub block: Bytes,
    /// Number of blocks of each task.
    pub segments: u64,
}

impl Geometry {
    /// Bytes moved by each task in one pass.
    #[must_use]
    pub const fn bytes_per_task(&self) -> Bytes {
        Bytes(self.block.0 * self.segments)
    }

    /// I/O calls of each task in one pass.
    #[must_use]
    pub const fn transfers_per_task(&self) -> u64 {
        self.transfers_per_block() * self.segments
    }

    /// I/O calls per block.
    #[must_use]
    pub const fn transfers_per_block(&self) -> u64 {
        self.block.0 / self.transfer.0
    }

    /// Transfer size of a fill: the largest multiple of the transfer that divides the block and is at most 1 MiB. A
    /// larger transfer is kept, and so is one that does not consist of whole cells, because cells are counted from
    /// its start.
    ///
    /// ```
    /// use plan::{Bytes, Geometry};
    /// let fill = |transfer, block| Geometry { transfer: Bytes(transfer), block, segments: 1 }.fill_transfer();
    /// assert_eq!(fill(4096, Bytes::gib(1)), Bytes::mib(1));
    /// assert_eq!(fill(4096, Bytes(4096 * 3)), Bytes(4096 * 3));
    /// assert_eq!(fill(47_008, Bytes(47_008)), Bytes(47_008));
    /// assert_eq!(fill(16 << 20, Bytes::mib(16)), Bytes::mib(16));
    /// ```
    #[must_use]
    pub fn fill_transfer(&self) -> Bytes {
        let transfer = self.transfer.0;
        if !transfer.is_multiple_of(CELL_BYTES) || transfer >= FILL_TRANSFER.0 {
            return self.transfer;
        }
        let per_block = self.transfers_per_block();
        let most = FILL_TRANSFER.0 / transfer;
        let factor = (1..=most).rev().find(|factor| per_block.is_multiple_of(*factor)).unwrap_or(1);
        Bytes(transfer * factor)
    }
}

/// A keyed permutation of `0..length` in constant memory: each index is visited exactly once per pass.
///
/// A four-round balanced Feistel network over the smallest even power of two that holds
/// `length`, with cycle walking (Black and Rogaway, "Ciphers with Arbitrary Finite Domains",
/// CT-RSA 2002). The round function is the finaliser of splitmix64. A walk takes at most four
/// steps on average.
///
/// ```
/// let order = plan::Permutation::new(10, 42);
/// let mut seen: Vec<u64> = (0..10).map(|index| order.at(index)).collect();
/// seen.sort_unstable();
/// assert_eq!(seen, (0..10).collect::<Vec<_>>());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Permutation {
    length: u64,
    half_bits: u32,
    mask: u64,
    keys: [u64; 4],
}

impl Permutation {
    /// A permutation of `0..length`, chosen by `seed`.
    #[must_use]
    pub fn new(length: u64, seed: u64) -> Self {
        let bits = u64::BITS - length.saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        let mut state = seed;
        let keys = std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        });
        Self { length, half_bits, mask: (1 << half_bits) - 1, keys }
    }

    /// A permutation of the same length in another order for each `pass`; pass 0 is this one.
    ///
    /// ```
    /// let order = plan::Permutation::new(1000, 42);
    /// assert_eq!(order.rekeyed(0).at(7), order.at(7));
    /// assert_ne!(order.rekeyed(1).at(7), order.rekeyed(2).at(7));
    /// ```
    #[must_use]
    pub fn rekeyed(&self, pass: u64) -> Self {
        if pass == 0 {
            return *self;
        }
        Self { keys: self.keys.map(|key| mix(key ^ mix(pass))), ..*self }
    }

    /// The position visited as number `index`; `index` must be below the length.
    #[inline]
    #[must_use]
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.length, "index {index} of a permutation of {}", self.length);
        let mut value = index;
        loop {
            value = self.encrypt(value);
            if value < self.length {
                return value;
            }
        }
    }

    /// The index at which `position` is visited: the inverse of [`Permutation::at`].
    #[must_use]
    pub fn index_of(&self, position: u64) -> u64 {
        debug_assert!(position < self.length, "position {position} of a permutation of {}", self.length);
        let mut value = position;
        loop {
            value = self.decrypt(value);
            if value < self.length {
                return value;
            }
        }
    }

    fn decrypt(&self, value: u64) -> u64 {
        let mut left = value >> self.half_bits;
        let mut right = value & self.mask;
        for key in self.keys.iter().rev() {
            let before = right ^ (mix_short(left ^ key) & self.mask);
            right = left;
            left = before;
        }
        (left << self.half_bits) | right
    }

    #[inline]
    fn encrypt(&self, value: u64) -> u64 {
        let mut left = value >> self.half_bits;
        let mut right = value & self.mask;
        for key in self.keys {
            let next = left ^ (mix_short(right ^ key) & self.mask);
            left = right;
            right = next;
        }
        (left << self.half_bits) | right
    }
}

/// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// One multiplication suffices inside a round: four rounds mix again.
#[inline]
fn mix_short(value: u64) -> u64 {
    let value = value.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value ^ (value >> 32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::Permutation;

    proptest! {
        #[test]
        fn every_index_is_visited_once(length in 1_u64..5000, seed: u64) {
            let order = Permutation::new(length, seed);
            let mut seen = vec![false; usize::try_from(length).expect("small")];
            for index in 0..length {
                let at = usize::try_from(order.at(index)).expect("small");
                prop_assert!(!seen[at], "position {} came twice", at);
                prop_assert!(order.index_of(order.at(index)) == index);
                seen[at] = true;
            }
        }
    }

    #[test]
    fn neighbours_are_scattered() {
        let order = Permutation::new(1 << 20, 7);
        let close = (0..10_000).filter(|&i| order.at(i).abs_diff(order.at(i + 1)) < 1024).count();
        // Two random positions of 2^20 lie within 1024 of each other in about 0.2 % of cases.
        assert!(close < 60, "{close} of 10000 neighbours stayed close");
    }

    #[test]
    fn the_seed_changes_the_order() {
        let (a, b) = (Permutation::new(1000, 1), Permutation::new(1000, 2));
        let same = (0..1000).filter(|&i| a.at(i) == b.at(i)).count();
        assert!(same < 20, "{same} of 1000 positions agree");
    }
}
