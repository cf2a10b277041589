//! The devices give the answers that they are programmed to give, as a plain reader sees them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use testbed::{
    Effect, Fault, FileSystem, Limits, LoopDevice, Operation, Programme, ProgrammedFs, Rig, Stripe, Testbed,
    When, WrongData, attempts, skipped,
};

/// The alignment that every device here takes for direct transfers.
const ALIGNMENT: usize = 4096;

/// An aligned buffer without unsafe code: a vector with room to start at a multiple.
struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    fn new(length: usize) -> Self {
        let bytes = vec![0x5a; length + ALIGNMENT];
        let start = bytes.as_ptr().align_offset(ALIGNMENT);
        Self { bytes, start, length }
    }

    fn get(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

fn open_direct(path: &Path) -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).custom_flags(libc::O_DIRECT);
    options.open(path).expect("opened for direct I/O")
}

/// Timed tests run alone, the others beside one another.
static TIMED: RwLock<()> = RwLock::new(());

fn alone() -> RwLockWriteGuard<'static, ()> {
    TIMED.write().unwrap_or_else(PoisonError::into_inner)
}

fn beside_others() -> RwLockReadGuard<'static, ()> {
    TIMED.read().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes per second of `tasks` that call `transfer(buffer, offset)` for pieces of 1 MiB, each on
/// 32 MiB of its own and gone round until `time` is over. With more than one, one always waits
/// at the limit while another one's answer is on its way. The first 4 MiB are not counted: the
/// kernel lets about 2 MiB through after idle.
fn rate(tasks: u64, time: Duration, transfer: impl Fn(&mut [u8], u64) + Sync) -> f64 {
    const PIECE: u64 = 1 << 20;
    const PIECES: u64 = 32;
    let moved = AtomicU64::new(0);
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for task in 0..tasks {
            let (moved, ended, transfer) = (&moved, &ended, &transfer);
            scope.spawn(move || {
                let mut buffer = Aligned::new(1 << 20);
                for piece in (0..PIECES).cycle().take_while(|_| !ended.load(Ordering::Relaxed)) {
                    transfer(buffer.get(), (task * PIECES + piece) * PIECE);
                    moved.fetch_add(PIECE, Ordering::Relaxed);
                }
            });
        }
        while moved.load(Ordering::Relaxed) < 4 * PIECE {
            std::thread::sleep(Duration::from_millis(1));
        }
        let (start, before) = (Instant::now(), moved.load(Ordering::Relaxed));
        std::thread::sleep(time);
        let (bytes, seconds) = (moved.load(Ordering::Relaxed) - before, start.elapsed().as_secs_f64());
        ended.store(true, Ordering::Relaxed);
        bytes as f64 / seconds
    })
}

#[test]
fn measured_a_limit_of_40_mb_per_second_is_what_a_plain_direct_reader_and_writer_see() {
    let _quiet = alone();
    if skipped(Testbed::available()) {
        return;
    }
    attempts(|_| {
        const LIMIT: u64 = 40_000_000;
        let device =
            LoopDevice::builder().file_system(FileSystem::Xfs).limits(Limits::bandwidth(LIMIT)).build();
        let device = device.expect("a device");
        let file = open_direct(&device.mount_point().expect("mounted").join("data"));
        let time = Duration::from_secs(5);
        // Writes go round at least once in that time, so that reads meet no holes.
        let write = rate(2, time, |buffer, offset| file.write_all_at(buffer, offset).expect("written"));
        let read = rate(2, time, |buffer, offset| file.read_exact_at(buffer, offset).expect("read"));
        for (name, rate) in [("write", write), ("read", read)] {
            let share = rate / LIMIT as f64;
            assert!((0.95..=1.05).contains(&share), "{name}: {share:.3} of the limit");
        }
    });
}

#[test]
fn all_file_systems_are_made_and_nothing_is_left_of_them() {
    let _guard = beside_others();
    if skipped(Testbed::available()) {
        return;
    }
    for kind in [FileSystem::Xfs, FileSystem::Ext4, FileSystem::Btrfs] {
        let device = LoopDevice::builder().bytes(kind.smallest_bytes()).file_system(kind).build();
        let device = device.expect("a device");
        let mount_point = device.mount_point().expect("mounted").to_path_buf();
        fs::write(mount_point.join("file"), "data").expect("written");
        let backing = format!("/sys/block/{}/loop/backing_file", device.name());
        let own = fs::read_to_string(&backing).expect("it is attached");
        drop(device);
        assert!(!mount_point.exists(), "{kind:?} left {}", mount_point.display());
        // Another test may have the number by now.
        assert_ne!(fs::read_to_string(&backing).ok(), Some(own), "{kind:?} left {backing}");
    }
}

#[test]
fn a_device_is_taken_down_when_a_test_panics() {
    let _guard = beside_others();
    if skipped(Testbed::available()) {
        return;
    }
    let mount_point = std::thread::spawn(|| {
        let device = LoopDevice::builder().bytes(32 << 20).file_system(FileSystem::Ext4).build();
        let device = device.expect("a device");
        std::panic::panic_any(device.mount_point().expect("mounted").to_path_buf());
    });
    let mount_point = mount_point.join().expect_err("the thread panics");
    let mount_point = mount_point.downcast::<std::path::PathBuf>().expect("its mount point");
    assert!(!mount_point.exists());
}

#[test]
fn the_scale_model_has_twelve_cards() {
    let _guard = beside_others();
    if skipped(Testbed::available()) {
        return;
    }
    let mut rig = Rig::twelve().expect("a rig");
    rig.limit(Limits::bandwidth(40_000_000)).expect("limits");
    rig.device_mut(11).expect("the last card").limit(Limits::bandwidth(10_000_000)).expect("limits");
    let cards = rig.mount_points();
    assert_eq!(cards.len(), 12);
    for card in &cards {
        fs::write(card.join("file"), "data").expect("written");
    }
    drop(rig);
    assert!(cards.iter().all(|card| !card.exists()));
}

#[test]
fn a_stripe_spreads_a_file_over_all_its_members() {
    let _guard = beside_others();
    if skipped(Testbed::available()) {
        return;
    }
    let rig = Rig::of(3, &LoopDevice::builder().bytes(256 << 20)).expect("devices");
    let written = |rig: &Rig| {
        let sectors = |device: &LoopDevice| {
            let stat = fs::read_to_string(format!("/sys/block/{}/stat", device.name())).expect("counters");
            stat.split_whitespace().nth(6).and_then(|word| word.parse::<u64>().ok()).expect("sectors written")
        };
        rig.devices().iter().map(|device| sectors(device) * 512).collect::<Vec<_>>()
    };
    let mut stripe = Stripe::over(rig).expect("a stripe");
    let before = written(stripe.rig_mut());
    let file = File::create(stripe.mount_point().join("data")).expect("a file");
    file.write_all_at(&vec![7; 48 << 20], 0).expect("written");
    file.sync_all().expect("synced");
    let after = written(stripe.rig_mut());
    for (before, after) in before.iter().zip(&after) {
        let moved = (after - before) as f64 / f64::from(16 << 20);
        assert!((0.9..1.3).contains(&moved), "a member took {moved:.2} of its share");
    }
}

#[test]
fn measured_a_frozen_file_system_holds_writes_until_it_is_thawed() {
    let _quiet = alone();
    if skipped(Testbed::available()) {
        return;
    }
    attempts(|_| {
        let device = LoopDevice::builder().bytes(32 << 20).file_system(FileSystem::Ext4).build();
        let device = device.expect("a device");
        let path = device.mount_point().expect("mounted").join("file");
        let still = Duration::from_millis(300);
        let frozen = device.freeze().expect("frozen");
        let start = Instant::now();
        let writer = std::thread::spawn(move || fs::write(path, "data").map(|()| Instant::now()));
        std::thread::sleep(still);
        frozen.thaw().expect("thawed");
        let wrote = writer.join().expect("no panic").expect("written");
        assert!(wrote - start >= still, "a write went through after {:?}", wrote - start);
        assert!(device.freeze().is_ok(), "it can be frozen again");
    });
}

#[test]
fn measured_programmed_latency_is_what_a_plain_direct_reader_sees() {
    let _quiet = alone();
    if skipped(ProgrammedFs::available()) {
        return;
    }
    attempts(|_| {
        let latency = Duration::from_millis(3);
        let disk = ProgrammedFs::builder().mount().expect("a file system");
        fs::write(disk.path().join("data"), vec![7; 1 << 20]).expect("written");
        disk.set_programme(Programme { read_latency: latency, ..Programme::default() });
        let file = open_direct(&disk.path().join("data"));
        let mut buffer = Aligned::new(4096);
        let mut seen: Vec<Duration> = (0..100)
            .map(|index| {
                let start = Instant::now();
                file.read_exact_at(buffer.get(), index * 4096).expect("read");
                start.elapsed()
            })
            .collect();
        seen.sort_unstable();
        // A low percentile: what a busy host adds to some of them is not the device's.
        let (least, tenth) = (seen[0], seen[10]);
        assert!(least >= latency, "a read came back after {least:?}");
        // The floor of FUSE is about 60 µs.
        assert!(
            tenth.as_secs_f64() < 1.1 * latency.as_secs_f64(),
            "10th percentile {tenth:?} of {latency:?}"
        );
    });
}

#[test]
fn measured_latencies_of_requests_at_the_same_time_overlap() {
    let _quiet = alone();
    if skipped(ProgrammedFs::available()) {
        return;
    }
    attempts(|_| {
        let latency = Duration::from_millis(100);
        let programme = Programme { read_latency: latency, ..Programme::default() };
        let disk = ProgrammedFs::builder().programme(programme).mount().expect("a file system");
        let path = disk.path().join("data");
        fs::write(&path, vec![7; 64 << 10]).expect("written");
        let start = Instant::now();
        std::thread::scope(|scope| {
            for task in 0..16 {
                let file = open_direct(&path);
                let read = move || file.read_exact_at(Aligned::new(4096).get(), task * 4096);
                scope.spawn(move || read().expect("read"));
            }
        });
        let took = start.elapsed();
        assert!(took >= latency && took < 8 * latency, "16 reads of {latency:?} took {took:?}");
    });
}

#[test]
fn measured_programmed_bandwidth_is_what_plain_writers_see_together() {
    let _quiet = alone();
    if skipped(ProgrammedFs::available()) {
        return;
    }
    attempts(|_| {
        const BANDWIDTH: u64 = 20_000_000;
        let programme = Programme { write_bandwidth: Some(BANDWIDTH), ..Programme::default() };
        let disk = ProgrammedFs::builder().programme(programme).mount().expect("a file system");
        let file = open_direct(&disk.path().join("data"));
        let write = |buffer: &mut [u8], offset| file.write_all_at(buffer, offset).expect("written");
        let share = rate(4, Duration::from_secs(2), write) / BANDWIDTH as f64;
        // Up to one piece of each writer more or less is seen at the ends.
        assert!((0.85..=1.1).contains(&share), "{share:.3} of the programmed bandwidth");
    });
}

#[test]
fn faults_reach_the_program_as_errors_and_short_transfers() {
    let _guard = beside_others();
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let faults = vec![
        Fault::on_read(When::Number(2), Effect::EIO),
        Fault::on_read(When::Covering(8192), Effect::Short(1024)),
        Fault::on_write(When::Number(3), Effect::Short(512)),
        Fault::on_sync(When::Always, libc::EIO),
    ];
    let disk = ProgrammedFs::builder().programme(Programme { faults, ..Programme::default() }).mount();
    let disk = disk.expect("a file system");
    let file = open_direct(&disk.path().join("data"));
    let mut buffer = Aligned::new(4096);
    let wrote = [0, 4096, 8192, 8192].map(|offset| file.write_at(buffer.get(), offset).expect("written"));
    assert_eq!(wrote, [4096, 4096, 512, 4096]);
    assert_eq!(file.read_at(buffer.get(), 0).expect("read"), 4096);
    assert_eq!(file.read_at(buffer.get(), 0).expect_err("fails").raw_os_error(), Some(libc::EIO));
    assert_eq!(file.read_at(buffer.get(), 8192).expect("read"), 1024);
    assert_eq!(file.sync_all().expect_err("fails").raw_os_error(), Some(libc::EIO));
}

#[test]
fn space_runs_out_in_the_middle_although_there_seemed_to_be_enough() {
    let _guard = beside_others();
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let programme = Programme { space_bytes: Some(1 << 20), ..Programme::default() };
    let disk = ProgrammedFs::builder().programme(programme).mount().expect("a file system");
    let status = rustix::fs::statvfs(disk.path()).expect("a size");
    assert!(status.f_bavail * status.f_frsize > 1 << 30);
    let file = File::create(disk.path().join("data")).expect("a file");
    file.write_all_at(&[7; 1 << 20], 0).expect("the space that there is");
    let error = file.write_all_at(&[7; 4096], 1 << 20).expect_err("no space");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    drop(file);
    fs::remove_file(disk.path().join("data")).expect("removed");
    fs::write(disk.path().join("other"), "data").expect("there is space again");
}

#[test]
fn wrong_data_of_one_file_does_not_touch_the_others() {
    let _guard = beside_others();
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let disk = ProgrammedFs::builder().mount().expect("a file system");
    let lost = vec![Fault::on_write(When::Number(2), Effect::Wrong(WrongData::Stale))];
    disk.set_programme_of("deep/bad", Programme { faults: lost, ..Programme::default() });
    fs::create_dir(disk.path().join("deep")).expect("a directory");
    let read = |name: &str| fs::read_to_string(disk.path().join(name)).expect("read");
    for name in ["deep/bad", "deep/good"] {
        let file = File::create(disk.path().join(name)).expect("a file");
        file.write_all_at(b"old data", 0).expect("written");
        file.write_all_at(b"new data", 0).expect("written");
    }
    assert_eq!((read("deep/bad").as_str(), read("deep/good").as_str()), ("old data", "new data"));
}

#[test]
fn every_request_is_remembered_with_its_size_and_offset() {
    let _guard = beside_others();
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let disk = ProgrammedFs::builder().mount().expect("a file system");
    let file = open_direct(&disk.path().join("data"));
    let mut buffer = Aligned::new(1 << 20);
    file.write_all_at(buffer.get(), 1 << 20).expect("written");
    disk.clear_requests();
    file.read_exact_at(&mut buffer.get()[..4096], 1 << 20).expect("read");
    file.read_exact_at(buffer.get(), 1 << 20).expect("read");
    let reads = disk.requests_of(Operation::Read);
    let shapes: Vec<_> = reads.iter().map(|read| (read.path.as_path(), read.offset, read.bytes)).collect();
    let data = Path::new("data");
    assert_eq!(shapes, [(data, 1 << 20, 4096), (data, 1 << 20, 1 << 20)]);
    assert_eq!(disk.requests().len(), 2);
}

#[test]
fn a_hole_is_told_from_data() {
    let _guard = beside_others();
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let disk = ProgrammedFs::builder().mount().expect("a file system");
    let file = File::create(disk.path().join("sparse")).expect("a file");
    file.set_len(1 << 20).expect("resized");
    file.write_all_at(&[7; 4096], 65_536).expect("written");
    let seek = |from| rustix::fs::seek(&file, from).expect("found");
    assert_eq!(seek(rustix::fs::SeekFrom::Data(0)), 65_536);
    assert_eq!(seek(rustix::fs::SeekFrom::Hole(65_536)), 69_632);
    assert_eq!(disk.used_bytes(), 4096);
}

#[test]
fn measured_a_block_device_over_a_programmed_file_has_its_latency() {
    let _quiet = alone();
    if skipped(Testbed::available()) || skipped(ProgrammedFs::available()) {
        return;
    }
    attempts(|_| {
        let disk = ProgrammedFs::builder().mount().expect("a file system");
        let image = disk.path().join("image");
        File::create(&image).and_then(|file| file.set_len(16 << 20)).expect("an image");
        let device = LoopDevice::builder().over(&image).build().expect("a device");
        let latency = Duration::from_millis(20);
        disk.set_programme(Programme { read_latency: latency, ..Programme::default() });
        let file = open_direct(device.device());
        let start = Instant::now();
        for index in 0..10 {
            file.read_exact_at(Aligned::new(4096).get(), index * 4096).expect("read");
        }
        let each = start.elapsed() / 10;
        assert!(each >= latency && each < 2 * latency, "a read took {each:?}");
    });
}
