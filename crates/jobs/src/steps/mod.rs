//! The steps that move data.

mod generate;

pub(crate) use generate::generate;
