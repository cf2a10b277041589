//! Catches panics of the Parquet library on damaged bytes. They make a table unreadable, but are not
//! faults of this program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

thread_local! {
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// Reads a table. Converts a panic to an error.
pub(super) fn contained<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let around = READING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    READING.set(around);
    result.unwrap_or_else(|_| Err("the table reader cannot interpret its bytes".to_owned()))
}

/// Whether a panic comes from the Parquet library, or from a library it uses, while a table is read. The reader
/// converts it to an error, so a panic hook should print nothing. Panics of this project's own code do not
/// count.
#[must_use]
pub fn is_contained(panic: &PanicHookInfo<'_>) -> bool {
    // Cargo compiles members of the workspace with relative paths, and all other crates with absolute
    // paths.
    READING.get() && panic.location().is_some_and(|place| place.file().starts_with('/'))
}
