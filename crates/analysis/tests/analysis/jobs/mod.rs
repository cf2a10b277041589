//! Job matrices.

mod matrix;
mod timeline;
