//! What a run directory may hold. Whoever made it may have made it so that reading it takes all memory:
//! 100 bytes of a compressed table can say a thousand million rows. So what is read may take a fixed
//! amount of memory, and beyond that so many times the bytes that are there.

use plan::Bytes;

/// The manifest, and the list of parts of a merged run. 10,000 cases take 20 MB.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 256 << 20;
/// A claim: a file takes about 60 bytes in it, and a plan has at most a million tasks.
pub(crate) const CLAIM_BYTES_MAX: u64 = 256 << 20;
/// A line of the journal. A phase that keeps a million operations, the most that can be asked for, has
/// a line of 150 MB.
pub(crate) const LINE_BYTES_MAX: u64 = 512 << 20;
/// So many unreadable lines of a journal are named one by one; the rest is counted.
pub(crate) const NAMED_LINES_MAX: usize = 100;
/// A table. Of the largest case, 14,616 tasks in 500 phases, it has 200 MB.
pub(crate) const TABLE_BYTES_MAX: u64 = 16 << 30;
/// The footer of a table, beside an eighth of the file: that of a group of 16,384 rows has 3 KB.
pub(crate) const FOOTER_BYTES_MAX: u64 = 1 << 20;
/// The rows of one row group: four times as many as any version of the program has put into one.
pub(crate) const GROUP_ROWS_MAX: i64 = 1 << 16;
/// The compressed values of one column in one row group.
pub(crate) const CHUNK_BYTES_MAX: u64 = 64 << 20;
/// Snappy makes 64 bytes of 3 at most, so a page has at most so many times its compressed bytes.
pub(crate) const SNAPPY_EXPANSION_MAX: u64 = 22;

/// Times, bytes and counts: 36 years in nanoseconds, an exabyte. Sums of some stay below 2^64.
pub(crate) const COUNT_MAX: i64 = 1 << 60;
/// Repetitions, tasks and other things that are numbered.
pub(crate) const NUMBER_MAX: i64 = 1 << 31;

/// The rows of one table may take so much memory, however few bytes they are read from: a table is
/// sealed when it has 131,072 rows, and those of a device that has nothing to do take 150 bytes each.
const ROWS_FREE: u64 = 24 << 20;
/// Beyond that they may take so many times the bytes that they are read from. The histograms of a sweep,
/// which are alike, take 40 times theirs.
const ROWS_EXPANSION_MAX: u64 = 64;
/// Texts that stay in memory with the run.
const TEXTS_FREE: u64 = 16 << 20;
/// Texts of one table that is read when its rows are asked for.
const TEXTS_FREE_OF_TABLE: u64 = 1 << 20;
/// The rows, and the texts, of one line of the journal: of few rows that have much in common.
const FREE_OF_LINE: u64 = 16 << 10;
/// Beyond that texts, and whatever a line of the journal holds, may take so many times the bytes that
/// they are read from.
const EXPANSION_MAX: u64 = 24;
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

/// Why rows that take `bytes` of memory are not read from `stored` bytes, where that is so.
pub(crate) fn check_rows(bytes: u64, stored: u64) -> Result<(), String> {
    check(bytes, stored, ROWS_FREE.saturating_add(stored.saturating_mul(ROWS_EXPANSION_MAX)))
}

/// The same of `stored` bytes of a line of the journal.
pub(crate) fn check_rows_of_line(bytes: u64, stored: u64) -> Result<(), String> {
    check(bytes, stored, FREE_OF_LINE.saturating_add(stored.saturating_mul(EXPANSION_MAX)))
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

/// What texts may still take.
#[derive(Debug)]
pub(crate) struct TextBudget(u64);

impl TextBudget {
    /// For the texts of a run whose tables have `stored` bytes.
    pub(crate) fn of_run(stored: u64) -> Self {
        Self(TEXTS_FREE.saturating_add(stored.saturating_mul(EXPANSION_MAX)))
    }

    /// For those of `stored` bytes of a line of the journal.
    pub(crate) fn of_line(stored: u64) -> Self {
        Self(FREE_OF_LINE.saturating_add(stored.saturating_mul(EXPANSION_MAX)))
    }

    /// For those of a table of `stored` bytes.
    pub(crate) fn of_table(stored: u64) -> Self {
        Self(TEXTS_FREE_OF_TABLE.saturating_add(stored.saturating_mul(EXPANSION_MAX)))
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
