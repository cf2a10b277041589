//! Findings about the points of a sweep: curves and their shapes, the best point, the spread.

pub(crate) mod best;
pub(crate) mod consistency;
pub(crate) mod curve;
pub(crate) mod curve_shape;
pub(crate) mod curves;
pub(crate) mod dips;
pub(crate) mod dispersion;
pub(crate) mod overlay;
pub(crate) mod rate_change;
pub(crate) mod sweet_spot;
pub(crate) mod swept_axis;

pub use self::{
    best::*, consistency::*, curve::*, curve_shape::*, curves::*, dips::*, dispersion::*, overlay::*,
    rate_change::*, sweet_spot::*, swept_axis::geometric,
};
