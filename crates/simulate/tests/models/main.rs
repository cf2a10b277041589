//! What users rely on in model files: their documentation, their schema, and what is said of mistakes.

mod documented;
mod mistakes;
