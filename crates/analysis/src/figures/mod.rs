//! Figures: what a record says of each result phase, with rates, latencies, nodes, devices and warnings.

pub(crate) mod amount;
pub(crate) mod figure;
pub(crate) mod history;
pub(crate) mod latency;
pub(crate) mod little;
pub(crate) mod names;
pub(crate) mod nodes;
pub(crate) mod observed;
pub(crate) mod of_run;
pub(crate) mod percentile;
pub(crate) mod phase_warnings;
pub(crate) mod primary_metric;
pub(crate) mod rates;
pub(crate) mod seconds;
pub(crate) mod subject;
pub(crate) mod window;

pub(crate) use self::observed::own_time::ends_with_close;
pub(crate) use self::percentile::*;
pub use self::{
    amount::*, figure::*, history::*, latency::*, little::*, names::*, nodes::*, observed::*, of_run::*,
    phase_warnings::*, primary_metric::*, rates::*, seconds::*, servers::*, starved::*, subject::*,
    window::*,
};
