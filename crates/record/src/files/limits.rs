//! Limits on the contents of a run directory, which may be crafted to exhaust memory: 100 bytes of a
//! compressed table can claim a thousand million rows. So reading may use a fixed amount of memory, plus a
//! multiple of the number of bytes present, up to an absolute maximum. Limits that do not depend on the bytes present
//! are in [`plan::limits`].
//!
//! The multiples follow from the formats, so that no record of this program exceeds them, whatever it contains:
//!
//! - A table stores a row that is like the one before it in a small fraction of a byte; the test
//!   `rows_that_are_all_alike_can_be_read` writes such rows into every table.
//! - A text in memory is shared by all rows that have it, and stands in the file once for each group of rows, where
//!   Snappy makes it at most [`SNAPPY_EXPANSION_MAX`] times smaller.
//! - In a line of the journal, one column at least has an array with two bytes or more for each row.

use plan::Bytes;
use plan::limits::{
    LINE_ROWS_EXPANSION, PHASES_EXPANSION, RECORD_ROWS_BYTES, RECORD_TEXTS_BYTES, TABLE_ROWS_BYTES,
    TABLE_ROWS_EXPANSION, TEXTS_EXPANSION,
};

/// Maximum number of unreadable journal lines that are listed one by one; the others are only counted.
pub(crate) const NAMED_LINES_MAX: usize = 100;
/// Snappy expands 3 bytes to at most 64, which limits the uncompressed size of a page.
pub(crate) const SNAPPY_EXPANSION_MAX: u64 = 22;

/// Memory that the rows of one table may use regardless of the bytes from which they are read: a footer and the
/// headers of pages take more bytes than a few rows.
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

/// The memory used by a text, with the counters of its owners.
pub(crate) fn bytes_of_text(text: &str) -> u64 {
    if text.is_empty() { 0 } else { (text.len() as u64).saturating_add(24).max(TEXT_BYTES_MIN) }
}

/// Rejects rows of one table that would use `bytes` of memory if this is too much for `stored` bytes.
pub(crate) fn check_rows(bytes: u64, stored: u64) -> Result<(), String> {
    let of_bytes = ROWS_FREE.saturating_add(stored.saturating_mul(TABLE_ROWS_EXPANSION));
    check(bytes, stored, of_bytes.min(TABLE_ROWS_BYTES))
}

/// The same for rows that are in memory as long as the record is open.
pub(crate) fn check_rows_of_record(bytes: u64, stored: u64) -> Result<(), String> {
    let of_bytes = ROWS_FREE.saturating_add(stored.saturating_mul(TABLE_ROWS_EXPANSION));
    check(bytes, stored, of_bytes.min(RECORD_ROWS_BYTES))
}

/// The same for the phases of a record, which are not in memory at once: there is a part of a figure for each, whose
/// memory is in proportion to the bytes of the record as long as these are not inflated.
pub(crate) fn check_phases(bytes: u64, stored: u64) -> Result<(), String> {
    let of_bytes = ROWS_FREE.saturating_add(stored.saturating_mul(TABLE_ROWS_EXPANSION));
    check(bytes, stored, of_bytes.min(RECORD_ROWS_BYTES.max(stored.saturating_mul(PHASES_EXPANSION))))
}

/// The same for `stored` bytes of a journal line.
pub(crate) fn check_rows_of_line(bytes: u64, stored: u64) -> Result<(), String> {
    let of_bytes = FREE_OF_LINE.saturating_add(stored.saturating_mul(LINE_ROWS_EXPANSION));
    check(bytes, stored, of_bytes.min(TABLE_ROWS_BYTES))
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
pub(crate) struct TextBudget {
    /// Texts that rows share.
    shared: u64,
    /// Texts that each row has for itself, as each warning has. Like rows, those that are all alike take next to
    /// nothing in a file.
    owned: u64,
}

impl TextBudget {
    /// The budget for the texts of a run whose tables have `stored` bytes.
    pub(crate) fn of_run(stored: u64) -> Self {
        Self::new(TEXTS_FREE, stored)
    }

    /// The budget for the texts of `stored` bytes of a journal line.
    pub(crate) fn of_line(stored: u64) -> Self {
        Self::new(FREE_OF_LINE, stored)
    }

    /// The budget for the texts of a table of `stored` bytes.
    pub(crate) fn of_table(stored: u64) -> Self {
        Self::new(TEXTS_FREE_OF_TABLE, stored)
    }

    fn new(free: u64, stored: u64) -> Self {
        let budget = |times| free.saturating_add(stored.saturating_mul(times)).min(RECORD_TEXTS_BYTES);
        Self { shared: budget(TEXTS_EXPANSION), owned: budget(TABLE_ROWS_EXPANSION) }
    }

    /// Subtracts `bytes` of texts that rows share, or that each row has for itself. Errors if the budget is exceeded.
    pub(crate) fn take(&mut self, bytes: u64, are_owned: bool) -> Result<(), String> {
        let budget = if are_owned { &mut self.owned } else { &mut self.shared };
        match budget.checked_sub(bytes) {
            Some(left) => {
                *budget = left;
                Ok(())
            }
            None => Err(format!(
                "its texts take {}, which is far more than its bytes can contain ({} are left for them)",
                Bytes(bytes),
                Bytes(*budget)
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes_of_rows, check_phases, check_rows, check_rows_of_line, check_rows_of_record};
    use crate::{PhaseRow, TaskRow};

    #[test]
    fn few_bytes_cannot_claim_many_rows_and_many_bytes_no_more_than_the_maximum() {
        let claimed = bytes_of_rows::<TaskRow>(1_000_000_000);
        for check in [check_rows, check_rows_of_record, check_rows_of_line] {
            check(claimed, 100).expect_err("a hundred bytes");
            check(claimed, 1 << 40).expect_err("more than the maximum");
            check(bytes_of_rows::<TaskRow>(1_000), 100_000).expect("some rows");
        }
    }

    /// Four million phases, as a sweep of 37 GB can have, take more than a gigabyte and 50 bytes each in their tables.
    #[test]
    fn many_phases_are_read_if_their_bytes_are_not_inflated() {
        let (claimed, stored) = (bytes_of_rows::<PhaseRow>(4_000_000), 4_000_000 * 50);
        check_phases(claimed, stored).expect("many phases");
        check_phases(claimed, stored / 10).expect_err("inflated");
        check_phases(claimed / 10, 100).expect_err("a hundred bytes");
        check_phases(claimed / 4, stored / 40).expect("few that are alike");
    }
}
