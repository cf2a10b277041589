//! Panics of the Parquet library on damaged bytes: they cost a table, and are no fault of this program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

thread_local! {
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// Reads a table. A panic on the way is an error.
pub(super) fn contained<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let around = READING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    READING.set(around);
    result.unwrap_or_else(|_| Err("its bytes make no sense to the table reader".to_owned()))
}

/// Whether a panic is one of the Parquet library, or of what it uses, while a table is read: the reader makes an
/// error of it, and a panic hook has nothing to say. Panics of this project's own code are not among them.
#[must_use]
pub fn is_contained(panic: &PanicHookInfo<'_>) -> bool {
    // Cargo compiles members of the workspace by paths relative to it, and all others by absolute paths.
    READING.get() && panic.location().is_some_and(|place| place.file().starts_with('/'))
}
