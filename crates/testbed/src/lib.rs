//! Devices with known answers for the tests: the correct result of a measurement is known before it starts.
//!
//! | type | what it is |
//! |---|---|
//! | [`LoopDevice`] | a block device backed by a file, with a file system and limits that the kernel enforces |
//! | [`Rig`] | the scale model: twelve loop devices that represent twelve cards |
//! | [`Stripe`] | one btrfs RAID-0 over several loop devices |
//! | [`Frozen`] | a file system that blocks writes until the guard is dropped |
//! | [`ProgrammedFs`] | a file system with programmed latency, bandwidth, faults and wrong data |
//! | [`Hosts`] | several hosts with names, addresses, links and directories of their own |
//! | [`Launch`] | a program on many ranks, under Open MPI or MPICH |
//! | [`MooseFs`] | a distributed file system on these hosts |
//! | [`VirtualMachine`] | another kernel that uses the files of this host, with NVMe devices on PCI |
//! | [`Slurm`] | a batch system whose nodes are these hosts |
//! | [`Strace`] | the I/O system calls that a command made, and faults injected into them |
//! | [`HighPriority`] | the highest priority on the host, for measurements |
//! | [`ControlGroup`] | programs with a limit on processor time, memory or threads |
//! | [`Program`] | a built program under test, with a time limit |
//! | [`Python`] | third-party parsers and tools in a virtual environment |
//! | [`Scratch`] | a directory that is removed when its value is dropped |
//!
//! Everything has a name that no other process uses, and is torn down when its value is dropped, even if a test
//! panics. What a killed process leaves behind is torn down by the next process.
//!
//! A test that needs root or a tool first checks for it, and says why if it cannot run:
//!
//! ```
//! if testbed::skipped(testbed::Testbed::available()) {
//!     return;
//! }
//! ```

mod attempts;
mod clusters;
mod devices;
mod error;
mod fuse;
mod programs;
mod scratch;

pub use attempts::{LONGEST, attempts};
pub use clusters::hosts::{Hosts, HostsBuilder};
pub use clusters::launch::Launch;
pub use clusters::moosefs::MooseFs;
pub use clusters::slurm::Slurm;
pub use clusters::virtual_machine::{VirtualMachine, VirtualMachineBuilder};
pub use devices::file_system::FileSystem;
pub use devices::freeze::Frozen;
pub use devices::loop_device::{LoopDevice, LoopDeviceBuilder};
pub use devices::rig::{Rig, Stripe};
pub use devices::throttle::Limits;
pub use error::Error;
pub use fuse::{
    Effect, Fault, Operation, Programme, ProgrammedFs, ProgrammedFsBuilder, Request, When, WrongData,
};
pub use programs::control_group::{ControlGroup, Limited};
pub use programs::priority::HighPriority;
pub use programs::process::Process;
pub use programs::program::{Finished, Program, Running};
pub use programs::python::Python;
pub use programs::strace::{Call, Strace, Trace};
pub use scratch::Scratch;

/// The testbed as a whole.
#[derive(Debug, Clone, Copy)]
pub struct Testbed;

impl Testbed {
    /// Whether loop devices with file systems and limits can be set up on this machine.
    ///
    /// # Errors
    /// Describes what is missing, for a `skipped:` line.
    pub fn available() -> Result<(), String> {
        programs::command::needs_root()?;
        programs::command::needs_file("/dev/loop-control")?;
        programs::command::needs_tools(&[
            "losetup",
            "mkfs.xfs",
            "mkfs.ext4",
            "mkfs.btrfs",
            "mount",
            "umount",
        ])?;
        devices::throttle::available()
    }
}

/// If something is not available, prints a line that starts with `skipped:`, and returns true. `./check` counts these
/// lines.
#[expect(clippy::print_stdout, reason = "the line is for the log of the test run")]
pub fn skipped(available: Result<(), String>) -> bool {
    if let Err(reason) = &available {
        println!("skipped: {reason}");
    }
    available.is_err()
}
