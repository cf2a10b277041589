//! Curves over a swept key.

mod curves;
mod shape;
mod spreads;
mod sweet_spot;
