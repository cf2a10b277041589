//! Statistics of values: summaries, tests of differences, lines, intervals.

pub(crate) mod change_point;
pub(crate) mod dependence;
pub(crate) mod difference;
pub(crate) mod histogram;
pub(crate) mod lack_of_fit;
pub(crate) mod level_changes;
pub(crate) mod outlier;
pub(crate) mod overhead;
pub(crate) mod percentile;
pub(crate) mod power;
pub(crate) mod ranks;
pub(crate) mod regression;
pub(crate) mod rules;
pub(crate) mod scatter;
pub(crate) mod sequence;
pub(crate) mod settled;
pub(crate) mod summary;

pub use self::{
    change_point::*,
    dependence::*,
    difference::*,
    histogram::*,
    lack_of_fit::*,
    level_changes::*,
    outlier::*,
    overhead::*,
    percentile::*,
    power::*,
    ranks::*,
    regression::*,
    rules::*,
    scatter::{CommonScatter, Sample},
    sequence::*,
    settled::*,
    summary::*,
};
