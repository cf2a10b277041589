//! Bytes on the device compared to bytes of the application, file systems, holes and the page cache.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use host::files::{check_directory, require_data};
use host::{DeviceCounters, HostError, Observer, Root, cache};
use testbed::{Effect, Fault, FileSystem, LoopDevice, Programme, ProgrammedFs, Rig, Scratch, Stripe, When};

use crate::tools::{Partitioned, blank, host, run, skipped, word};

const MIB: usize = 1 << 20;
const APPLICATION_MIB: usize = 64;
const APPLICATION_BYTES: u64 = (APPLICATION_MIB * MIB) as u64;

fn counters(device: &LoopDevice) -> DeviceCounters {
    DeviceCounters::read(&Root::default(), &[device.name()]).unwrap().remove(0)
}

/// Data that is neither zero nor repetitive, so that no file system can compress or skip it.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes as u64)
        .map(|index| (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56).to_le_bytes()[0] | 1)
        .collect()
}

/// Writes 64 MiB with direct I/O.
fn write_direct(path: &Path) {
    const PAGE: usize = 4096;
    let flags = rustix::fs::OFlags::DIRECT.bits().cast_signed();
    let file = OpenOptions::new().write(true).create(true).custom_flags(flags).open(path).unwrap();
    let memory = [vec![0; PAGE], pattern(MIB)].concat();
    let start = memory.as_ptr().align_offset(PAGE);
    let mut aligned = memory;
    aligned.copy_within(PAGE..PAGE + MIB - start, start);
    for block in 0..APPLICATION_MIB {
        file.write_all_at(&aligned[start..start + MIB], (block * MIB) as u64).unwrap();
    }
    file.sync_all().unwrap();
}

#[test]
fn direct_writes_reach_the_device_byte_for_byte_and_cached_reads_do_not() {
    if skipped() {
        return;
    }
    let device = blank().file_system(FileSystem::Xfs).build().unwrap();
    let path = device.mount_point().unwrap().join("data");
    let devices = host().devices_under(&path).unwrap();
    assert_eq!(devices, [device.name()]);

    let before = counters(&device);
    let observer =
        Observer::start(&Root::default(), &devices, &BTreeSet::new(), Duration::from_millis(20)).unwrap();
    write_direct(&path);
    let samples = observer.stop().devices;
    let bracket = counters(&device).since(&before);
    let written: u64 = samples.iter().map(|sample| sample.counters.write_bytes).sum();
    let share = written as f64 / APPLICATION_BYTES as f64;
    println!("device bytes / application bytes = {share:.4} in {} intervals", samples.len());
    assert!((1.0..1.05).contains(&share), "{share}");
    assert!(written <= bracket.write_bytes, "the observer sees no more than the counters around it");
    assert!(samples.iter().map(|sample| sample.counters.writes).sum::<u64>() >= APPLICATION_MIB as u64);
    for pair in samples.windows(2) {
        assert_eq!(pair[0].start_ns + pair[0].length_ns, pair[1].start_ns, "no time is left out");
    }

    let content = fs::read(&path).unwrap();
    assert_eq!(content.len() as u64, APPLICATION_BYTES);
    // Other processes may drop the page cache in the meantime.
    let is_cached = (0..20).any(|_| {
        assert_eq!(fs::read(&path).unwrap(), content);
        let before = counters(&device);
        assert_eq!(fs::read(&path).unwrap(), content);
        let read = counters(&device).since(&before).read_bytes;
        read < APPLICATION_BYTES / 100
            && host().page_cache_bytes(&path).unwrap().0 > APPLICATION_BYTES / 100 * 99
    });
    assert!(is_cached, "the page cache answers");

    cache::evict(&path).unwrap();
    assert!(host().page_cache_bytes(&path).unwrap().0 < APPLICATION_BYTES / 100);
    let before = counters(&device);
    assert_eq!(fs::read(&path).unwrap(), content);
    assert!(counters(&device).since(&before).read_bytes >= APPLICATION_BYTES, "the device answered");
}

#[test]
fn each_file_system_is_known_with_its_device_before_the_path_exists() {
    if skipped() {
        return;
    }
    for kind in [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs] {
        let device = blank().file_system(kind).build().unwrap();
        let mount_point = device.mount_point().unwrap();
        let path = mount_point.join("not/yet/there");
        let facts = host().file_system_of(&path).unwrap();
        assert_eq!(facts.kind, kind.name());
        assert_eq!(Path::new(&facts.mount_point), mount_point);
        assert_eq!(Path::new(&facts.source), device.device());
        assert!(facts.free_bytes > 0 && facts.free_bytes < facts.size_bytes);
        assert!(facts.options.contains("noatime"), "{}", facts.options);
        assert_eq!(host().devices_under(&path).unwrap(), [device.name()]);
        assert_eq!(host().devices_under(device.device()).unwrap(), [device.name()]);
        let all = host().facts(&[path.clone(), mount_point.to_owned()], "tsc");
        assert_eq!(all.file_systems.len(), 1, "two targets on one file system");
        assert_eq!(all.devices[0].name, device.name());
        assert!(all.devices[0].size_bytes >= FileSystem::Xfs.smallest_bytes());
    }
}

#[test]
fn the_bytes_of_a_stripe_are_the_sum_over_its_members() {
    if skipped() {
        return;
    }
    let rig = Rig::of(3, &blank()).unwrap();
    let mut names: Vec<String> = rig.devices().iter().map(LoopDevice::name).collect();
    names.sort();
    let stripe = Stripe::over(rig).unwrap();
    let path = stripe.mount_point().join("data");
    let devices = host().devices_under(&path).unwrap();
    assert_eq!(devices, names);
    let before = DeviceCounters::read(&Root::default(), &devices).unwrap();
    write_direct(&path);
    let after = DeviceCounters::read(&Root::default(), &devices).unwrap();
    let each: Vec<u64> =
        after.iter().zip(&before).map(|(after, before)| after.since(before).write_bytes).collect();
    let share = each.iter().sum::<u64>() as f64 / APPLICATION_BYTES as f64;
    assert!((1.0..1.1).contains(&share), "{share} over {each:?}");
    assert!(each.iter().all(|bytes| *bytes > APPLICATION_BYTES / 4), "every member has its part: {each:?}");
}

#[test]
fn the_traffic_of_a_partition_is_not_that_of_its_neighbour() {
    if skipped() {
        return;
    }
    let scratch = Scratch::on_disk().unwrap();
    let Some(disk) = Partitioned::new(&scratch.path().join("image")) else {
        println!("skipped: this kernel shows no partitions of loop devices");
        return;
    };
    let devices = host().devices_under(&disk.partition(1)).unwrap();
    let name = disk.device.file_name().unwrap().to_str().unwrap();
    assert_eq!(devices, [format!("{name}p1")]);
    let facts = host().facts(&[disk.partition(1)], "tsc");
    assert_eq!(facts.devices[0].name, name, "facts are those of the disk");
    let read = |partition: &str| {
        let names = [format!("{name}{partition}")];
        DeviceCounters::read(&Root::default(), &names).unwrap()[0].read_bytes
    };
    let before = (read("p1"), read("p2"));
    let file = File::open(disk.partition(2)).unwrap();
    let mut buffer = vec![0; MIB];
    cache::evict_file(&file).unwrap();
    file.read_exact_at(&mut buffer, 0).unwrap();
    assert_eq!(read("p1"), before.0);
    assert!(read("p2") >= before.1 + MIB as u64);
}

#[test]
fn compressed_data_is_data_and_allocated_space_is_not() {
    if skipped() {
        return;
    }
    for kind in [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs] {
        let device = blank().file_system(kind).build().unwrap();
        let mount_point = device.mount_point().unwrap();
        if kind == FileSystem::Btrfs {
            run("mount", &["-o", "remount,datacow,compress-force=zstd", word(mount_point)]);
        }
        let written = mount_point.join("written");
        fs::write(&written, vec![b'a'; 4 * MIB]).unwrap();
        File::open(&written).unwrap().sync_all().unwrap();
        require_data(&written, 4 * MIB as u64).unwrap();
        let state = host::files::FileState::of(&written).unwrap();
        if kind == FileSystem::Btrfs {
            assert!(state.allocated_bytes <= state.size_bytes);
        }

        let allocated = mount_point.join("allocated");
        let file = File::create(&allocated).unwrap();
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 4 * MIB as u64).unwrap();
        let refused = require_data(&allocated, 4 * MIB as u64);
        assert!(
            matches!(refused, Err(HostError::Holes { first_hole_offset: 0, .. })),
            "{kind:?}: {refused:?}"
        );

        let sparse = mount_point.join("sparse");
        let file = File::create(&sparse).unwrap();
        file.write_all_at(&pattern(MIB), 0).unwrap();
        file.write_all_at(&pattern(MIB), 3 * MIB as u64).unwrap();
        file.sync_all().unwrap();
        let refused = require_data(&sparse, 4 * MIB as u64);
        let Err(HostError::Holes { first_hole_offset, .. }) = refused else {
            panic!("{kind:?}: {refused:?}")
        };
        assert_eq!(first_hole_offset, MIB as u64, "{kind:?}");
    }
}

#[test]
fn a_read_only_file_system_takes_no_files() {
    if skipped() {
        return;
    }
    let device = blank().file_system(FileSystem::Ext4).build().unwrap();
    let mount_point = device.mount_point().unwrap();
    check_directory(mount_point).unwrap();
    run("mount", &["-o", "remount,ro", word(mount_point)]);
    let refused = check_directory(mount_point);
    assert!(matches!(refused, Err(HostError::ReadOnlyFileSystem { .. })), "{refused:?}");
}

#[test]
fn memory_has_no_device_and_a_block_device_has_data_everywhere() {
    if skipped() {
        return;
    }
    let scratch = Scratch::in_memory().unwrap();
    let refused = host().devices_under(scratch.path()).unwrap_err();
    assert!(refused.reason.contains("keeps its data in memory"), "{refused}");
    let device = blank().build().unwrap();
    let bytes = FileSystem::Xfs.smallest_bytes();
    require_data(device.device(), bytes).unwrap();
    assert!(matches!(require_data(device.device(), bytes + 512), Err(HostError::Short { .. })));
    assert!(host::open_read_only(device.device()).unwrap().write_all_at(&[1], 0).is_err());
    assert!(matches!(host::open_read_only(Path::new("/dev/null")), Err(HostError::NotABlockDevice { .. })));
}

#[test]
fn requests_of_others_are_noticed_while_watching() {
    if skipped() {
        return;
    }
    let device = blank().file_system(FileSystem::Ext4).build().unwrap();
    let path = device.mount_point().unwrap().join("data");
    let writer = std::thread::spawn(move || {
        for _ in 0..10 {
            fs::write(&path, pattern(MIB)).unwrap();
            File::open(&path).unwrap().sync_all().unwrap();
            std::thread::sleep(Duration::from_millis(30));
        }
    });
    let warning = host().quiet(&[device.name()], Duration::from_millis(200)).unwrap().to_string();
    writer.join().unwrap();
    assert!(warning.contains(&format!("{} processed", device.name())), "{warning}");
}

/// A file system in user space does not tell the kernel which direct transfers it takes, so they are tried.
#[test]
fn a_trial_of_direct_writes_that_fails_is_not_taken_for_a_missing_ability() {
    if testbed::skipped(ProgrammedFs::available()) {
        return;
    }
    let mount = ProgrammedFs::builder().mount().unwrap();
    assert_eq!(host::direct_alignment(mount.path()).unwrap(), Some(1), "any size");
    let faults = vec![Fault::on_write(When::Always, Effect::EIO)];
    mount.set_programme(Programme { faults, ..Programme::default() });
    let error = host::direct_alignment(mount.path()).unwrap_err();
    assert!(error.is_device_error() && error.to_string().contains("test block"), "{error}");
    assert_eq!(fs::read_dir(mount.path()).unwrap().count(), 0, "nothing is left behind");
}
