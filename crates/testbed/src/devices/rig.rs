//! Groups of devices: the scale model and a stripe.

use std::fs;
use std::path::{Path, PathBuf};

use crate::programs::command;
use crate::{Error, FileSystem, Limits, LoopDevice, LoopDeviceBuilder, Scratch, scratch};

/// The number of cards in the machine that the scale model represents.
const CARDS: usize = 12;

/// Several equal devices, each with its own file system.
///
/// ```no_run
/// use testbed::{Limits, Rig};
/// let mut rig = Rig::twelve()?;
/// rig.limit(Limits::bandwidth(40_000_000))?;
/// let targets: Vec<_> = rig.mount_points().iter().map(|card| card.join("data")).collect();
/// # Ok::<(), testbed::Error>(())
/// ```
#[derive(Debug)]
pub struct Rig {
    devices: Vec<LoopDevice>,
}

impl Rig {
    /// Twelve devices of 512 MiB in memory, XFS on each, without limits.
    ///
    /// # Errors
    /// One of them could not be set up. The others are torn down.
    pub fn twelve() -> Result<Self, Error> {
        Self::of(CARDS, &LoopDevice::builder().file_system(FileSystem::Xfs))
    }

    /// `count` devices like `device`.
    ///
    /// # Errors
    /// One of them could not be set up. The others are torn down.
    pub fn of(count: usize, device: &LoopDeviceBuilder) -> Result<Self, Error> {
        let devices = (0..count).map(|_| device.clone().build()).collect::<Result<_, _>>()?;
        Ok(Self { devices })
    }

    /// All devices of the rig.
    #[must_use]
    pub fn devices(&self) -> &[LoopDevice] {
        &self.devices
    }

    /// One device, so that it can get its own limits, for example to simulate a straggler.
    pub fn device_mut(&mut self, index: usize) -> Option<&mut LoopDevice> {
        self.devices.get_mut(index)
    }

    /// The mount points of the file systems, in the order of the devices.
    #[must_use]
    pub fn mount_points(&self) -> Vec<PathBuf> {
        self.devices.iter().filter_map(|device| device.mount_point().map(Path::to_path_buf)).collect()
    }

    /// Gives every device the same limits.
    ///
    /// # Errors
    /// The kernel rejects them.
    pub fn limit(&mut self, limits: Limits) -> Result<(), Error> {
        self.devices.iter_mut().try_for_each(|device| device.limit(limits))
    }
}

/// One btrfs RAID-0 over several devices.
#[derive(Debug)]
pub struct Stripe {
    mount_point: PathBuf,
    // Dropped after the file system is unmounted.
    rig: Rig,
    _scratch: Scratch,
}

impl Stripe {
    /// Creates a stripe over the devices of `rig`, which must have no file systems.
    ///
    /// # Errors
    /// The file system cannot be created or mounted.
    pub fn over(rig: Rig) -> Result<Self, Error> {
        let scratch = Scratch::on_disk()?;
        let mount_point = scratch.path().join("mnt");
        fs::create_dir(&mount_point).map_err(Error::file(&mount_point))?;
        let devices: Vec<&Path> = rig.devices.iter().map(LoopDevice::device).collect();
        let flags = ["-q", "-f", "-K", "-d", "raid0", "-m", "raid0"].map(Path::new);
        command::run("mkfs.btrfs", flags.into_iter().chain(devices.iter().copied()))?;
        // Lists each member, because no daemon may have registered them with the kernel.
        let members = devices.iter().map(|device| format!(",device={}", device.display()));
        let options = format!("noatime,nodatacow{}", members.collect::<String>());
        let Some(first) = devices.first() else {
            return Err(Error::Missing("devices to stripe over".to_owned()));
        };
        let mount = ["-t", "btrfs", "-o", &options].map(Path::new);
        command::run("mount", mount.into_iter().chain([*first, &mount_point]))?;
        Ok(Self { mount_point, rig, _scratch: scratch })
    }

    /// The mount point.
    #[must_use]
    pub fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    /// The devices of the stripe, for setting limits on them.
    pub const fn rig_mut(&mut self) -> &mut Rig {
        &mut self.rig
    }
}

impl Drop for Stripe {
    fn drop(&mut self) {
        // Remove the limits first, so that unmounting is fast. They disappear with the devices anyway.
        let _ = self.rig.limit(Limits::default());
        scratch::unmount(&self.mount_point);
    }
}
