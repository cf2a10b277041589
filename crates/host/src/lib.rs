//! Facts about this host, its activity while a workload runs, and which of its devices may be written.
//!
//! | type | what it does |
//! |---|---|
//! | [`Host`] | facts, file systems and devices under a path, memory, processors, free space |
//! | [`Observer`], [`DeviceCounters`] | counters of block devices, and delays of the run by the node |
//! | [`BlockTrace`] | individual requests of block devices |
//! | [`CpuTimes`] | processor times of the host |
//! | [`files::FileState`] | the kind of file at a path, and whether it has holes |
//! | [`cache`] | empties the page cache, for one file or as a whole |
//! | [`limits`] | raises the limits of this process, and reports which one is too low |
//! | [`QuietWatch`] | detects activity of other processes while phases run |
//! | [`tuning`] | settings of the host, recommended settings, and their restoration |
//! | [`Guard`] | decides whether a raw block device may be written, and lists every reason against it |
//! | [`RunGroups`], [`LaunchGroup`] | control groups for the processes that a run launches |
//! | [`servers`] | parses counters of storage servers and clients |
//! | [`OutputFile`], [`ends_with_us`] | the output of a child process, and its end with this process |
//! | [`Layouts`] | creates, verifies and destroys layouts of devices |
//!
//! All reads of `/proc`, `/sys` and `/etc` are under a [`Root`], so that a tree of plain files can represent
//! another host.
//!
//! ```
//! use host::{Host, Root};
//! let host = Host::new(Root::default());
//! let facts = host.facts(&["/".into()], "clock_monotonic");
//! assert!(facts.usable_cpus >= 1);
//! assert_eq!(facts.file_systems[0].mount_point, "/");
//! ```

#![cfg_attr(test, expect(clippy::print_stdout, reason = "a test that is skipped says so"))]

mod activity;
mod devices;
mod error;
mod facts;
mod file_systems;
mod guard;
mod host;
pub mod layouts;
mod ledger;
pub mod servers;
mod system;
pub mod tuning;

pub use activity::children::{OutputFile, ends_with_us};
pub use activity::cpu::CpuTimes;
pub use activity::launch_groups::{LaunchGroup, RunGroups};
pub use activity::load::LoadSample;
pub use activity::observer::{DeviceSample, Observed, Observer};
pub use activity::programs::find_on_path;
pub use activity::quiet::QuietWatch;
pub use activity::trace::{BlockRequest, BlockTrace};
pub use devices::counters::DeviceCounters;
pub use devices::direct::direct_alignment;
pub use error::{HostError, Unobservable};
pub use facts::io_uring::{IoUringState, io_uring_state};
pub use file_systems::extents::{Extent, extents};
pub use file_systems::mounts::{DeviceNumber, Mount};
pub use file_systems::relation::Relation;
pub use file_systems::settings::read_settings;
pub use file_systems::stored::Stored;
pub use file_systems::{cache, files};
pub use guard::{Guard, PermittedDevice, Reason, Refusal, UNKNOWN_DATA_WORD, open_read_only, trim};
pub use host::Host;
pub use layouts::{CommandHash, LayoutError, Layouts, MadeLayout, Survey};
pub use ledger::{HostIdentity, LedgerError, LedgerLoss};
pub use system::limits;
pub use system::root::Root;

#[cfg(test)]
mod fake;
