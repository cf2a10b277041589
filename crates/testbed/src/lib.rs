//! Known-answer devices for the tests: what a measurement must find is known before it starts.
//!
//! | type | what it is |
//! |---|---|
//! | [`LoopDevice`] | a block device over a file, with a file system and limits that the kernel enforces |
//! | [`Rig`] | the scale model: twelve of them, as twelve cards |
//! | [`Stripe`] | one btrfs RAID-0 over several of them |
//! | [`Frozen`] | a file system that takes no writes until the guard is dropped |
//! | [`ProgrammedFs`] | a file system with programmed latency, bandwidth, faults and wrong data |
//! | [`Hosts`] | several hosts with names, addresses, links and directories of their own |
//! | [`Launch`] | a program on many ranks, under Open MPI or MPICH |
//! | [`MooseFs`] | a distributed file system over these hosts |
//! | [`VirtualMachine`] | another kernel on the files of this host, with NVMe devices on PCI |
//! | [`Slurm`] | a batch system whose nodes are these hosts |
//! | [`Strace`] | the I/O calls that a command really made, and faults injected into them |
//! | [`HighPriority`] | a priority above everything else on the host, for measurements |
//! | [`Program`] | a built program under test, with a limit on its time |
//! | [`Python`] | other people's parsers and tools, in an environment of their own |
//! | [`Scratch`] | a directory that is removed with its value |
//!
//! Everything has a name that no other process uses and is taken down when its value is dropped,
//! also while a test panics. What a killed process left behind is taken down by the next one.
//!
//! A test that needs root or a tool asks first and says why it cannot run:
//!
//! ```
//! if testbed::skipped(testbed::Testbed::available()) {
//!     return;
//! }
//! ```

mod command;
mod error;
mod file_system;
mod freeze;
mod fuse;
mod hosts;
mod launch;
mod loop_device;
mod moosefs;
mod priority;
mod process;
mod program;
mod python;
mod quota;
mod rig;
mod scratch;
mod signals;
mod slurm;
mod strace;
mod throttle;
mod virtual_machine;

pub use error::Error;
pub use file_system::FileSystem;
pub use freeze::Frozen;
pub use fuse::{
    Effect, Fault, Operation, Programme, ProgrammedFs, ProgrammedFsBuilder, Request, When, WrongData,
};
pub use hosts::{Hosts, HostsBuilder};
pub use launch::Launch;
pub use loop_device::{LoopDevice, LoopDeviceBuilder};
pub use moosefs::MooseFs;
pub use priority::HighPriority;
pub use process::Process;
pub use program::{Finished, Program, Running};
pub use python::Python;
pub use quota::ProcessorQuota;
pub use rig::{Rig, Stripe};
pub use scratch::Scratch;
pub use slurm::Slurm;
pub use strace::{Call, Strace, Trace};
pub use throttle::Limits;
pub use virtual_machine::{VirtualMachine, VirtualMachineBuilder};

/// The testbed as a whole.
#[derive(Debug, Clone, Copy)]
pub struct Testbed;

impl Testbed {
    /// Whether loop devices with file systems and limits can be set up here.
    ///
    /// # Errors
    /// What is missing, in words for a `skipped:` line.
    pub fn available() -> Result<(), String> {
        command::needs_root()?;
        command::needs_file("/dev/loop-control")?;
        command::needs_tools(&["losetup", "mkfs.xfs", "mkfs.ext4", "mkfs.btrfs", "mount", "umount"])?;
        throttle::available()
    }
}

/// Says so in a line that starts with `skipped:` when something is not available here, and
/// returns whether it said so. The line is counted by `./check`.
#[expect(clippy::print_stdout, reason = "the line is for the log of the test run")]
pub fn skipped(available: Result<(), String>) -> bool {
    if let Err(reason) = &available {
        println!("skipped: {reason}");
    }
    available.is_err()
}
