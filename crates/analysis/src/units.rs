//! One rate in the units that studies print, exactly, and how to notice that two were mixed up.

use plan::Bytes;

use crate::summary::whole;

/// Bytes of a MiB.
const MEBIBYTE: u64 = 1 << 20;

/// One rate in every unit.
///
/// ```
/// let rate = analysis::RateUnits::from_operations(1_149_696.0, plan::Bytes::kib(4));
/// assert_eq!((rate.megabytes.round(), rate.mebibytes), (4709.0, 4491.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateUnits {
    /// Bytes per second.
    pub bytes: f64,
    /// MB/s: bytes ÷ 10⁶.
    pub megabytes: f64,
    /// MiB/s: bytes ÷ 2²⁰.
    pub mebibytes: f64,
    /// Transfers per second: bytes ÷ transfer size. Infinite for a transfer of no bytes.
    pub operations: f64,
}

impl RateUnits {
    /// From bytes per second.
    #[must_use]
    pub fn from_bytes(bytes: f64, transfer: Bytes) -> Self {
        let operations = bytes / transfer.0 as f64;
        Self { bytes, megabytes: bytes / 1e6, mebibytes: bytes / MEBIBYTE as f64, operations }
    }

    /// From transfers per second.
    #[must_use]
    pub fn from_operations(operations: f64, transfer: Bytes) -> Self {
        Self { operations, ..Self::from_bytes(operations * transfer.0 as f64, transfer) }
    }
}

/// The whole number of MiB/s that a printed number of operations per second of `transfer` comes
/// from, if it is one: `operations × transfer ÷ 2²⁰`. At 4 KiB only one number in 256 is such a
/// multiple by chance, so a printed one was not counted but converted from a rounded bandwidth.
///
/// None where the number is not whole or not above 0, and where the transfer does not divide a
/// MiB into at least 16 parts: larger ones are multiples too often to mean anything.
///
/// ```
/// use analysis::whole_mebibytes;
/// assert_eq!(whole_mebibytes(1_149_696.0, plan::Bytes::kib(4)), Some(4491));
/// assert_eq!(whole_mebibytes(1_320_137.0, plan::Bytes::kib(4)), None);
/// ```
#[must_use]
pub fn whole_mebibytes(operations_per_second: f64, transfer: Bytes) -> Option<u64> {
    const PARTS_MIN: u64 = 16;
    let is_whole = (1.0..9e15).contains(&operations_per_second) && operations_per_second.fract() == 0.0;
    let parts = MEBIBYTE.checked_div(transfer.0).filter(|_| MEBIBYTE.is_multiple_of(transfer.0))?;
    let operations = is_whole.then(|| whole(operations_per_second))?;
    (parts >= PARTS_MIN && operations.is_multiple_of(parts)).then_some(operations / parts)
}
