//! Tables: files of pages of rows, read and written a page at a time.

mod cursor;
mod editor;
mod file;
mod reader;
mod writer;

pub(crate) use cursor::Cursor;
pub(crate) use editor::TableEditor;
pub use file::Io;
pub use reader::TableReader;
pub(crate) use writer::PageSink;
pub use writer::{TableWriter, Written};

#[cfg(test)]
mod tests;
