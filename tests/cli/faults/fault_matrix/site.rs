//! The environment of one attempt: a desk, the storage that is measured, and the disk of the record.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use testbed::{ControlGroup, FileSystem, Limited, LoopDevice, Program, ProgrammedFs};

use crate::desk::{Desk, SmallDisk, names, run};

use super::clock::Clock;
use super::fault::{Fault, Storage};

/// Memory limit of the group whose memory is used up.
const MEMORY_BYTES: u64 = 384 << 20;
/// The content of the user's file on the storage.
const MINE: &str = "stays";

/// A desk with storage; the file `mine` on the storage belongs to the user.
pub(super) struct Site {
    pub(super) data: PathBuf,
    storage: Mounted,
    group: Option<ControlGroup>,
    record_disk: Option<SmallDisk>,
    clock: Option<Clock>,
    /// Removed last: the disk of the record is mounted in it.
    pub(super) desk: Desk,
}

enum Mounted {
    Disk,
    Fuse(ProgrammedFs),
    Ext4(LoopDevice),
}

impl Site {
    pub(super) fn new(fault: Fault, name: &str) -> Result<Self, String> {
        let (desk, data) = Desk::with_data();
        let (storage, data) = match fault.storage() {
            Storage::Disk => (Mounted::Disk, data),
            Storage::Fuse => {
                let mounted = ProgrammedFs::builder().mount().map_err(|error| error.to_string())?;
                let place = mounted.path().to_path_buf();
                (Mounted::Fuse(mounted), place)
            }
            Storage::Ext4 => {
                let bytes = FileSystem::Ext4.smallest_bytes();
                let device = LoopDevice::builder().bytes(bytes).file_system(FileSystem::Ext4).build();
                let device = device.map_err(|error| error.to_string())?;
                let place = device.mount_point().ok_or("no mount")?.join("data");
                fs::create_dir(&place).map_err(|error| error.to_string())?;
                (Mounted::Ext4(device), place)
            }
        };
        let mine = fs::File::create(data.join("mine")).and_then(|mut file| {
            file.write_all(MINE.as_bytes())?;
            file.sync_all()?;
            fs::File::open(&data)?.sync_all()
        });
        mine.map_err(|error| error.to_string())?;
        let limited = match fault {
            Fault::OutOfMemory => Some((Limited::Memory, MEMORY_BYTES)),
            Fault::Threads => Some((Limited::Threads, 10_000)),
            _ => None,
        };
        let group = limited.map(|(limited, limit)| {
            let group = ControlGroup::new(limited, &format!("{name}-{limited:?}"))?;
            group.set(limit).map(|()| group)
        });
        let record_disk = (fault == Fault::RecordFull).then(|| SmallDisk::mount(desk.path("small")));
        let clock = (fault == Fault::ClockSet).then(|| Clock::new(desk.path("clock"))).transpose()?;
        Ok(Self { desk, data, storage, group: group.transpose()?, record_disk, clock })
    }

    /// Where the record is written.
    pub(super) fn record(&self) -> PathBuf {
        self.record_disk.as_ref().map_or_else(|| self.desk.record(), |disk| disk.path().join("record"))
    }

    /// The program, in the control group and with the clock that the fault needs.
    pub(super) fn grouped(&self, program: Program) -> Result<Program, String> {
        let program = self.group.as_ref().map_or_else(|| program.clone(), |group| group.inside(&program));
        self.clock.as_ref().map_or_else(|| Ok(program.clone()), |clock| clock.of(program.clone()))
    }

    pub(super) fn clock(&self) -> Result<&Clock, &'static str> {
        self.clock.as_ref().ok_or("no clock of its own")
    }

    pub(super) fn group(&self) -> Result<&ControlGroup, String> {
        self.group.as_ref().ok_or_else(|| "no control group".to_owned())
    }

    pub(super) const fn fuse(&self) -> Result<&ProgrammedFs, &'static str> {
        match &self.storage {
            Mounted::Fuse(mounted) => Ok(mounted),
            Mounted::Disk | Mounted::Ext4(_) => Err("no FUSE file system"),
        }
    }

    pub(super) fn ext4(&self) -> Result<&LoopDevice, String> {
        match &self.storage {
            Mounted::Ext4(device) => Ok(device),
            Mounted::Disk | Mounted::Fuse(_) => Err("no loop device".to_owned()),
        }
    }

    /// Fills all free space on the disk of the record.
    pub(super) fn fill_record_disk(&self) -> Result<(), String> {
        let disk = self.record_disk.as_ref().ok_or("no disk of its own for the record")?;
        let mut filler = fs::File::create(disk.path().join("filler")).map_err(|error| error.to_string())?;
        while filler.write_all(&[1; 4096]).is_ok() {}
        Ok(())
    }

    /// Whether any request met the fault, where that can be counted.
    pub(super) fn was_met(&self) -> bool {
        self.fuse().map_or(true, |mounted| mounted.faults_met() > 0)
    }

    /// The first requests after the fault was injected, where they are known.
    pub(super) fn first_requests(&self) -> Vec<testbed::Request> {
        let mut all = self.fuse().map(ProgrammedFs::requests).unwrap_or_default();
        all.truncate(12);
        all
    }

    /// Makes the storage and the disk of the record work again.
    pub(super) fn heal(&self, fault: Fault) -> Result<(), String> {
        if let Mounted::Fuse(mounted) = &self.storage {
            mounted.set_programme(testbed::Programme::default());
        }
        if fault == Fault::ShutDown {
            self.ext4()?.remount().map_err(|error| error.to_string())?;
        }
        if let Some(disk) = &self.record_disk {
            fs::remove_file(disk.path().join("filler")).map_err(|error| error.to_string())?;
        }
        if fault == Fault::Threads {
            self.group()?.set(10_000)?;
        }
        Ok(())
    }

    /// Everything on the storage except the user's file, which must be unchanged.
    pub(super) fn left(&self) -> Vec<String> {
        let mut found = names(&self.data);
        found.retain(|name| name != "mine");
        match fs::read_to_string(self.data.join("mine")) {
            Ok(text) if text == MINE => {}
            other => found.push(format!("the user's file is {other:?}")),
        }
        found
    }

    /// Runs `ioproof clean` on the storage.
    pub(super) fn clean(&self) -> Vec<String> {
        let cleaned = run(&self.desk.ioproof("clean --yes").arg(&self.data));
        if cleaned.code == Some(0) {
            return Vec::new();
        }
        vec![format!("clean ended with {:?}: {}", cleaned.code, cleaned.stderr)]
    }

    /// Writes a study with this text and returns its path.
    pub(super) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.desk.path(name);
        fs::write(&path, text).expect("the study is written");
        path
    }
}

/// Whether a process is alive.
pub(super) fn lives(process: u32) -> bool {
    Path::new(&format!("/proc/{process}/exe")).exists()
}
