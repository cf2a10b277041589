//! Block devices backed by files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::devices::freeze;
use crate::devices::throttle::Throttle;
use crate::programs::command;
use crate::{Error, FileSystem, Frozen, Limits, Scratch, scratch};

/// Builder for [`LoopDevice`].
#[derive(Debug, Clone)]
pub struct LoopDeviceBuilder {
    bytes: u64,
    file_system: Option<FileSystem>,
    limits: Limits,
    backing: Backing,
    direct: bool,
}

/// Where a device stores its data.
#[derive(Debug, Clone)]
enum Backing {
    Memory,
    Disk,
    File(PathBuf),
}

impl LoopDeviceBuilder {
    /// The size. The default is 512 MiB.
    #[must_use]
    pub const fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// Creates a file system and mounts it.
    #[must_use]
    pub const fn file_system(mut self, kind: FileSystem) -> Self {
        self.file_system = Some(kind);
        self
    }

    /// Limits the device's bandwidth and IOPS.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Stores the data on a disk instead of in memory.
    #[must_use]
    pub fn on_disk(mut self) -> Self {
        self.backing = Backing::Disk;
        self
    }

    /// Backs the device with an existing file, such as one of a [`crate::ProgrammedFs`]. That makes a block device
    /// with programmed latency and faults. The file is not removed.
    #[must_use]
    pub fn over(mut self, file: impl Into<PathBuf>) -> Self {
        self.backing = Backing::File(file.into());
        self
    }

    /// Lets the device access its file through the page cache instead of with direct I/O.
    #[must_use]
    pub const fn cached(mut self) -> Self {
        self.direct = false;
        self
    }

    /// Sets the device up.
    ///
    /// # Errors
    /// A step failed. Everything set up before it is torn down.
    pub fn build(self) -> Result<LoopDevice, Error> {
        LoopDevice::set_up(&self)
    }
}

/// A block device backed by a file. It is torn down when the value is dropped.
///
/// ```
/// use testbed::{FileSystem, Limits, LoopDevice, Testbed};
/// if testbed::skipped(Testbed::available()) {
///     return;
/// }
/// let device = LoopDevice::builder()
///     .file_system(FileSystem::Ext4)
///     .limits(Limits::bandwidth(40_000_000))
///     .build()
///     .unwrap();
/// std::fs::write(device.mount_point().unwrap().join("file"), "data").unwrap();
/// ```
#[derive(Debug)]
pub struct LoopDevice {
    // Fields drop in this order: limits first, so that unmounting is fast.
    throttle: Option<Throttle>,
    mount: Option<Mount>,
    device: Attached,
    _files: Scratch,
}

impl LoopDevice {
    /// A builder for 512 MiB in memory, without a file system and without limits.
    #[must_use]
    pub const fn builder() -> LoopDeviceBuilder {
        LoopDeviceBuilder {
            bytes: 512 << 20,
            file_system: None,
            limits: Limits { read_bytes: None, write_bytes: None, reads: None, writes: None },
            backing: Backing::Memory,
            direct: true,
        }
    }

    fn set_up(wanted: &LoopDeviceBuilder) -> Result<Self, Error> {
        let files = match wanted.backing {
            Backing::Memory => Scratch::in_memory()?,
            Backing::Disk | Backing::File(_) => Scratch::on_disk()?,
        };
        let image = match &wanted.backing {
            Backing::File(path) => path.clone(),
            Backing::Memory | Backing::Disk => {
                let path = files.path().join("image");
                let image = File::create_new(&path).map_err(Error::file(&path))?;
                image.set_len(wanted.bytes).map_err(Error::file(&path))?;
                path
            }
        };
        let device = Attached::new(&image, wanted.direct)?;
        let mount = match wanted.file_system {
            Some(kind) => Some(Mount::new(kind, &device.path, files.path().join("mnt"))?),
            None => None,
        };
        let mut whole = Self { throttle: None, mount, device, _files: files };
        whole.limit(wanted.limits)?;
        Ok(whole)
    }

    /// The device path, such as `/dev/loop3`.
    #[must_use]
    pub fn device(&self) -> &Path {
        &self.device.path
    }

    /// The kernel name, such as `loop3`.
    #[must_use]
    pub fn name(&self) -> String {
        self.device.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The mount point of its file system.
    #[must_use]
    pub fn mount_point(&self) -> Option<&Path> {
        self.mount.as_ref().map(|mount| mount.path.as_path())
    }

    /// Replaces the limits.
    ///
    /// # Errors
    /// The kernel rejects them.
    pub fn limit(&mut self, limits: Limits) -> Result<(), Error> {
        match &self.throttle {
            Some(throttle) => throttle.set(limits),
            None if limits == Limits::default() => Ok(()),
            None => {
                let (major, minor) = self.device.numbers()?;
                self.throttle = Some(Throttle::new(major, minor, limits)?);
                Ok(())
            }
        }
    }

    /// Shuts down the file system: every later call on it fails with EIO, as if its device had vanished.
    ///
    /// # Errors
    /// There is no file system, or it cannot be shut down.
    pub fn shut_down(&self) -> Result<(), Error> {
        let mount = self.mount.as_ref();
        let mount = mount.ok_or_else(|| Error::Missing("a file system on this device".to_owned()))?;
        freeze::shut_down(&mount.path)
    }

    /// Remounts the file system, for example after [`LoopDevice::shut_down`].
    ///
    /// # Errors
    /// It is in use, or cannot be mounted.
    pub fn remount(&self) -> Result<(), Error> {
        let mount = self.mount.as_ref();
        let mount = mount.ok_or_else(|| Error::Missing("a file system on this device".to_owned()))?;
        scratch::unmount(&mount.path);
        mount.kind.mount(&self.device.path, &mount.path)
    }

    /// Blocks all writes to the file system until the guard is dropped.
    ///
    /// # Errors
    /// There is no file system, or it cannot be frozen.
    pub fn freeze(&self) -> Result<Frozen, Error> {
        let mount = self.mount.as_ref();
        let mount = mount.ok_or_else(|| Error::Missing("a file system on this device".to_owned()))?;
        Frozen::new(&mount.path)
    }
}

/// A loop device and its backing file.
#[derive(Debug)]
struct Attached {
    path: PathBuf,
}

impl Attached {
    fn new(image: &Path, direct: bool) -> Result<Self, Error> {
        let direct = if direct { "--direct-io=on" } else { "--direct-io=off" };
        let arguments = ["--find", "--show", direct].map(Path::new);
        let path = command::run("losetup", arguments.into_iter().chain([image]))?;
        Ok(Self { path: path.into() })
    }

    fn numbers(&self) -> Result<(u32, u32), Error> {
        let status = rustix::fs::stat(&self.path).map_err(|e| Error::file(&self.path)(e.into()))?;
        Ok((rustix::fs::major(status.st_rdev), rustix::fs::minor(status.st_rdev)))
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // If the device is still in use, losetup marks it, and the kernel removes it when the last user closes it.
        let _ = command::run("losetup", [Path::new("--detach"), &self.path]);
    }
}

/// A mounted file system.
#[derive(Debug)]
struct Mount {
    kind: FileSystem,
    path: PathBuf,
}

impl Mount {
    fn new(kind: FileSystem, device: &Path, path: PathBuf) -> Result<Self, Error> {
        fs::create_dir(&path).map_err(Error::file(&path))?;
        kind.make_and_mount(device, &path)?;
        Ok(Self { kind, path })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        scratch::unmount(&self.path);
    }
}
