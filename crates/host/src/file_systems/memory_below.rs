//! Memory below the devices of a path. It may serve reads that the device counters include.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use record::{CacheLocation, Fact, Warning};

use crate::devices::block;
use crate::file_systems::file_system;
use crate::file_systems::mounts;
use crate::file_systems::mounts::Mount;
use crate::system::sys;
use crate::{Root, devices};

/// Kernel block devices that keep their data in memory, by their names without the number: compressed RAM
/// disk, RAM disk, and null block driver.
const IN_MEMORY: [&str; 3] = ["zram", "ram", "nullb"];
/// Block devices that are served by a server or a program: NBD, Ceph, and drivers in user space.
const SERVED: [&str; 3] = ["nbd", "rbd", "ublkb"];
/// Volumes of ZFS, which has its cache in the memory of the node.
const ZFS_VOLUME: &str = "zd";
/// The model of the SCSI debugging driver, which keeps its data in memory.
const SCSI_DEBUG: &str = "scsi_debug";

/// Returns a [`Warning::MemoryBelow`] for each memory below the devices of `path`. Returns none if no
/// device of this host stores its bytes and they are not in memory either; [`devices::observable`] reports
/// that case.
pub(crate) fn memory_below(root: &Root, table: &[Mount], path: &Path) -> Vec<Warning> {
    let mut search = Search { root, table, seen: Vec::new(), found: Vec::new() };
    match devices::carriers(root, table, path, 0) {
        Ok(carriers) => carriers.iter().for_each(|device| search.device(device, 0)),
        Err(_) if search.is_in_memory(path, 0) => {
            let what = format!("{} is in memory, with no storage below it", path.display());
            search.tell(CacheLocation::Device, what);
        }
        Err(_) => {}
    }
    search.found
}

struct Search<'a> {
    root: &'a Root,
    table: &'a [Mount],
    seen: Vec<String>,
    found: Vec<Warning>,
}

impl Search<'_> {
    fn tell(&mut self, place: CacheLocation, what: String) {
        self.found.push(Warning::MemoryBelow { place, what });
    }

    /// Examines a device, its members, and what is under the file of a loop device.
    fn device(&mut self, name: &str, layer: usize) {
        let whole = block::whole_of(self.root, name).unwrap_or_else(|| name.to_owned());
        if layer >= block::LAYERS_MAX || self.seen.contains(&whole) {
            return;
        }
        self.seen.push(whole.clone());
        match whole.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "loop" => self.loop_device(&whole, layer),
            kind if IN_MEMORY.contains(&kind) || self.is_scsi_debug(&whole) => {
                self.tell(CacheLocation::Device, format!("{whole} keeps its data in memory"));
            }
            kind if SERVED.contains(&kind) => {
                let what = format!("{whole} is served by a program or a server, which may have a cache");
                self.tell(CacheLocation::Server, what);
            }
            ZFS_VOLUME => {
                let what = format!("{whole} is a ZFS volume, which has a cache in the memory of the node");
                self.tell(CacheLocation::Node, what);
            }
            _ => {}
        }
        for member in block::slaves(self.root, &whole) {
            self.device(&member, layer + 1);
        }
    }

    fn is_scsi_debug(&self, name: &str) -> bool {
        let model = self.root.text(&format!("/sys/block/{name}/device/model"));
        model.known().is_some_and(|model| model.starts_with(SCSI_DEBUG))
    }

    /// Examines a loop device. Without the page cache it is equivalent to its file. If the file is in
    /// memory, the loop device's medium is memory, without a cache in front of it.
    fn loop_device(&mut self, name: &str, layer: usize) {
        let Some(file) = block::loop_file(self.root, name) else {
            let what = format!("the file of {name} is not visible, so it is unknown whether it is cached");
            self.tell(CacheLocation::Node, what.clone());
            return self.tell(CacheLocation::Server, what);
        };
        let direct = self.root.text(&format!("/sys/block/{name}/loop/dio"));
        if direct != Fact::Known("1".to_owned()) {
            let what = format!("{name} reads its file {} through the page cache", file.display());
            self.tell(CacheLocation::Node, what);
        }
        if !self.is_at(name, &file) {
            let what = format!(
                "the file of {name} is not the one at {} here, so its caches are unknown",
                file.display()
            );
            return self.tell(CacheLocation::Server, what);
        }
        match devices::carriers(self.root, self.table, &file, layer + 1) {
            Ok(members) => members.iter().for_each(|member| self.device(member, layer + 1)),
            Err(_) if self.is_in_memory(&file, 0) => {}
            Err(unobservable) => {
                let what = format!("{name} is on {}: {unobservable}", file.display());
                self.tell(CacheLocation::Server, what);
            }
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

    /// Whether a file is in memory, including through an overlay, which writes to another file system.
    fn is_in_memory(&self, file: &Path, layer: usize) -> bool {
        let existing = file_system::nearest_existing(self.root, file);
        let mount = existing.and_then(|existing| file_system::mount_of(self.root, self.table, &existing));
        let Ok(mount) = mount else { return false };
        let upper = mount.super_option("upperdir").filter(|_| mount.kind == "overlay");
        match upper.map(mounts::unescape_path) {
            Some(upper) if layer < block::LAYERS_MAX && self.root.path(&upper).is_dir() => {
                self.is_in_memory(&upper, layer + 1)
            }
            Some(_) => false,
            None => file_system::is_in_memory(&mount.kind),
        }
    }
}
