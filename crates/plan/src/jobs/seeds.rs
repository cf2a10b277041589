//! Seeds from which the rows of tables and the random choices of steps are drawn.

use super::Jobs;
use crate::seeds::named_seed;

/// The increment of splitmix64: 2^64 divided by the golden ratio.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of splitmix64 (Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators*, 2014, with
/// the constants of Vigna's `splitmix64.c`).
#[must_use]
pub const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The number at index `place` of the splitmix64 sequence of `seed`.
#[must_use]
pub const fn drawn(seed: u64, place: u64) -> u64 {
    mix(seed.wrapping_add(place.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// The seed for `name` in jobs of `seed`: [`mix`] of `seed` XOR the FNV-1a hash of the name.
#[must_use]
pub fn data_seed(seed: u64, name: &str) -> u64 {
    mix(named_seed(seed, name))
}

/// The seed of the rows of a table for one stream: that of `NAME/STREAM`.
#[must_use]
pub fn table_seed(seed: u64, table: &str, stream: u32) -> u64 {
    data_seed(seed, &format!("{table}/{stream}"))
}

/// The seed of the random choices of a step of a launch: that of `TEST/STREAM/ROUND/STEP`.
#[must_use]
pub fn step_seed(seed: u64, test: &str, stream: u32, round: u32, step: u32) -> u64 {
    data_seed(seed, &format!("{test}/{stream}/{round}/{step}"))
}

impl Jobs {
    /// The seed of the rows of a table for one stream: see [`table_seed`].
    #[must_use]
    pub fn table_seed(&self, table: &str, stream: u32) -> u64 {
        table_seed(self.seed, table, stream)
    }
}

#[cfg(test)]
mod tests {
    use super::{data_seed, drawn, table_seed};

    #[test]
    fn numbers_are_those_of_splitmix64() {
        // The first numbers that the reference program generates from seed 1234567.
        let reference = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([0, 1, 2].map(|place| drawn(1_234_567, place)), reference);
    }

    #[test]
    fn each_table_and_stream_has_rows_of_its_own() {
        let seeds =
            [table_seed(1, "a", 0), table_seed(1, "a", 1), table_seed(1, "b", 0), table_seed(2, "a", 0)];
        for (place, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..place].contains(seed));
        }
        assert_eq!(seeds[0], data_seed(1, "a/0"));
    }
}
