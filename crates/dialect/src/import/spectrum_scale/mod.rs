//! Tools of Spectrum Scale (GPFS).

pub(super) mod gpfsperf;
pub(super) mod iohist;
pub(super) mod nsdperf;
