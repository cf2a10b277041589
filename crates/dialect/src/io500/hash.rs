//! The hashes by which the benchmark's verifier recognises a configuration and a result.
//!
//! Each key is hashed with its value, and these hashes are combined by exclusive or, so that their order
//! does not matter. Source: `src/util.c` and `src/ini-parse.c` of IO500, which has the MIT licence.

/// A hash to which pairs can be added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Hash(u32);

impl Hash {
    /// Adds `key` with `value`.
    pub(super) fn pair(&mut self, key: &str, value: &str) {
        self.0 ^= of_texts(&[key, value]);
    }

    /// Adds `key` with a number that is formatted with six decimals.
    pub(super) fn number(&mut self, key: &str, value: f64) {
        self.pair(key, &decimals(value));
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:X}", self.0)
    }
}

/// Formats a number like C's `%f`.
pub(super) fn decimals(value: f64) -> String {
    format!("{value:.6}")
}

/// The signature of a phase's data: a hash of the phase's name and of the time in the name of the run.
pub(super) fn signature(name: &str, timestamp: &str) -> i32 {
    match of_texts(&[name, timestamp]) {
        0 | u32::MAX => 4711,
        hash => hash.cast_signed(),
    }
}

fn of_texts(texts: &[&str]) -> u32 {
    // Characters are signed in the benchmark's hash.
    let bytes = texts.iter().flat_map(|text| text.bytes());
    bytes.fold(0_u32, |hash, byte| hash.rotate_left(2).wrapping_add_signed(i32::from(byte.cast_signed())))
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn signatures_are_those_of_the_benchmark() {
        // A run of the benchmark itself.
        assert_eq!(signature("ior-easy", "2026.11.27-07.41.02"), 1_837_831_541);
        assert_eq!(signature("mdtest-easy", "2026.11.27-07.41.02"), -1_570_957_961);
        assert_eq!(signature("md-workbench", "2026.11.27-07.41.02"), 415_069_502);
    }
}
