//! Limits on the contents of a run directory, which may be crafted to exhaust memory: 100 bytes of a
//! compressed table can claim a thousand million rows. So reading may use a fixed amount of memory, plus a
//! multiple of the number of bytes present. Limits that do not depend on the bytes present are in
//! [`plan::limits`].

use plan::Bytes;
use plan::limits::{TABLE_ROWS_EXPANSION, TEXTS_EXPANSION};

/// Maximum number of unreadable journal lines that are listed one by one; the others are only counted.
pub(crate) const NAMED_LINES_MAX: usize = 100;
/// Snappy expands 3 bytes to at most 64, which limits the uncompressed size of a page.
pub(crate) const SNAPPY_EXPANSION_MAX: u64 = 22;

/// Memory that the rows of one table may use regardless of the bytes from which they are read: a table is
/// sealed at 131,072 rows, and those of an idle device take 150 bytes each.
const ROWS_FREE: u64 = 24 << 20;
/// The same for texts that stay in memory with the run.
const TEXTS_FREE: u64 = 16 << 20;
/// The same for the texts of one table that is read when its rows are requested.
const TEXTS_FREE_OF_TABLE: u64 = 1 << 20;
/// The same for the rows, and for the texts, of one journal line, for few rows that have much in common.
const FREE_OF_LINE: u64 = 16 << 10;
/// Minimum memory used by a non-empty text, in addition to its row.
const TEXT_BYTES_MIN: u64 = 32;

/// The memory used by `rows` rows, without their texts.
pub(crate) fn bytes_of_rows<R>(rows: u64) -> u64 {
    rows.saturating_mul(size_of::<R>() as u64)
}

/// The memory used by a text.
pub(crate) fn bytes_of_text(text: &str) -> u64 {
    if text.is_empty() { 0 } else { (text.len() as u64).saturating_add(8).max(TEXT_BYTES_MIN) }
}

/// Rejects rows that would use `bytes` of memory if this is too much for `stored` bytes.
pub(crate) fn check_rows(bytes: u64, stored: u64) -> Result<(), String> {
    check(bytes, stored, ROWS_FREE.saturating_add(stored.saturating_mul(TABLE_ROWS_EXPANSION)))
}

/// The same for `stored` bytes of a journal line.
pub(crate) fn check_rows_of_line(bytes: u64, stored: u64) -> Result<(), String> {
    check(bytes, stored, FREE_OF_LINE.saturating_add(stored.saturating_mul(TEXTS_EXPANSION)))
}

fn check(bytes: u64, stored: u64, allowed: u64) -> Result<(), String> {
    if bytes <= allowed {
        return Ok(());
    }
    Err(format!(
        "its {} claim to contain rows of {}, but the maximum is {}",
        Bytes(stored),
        Bytes(bytes),
        Bytes(allowed)
    ))
}

/// The memory that texts may still use.
#[derive(Debug)]
pub(crate) struct TextBudget(u64);

impl TextBudget {
    /// The budget for the texts of a run whose tables have `stored` bytes.
    pub(crate) fn of_run(stored: u64) -> Self {
        Self(TEXTS_FREE.saturating_add(stored.saturating_mul(TEXTS_EXPANSION)))
    }

    /// The budget for the texts of `stored` bytes of a journal line.
    pub(crate) fn of_line(stored: u64) -> Self {
        Self(FREE_OF_LINE.saturating_add(stored.saturating_mul(TEXTS_EXPANSION)))
    }

    /// The budget for the texts of a table of `stored` bytes.
    pub(crate) fn of_table(stored: u64) -> Self {
        Self(TEXTS_FREE_OF_TABLE.saturating_add(stored.saturating_mul(TEXTS_EXPANSION)))
    }

    /// Subtracts `bytes`. Errors if the budget is exceeded.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), String> {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(format!(
                "its texts take {}, which is far more than its bytes can contain ({} are left for them)",
                Bytes(bytes),
                Bytes(self.0)
            )),
        }
    }
}
