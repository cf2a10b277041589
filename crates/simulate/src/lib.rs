mod model;
mod simulation;
pub use model::*;
