//! IOR's output: text, JSON and CSV.

mod csv;
mod facts;
mod figures;
mod json;
mod number;
mod parameters;
mod printer;
mod rank_csv;
mod summary;
mod text;

pub use facts::version;
pub use printer::Printer;
pub use rank_csv::rank_csv;
