//! The FUSE server of a [`crate::ProgrammedFs`]: it takes requests from the kernel and answers each at its due time.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite,
    Request as Caller, TimeOrNow, WriteFlags,
};

use super::contents::PAGE_BYTES;
use super::disk::{Disk, Operation, shared};
use super::tree::Kind;

/// Disables attribute caching in the kernel: sizes and allocation change with every write.
const TTL: Duration = Duration::ZERO;
/// Handle of files that were opened for writing.
const WRITABLE: FileHandle = FileHandle(1);
/// By default the kernel limits writes to 256 pages.
const WRITE_BYTES_MAX: u32 = 1 << 20;
/// The most asynchronous requests that the kernel sends before it gets an answer.
const BACKGROUND_MAX: u16 = 1024;

/// Answers requests from the kernel.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) disk: Arc<Disk>,
    pub(super) capacity_bytes: u64,
    pub(super) page_cache: bool,
    pub(super) hides_holes: bool,
}

impl Server {
    fn open_flags(&self) -> FopenFlags {
        if self.page_cache {
            FopenFlags::FOPEN_KEEP_CACHE
        } else {
            FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
        }
    }

    fn attributes(&self, number: u64) -> Result<FileAttr, Errno> {
        let tree = self.disk.tree();
        let node = tree.node(number).map_err(Errno::from_i32)?;
        let (kind, size, allocated) = match &node.kind {
            Kind::File(file) => {
                let contents = shared(file);
                (FileType::RegularFile, contents.bytes(), contents.allocated_bytes())
            }
            Kind::Directory(_) => (FileType::Directory, PAGE_BYTES, 0),
        };
        Ok(FileAttr {
            ino: INodeNo(number),
            size,
            blocks: allocated / 512,
            atime: node.modified,
            mtime: node.modified,
            ctime: node.modified,
            crtime: node.modified,
            kind,
            perm: node.mode,
            nlink: 1,
            uid: node.owner.0,
            gid: node.owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn add(&self, caller: &Caller, parent: u64, name: &OsStr, kind: Kind, mode: u32) -> Result<u64, Errno> {
        // The kernel has applied the umask. The low twelve bits do not include the file type.
        let mode = u16::try_from(mode & 0o7777).unwrap_or(0o644);
        let owner = (caller.uid(), caller.gid());
        self.disk.may_change(parent, name).map_err(Errno::from_i32)?;
        self.disk.tree().add(parent, name, kind, mode, owner).map_err(Errno::from_i32)
    }
}

/// Waits until an answer is due.
fn wait_until(due: Instant) {
    thread_local! {
        static EXACT: Cell<bool> = const { Cell::new(false) };
    }
    if !EXACT.replace(true) {
        // Otherwise the kernel extends sleeps by up to 50 µs. If this call fails, only accuracy suffers.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    }
    let wait = due.saturating_duration_since(Instant::now());
    if !wait.is_zero() {
        std::thread::sleep(wait);
    }
}

fn entry(reply: ReplyEntry, attributes: Result<FileAttr, Errno>) {
    match attributes {
        Ok(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
        Err(code) => reply.error(code),
    }
}

fn empty(reply: ReplyEmpty, result: Result<(), i32>) {
    match result {
        Ok(()) => reply.ok(),
        Err(code) => reply.error(Errno::from_i32(code)),
    }
}

impl Filesystem for Server {
    fn init(&mut self, _caller: &Caller, config: &mut KernelConfig) -> io::Result<()> {
        for wanted in
            [InitFlags::FUSE_ASYNC_DIO, InitFlags::FUSE_PARALLEL_DIROPS, InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP]
        {
            // Older kernels lack some of these. A test that needs one of them will fail.
            let _ = config.add_capabilities(wanted);
        }
        let refused = |nearest| io::Error::other(format!("the nearest value allowed is {nearest}"));
        config.set_max_write(WRITE_BYTES_MAX).map_err(refused)?;
        config.set_max_background(BACKGROUND_MAX).map_err(|nearest| refused(nearest.into()))?;
        Ok(())
    }

    fn lookup(&self, _caller: &Caller, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let number = self.disk.tree().look_up(parent.0, name).map_err(Errno::from_i32);
        entry(reply, number.and_then(|number| self.attributes(number)));
    }

    fn forget(&self, _caller: &Caller, number: INodeNo, count: u64) {
        self.disk.tree().forget(number.0, count);
    }

    fn getattr(&self, _caller: &Caller, number: INodeNo, _handle: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(number.0) {
            Ok(attributes) => reply.attr(&TTL, &attributes),
            Err(code) => reply.error(code),
        }
    }

    fn setattr(
        &self,
        _caller: &Caller,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        if let Some(bytes) = size
            && let Err(code) = self.disk.resize(number.0, bytes)
        {
            return reply.error(Errno::from_i32(code));
        }
        if let Ok(node) = self.disk.tree().node_mut(number.0) {
            node.mode = mode.map_or(node.mode, |mode| u16::try_from(mode & 0o7777).unwrap_or(node.mode));
            node.owner = (uid.unwrap_or(node.owner.0), gid.unwrap_or(node.owner.1));
            match mtime {
                Some(TimeOrNow::SpecificTime(time)) => node.modified = time,
                Some(TimeOrNow::Now) => node.modified = SystemTime::now(),
                None => {}
            }
        }
        self.getattr(_caller, number, None, reply);
    }

    fn mknod(
        &self,
        caller: &Caller,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _device: u32,
        reply: ReplyEntry,
    ) {
        if mode & libc::S_IFMT != libc::S_IFREG {
            return reply.error(Errno::EPERM);
        }
        let number = self.add(caller, parent.0, name, Kind::File(Arc::default()), mode);
        entry(reply, number.and_then(|number| self.attributes(number)));
    }

    fn mkdir(
        &self,
        caller: &Caller,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let number = self.add(caller, parent.0, name, Kind::Directory(BTreeMap::new()), mode);
        entry(reply, number.and_then(|number| self.attributes(number)));
    }

    fn create(
        &self,
        caller: &Caller,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        let may_create = self.disk.may_create(parent.0, name).map_err(Errno::from_i32);
        let number =
            may_create.and_then(|()| self.add(caller, parent.0, name, Kind::File(Arc::default()), mode));
        match number.and_then(|number| Ok((number, self.attributes(number)?))) {
            Ok((number, attributes)) => {
                self.disk.note(number, Operation::Open, 0, 0);
                reply.created(&TTL, &attributes, Generation(0), WRITABLE, self.open_flags());
            }
            Err(code) => reply.error(code),
        }
    }

    fn open(&self, _caller: &Caller, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let for_writing = flags.0 & libc::O_ACCMODE != libc::O_RDONLY;
        match self.disk.open(number.0, for_writing) {
            Ok(()) => reply.opened(FileHandle(for_writing.into()), self.open_flags()),
            Err(code) => reply.error(Errno::from_i32(code)),
        }
    }

    fn unlink(&self, _caller: &Caller, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        if let Err(code) = self.disk.may_change(parent.0, name) {
            return reply.error(Errno::from_i32(code));
        }
        let number = self.disk.tree().entries(parent.0).ok().and_then(|names| names.get(name).copied());
        if let Some(number) = number {
            // Record the request before its name is removed.
            self.disk.note(number, Operation::Remove, 0, 0);
        }
        let freed = self.disk.tree().remove(parent.0, name, false);
        empty(reply, freed.map(|bytes| self.disk.freed(bytes)));
    }

    fn rmdir(&self, _caller: &Caller, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let may = self.disk.may_change(parent.0, name);
        let freed = may.and_then(|()| self.disk.tree().remove(parent.0, name, true));
        empty(reply, freed.map(|bytes| self.disk.freed(bytes)));
    }

    fn rename(
        &self,
        _caller: &Caller,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        if !flags.is_empty() {
            return reply.error(Errno::EINVAL);
        }
        let may = self.disk.may_change(parent.0, name);
        let freed = may.and_then(|()| self.disk.tree().rename((parent.0, name), (new_parent.0, new_name)));
        empty(reply, freed.map(|bytes| self.disk.freed(bytes)));
    }

    fn read(
        &self,
        _caller: &Caller,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let (due, data) = self.disk.read(number.0, offset, size);
        wait_until(due);
        match data {
            Ok(data) => reply.data(&data),
            Err(code) => reply.error(Errno::from_i32(code)),
        }
    }

    fn write(
        &self,
        _caller: &Caller,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let (due, written) = self.disk.write(number.0, offset, data);
        wait_until(due);
        match written {
            Ok(bytes) => reply.written(bytes),
            Err(code) => reply.error(Errno::from_i32(code)),
        }
    }

    fn flush(
        &self,
        _caller: &Caller,
        number: INodeNo,
        handle: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        // Errors reported by close(2) come from earlier writes.
        empty(reply, if handle == WRITABLE { self.disk.close(number.0) } else { Ok(()) });
    }

    fn fsync(&self, _caller: &Caller, number: INodeNo, _handle: FileHandle, _data: bool, reply: ReplyEmpty) {
        let (due, result) = self.disk.sync(number.0);
        wait_until(due);
        empty(reply, result);
    }

    fn fsyncdir(
        &self,
        _caller: &Caller,
        _number: INodeNo,
        _handle: FileHandle,
        _data: bool,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn readdir(
        &self,
        _caller: &Caller,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let tree = self.disk.tree();
        let entries = match tree.entries(number.0) {
            Ok(entries) => entries,
            Err(code) => return reply.error(Errno::from_i32(code)),
        };
        let dots = [(OsStr::new("."), number.0), (OsStr::new(".."), tree.parent(number.0))];
        let all = dots.into_iter().chain(entries.iter().map(|(name, &child)| (name.as_os_str(), child)));
        for (next, (name, child)) in (1..).zip(all).skip_while(|(next, _)| *next <= offset) {
            let kind = match tree.node(child).map(|node| &node.kind) {
                Ok(Kind::File(_)) => FileType::RegularFile,
                Ok(Kind::Directory(_)) | Err(_) => FileType::Directory,
            };
            if reply.add(INodeNo(child), next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _caller: &Caller, _number: INodeNo, reply: ReplyStatfs) {
        let blocks = self.capacity_bytes / PAGE_BYTES;
        let free = blocks.saturating_sub(self.disk.used_bytes() / PAGE_BYTES);
        reply.statfs(blocks, free, free, 1 << 20, 1 << 20, 4096, 255, 4096);
    }

    fn fallocate(
        &self,
        _caller: &Caller,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if mode & !libc::FALLOC_FL_KEEP_SIZE != 0 {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let keep_size = mode & libc::FALLOC_FL_KEEP_SIZE != 0;
        empty(reply, self.disk.allocate(number.0, offset, length, keep_size));
    }

    fn lseek(
        &self,
        _caller: &Caller,
        number: INodeNo,
        _handle: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        if self.hides_holes {
            return reply.error(Errno::ENOSYS);
        }
        let found = self.disk.tree().file(number.0).ok().zip(u64::try_from(offset).ok()).and_then(
            |(file, offset)| match whence {
                libc::SEEK_DATA => shared(&file).next_data(offset),
                libc::SEEK_HOLE => shared(&file).next_hole(offset),
                _ => None,
            },
        );
        match found.and_then(|at| i64::try_from(at).ok()) {
            Some(at) => reply.offset(at),
            None => reply.error(Errno::ENXIO),
        }
    }
}
