//! Decides whether a raw block device may be written.
//!
//! [`Guard::permit`] only succeeds if all of these conditions are met:
//!
//! 1. The user named the device: by its path, or by a serial number or world wide name that no other
//!    device has.
//! 2. Nothing uses the device, nor the disk, partitions, stack or file that share its bytes: no mount in
//!    any namespace, swap, holder, btrfs, loop device, or process that has it or the file of a loop device open.
//! 3. The kernel opens it exclusively (`O_EXCL`), and blocks every other exclusive user for as long as
//!    the [`PermittedDevice`] lives.
//! 4. util-linux finds no signature on it, and samples of it are zero or were written by this program.
//!
//! A [`Refusal`] lists every reason at once, each with its next step.
//!
//! ```no_run
//! use host::{Host, Root};
//! let guard = Host::new(Root::default()).guard();
//! match guard.permit("/dev/nvme1n1".as_ref(), &["S3Z8NB0K123456".into()]) {
//!     Ok(device) => println!("{} may be overwritten", device.path().display()),
//!     Err(refusal) => println!("{refusal}"),
//! }
//! ```

mod consent;
mod content;
mod device_relations;
mod openers;
mod refusal;
mod usage;
mod wipe;

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;

pub(crate) use consent::{find, identities};
pub(crate) use content::Signature;
use content::StampTest;
pub use refusal::{Reason, Refusal, UNKNOWN_DATA_WORD};

use crate::devices::block;
use crate::system::sys;
use crate::{DeviceNumber, HostError, Root};

/// Number of attempts to claim a device that is in use, and the pause between them. The total of a tenth
/// of a second is a negligible delay of a refusal.
const CLAIM_TRIES: u32 = 5;
const CLAIM_PAUSE: Duration = Duration::from_millis(20);
/// Maximum wait for a child of this process that has our files open until it calls exec. On an overloaded
/// host the child may have to wait to be scheduled.
const CHILD_PAUSE_MAX: Duration = Duration::from_secs(5);

/// The guard of a host's raw block devices.
#[derive(Clone)]
pub struct Guard {
    root: Root,
    is_own_stamp: Arc<StampTest>,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Guard {
    /// Creates a guard that treats all data as unknown.
    #[must_use]
    pub fn new(root: Root) -> Self {
        Self { root, is_own_stamp: Arc::new(|_| false) }
    }

    /// Makes the guard treat 512 bytes as data of an earlier run of this program if `is_own_stamp` returns
    /// true for them.
    #[must_use]
    pub fn with_stamp_test(self, is_own_stamp: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> Self {
        Self { is_own_stamp: Arc::new(is_own_stamp), ..self }
    }

    /// Checks whether `path` may be overwritten. `consents` are the values of `--destroy-data-on`. If the
    /// word [`UNKNOWN_DATA_WORD`] is among them, data without a signature is accepted as well.
    ///
    /// The result holds the device exclusively, so call this once for each device, from one process.
    ///
    /// # Errors
    /// Returns all reasons against it.
    pub fn permit(&self, path: &Path, consents: &[String]) -> Result<PermittedDevice, Refusal> {
        let (device, used) = self.look_at(path)?;
        let mut reasons = consent::reasons(&self.root, &device.name, consents);
        reasons.extend(used);
        let accepts_unknown = consents.iter().any(|consent| consent == UNKNOWN_DATA_WORD);
        let content = content::reasons(&device.path, &device.file, self.is_own_stamp.as_ref());
        reasons.extend(
            content
                .into_iter()
                .filter(|reason| !(accepts_unknown && matches!(reason, Reason::UnknownData { .. }))),
        );
        if !reasons.is_empty() {
            return Err(Refusal { path: path.to_owned(), reasons });
        }
        Ok(device)
    }

    /// Whether `given` and one of `devices` name the same device, each by a path, a serial number or a world wide name.
    #[must_use]
    pub fn names_one_of(&self, given: &str, devices: &[String]) -> bool {
        let number = |given: &str| match given.contains('/') {
            true => block::number_at(&self.root, Path::new(given)),
            false => block::number_of(&self.root, &find(&self.root, given).ok()?),
        };
        let named = number(given);
        devices.iter().any(|device| device == given || (named.is_some() && number(device) == named))
    }

    /// Opens the device at `path`, exclusively if possible. Returns it with all reasons against writing
    /// that result from its use.
    fn look_at(&self, path: &Path) -> Result<(PermittedDevice, Vec<Reason>), Refusal> {
        let refuse = |reason: Reason| Refusal { path: path.to_owned(), reasons: vec![reason] };
        let failed = |error: io::Error| refuse(Reason::CannotOpen { error: error.to_string() });
        let canonical = fs::canonicalize(path).map_err(failed)?;
        let metadata = fs::metadata(&canonical).map_err(failed)?;
        if !metadata.file_type().is_block_device() {
            return Err(refuse(Reason::NotABlockDevice));
        }
        let number = DeviceNumber::from_raw(metadata.rdev());
        let Some(name) = block::name_of(&self.root, number) else {
            return Err(refuse(Reason::UnknownDevice { number: number.to_string() }));
        };
        let (file, exclusive) = match claim(&self.root, &canonical, number) {
            Ok(claimed) => claimed,
            // Reasons found without opening the device are more specific than the kernel's error.
            Err(error) => {
                let mut reasons = usage::reasons(&self.root, &name);
                reasons.push(Reason::CannotOpen { error: error.to_string() });
                return Err(Refusal { path: path.to_owned(), reasons });
            }
        };
        let mut reasons = usage::reasons(&self.root, &name);
        if !exclusive {
            reasons.push(Reason::InUse);
        }
        Ok((PermittedDevice { path: canonical, name, number, file }, reasons))
    }

    /// All reasons against a device that can be determined without opening it.
    #[cfg(test)]
    pub(crate) fn survey(&self, name: &str, consents: &[String]) -> Vec<Reason> {
        let mut reasons = consent::reasons(&self.root, name, consents);
        reasons.extend(usage::reasons(&self.root, name));
        reasons
    }
}

/// Opens the device for reading, exclusively if possible. If it were opened for writing, udev would probe
/// it again on close.
fn claim(root: &Root, path: &Path, number: DeviceNumber) -> io::Result<(File, bool)> {
    let (file, exclusive) = match claim_patiently(root, path, number)? {
        Some(file) => (file, true),
        None => (open_with(path, OFlags::NONBLOCK)?, false),
    };
    let metadata = file.metadata()?;
    if !metadata.file_type().is_block_device() || DeviceNumber::from_raw(metadata.rdev()) != number {
        return Err(io::Error::other("another device took its place while it was being examined"));
    }
    Ok((file, exclusive))
}

/// Tries [`CLAIM_TRIES`] times, and for as long as a child of ours holds the device: a device that was just
/// closed is still open in a child before its exec. Returns `None` if it stays in use.
fn claim_patiently(root: &Root, path: &Path, number: DeviceNumber) -> io::Result<Option<File>> {
    let began = Instant::now();
    let mut tries = 0;
    loop {
        match open_with(path, OFlags::EXCL | OFlags::NONBLOCK) {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::BUSY) => {}
            opened => return opened.map(Some),
        }
        tries += 1;
        let is_child = || began.elapsed() < CHILD_PAUSE_MAX && openers::is_open_in_child(root, number);
        if tries >= CLAIM_TRIES && !is_child() {
            return Ok(None);
        }
        thread::sleep(CLAIM_PAUSE);
    }
}

fn open_with(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Makes the file system at `path` discard its free space, and returns the number of bytes discarded. No
/// data is lost.
///
/// # Errors
/// Errors if the file system or its devices cannot discard, or if this user may not request it.
pub fn trim(path: &Path) -> Result<u64, HostError> {
    let failed = |error: io::Error| HostError::io("discard the free space of", path, error);
    let directory = File::open(path).map_err(failed)?;
    // Freed space is only discarded once it is in the journal of the file system.
    rustix::fs::syncfs(&directory).map_err(|error| failed(error.into()))?;
    sys::trim(&directory).map_err(failed)
}

/// Opens a block device for reading, which needs no consent.
///
/// # Errors
/// Errors if `path` is not a block device or cannot be opened.
pub fn open_read_only(path: &Path) -> Result<File, HostError> {
    let file =
        OpenOptions::new().read(true).open(path).map_err(|error| HostError::io("open", path, error))?;
    let metadata = file.metadata().map_err(|error| HostError::io("stat", path, error))?;
    if !metadata.file_type().is_block_device() {
        return Err(HostError::NotABlockDevice { path: path.to_owned() });
    }
    Ok(file)
}

/// A block device that may be overwritten. While this value lives, nothing can mount the device or add it
/// to a stack. It can only be obtained from [`Guard::permit`].
#[derive(Debug)]
pub struct PermittedDevice {
    path: PathBuf,
    name: String,
    number: DeviceNumber,
    file: File,
}

impl PermittedDevice {
    /// The path of the device node, with links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kernel's name, for example `nvme0n1`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kernel's number of the device.
    #[must_use]
    pub fn number(&self) -> DeviceNumber {
        self.number
    }

    /// Whether `path` resolves to this device.
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|metadata| self.is_described_by(&metadata))
    }

    /// Whether `file`, opened for writing, is this device and not a replacement of it.
    #[must_use]
    pub fn is_same(&self, file: &File) -> bool {
        file.metadata().is_ok_and(|metadata| self.is_described_by(&metadata))
    }

    /// Closes the device, so that another program can claim it. A child before its exec may hold it a
    /// moment longer.
    pub(crate) fn release(self, root: &Root) {
        let number = self.number;
        drop(self);
        let began = Instant::now();
        while openers::is_open_in_child(root, number) && began.elapsed() < CHILD_PAUSE_MAX {
            thread::sleep(CLAIM_PAUSE);
        }
    }

    fn is_described_by(&self, metadata: &fs::Metadata) -> bool {
        metadata.file_type().is_block_device() && DeviceNumber::from_raw(metadata.rdev()) == self.number
    }
}

impl AsFd for PermittedDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests;
