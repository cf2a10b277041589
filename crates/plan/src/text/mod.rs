//! Values as text: parsing and formatting of sizes and times, and escaping for display.

pub(crate) mod hex;
pub(crate) mod names;
pub(crate) mod nearest;
pub(crate) mod node_list;
pub(crate) mod parse;
pub(crate) mod shell;
pub(crate) mod units;
pub(crate) mod visible;
