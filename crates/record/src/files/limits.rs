//! Limits on the contents of a run directory, which may be crafted to exhaust memory: 100 bytes of a
//! compressed table can claim a thousand million rows. So reading may take a fixed amount of memory, plus a
//! multiple of the bytes present.

use plan::Bytes;

/// The manifest, and the list of parts of a merged run. 10,000 cases take 20 MB.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 256 << 20;
/// A claim: a file takes about 60 bytes in it, and a plan has at most a million tasks.
pub(crate) const CLAIM_BYTES_MAX: u64 = 256 << 20;
/// A line of the journal. A phase that keeps a million operations, the most that can be asked for, has
/// a line of 150 MB.
pub(crate) const LINE_BYTES_MAX: u64 = 512 << 20;
/// Limit on unreadable lines of a journal that are listed one by one; the rest is counted.
pub(crate) const NAMED_LINES_MAX: usize = 100;
/// A table. Of the largest case, 14,616 tasks in 500 phases, it has 200 MB.
pub(crate) const TABLE_BYTES_MAX: u64 = 16 << 30;
/// The footer of a table, beside an eighth of the file: that of a group of 16,384 rows has 3 KB.
pub(crate) const FOOTER_BYTES_MAX: u64 = 1 << 20;
/// The rows of one row group: four times as many as any version of the program has put into one.
pub(crate) const GROUP_ROWS_MAX: i64 = 1 << 16;
/// The compressed values of one column in one row group.
pub(crate) const CHUNK_BYTES_MAX: u64 = 64 << 20;
/// Snappy expands 3 bytes to 64 at most, which bounds the uncompressed size of a page.
pub(crate) const SNAPPY_EXPANSION_MAX: u64 = 22;

/// Times, bytes and counts: 36 years in nanoseconds, an exabyte. Sums of some stay below 2^64.
pub(crate) const COUNT_MAX: i64 = 1 << 60;
/// Repetitions, tasks and other things that are numbered.
pub(crate) const NUMBER_MAX: i64 = 1 << 31;

/// Memory that the rows of one table may take regardless of the bytes they are read from: a table is sealed
/// at 131,072 rows, and those of an idle device take 150 bytes each.
const ROWS_FREE: u64 = 24 << 20;
/// Beyond that, the maximum ratio of memory to bytes read. The histograms of a sweep, which are alike, reach
/// 40.
const ROWS_EXPANSION_MAX: u64 = 64;
/// Texts that stay in memory with the run.
const TEXTS_FREE: u64 = 16 << 20;
/// Texts of one table that is read when its rows are asked for.
const TEXTS_FREE_OF_TABLE: u64 = 1 << 20;
/// The rows, and the texts, of one line of the journal: of few rows that have much in common.
const FREE_OF_LINE: u64 = 16 << 10;
/// Beyond that, the maximum ratio of memory to bytes read for texts, and for everything in a line of the
/// journal.
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

/// Rejects rows that would take `bytes` of memory if that is too much for `stored` bytes.
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

/// Remaining memory for texts.
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
