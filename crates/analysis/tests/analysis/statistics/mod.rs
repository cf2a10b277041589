//! Statistics, each against its definition or known values.

mod change_point;
mod difference;
mod level_changes;
mod outlier;
mod percentile;
mod power;
mod ranks;
mod regression;
mod sequence;
mod settled;
mod summary;
