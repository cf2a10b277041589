//! The steps that move data.

mod change;
mod generate;
mod index;
mod merge;
mod runs;
mod scan;
mod sort;
mod summarise;
mod sums;
mod target;

pub(crate) use change::{append, update};
pub(crate) use generate::generate;
pub(crate) use index::index;
pub(crate) use merge::merge;
pub(crate) use scan::scan;
pub(crate) use sort::sort;
pub(crate) use summarise::summarise;
