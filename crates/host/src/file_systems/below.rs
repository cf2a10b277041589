//! What is below a path: each file system with its mount options, the file of each loop device, and each device with
//! its members, down to the medium. A memory there may serve reads that the device counters include, and any layer
//! may keep an fsync from reaching stable storage.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use record::{CacheLocation, Fact, Warning, option_against_fsync};

use crate::activity::programs;
use crate::devices::block;
use crate::devices::inventory::{self, DeviceKind};
use crate::file_systems::file_system;
use crate::file_systems::mounts::Mount;
use crate::system::sys;
use crate::{Root, Unobservable, devices};

/// The model of the SCSI debugging driver, which keeps its data in memory.
const SCSI_DEBUG: &str = "scsi_debug";
/// Where ZFS says that it does not flush the caches of its devices.
const ZFS_NO_FLUSH: &str = "/sys/module/zfs/parameters/zfs_nocacheflush";

/// Returns a [`Warning::MemoryBelow`] for each memory below `path`, and a [`Warning::NotDurable`] for each layer that
/// loses written data without power although fsync has succeeded. What holds the data of a file system without a
/// device of this host is unknown; [`devices::observable`] reports that case.
pub(crate) fn below(root: &Root, table: &[Mount], path: &Path) -> Vec<Warning> {
    let mut walk = Walk { root, table, seen: Vec::new(), found: Vec::new() };
    // The reason is that of the counters, which are told apart.
    let _ = walk.path(path, 0, None);
    if root.is_system() && !sys::fsync_is_a_call() {
        let what = "fsync returns without reaching the kernel, as under systemd-nspawn --suppress-sync";
        walk.loses(what.to_owned());
    }
    walk.found
}

struct Walk<'a> {
    root: &'a Root,
    table: &'a [Mount],
    seen: Vec<String>,
    found: Vec<Warning>,
}

impl Walk<'_> {
    fn tell(&mut self, warning: Warning) {
        if !self.found.contains(&warning) {
            self.found.push(warning);
        }
    }

    fn caches(&mut self, place: CacheLocation, what: String) {
        self.tell(Warning::MemoryBelow { place, what });
    }

    fn loses(&mut self, what: String) {
        self.tell(Warning::NotDurable { what });
    }

    /// Examines the device at `path`, or the file system of the files there. `user` is the loop device whose file it
    /// is.
    fn path(&mut self, path: &Path, layer: usize, user: Option<&str>) -> Result<(), Unobservable> {
        if block::number_at(self.root, path).is_none()
            && let Ok(existing) = file_system::nearest_existing(self.root, path)
            && let Ok(mount) = file_system::mount_of(self.root, self.table, &existing)
        {
            self.mount(&mount);
            if file_system::is_in_memory(&mount.kind) {
                self.in_memory(path, &mount, user);
                return Ok(());
            }
            if mount.kind == "overlay" {
                let upper = devices::upper_directory(self.root, self.table, &mount, layer);
                return match upper {
                    Ok(upper) => self.path(&upper, layer + 1, user),
                    Err(hidden) => {
                        self.loses(format!("whether fsync reaches stable storage is unknown: {hidden}"));
                        Err(hidden)
                    }
                };
            }
        }
        for device in devices::carriers(self.root, self.table, path, layer)? {
            self.device(&device, layer, user);
        }
        Ok(())
    }

    /// Memory is the medium of a loop device over a file in memory, with no cache in front of it.
    fn in_memory(&mut self, path: &Path, mount: &Mount, user: Option<&str>) {
        let (path, at) = (path.display(), mount.mount_point.display());
        match user {
            None => {
                self.caches(CacheLocation::Device, format!("{path} is in memory, with no storage below it"));
            }
            Some(device) => self.loses(format!(
                "{device} keeps its data in memory: its file {path} is on {} at {at}",
                mount.kind
            )),
        }
    }

    /// Examines the options with which a file system is mounted.
    fn mount(&mut self, mount: &Mount) {
        let (at, options) = (mount.mount_point.display(), mount.all_options());
        if let Some(option) = option_against_fsync(&options) {
            self.loses(format!("{at} is mounted with {option}: fsync does not reach stable storage"));
        }
        if mount.kind != "zfs" {
            return;
        }
        if self.root.text(ZFS_NO_FLUSH) == Fact::Known("1".to_owned()) {
            self.loses(format!("zfs at {at} does not flush the caches of its devices: {ZFS_NO_FLUSH} is 1"));
        }
        match self.zfs_sync(&mount.source) {
            Ok(sync) if sync == "disabled" => {
                self.loses(format!(
                    "{} has sync=disabled: fsync does not reach stable storage",
                    mount.source
                ));
            }
            Ok(_) => {}
            Err(reason) => {
                self.loses(format!("whether {} has sync=disabled is unknown: {reason}", mount.source));
            }
        }
    }

    /// The property `sync` of a dataset, which the kernel does not show.
    fn zfs_sync(&self, dataset: &str) -> Result<String, String> {
        let program = programs::find("zfs").filter(|_| self.root.is_system());
        let program = program.ok_or("the program zfs is missing")?;
        let text = programs::output(&program, &["get", "-H", "-o", "value", "sync", dataset])?;
        match text.trim() {
            sync @ ("standard" | "always" | "disabled") => Ok(sync.to_owned()),
            other => Err(format!("`zfs get sync {dataset}` prints {other:?}")),
        }
    }

    /// Examines a device, its members, and what is under the file of a loop device. `above` is the device that it is a
    /// part of.
    fn device(&mut self, name: &str, layer: usize, above: Option<&str>) {
        let whole = block::whole_of(self.root, name).unwrap_or_else(|| name.to_owned());
        self.flushes(&whole, above);
        if layer >= block::LAYERS_MAX || self.seen.contains(&whole) {
            return;
        }
        self.seen.push(whole.clone());
        match inventory::kind_of(self.root, &whole) {
            DeviceKind::Loop => self.loop_device(&whole, layer),
            kind if kind == DeviceKind::Memory || self.is_scsi_debug(&whole) => {
                self.caches(CacheLocation::Device, format!("{whole} keeps its data in memory"));
            }
            DeviceKind::Served | DeviceKind::CephImage => {
                let what = format!("{whole} is served by a program or a server, which may have a cache");
                self.caches(CacheLocation::Server, what);
            }
            DeviceKind::ZfsVolume => {
                let what = format!("{whole} is a ZFS volume, which has a cache in the memory of the node");
                self.caches(CacheLocation::Node, what);
            }
            _ => {}
        }
        for member in block::slaves(self.root, &whole) {
            self.device(&member, layer + 1, Some(&whole));
        }
    }

    /// Whether the kernel sends flushes to a device. It sends none to one that is set to `write through`, and so none
    /// to what is below it.
    fn flushes(&mut self, name: &str, above: Option<&str>) {
        let is_flushed = |name: &str| {
            let kind = self.root.text(&format!("/sys/block/{name}/queue/write_cache"));
            kind.known().map(|kind| kind != "write through")
        };
        let without =
            |name: &str| format!("{name} is set to write through (/sys/block/{name}/queue/write_cache)");
        let own = is_flushed(name);
        let above = above.filter(|above| own == Some(true) && is_flushed(above) == Some(false));
        if let Some(above) = above {
            self.loses(format!("no flush reaches the volatile cache of {name}: {}", without(above)));
        }
        let disks = format!("/sys/block/{name}/device/scsi_disk");
        let has_cache = |disk: &String| {
            let kind = self.root.text(&format!("{disks}/{disk}/cache_type"));
            kind.known().is_some_and(|kind| kind.starts_with("write back"))
        };
        if own == Some(false) && self.root.names(&disks).iter().any(has_cache) {
            self.loses(format!("no flush reaches the volatile cache of {name}: {}", without(name)));
        }
    }

    fn is_scsi_debug(&self, name: &str) -> bool {
        let model = self.root.text(&format!("/sys/block/{name}/device/model"));
        model.known().is_some_and(|model| model.starts_with(SCSI_DEBUG))
    }

    /// Examines a loop device. Without the page cache it is equivalent to its file.
    fn loop_device(&mut self, name: &str, layer: usize) {
        let Some(file) = block::loop_file(self.root, name) else {
            let what = format!("the file of {name} is not visible, so it is unknown whether it is cached");
            self.caches(CacheLocation::Node, what.clone());
            self.caches(CacheLocation::Server, what);
            return self.loses(format!("whether {name} keeps its data is unknown: its file is not visible"));
        };
        let direct = self.root.text(&format!("/sys/block/{name}/loop/dio"));
        if direct != Fact::Known("1".to_owned()) {
            let what = format!("{name} reads its file {} through the page cache", file.display());
            self.caches(CacheLocation::Node, what);
        }
        if !self.is_at(name, &file) {
            let other = format!("the file of {name} is not the one at {} here", file.display());
            self.caches(CacheLocation::Server, format!("{other}, so its caches are unknown"));
            return self.loses(format!("{other}, so it is unknown whether it keeps its data"));
        }
        if let Err(unobservable) = self.path(&file, layer + 1, Some(name)) {
            let what = format!("{name} is on {}: {unobservable}", file.display());
            self.caches(CacheLocation::Server, what);
        }
    }

    /// Whether the file of the loop device `name` is really the one at its path. The device may have been
    /// configured in another mount namespace, or the file may be hidden by a mount. If this user may not ask
    /// the kernel, the path is trusted.
    fn is_at(&self, name: &str, file: &Path) -> bool {
        let device = File::open(self.root.path(format!("/dev/{name}")));
        let Ok(backing) = device.and_then(|device| sys::loop_backing(&device)) else { return true };
        let found = fs::metadata(self.root.path(file));
        found.is_ok_and(|found| (found.dev(), found.ino()) == (backing.device, backing.inode))
    }
}
