//! A FUSE file system with programmed responses.

mod contents;
mod disk;
mod programme;
mod server;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fuser::{BackgroundSession, Config, MountOption, SessionACL};

pub use disk::{Operation, Request};
pub use programme::{Effect, Fault, Programme, When, WrongData};

use crate::programs::command;
use crate::{Error, Scratch, scratch};
use disk::Disk;
use server::Server;

/// Default number of requests that are processed in parallel. Further requests wait.
const THREADS: usize = 64;
/// The default capacity reported by `statfs(2)`. It takes no memory.
const CAPACITY_BYTES: u64 = 1 << 40;

/// Builder for [`ProgrammedFs`].
#[derive(Debug, Clone)]
pub struct ProgrammedFsBuilder {
    programme: Programme,
    threads: usize,
    capacity_bytes: u64,
    page_cache: bool,
    hides_holes: bool,
}

impl ProgrammedFsBuilder {
    /// The programme of all files that do not have their own.
    #[must_use]
    pub fn programme(mut self, programme: Programme) -> Self {
        self.programme = programme;
        self
    }

    /// The number of requests that are processed in parallel. The default is 64.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The capacity reported by `statfs(2)`. The default is 1 TiB.
    #[must_use]
    pub const fn capacity_bytes(mut self, bytes: u64) -> Self {
        self.capacity_bytes = bytes;
        self
    }

    /// Enables the page cache. Without it each read and write of a program arrives here as a request of the same size
    /// (up to 1 MiB), whether or not the file was opened with `O_DIRECT`.
    #[must_use]
    pub const fn page_cache(mut self) -> Self {
        self.page_cache = true;
        self
    }

    /// Does not tell where files have holes (`SEEK_HOLE`), as most file systems in user space.
    #[must_use]
    pub const fn hides_holes(mut self) -> Self {
        self.hides_holes = true;
        self
    }

    /// Mounts the file system.
    ///
    /// # Errors
    /// FUSE is not available, or the mount fails.
    pub fn mount(self) -> Result<ProgrammedFs, Error> {
        ProgrammedFs::available().map_err(Error::Missing)?;
        let scratch = Scratch::on_disk()?;
        let mount_point = scratch.path().join("mnt");
        fs::create_dir(&mount_point).map_err(Error::file(&mount_point))?;
        let owner = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let disk = Arc::new(Disk::new(self.programme, owner));
        let server = Server {
            disk: Arc::clone(&disk),
            capacity_bytes: self.capacity_bytes,
            page_cache: self.page_cache,
            hides_holes: self.hides_holes,
        };
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("ioproof-testbed".to_owned()),
            MountOption::Subtype("ioproof-testbed".to_owned()),
            MountOption::DefaultPermissions,
        ];
        // Only root may give other users access without a setting on the host (`user_allow_other`).
        config.acl = if owner.0 == 0 { SessionACL::All } else { SessionACL::Owner };
        config.n_threads = Some(self.threads.max(1));
        config.clone_fd = true;
        let session = fuser::spawn_mount(server, &mount_point, &config).map_err(Error::file(&mount_point))?;
        Ok(ProgrammedFs { disk, mount_point, session: Some(session), _scratch: scratch })
    }
}

/// An in-memory file system with programmed latency, bandwidth, faults and wrong data, which records every request.
/// It is unmounted when the value is dropped.
///
/// ```
/// use std::time::{Duration, Instant};
/// use testbed::{Programme, ProgrammedFs};
/// if testbed::skipped(ProgrammedFs::available()) {
///     return;
/// }
/// let slow = Programme { read_latency: Duration::from_millis(20), ..Programme::default() };
/// let disk = ProgrammedFs::builder().programme(slow).mount().unwrap();
/// let file = disk.path().join("file");
/// std::fs::write(&file, "data").unwrap();
/// let start = Instant::now();
/// assert_eq!(std::fs::read(&file).unwrap(), b"data");
/// assert!(start.elapsed() >= Duration::from_millis(20));
/// ```
#[derive(Debug)]
pub struct ProgrammedFs {
    disk: Arc<Disk>,
    mount_point: PathBuf,
    session: Option<BackgroundSession>,
    _scratch: Scratch,
}

impl ProgrammedFs {
    /// Whether FUSE file systems can be mounted on this machine.
    ///
    /// # Errors
    /// Describes what is missing, for a `skipped:` line.
    pub fn available() -> Result<(), String> {
        command::needs_file("/dev/fuse")?;
        command::needs_root().or_else(|_| command::needs_tools(&["fusermount3"]))
    }

    /// A builder for a file system without latency or faults.
    #[must_use]
    pub fn builder() -> ProgrammedFsBuilder {
        ProgrammedFsBuilder {
            programme: Programme::default(),
            threads: THREADS,
            capacity_bytes: CAPACITY_BYTES,
            page_cache: false,
            hides_holes: false,
        }
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.mount_point
    }

    /// Replaces the programme of all files that do not have their own, and restarts counting at 1.
    pub fn set_programme(&self, programme: Programme) {
        self.disk.set_programme(None, programme);
    }

    /// Gives the file at `path`, relative to the mount point, its own programme. The file need not exist yet.
    pub fn set_programme_of(&self, path: impl AsRef<Path>, programme: Programme) {
        self.disk.set_programme(Some(path.as_ref()), programme);
    }

    /// All requests since the mount or the last [`ProgrammedFs::clear_requests`], in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.disk.requests().clone()
    }

    /// All requests of one kind.
    #[must_use]
    pub fn requests_of(&self, operation: Operation) -> Vec<Request> {
        self.disk.requests().iter().filter(|request| request.operation == operation).cloned().collect()
    }

    /// Clears the recorded requests.
    pub fn clear_requests(&self) {
        self.disk.requests().clear();
    }

    /// The number of requests that hit a fault, or were refused as changes, since the programme of all files was set.
    #[must_use]
    pub fn faults_met(&self) -> u64 {
        self.disk.faults_met()
    }

    /// The bytes allocated by files.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.disk.used_bytes()
    }
}

impl Drop for ProgrammedFs {
    fn drop(&mut self) {
        // If the mount point is still in use, the threads live until its last user is done, and waiting for them
        // would hang.
        if scratch::unmount(&self.mount_point)
            && let Some(session) = self.session.take()
        {
            let _ = session.umount_and_join();
        }
    }
}
