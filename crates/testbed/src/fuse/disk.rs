//! How a [`crate::ProgrammedFs`] handles requests, independent of the FUSE protocol.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use super::contents::{Contents, Version};
use super::programme::{Active, Effect, Programme, WrongData};
use super::tree::Tree;

/// The kind of a request to the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A file was opened or created.
    Open,
    /// A read.
    Read,
    /// A write.
    Write,
    /// `fsync(2)` or `fdatasync(2)`.
    Sync,
    /// Space was allocated.
    Allocate,
    /// The size was set.
    Resize,
    /// A name was removed.
    Remove,
}

/// A request to the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The kind of the request.
    pub operation: Operation,
    /// Path of the file, relative to the mount point.
    pub path: PathBuf,
    /// Offset in the file, or 0 if it does not apply.
    pub offset: u64,
    /// Length in bytes. For [`Operation::Resize`], the new size.
    pub bytes: u64,
    /// Time of arrival, since the mount.
    pub at: Duration,
}

/// The programme for each file.
#[derive(Debug, Default)]
struct Programmes {
    general: Arc<Active>,
    files: HashMap<PathBuf, Arc<Active>>,
}

/// The state of a mounted file system.
#[derive(Debug)]
pub(super) struct Disk {
    tree: Mutex<Tree>,
    programmes: RwLock<Programmes>,
    requests: Mutex<Vec<Request>>,
    used_bytes: AtomicU64,
    started: Instant,
}

/// An answer, and the time at which to send it.
pub(super) type Answer<T> = (Instant, Result<T, i32>);

impl Disk {
    pub(super) fn new(programme: Programme, owner: (u32, u32)) -> Self {
        Self {
            tree: Mutex::new(Tree::new(owner)),
            programmes: RwLock::new(Programmes {
                general: Arc::new(Active::new(programme)),
                files: HashMap::new(),
            }),
            requests: Mutex::default(),
            used_bytes: AtomicU64::new(0),
            started: Instant::now(),
        }
    }

    pub(super) fn set_programme(&self, path: Option<&Path>, programme: Programme) {
        let active = Arc::new(Active::new(programme));
        let mut programmes = self.programmes.write().unwrap_or_else(PoisonError::into_inner);
        match path {
            Some(path) => drop(programmes.files.insert(path.to_path_buf(), active)),
            None => programmes.general = active,
        }
    }

    pub(super) fn requests(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn freed(&self, bytes: u64) {
        self.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Records the request, and returns the programme of its file.
    pub(super) fn note(&self, number: u64, operation: Operation, offset: u64, bytes: u64) -> Arc<Active> {
        let path = self.tree().path(number);
        let programme = self.programme(&path);
        let at = self.started.elapsed();
        self.requests().push(Request { operation, path, offset, bytes, at });
        programme
    }

    /// The programme of the file with this name in a directory. The file need not exist.
    fn programme_in(&self, directory: u64, name: &OsStr) -> Arc<Active> {
        let path = self.tree().path(directory).join(name);
        self.programme(&path)
    }

    /// Whether a name in a directory may be created, changed or removed.
    pub(super) fn may_change(&self, directory: u64, name: &OsStr) -> Result<(), i32> {
        self.programme_in(directory, name).change()
    }

    /// Whether a file may be created and opened.
    pub(super) fn may_create(&self, directory: u64, name: &OsStr) -> Result<(), i32> {
        let programme = self.programme_in(directory, name);
        programme.change().and_then(|()| programme.open())
    }

    pub(super) fn open(&self, number: u64, for_writing: bool) -> Result<(), i32> {
        let programme = self.note(number, Operation::Open, 0, 0);
        if for_writing {
            programme.change()?;
        }
        programme.open()
    }

    pub(super) fn close(&self, number: u64) -> Result<(), i32> {
        let path = self.tree().path(number);
        self.programme(&path).close()
    }

    pub(super) fn faults_met(&self) -> u64 {
        let programmes = self.programmes.read().unwrap_or_else(PoisonError::into_inner);
        programmes.general.faults_met()
    }

    fn programme(&self, path: &Path) -> Arc<Active> {
        let programmes = self.programmes.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(programmes.files.get(path).unwrap_or(&programmes.general))
    }

    pub(super) fn read(&self, number: u64, offset: u64, bytes: u32) -> Answer<Vec<u8>> {
        let programme = self.note(number, Operation::Read, offset, bytes.into());
        let fate = programme.read(offset, bytes.into());
        let answer = match fate.effect {
            Some(Effect::Error(code)) => Err(code),
            Some(Effect::Short(short)) => self.load(number, offset, bytes.min(short), None),
            Some(Effect::Wrong(wrong)) => self.load(number, offset, bytes, Some(wrong)),
            None => self.load(number, offset, bytes, None),
        };
        (fate.due, answer)
    }

    fn load(&self, number: u64, offset: u64, bytes: u32, wrong: Option<WrongData>) -> Result<Vec<u8>, i32> {
        let file = self.tree().file(number)?;
        let contents = shared(&file);
        let mut data = vec![0; usize::try_from(bytes).map_err(|_| libc::EINVAL)?];
        // The length is that of the correct data, so that only the data itself is wrong.
        let length = contents.read(offset, &mut data, Version::Now);
        data.truncate(length);
        match wrong {
            None => {}
            Some(WrongData::Stale) => _ = contents.read(offset, &mut data, Version::Before),
            Some(WrongData::Torn) => {
                let half = length / 2;
                contents.read(offset + half as u64, &mut data[half..], Version::Before);
            }
            Some(WrongData::Misplaced { offset: other }) => {
                data.fill(0);
                contents.read(other, &mut data, Version::Now);
            }
            Some(WrongData::Foreign) => fill_foreign(&mut data, offset),
            Some(WrongData::Zeros) => data.fill(0),
        }
        Ok(data)
    }

    pub(super) fn write(&self, number: u64, offset: u64, data: &[u8]) -> Answer<u32> {
        let programme = self.note(number, Operation::Write, offset, data.len() as u64);
        if let Err(code) = programme.change() {
            return (Instant::now(), Err(code));
        }
        let fate = programme.write(offset, data.len() as u64);
        let answer = match fate.effect {
            Some(Effect::Error(code)) => Err(code),
            Some(Effect::Short(short)) => {
                let length = data.len().min(usize::try_from(short).unwrap_or(usize::MAX));
                self.store(number, offset, &data[..length], &programme)
            }
            Some(Effect::Wrong(wrong)) => self.store_wrong(number, offset, data, wrong, &programme),
            None => self.store(number, offset, data, &programme),
        };
        let written = answer.and_then(|length| u32::try_from(length).map_err(|_| libc::EINVAL));
        (fate.due, written)
    }

    fn store(&self, number: u64, offset: u64, data: &[u8], programme: &Active) -> Result<usize, i32> {
        let file = self.tree().file(number)?;
        let mut contents = exclusive(&file);
        self.take_space(&contents, offset, data.len() as u64, programme)?;
        contents.write(offset, data);
        Ok(data.len())
    }

    /// Stores wrong data, but answers as if all data were stored correctly. The file size is at least what it would
    /// have been.
    fn store_wrong(
        &self,
        number: u64,
        offset: u64,
        data: &[u8],
        wrong: WrongData,
        programme: &Active,
    ) -> Result<usize, i32> {
        let mut foreign = vec![0; data.len()];
        match wrong {
            WrongData::Stale => {}
            WrongData::Torn => drop(self.store(number, offset, &data[..data.len() / 2], programme)?),
            WrongData::Misplaced { offset: other } => drop(self.store(number, other, data, programme)?),
            WrongData::Foreign => {
                fill_foreign(&mut foreign, offset);
                self.store(number, offset, &foreign, programme)?;
            }
            WrongData::Zeros => drop(self.store(number, offset, &foreign, programme)?),
        }
        let file = self.tree().file(number)?;
        let mut contents = exclusive(&file);
        let length = data.len() as u64;
        self.take_space(&contents, offset, length, programme)?;
        contents.allocate(offset, length, false);
        Ok(data.len())
    }

    pub(super) fn sync(&self, number: u64) -> Answer<()> {
        let fate = self.note(number, Operation::Sync, 0, 0).sync();
        (fate.due, fate.result())
    }

    pub(super) fn resize(&self, number: u64, bytes: u64) -> Result<(), i32> {
        self.note(number, Operation::Resize, 0, bytes).change()?;
        let file = self.tree().file(number)?;
        let mut contents = exclusive(&file);
        let before = contents.allocated_bytes();
        contents.resize(bytes);
        if !contents.is_removed() {
            self.freed(before - contents.allocated_bytes());
        }
        Ok(())
    }

    pub(super) fn allocate(&self, number: u64, offset: u64, bytes: u64, keep_size: bool) -> Result<(), i32> {
        let programme = self.note(number, Operation::Allocate, offset, bytes);
        programme.change()?;
        let file = self.tree().file(number)?;
        let mut contents = exclusive(&file);
        self.take_space(&contents, offset, bytes, &programme)?;
        contents.allocate(offset, bytes, keep_size);
        Ok(())
    }

    /// Reserves space for the unallocated parts of the range.
    fn take_space(
        &self,
        contents: &Contents,
        offset: u64,
        length: u64,
        programme: &Active,
    ) -> Result<(), i32> {
        let missing = contents.missing_bytes(offset, length);
        if missing == 0 || contents.is_removed() {
            return Ok(());
        }
        let limit = programme.space_bytes().unwrap_or(u64::MAX);
        let taken = self.used_bytes.try_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(missing).filter(|&total| total <= limit)
        });
        taken.map(|_| ()).map_err(|_| libc::ENOSPC)
    }
}

/// Fills `data` with bytes that are not zero and that no program is likely to have written.
fn fill_foreign(data: &mut [u8], offset: u64) {
    let mut state = offset ^ 0x5bd1_e995_97f4_a7c5;
    for piece in data.chunks_mut(8) {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        piece.copy_from_slice(&state.to_be_bytes()[..piece.len()]);
    }
}

pub(super) fn shared(file: &RwLock<Contents>) -> RwLockReadGuard<'_, Contents> {
    file.read().unwrap_or_else(PoisonError::into_inner)
}

fn exclusive(file: &RwLock<Contents>) -> RwLockWriteGuard<'_, Contents> {
    file.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;
    use std::sync::Arc;

    use super::super::tree::{Kind, ROOT};
    use super::Disk;
    use crate::{Effect, Fault, Programme, When, WrongData};

    fn disk_with_file(faults: Vec<Fault>) -> (Disk, u64) {
        let disk = Disk::new(Programme { faults, ..Programme::default() }, (0, 0));
        let file = disk.tree().add(ROOT, OsStr::new("f"), Kind::File(Arc::default()), 0o644, (0, 0));
        (disk, file.expect("a file"))
    }

    /// What a reader sees of 8 bytes at 4096 that were `o` and were overwritten with `n`, if the second write is
    /// wrong.
    fn after_wrong_write(wrong: WrongData) -> Vec<u8> {
        let (disk, file) = disk_with_file(vec![Fault::on_write(When::Number(2), Effect::Wrong(wrong))]);
        assert_eq!(disk.write(file, 4096, b"oooooooo").1, Ok(8));
        assert_eq!(disk.write(file, 4096, b"nnnnnnnn").1, Ok(8));
        disk.read(file, 4096, 8).1.expect("data")
    }

    /// Like [`after_wrong_write`], if the read is wrong.
    fn wrong_read(wrong: WrongData) -> Vec<u8> {
        let (disk, file) = disk_with_file(vec![Fault::on_read(When::Always, Effect::Wrong(wrong))]);
        disk.write(file, 0, b"otherone").1.expect("written");
        disk.write(file, 4096, b"oooooooo").1.expect("written");
        disk.write(file, 4096, b"nnnnnnnn").1.expect("written");
        disk.read(file, 4096, 8).1.expect("data")
    }

    #[test]
    fn each_kind_of_wrong_data_is_what_its_name_says() {
        for wrong in [after_wrong_write, wrong_read] {
            assert_eq!(wrong(WrongData::Stale), b"oooooooo");
            assert_eq!(wrong(WrongData::Torn), b"nnnnoooo");
            assert_eq!(wrong(WrongData::Zeros), [0; 8]);
            let foreign = wrong(WrongData::Foreign);
            assert!(!foreign.iter().any(|byte| b"on\0".contains(byte)), "{foreign:?}");
        }
        assert_eq!(wrong_read(WrongData::Misplaced { offset: 0 }), b"otherone");
        assert_eq!(after_wrong_write(WrongData::Misplaced { offset: 0 }), b"oooooooo");
    }

    #[test]
    fn a_misplaced_write_lands_on_the_other_offset() {
        let wrong = WrongData::Misplaced { offset: 0 };
        let (disk, file) = disk_with_file(vec![Fault::on_write(When::Always, Effect::Wrong(wrong))]);
        disk.write(file, 8192, b"data").1.expect("written");
        assert_eq!(disk.read(file, 0, 4).1.expect("data"), b"data");
        assert_eq!(disk.read(file, 8192, 4).1.expect("data"), [0; 4]);
    }

    #[test]
    fn space_ends_where_the_programme_says_and_comes_back_with_a_removal() {
        let (disk, file) = disk_with_file(Vec::new());
        disk.set_programme(None, Programme { space_bytes: Some(8192), ..Programme::default() });
        assert_eq!(disk.write(file, 0, &[1; 8192]).1, Ok(8192));
        assert_eq!(disk.write(file, 8192, &[1]).1, Err(libc::ENOSPC));
        assert_eq!(disk.write(file, 0, &[2; 8192]).1, Ok(8192), "an overwrite needs no space");
        disk.resize(file, 0).expect("resized");
        assert_eq!(disk.write(file, 1 << 30, &[1]).1, Ok(1));
    }

    #[test]
    fn a_file_with_a_programme_of_its_own_is_not_governed_by_the_general_one() {
        let (disk, file) = disk_with_file(vec![Fault::on_read(When::Always, Effect::EIO)]);
        assert_eq!(disk.read(file, 0, 1).1, Err(libc::EIO));
        disk.set_programme(Some(Path::new("f")), Programme::default());
        assert_eq!(disk.read(file, 0, 1).1, Ok(Vec::new()));
    }

    #[test]
    fn a_short_write_stores_and_counts_what_it_says() {
        let (disk, file) = disk_with_file(vec![Fault::on_write(When::Number(1), Effect::Short(3))]);
        assert_eq!(disk.write(file, 0, b"abcdef").1, Ok(3));
        assert_eq!(disk.read(file, 0, 6).1, Ok(b"abc".to_vec()));
    }
}
