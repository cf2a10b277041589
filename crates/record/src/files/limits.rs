//! Limits on the contents of a run directory, which may be crafted to exhaust memory: 100 bytes of a
//! compressed table can claim a thousand million rows. So reading may take a fixed amount of memory, plus a
//! multiple of the bytes present. Limits that do not depend on the bytes present are in [`plan::limits`].

use plan::Bytes;
use plan::limits::{TABLE_ROWS_EXPANSION, TEXTS_EXPANSION};

/// Limit on unreadable lines of a journal that are listed one by one; the rest is counted.
pub(crate) const NAMED_LINES_MAX: usize = 100;
/// Snappy expands 3 bytes to 64 at most, which bounds the uncompressed size of a page.
pub(crate) const SNAPPY_EXPANSION_MAX: u64 = 22;

/// Memory that the rows of one table may take regardless of the bytes they are read from: a table is sealed
/// at 131,072 rows, and those of an idle device take 150 bytes each.
const ROWS_FREE: u64 = 24 << 20;
/// Texts that stay in memory with the run.
const TEXTS_FREE: u64 = 16 << 20;
/// Texts of one table that is read when its rows are asked for.
const TEXTS_FREE_OF_TABLE: u64 = 1 << 20;
/// The rows, and the texts, of one line of the journal: of few rows that have much in common.
const FREE_OF_LINE: u64 = 16 << 10;
/// A text that is not empty takes at least so much memory beside its row.
const TEXT_BYTES_MIN: u64 = 32;

/// The memory that `rows` rows take whose texts stand elsewhere.
pub(crate) fn bytes_of_rows<R>(rows: u64) -> u64 {
    rows.saturating_mul(size_of::<R>() as u64)
}

/// The memory that a text takes.
pub(crate) fn bytes_of_text(text: &str) -> u64 {
    if text.is_empty() { 0 } else { (text.len() as u64).saturating_add(8).max(TEXT_BYTES_MIN) }
}

/// Rejects rows that would take `bytes` of memory if that is too much for `stored` bytes.
pub(crate) fn check_rows(bytes: u64, stored: u64) -> Result<(), String> {
    check(bytes, stored, ROWS_FREE.saturating_add(stored.saturating_mul(TABLE_ROWS_EXPANSION)))
}

/// The same of `stored` bytes of a line of the journal.
pub(crate) fn check_rows_of_line(bytes: u64, stored: u64) -> Result<(), String> {
    check(bytes, stored, FREE_OF_LINE.saturating_add(stored.saturating_mul(TEXTS_EXPANSION)))
}

fn check(bytes: u64, stored: u64, allowed: u64) -> Result<(), String> {
    if bytes <= allowed {
        return Ok(());
    }
    Err(format!(
        "its {} say that they hold rows of {}, where {} are the most",
        Bytes(stored),
        Bytes(bytes),
        Bytes(allowed)
    ))
}

/// Remaining memory for texts.
#[derive(Debug)]
pub(crate) struct TextBudget(u64);

impl TextBudget {
    /// For the texts of a run whose tables have `stored` bytes.
    pub(crate) fn of_run(stored: u64) -> Self {
        Self(TEXTS_FREE.saturating_add(stored.saturating_mul(TEXTS_EXPANSION)))
    }

    /// For those of `stored` bytes of a line of the journal.
    pub(crate) fn of_line(stored: u64) -> Self {
        Self(FREE_OF_LINE.saturating_add(stored.saturating_mul(TEXTS_EXPANSION)))
    }

    /// For those of a table of `stored` bytes.
    pub(crate) fn of_table(stored: u64) -> Self {
        Self(TEXTS_FREE_OF_TABLE.saturating_add(stored.saturating_mul(TEXTS_EXPANSION)))
    }

    /// Takes `bytes` away.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), String> {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(format!(
                "its texts take {}, which is far more than its bytes can hold ({} are left for them)",
                Bytes(bytes),
                Bytes(self.0)
            )),
        }
    }
}
