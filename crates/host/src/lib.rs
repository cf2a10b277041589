//! What this host is, what it does while a workload runs, and which of its devices may be written.
//!
//! | type | what it does |
//! |---|---|
//! | [`Host`] | facts, file systems and devices under a path, memory, processors, free space |
//! | [`Observer`], [`DeviceCounters`] | what the kernel counted for block devices, and whether the node let the run work |
//! | [`BlockTrace`] | the requests that block devices got, one by one |
//! | [`CpuTimes`] | what the processors of the host did |
//! | [`files::FileState`] | what stands at a path, and whether it holds data everywhere |
//! | [`cache`] | empties the page cache, for one file or as a whole |
//! | [`limits`] | raises the limits of this process, and says which one is too low |
//! | [`QuietWatch`] | says what other processes did while phases ran |
//! | [`tuning`] | how the host is set, how it should be, and the way back |
//! | [`Guard`] | says whether a raw block device may be written, with every reason against it |
//! | [`RunGroups`], [`LaunchGroup`] | control groups for the processes that a run launches |
//! | [`servers`] | what servers and clients of a storage have counted, from texts |
//! | [`OutputFile`], [`ends_with_us`] | what a process prints, and that it ends with this one |
//! | [`Layouts`] | puts devices together as a layout says, reads it back, and takes it down |
//!
//! All that is read from `/proc`, `/sys` and `/etc` is read under a [`Root`], so that a tree of
//! plain files can stand in for a host that is not there.
//!
//! ```
//! use host::{Host, Root};
//! let host = Host::new(Root::default());
//! let facts = host.facts(&["/".into()], "clock_monotonic");
//! assert!(facts.usable_cpus >= 1);
//! assert_eq!(facts.file_systems[0].mount_point, "/");
//! ```

#![cfg_attr(test, expect(clippy::print_stdout, reason = "a test that is skipped says so"))]

mod block;
pub mod cache;
mod cgroup;
mod children;
mod counters;
mod cpu;
mod cpu_list;
mod devices;
mod direct;
mod error;
mod facts;
mod file_system;
pub mod files;
mod guard;
mod host;
mod io_uring;
mod launch_groups;
pub mod layouts;
mod ledger_file;
pub mod limits;
mod load;
mod memory;
mod memory_below;
mod mounts;
mod observer;
mod owner;
mod pci;
mod programs;
mod quiet;
mod root;
pub mod servers;
mod sys;
mod trace;
pub mod tuning;
mod wear;

pub use children::{OutputFile, ends_with_us};
pub use counters::DeviceCounters;
pub use cpu::CpuTimes;
pub use direct::direct_alignment;
pub use error::{HostError, Unobservable};
pub use guard::{Guard, PermittedDevice, Reason, Refusal, UNKNOWN_DATA_WORD, open_read_only, trim};
pub use host::Host;
pub use io_uring::{IoUringState, io_uring_state};
pub use launch_groups::{LaunchGroup, RunGroups};
pub use layouts::{CommandHash, LayoutError, Layouts, Standing, Survey};
pub use load::LoadSample;
pub use mounts::{DeviceNumber, Mount};
pub use observer::{DeviceSample, Observed, Observer};
pub use programs::find_on_path;
pub use quiet::QuietWatch;
pub use root::Root;
pub use trace::{BlockRequest, BlockTrace};

#[cfg(test)]
mod fake;
