//! A counter of a server or client, and parsers of the numbers in their texts.

/// A counter or a setting of a server or client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Counter {
    /// The system it belongs to: `lustre-server`, `lustre-client`, `lustre-layout`, `gpfs-client` or
    /// `nfs-client`.
    pub system: &'static str,
    /// The object it belongs to: a storage target or a mount.
    pub device: String,
    /// Its name, which ends with the unit.
    pub counter: &'static str,
    /// Its value. For a setting, 1 means that it is enabled.
    pub value: u64,
}

impl Counter {
    /// Whether it is a setting rather than a counter.
    #[must_use]
    pub fn is_setting(&self) -> bool {
        matches!(self.counter, "read_cache_enable" | "writethrough_cache_enable" | "pagepool_bytes" | "asked")
    }

    pub(super) fn new(system: &'static str, device: &str, counter: &'static str, value: u64) -> Self {
        Self { system, device: device.to_owned(), counter, value }
    }
}

/// Parses the number at the start of `text`.
pub(super) fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// Parses a number of bytes with `K`, `M`, `G` or `T` for powers of 1024, for example `16G`.
pub(super) fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, shift) = match text.char_indices().last()? {
        (at, 'K' | 'k') => (&text[..at], 10),
        (at, 'M' | 'm') => (&text[..at], 20),
        (at, 'G' | 'g') => (&text[..at], 30),
        (at, 'T' | 't') => (&text[..at], 40),
        _ => (text, 0),
    };
    number(digits)?.checked_mul(1 << shift)
}
