//! Models, and studies on them.

mod model_pairs;
mod models;
mod simulated;
mod simulated_records;
