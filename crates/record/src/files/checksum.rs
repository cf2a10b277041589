//! Checksums that reveal damaged files.

use std::hash::Hasher;

use twox_hash::XxHash64;

/// The text ([`Checksum::text`]) of the checksum of `bytes`, as used for new files.
pub(crate) fn checksum_of(bytes: &[u8]) -> String {
    let mut checksum = Checksum::new();
    checksum.update(bytes);
    checksum.text()
}

/// A checksum that detects damaged files. It does not protect against forgery.
#[derive(Clone)]
pub(crate) enum Checksum {
    /// FNV-1a, 64 bits (Fowler, Noll and Vo; RFC 9923), used in records of version 1. Processes one byte
    /// at a time.
    Fnv1a(u64),
    /// XXH64 (Collet). Processes several bytes per step, so that checking gigabytes costs less than
    /// reading them.
    Xxh64(XxHash64),
}

/// Prefix of the text of [`Checksum::Xxh64`].
const XXH64: &str = "xxh64:";

impl Checksum {
    /// The kind used for new files.
    pub(crate) fn new() -> Self {
        Self::Xxh64(XxHash64::with_seed(0))
    }

    /// A new checksum of the same kind as `text`.
    pub(crate) fn like(text: &str) -> Self {
        if text.starts_with(XXH64) { Self::new() } else { Self::Fnv1a(0xcbf2_9ce4_8422_2325) }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Fnv1a(sum) => {
                for byte in bytes {
                    *sum = (*sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
                }
            }
            Self::Xxh64(hasher) => hasher.write(bytes),
        }
    }

    /// The checksum as sixteen hexadecimal digits, with a prefix for its kind.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Fnv1a(sum) => format!("{sum:016x}"),
            Self::Xxh64(hasher) => format!("{XXH64}{:016x}", hasher.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Checksum;

    fn of(kind: &str, bytes: &[u8]) -> String {
        let mut checksum = Checksum::like(kind);
        checksum.update(bytes);
        checksum.text()
    }

    /// Test vectors of RFC 9923 (and of the authors' page).
    #[test]
    fn the_checksum_of_version_1_is_fnv_1a() {
        assert_eq!(of("", b""), "cbf29ce484222325");
        assert_eq!(of("", b"a"), "af63dc4c8601ec8c");
        assert_eq!(of("", b"foobar"), "85944171f73967e8");
    }

    /// The value of no bytes and that of `abc` are in the specification's and other implementations' tests.
    #[test]
    fn the_checksum_is_xxh64() {
        assert_eq!(of("xxh64:", b""), "xxh64:ef46db3751d8e999");
        assert_eq!(of("xxh64:", b"abc"), "xxh64:44bc2cf5ad770999");
    }
}
