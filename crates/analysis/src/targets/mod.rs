//! Findings about targets and devices: data sheets, costs, seeks, members, and the counters of disks and
//! servers.

pub(crate) mod contrast;
pub(crate) mod cost;
pub(crate) mod disk_view;
pub(crate) mod expected;
pub(crate) mod io_history;
pub(crate) mod iops;
pub(crate) mod members;
pub(crate) mod needs;
pub(crate) mod seek;
pub(crate) mod server_side;
pub(crate) mod weakest;

pub use self::{
    contrast::*, cost::*, disk_view::*, expected::*, io_history::*, iops::*, members::*, needs::*, seek::*,
    server_side::*, weakest::*,
};
