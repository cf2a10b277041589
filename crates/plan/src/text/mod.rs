//! Values as text: sizes and times, how they are read, and what may be shown.

pub(crate) mod hex;
pub(crate) mod names;
pub(crate) mod nearest;
pub(crate) mod parse;
pub(crate) mod shell;
pub(crate) mod units;
pub(crate) mod visible;
