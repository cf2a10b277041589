//! Typical hosts of users, as trees of files.

use std::path::{Path, PathBuf};

use record::{Fact, HostFacts};

use crate::fake::Tree;
use crate::{Host, Root};

const CGROUP2: &str = "30 27 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
const NVME: &str = "pci0000:3a/0000:3a:00.0/0000:3b:00.0/nvme/nvme0";

fn facts(tree: &Tree, target: &str) -> HostFacts {
    host(tree).facts(&[PathBuf::from(target)], "tsc")
}

fn host(tree: &Tree) -> Host {
    Host::new(tree.root().clone()).with_environment(|_| None)
}

fn under(tree: &Tree, path: &str) -> Result<Vec<String>, String> {
    host(tree).devices_under(Path::new(path)).map_err(|unobservable| unobservable.reason)
}

fn known<T: Clone>(fact: &Fact<T>) -> T {
    fact.known().cloned().expect("the fact is known")
}

fn reason<T: std::fmt::Debug>(fact: &Fact<T>) -> String {
    match fact {
        Fact::Unknown(reason) => reason.clone(),
        Fact::Known(value) => panic!("expected an unknown fact, found {value:?}"),
    }
}

/// A server with two sockets and one NVMe device, whose first partition is mounted.
fn bare_metal() -> Tree {
    let disk = format!("{NVME}/nvme0n1");
    let mut tree = Tree::new(&[
        ("/proc/sys/kernel/hostname", "node17\n"),
        ("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
        ("/proc/sys/kernel/version", "#1 SMP Debian 6.1.76-1\n"),
        ("/etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
        ("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon Gold 6254\n\n"),
        ("/sys/devices/system/cpu/online", "0-71\n"),
        ("/sys/devices/system/node/online", "0-1\n"),
        ("/sys/devices/system/cpu/cpu0/topology/package_cpus_list", "0-17,36-53\n"),
        ("/sys/devices/system/cpu/cpu18/topology/package_cpus_list", "18-35,54-71\n"),
        ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("/proc/meminfo", "MemTotal: 197000000 kB\nMemFree: 1 kB\nMemAvailable: 190000000 kB\n"),
        ("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-71\n"),
        ("/proc/self/cgroup", "0::/user.slice\n"),
        (
            "/proc/self/mountinfo",
            &format!(
                "27 1 259:9 / / rw - ext4 /dev/root rw\n{CGROUP2}\
                 50 27 259:1 / /scratch rw,noatime shared:1 - xfs /dev/nvme0n1p1 rw,attr2,noquota\n"
            ),
        ),
        (&format!("/sys/devices/{NVME}/model"), "INTEL SSDPE2KX040T8                     \n"),
        (&format!("/sys/devices/{NVME}/serial"), "PHLJ0123456789          \n"),
        (&format!("/sys/devices/{NVME}/firmware_rev"), "VDV10170\n"),
        (&format!("/sys/devices/{NVME}/numa_node"), "1\n"),
    ]);
    tree = tree.device(
        &disk,
        "259:0",
        &[
            ("size", "7814037168\n"),
            ("queue/rotational", "0\n"),
            ("queue/scheduler", "[none] mq-deadline\n"),
            ("queue/nr_requests", "1023\n"),
            ("queue/read_ahead_kb", "128\n"),
            ("queue/logical_block_size", "512\n"),
            ("queue/physical_block_size", "4096\n"),
            ("queue/iostats", "1\n"),
        ],
    );
    tree.device(&format!("{disk}/nvme0n1p1"), "259:1", &[("partition", "1"), ("start", "2048")])
        .link(&format!("/sys/devices/{disk}/device"), &format!("/sys/devices/{NVME}"))
        .directories(&["/scratch"])
        .directories(&[&format!("/sys/devices/{disk}/mq/0"), &format!("/sys/devices/{disk}/mq/1")])
}

#[test]
fn a_server_with_nvme_is_described_in_full() {
    let tree = bare_metal();
    let facts = facts(&tree, "/scratch/run/file");
    assert_eq!(facts.node, "node17");
    assert_eq!(known(&facts.operating_system), "Debian GNU/Linux 12 (bookworm)");
    assert_eq!(known(&facts.kernel), "6.1.0-18-amd64 #1 SMP Debian 6.1.76-1");
    assert_eq!(known(&facts.cpu_model), "Xeon Gold 6254");
    assert_eq!(known(&facts.sockets), 2);
    assert_eq!((facts.logical_cpus, facts.usable_cpus), (72, 72));
    assert_eq!(known(&facts.numa_nodes), 2);
    assert_eq!(known(&facts.governor), "performance");
    assert_eq!(facts.memory_bytes, 197_000_000 * 1024);
    assert_eq!(facts.memory_limit_bytes, None);
    assert_eq!(known(&facts.transparent_hugepages), "always [madvise] never");
    assert_eq!(facts.clock, "tsc");
    assert_eq!(facts.batch_job, None);

    let [file_system] = &facts.file_systems[..] else { panic!("{:?}", facts.file_systems) };
    assert_eq!(file_system.mount_point, "/scratch");
    assert_eq!(file_system.kind, "xfs");
    assert_eq!(file_system.source, "/dev/nvme0n1p1");
    assert_eq!(file_system.options, "rw,noatime,attr2,noquota");
    assert_eq!((file_system.size_bytes, file_system.free_bytes), (0, 0), "a tree of files has no sizes");

    let [device] = &facts.devices[..] else { panic!("{:?}", facts.devices) };
    assert_eq!(device.name, "nvme0n1", "a partition has the facts of its disk");
    assert_eq!(known(&device.model), "INTEL SSDPE2KX040T8");
    assert_eq!(known(&device.serial), "PHLJ0123456789");
    assert_eq!(known(&device.firmware), "VDV10170");
    assert_eq!(device.size_bytes, 7_814_037_168 * 512);
    assert!(!known(&device.rotational));
    assert_eq!(known(&device.scheduler), "none");
    assert_eq!(known(&device.hardware_queues), 2);
    assert_eq!(known(&device.queue_requests), 1023);
    assert_eq!(known(&device.read_ahead_bytes), 128 * 1024);
    assert_eq!((known(&device.logical_block_bytes), known(&device.physical_block_bytes)), (512, 4096));
    assert_eq!(known(&device.numa_node), 1);
}

#[test]
fn the_bytes_of_a_partition_are_counted_on_the_partition() {
    assert_eq!(under(&bare_metal(), "/scratch/file"), Ok(vec!["nvme0n1p1".into()]));
}

#[test]
fn a_block_device_is_counted_on_itself_and_has_no_file_system() {
    let tree = bare_metal();
    assert_eq!(under(&tree, "/dev/nvme0n1"), Ok(vec!["nvme0n1".into()]));
    assert_eq!(facts(&tree, "/dev/nvme0n1").file_systems.len(), 0);
}

#[test]
fn a_device_whose_accounting_is_off_cannot_be_observed() {
    let tree = bare_metal().files(&[(&format!("/sys/devices/{NVME}/nvme0n1/queue/iostats"), "0\n")]);
    assert!(under(&tree, "/scratch").unwrap_err().contains("iostats is 0"));
}

#[test]
fn a_virtual_machine_says_what_it_cannot_know() {
    let disk = "pci0000:00/0000:00:02.0/virtio1/block/vda";
    let tree = Tree::new(&[
        ("/proc/sys/kernel/hostname", "vm\n"),
        ("/proc/cpuinfo", "processor : 0\nBogoMIPS : 50\nCPU implementer : 0x41\nCPU part : 0xd0c\n"),
        ("/sys/devices/system/cpu/online", "0-1\n"),
        ("/proc/meminfo", "MemTotal: 2000000 kB\n"),
        ("/proc/self/mountinfo", "27 1 254:0 / / rw - ext4 /dev/vda rw\n"),
        ("/sys/devices/pci0000:00/0000:00:02.0/numa_node", "-1\n"),
        ("/sys/devices/pci0000:00/0000:00:02.0/virtio1/vendor", "0x1af4\n"),
    ])
    .device(disk, "254:0", &[("serial", "disk-7\n"), ("queue/rotational", "1\n")])
    .link(&format!("/sys/devices/{disk}/device"), "/sys/devices/pci0000:00/0000:00:02.0/virtio1");
    let facts = facts(&tree, "/data");
    assert_eq!(known(&facts.cpu_model), "ARM implementer 0x41 part 0xd0c");
    assert_eq!(reason(&facts.sockets), "no /sys/devices/system/cpu/cpu0/topology/package_cpus_list");
    assert_eq!(reason(&facts.governor), "no /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    assert_eq!(reason(&facts.numa_nodes), "no /sys/devices/system/node/online");
    assert_eq!(reason(&facts.operating_system), "no /etc/os-release");
    let [device] = &facts.devices[..] else { panic!("{:?}", facts.devices) };
    assert_eq!(reason(&device.model), "no /sys/block/vda/device/model");
    assert_eq!(known(&device.serial), "disk-7");
    assert!(reason(&device.numa_node).contains("numa_node reports that it belongs to no NUMA node"));
    assert_eq!(reason(&device.hardware_queues), "no /sys/block/vda/mq");
    assert_eq!(under(&tree, "/data"), Ok(vec!["vda".into()]));
}

#[test]
fn a_container_has_the_limits_of_its_groups() {
    let tree = Tree::new(&[
        ("/sys/devices/system/cpu/online", "0-63\n"),
        ("/proc/meminfo", "MemTotal: 64000000 kB\nMemAvailable: 60000000 kB\n"),
        ("/proc/self/status", "Cpus_allowed_list:\t0-15\n"),
        ("/proc/self/cgroup", "0::/pod/box\n"),
        (
            "/proc/self/mountinfo",
            &format!("27 1 0:99 / / rw - overlay overlay rw,upperdir=/var/lib/up\n{CGROUP2}"),
        ),
        ("/sys/fs/cgroup/pod/memory.max", "4000000000\n"),
        ("/sys/fs/cgroup/pod/memory.current", "1500000000\n"),
        ("/sys/fs/cgroup/pod/memory.stat", "anon 1000000000\ninactive_file 500000000\n"),
        ("/sys/fs/cgroup/pod/box/memory.max", "max\n"),
        ("/sys/fs/cgroup/pod/box/memory.current", "1500000000\n"),
        ("/sys/fs/cgroup/pod/box/cpu.max", "max 100000\n"),
        ("/sys/fs/cgroup/pod/cpu.max", "350000 100000\n"),
    ]);
    let facts = facts(&tree, "/data");
    assert_eq!(facts.memory_limit_bytes, Some(4_000_000_000), "the limit of the group above");
    assert_eq!((facts.logical_cpus, facts.usable_cpus), (64, 4), "three and a half processors, rounded up");
    assert_eq!(host(&tree).usable_cpus(), 4);
    assert_eq!(
        host(&tree).memory_available().unwrap(),
        3_000_000_000,
        "what is left of 4 GB when 1 GB cannot be dropped"
    );
    let hidden = under(&tree, "/data").unwrap_err();
    assert!(hidden.contains("/var/lib/up") && hidden.contains("is not visible from here"), "{hidden}");
}

#[test]
fn groups_of_version_1_are_found_where_a_container_sees_them() {
    let mounts = "\
31 27 0:30 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct
35 27 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory
";
    let tree = Tree::new(&[
        ("/sys/devices/system/cpu/online", "0-7\n"),
        ("/proc/meminfo", "MemTotal: 64000000 kB\nMemAvailable: 60000000 kB\n"),
        ("/proc/self/status", "Cpus_allowed_list:\t0-7\n"),
        ("/proc/self/cgroup", "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/\n"),
        ("/proc/self/mountinfo", mounts),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"),
        ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "73741824\n"),
        ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
    ]);
    let facts = facts(&tree, "/data");
    assert_eq!(facts.memory_limit_bytes, Some(1 << 30));
    assert_eq!(facts.usable_cpus, 8, "-1 is no quota");
    assert_eq!(host(&tree).memory_available().unwrap(), 1_000_000_000);
}

#[test]
fn a_limit_above_the_memory_is_no_limit() {
    let tree = Tree::new(&[
        ("/proc/meminfo", "MemTotal: 1000 kB\n"),
        ("/proc/self/cgroup", "4:memory:/\n"),
        ("/proc/self/mountinfo", "35 27 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
    ]);
    assert_eq!(facts(&tree, "/").memory_limit_bytes, None);
}

/// Twelve disks under one btrfs, mounted by the name of its first.
fn twelve_cards() -> Tree {
    let mut tree = Tree::new(&[(
        "/proc/self/mountinfo",
        "27 1 259:99 / / rw - ext4 /dev/root rw\n50 27 0:44 / /scratch rw - btrfs /dev/nvme0n1 rw,subvolid=5\n",
    )])
    .directories(&["/scratch"]);
    for card in 0..12 {
        let directory = format!("pci0000:00/nvme{card}/nvme{card}n1");
        tree = tree
            .device(&directory, &format!("259:{card}"), &[])
            .link(&format!("/sys/fs/btrfs/6f1a/devices/nvme{card}n1"), &format!("/sys/devices/{directory}"));
    }
    tree.files(&[("/sys/fs/btrfs/features/raid1c34", "0\n")])
}

#[test]
fn the_bytes_of_a_btrfs_are_on_all_its_members() {
    let tree = twelve_cards();
    let devices = under(&tree, "/scratch/new/file").unwrap();
    assert_eq!(devices.len(), 12);
    assert!(devices.contains(&"nvme0n1".to_owned()) && devices.contains(&"nvme11n1".to_owned()));
    assert_eq!(facts(&tree, "/scratch").devices.len(), 12);
}

#[test]
fn a_stack_is_counted_at_its_top_and_described_to_its_bottom() {
    let tree = Tree::new(&[
        (
            "/proc/self/mountinfo",
            "27 1 8:99 / / rw - ext4 /dev/root rw\n50 27 253:0 / /scratch rw - ext4 /dev/mapper/vg-lv rw\n",
        ),
        ("/dev/mapper/elsewhere", ""),
    ])
    .directories(&["/scratch"])
    .device("virtual/block/dm-0", "253:0", &[("dm/name", "vg-lv\n")])
    .device("virtual/block/md0", "9:0", &[])
    .device("pci0/sda", "8:0", &[])
    .device("pci0/sda/sda1", "8:1", &[("partition", "1")])
    .device("pci0/sdb", "8:16", &[])
    .stacked("dm-0", "md0")
    .stacked("md0", "sda1")
    .stacked("md0", "sdb");
    assert_eq!(under(&tree, "/scratch/file"), Ok(vec!["dm-0".into()]));
    let names: Vec<String> = facts(&tree, "/scratch").devices.into_iter().map(|device| device.name).collect();
    assert_eq!(names, ["dm-0", "md0", "sda", "sdb"]);
    let host = facts(&tree, "/scratch");
    let under = &host.target_devices[0];
    assert_eq!((under.top.join(" "), under.bottom.join(" ")), ("dm-0".to_owned(), "sda sdb".to_owned()));
}

#[test]
fn a_loop_device_is_described_with_the_disk_under_its_file() {
    let tree = bare_metal()
        .device("virtual/block/loop3", "7:3", &[("loop/backing_file", "/scratch/image\n")])
        .files(&[("/scratch/image", "x")]);
    assert_eq!(under(&tree, "/dev/loop3"), Ok(vec!["loop3".into()]));
    let names: Vec<String> =
        facts(&tree, "/dev/loop3").devices.into_iter().map(|device| device.name).collect();
    assert_eq!(names, ["loop3", "nvme0n1"]);
}

/// The warnings about what is below a path.
fn below(tree: &Tree, path: &str) -> Vec<String> {
    let told = |warning: record::Warning| match warning {
        record::Warning::MemoryBelow { place, what } => format!("{place:?}: {what}"),
        record::Warning::NotDurable { what } => format!("not durable: {what}"),
        other => panic!("{other}"),
    };
    host(tree).below(Path::new(path)).into_iter().map(told).collect()
}

#[test]
fn memories_below_devices_are_found_through_loop_devices_and_stacks() {
    let mounts = "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                  51 27 0:51 / /mem rw - tmpfs tmpfs rw\n\
                  53 27 0:53 / /user rw - fuse.sshfs me@there: rw\n\
                  60 27 7:1 / /outer rw - xfs /dev/loop1 rw\n\
                  61 27 253:0 / /striped rw - xfs /dev/dm-0 rw\n";
    let image = |number: u32, file: &str, direct: &str| {
        let backing = format!("{file}\n");
        (format!("virtual/block/loop{number}"), format!("7:{number}"), backing, direct.to_owned())
    };
    let mut tree = Tree::new(&[("/proc/self/mountinfo", mounts)])
        .directories(&["/mem", "/user", "/outer", "/striped", "/images"])
        .device("pci0/sda", "8:0", &[])
        .device("pci0/sda/sda1", "8:1", &[("partition", "1")])
        .device("virtual/block/zram0", "252:0", &[])
        .device("virtual/block/nbd3", "43:96", &[])
        .device("virtual/block/dm-0", "253:0", &[]);
    for (directory, number, file, direct) in [
        image(0, "/images/a", "1\n"),
        image(1, "/images/b", "0\n"),
        image(2, "/outer/c", "1\n"),
        image(3, "/mem/d", "1\n"),
        image(4, "/user/e", "1\n"),
    ] {
        tree = tree.device(&directory, &number, &[("loop/backing_file", &file), ("loop/dio", &direct)]);
    }
    let tree = tree.stacked("dm-0", "loop0").stacked("dm-0", "loop1");
    let none: [&str; 0] = [];
    assert_eq!(below(&tree, "/images"), none, "a disk");
    assert_eq!(below(&tree, "/dev/loop0"), none, "around the page cache of its file");
    let cached = "Node: loop1 reads its file /images/b through the page cache";
    assert_eq!(below(&tree, "/outer/file"), [cached]);
    assert_eq!(below(&tree, "/dev/loop2"), [cached], "below the file of another loop device");
    assert_eq!(below(&tree, "/striped"), [cached], "a member of a volume");
    let medium = "not durable: loop3 keeps its data in memory: its file /mem/d is on tmpfs at /mem";
    assert_eq!(below(&tree, "/dev/loop3"), [medium], "no cache in front of a medium that is memory");
    let [user] = &below(&tree, "/dev/loop4")[..] else { panic!("one") };
    assert!(user.starts_with("Server: loop4 is on /user/e: fuse.sshfs at /user"), "{user}");
    assert_eq!(below(&tree, "/dev/zram0"), ["Device: zram0 keeps its data in memory"]);
    assert!(below(&tree, "/dev/nbd3")[0].starts_with("Server: nbd3 is served by"));
    assert_eq!(below(&tree, "/mem/f"), ["Device: /mem/f is in memory, with no storage below it"]);
    assert_eq!(below(&tree, "/user"), none, "no device: that its bytes are unknown is told elsewhere");
}

#[test]
fn any_layer_may_keep_an_fsync_from_stable_storage() {
    let overlay = "overlay overlay rw,lowerdir=/l,workdir=/w";
    let mounts = format!(
        "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
         51 27 0:51 / /mem rw - tmpfs tmpfs rw\n\
         52 27 8:17 / /fast rw,noatime - ext4 /dev/sdb1 rw,nobarrier\n\
         53 27 0:53 / /volatile rw - {overlay},upperdir=/up,fsync=volatile\n\
         54 27 0:54 / /over rw - {overlay},upperdir=/fast/up\n\
         55 27 0:55 / /hidden rw - {overlay},upperdir=/not/here\n\
         56 27 7:0 / /image rw - xfs /dev/loop0 rw\n\
         57 27 0:57 / /share rw - cifs //server/share rw,nostrictsync\n\
         58 27 8:33 / /flashy rw - f2fs /dev/sdc1 rw,fsync_mode=nobarrier\n\
         59 27 0:59 / /pool rw - zfs tank/data rw\n"
    );
    let tree = Tree::new(&[("/proc/self/mountinfo", &mounts)])
        .directories(&[
            "/up",
            "/fast/up",
            "/over",
            "/volatile",
            "/hidden",
            "/image",
            "/share",
            "/flashy",
            "/pool",
            "/mem/up",
        ])
        .files(&[("/fast/image", "x")])
        .device("virtual/block/loop0", "7:0", &[("loop/backing_file", "/fast/image\n"), ("loop/dio", "1\n")]);
    let tree =
        ["sda", "sdb", "sdc"].iter().zip([0, 16, 32]).fold(tree, |tree, (disk, minor)| {
            let number = |minor: u32| format!("8:{minor}");
            tree.device(&format!("pci0/{disk}"), &number(minor), &[("queue/write_cache", "write back\n")])
                .device(&format!("pci0/{disk}/{disk}1"), &number(minor + 1), &[("partition", "1")])
        });
    let barrier = "not durable: /fast is mounted with nobarrier: fsync does not reach stable storage";
    let none: [&str; 0] = [];
    assert_eq!(below(&tree, "/file"), none, "a disk with a cache that is flushed");
    assert_eq!(below(&tree, "/fast/file"), [barrier], "the file system of the target");
    assert_eq!(below(&tree, "/over/file"), [barrier], "below the upper directory of an overlay");
    assert_eq!(below(&tree, "/image/file"), [barrier], "below the file of a loop device");
    for (path, words) in [
        ("/volatile/file", "/volatile is mounted with fsync=volatile"),
        ("/hidden/file", "unknown: the upper directory /not/here of the overlay at /hidden is not visible"),
        ("/share/file", "/share is mounted with nostrictsync"),
        ("/flashy/file", "/flashy is mounted with fsync_mode=nobarrier"),
        ("/pool/file", "whether tank/data has sync=disabled is unknown: the program zfs is missing"),
    ] {
        let [told] = &below(&tree, path)[..] else { panic!("one for {path}") };
        assert!(told.starts_with("not durable: ") && told.contains(words), "{path}: {told}");
    }
}

/// The kernel sends no flush to a device that was set to `write through`, whatever the drive has.
#[test]
fn a_cache_that_no_flush_reaches_is_found_below_the_device_that_was_set_so() {
    let cached = ("queue/write_cache", "write back\n");
    let through = ("queue/write_cache", "write through\n");
    let tree = Tree::new(&[("/proc/self/mountinfo", "27 1 9:0 / / rw - xfs /dev/md0 rw\n")])
        .device("virtual/block/md0", "9:0", &[through])
        .device("pci0/sda", "8:0", &[cached])
        .device("pci0/sdb", "8:16", &[through])
        .device("pci0/sdc", "8:32", &[through])
        .device("virtual/block/md1", "9:1", &[cached])
        .stacked("md0", "sda")
        .stacked("md1", "sda")
        .files(&[
            ("/sys/devices/pci0/sdb/device/scsi_disk/1:0:0:0/cache_type", "write back\n"),
            ("/sys/devices/pci0/sdc/device/scsi_disk/2:0:0:0/cache_type", "write through\n"),
        ]);
    let why = "is set to write through";
    let [member] = &below(&tree, "/file")[..] else { panic!("one") };
    assert!(
        member.contains("the volatile cache of sda") && member.contains(&format!("md0 {why}")),
        "{member}"
    );
    let [disk] = &below(&tree, "/dev/sdb")[..] else { panic!("one") };
    assert!(disk.contains(&format!("volatile cache of sdb: sdb {why}")), "{disk}");
    let none: [&str; 0] = [];
    assert_eq!(below(&tree, "/dev/sdc"), none, "the drive has no cache");
    assert_eq!(below(&tree, "/dev/md1"), none, "flushes pass the volume");
}

#[test]
fn what_no_block_device_carries_has_its_reason() {
    let mounts = "\
27 1 259:9 / / rw - ext4 /dev/root rw
51 27 0:51 / /mem rw - tmpfs tmpfs rw
52 27 0:52 / /net rw - nfs4 server:/export rw
53 27 0:53 / /user rw - fuse.sshfs me@there: rw
54 27 0:54 / /pool rw - zfs tank/data rw
55 27 259:3 / /pmem rw - ext4 /dev/pmem0 rw,dax=always
56 27 0:56 / /odd rw - oddfs odd rw
57 27 0:57 / /lost rw - btrfs /dev/not-here rw
";
    let tree = Tree::new(&[("/proc/self/mountinfo", mounts)])
        .directories(&["/mem", "/net", "/user", "/pool", "/pmem", "/odd", "/lost"]);
    for (path, words) in [
        ("/mem/a", "tmpfs at /mem keeps its data in memory"),
        ("/net/a", "nfs4 at /net keeps its data on server:/export"),
        ("/user/a", "fuse.sshfs at /user passes its data to a program"),
        ("/pool/a", "zfs at /pool"),
        ("/pmem/a", "mounted with dax"),
        ("/odd/a", "oddfs at /odd names no block device"),
        ("/lost/a", "/dev/not-here, the device of the btrfs at /lost, is not visible from here"),
        ("/a", "no /sys/dev/block/259:9"),
    ] {
        let reason = under(&tree, path).unwrap_err();
        assert!(reason.contains(words), "{path}: {reason}");
    }
}

#[test]
fn an_overlay_is_counted_where_it_writes() {
    let tree = Tree::new(&[(
        "/proc/self/mountinfo",
        "27 1 8:0 / / rw - ext4 /dev/sda rw\n50 27 0:60 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/up,workdir=/w\n",
    )])
    .directories(&["/up", "/merged"])
    .device("pci0/sda", "8:0", &[]);
    assert_eq!(under(&tree, "/merged/file"), Ok(vec!["sda".into()]));
}

#[test]
fn xfs_with_a_second_device_for_data_is_counted_on_both() {
    let tree = Tree::new(&[(
        "/proc/self/mountinfo",
        "27 1 8:0 / / rw - xfs /dev/sda rw,rtdev=/dev/sdb,logdev=/dev/sdc\n",
    )])
    .device("pci0/sda", "8:0", &[])
    .device("pci0/sdb", "8:16", &[])
    .device("pci0/sdc", "8:32", &[]);
    assert_eq!(under(&tree, "/file"), Ok(vec!["sda".into(), "sdb".into()]));
}

#[test]
fn scsi_disks_have_vendor_and_serial_from_their_pages() {
    let tree = Tree::new(&[("/proc/self/mountinfo", "27 1 8:0 / / rw - ext4 /dev/sda rw\n")])
        .device("pci0/host0/sda", "8:0", &[("queue/scheduler", "mq-deadline [bfq] none\n")])
        .files(&[
            ("/sys/devices/pci0/host0/sda/device/model", "ST12000NM0008   \n"),
            ("/sys/devices/pci0/host0/sda/device/vendor", "SEAGATE \n"),
            ("/sys/devices/pci0/host0/sda/device/rev", "E001\n"),
        ])
        .bytes("/sys/devices/pci0/host0/sda/device/vpd_pg80", b"\x00\x80\x00\x08ZHZ0ABCD\xff");
    let facts = facts(&tree, "/");
    assert_eq!(known(&facts.devices[0].model), "SEAGATE ST12000NM0008");
    assert_eq!(known(&facts.devices[0].serial), "ZHZ0ABCD");
    assert_eq!(known(&facts.devices[0].firmware), "E001");
    assert_eq!(known(&facts.devices[0].scheduler), "bfq");
}

#[test]
fn the_batch_system_is_named_with_the_job() {
    let tree = Tree::new(&[]);
    let job = |environment: fn(&str) -> Option<String>| {
        Host::new(tree.root().clone()).with_environment(environment).facts(&[], "tsc").batch_job
    };
    assert_eq!(job(|name| (name == "SLURM_JOB_ID").then(|| "4711".into())).as_deref(), Some("slurm 4711"));
    assert_eq!(job(|name| (name == "PBS_JOBID").then(|| "12.srv".into())).as_deref(), Some("pbs 12.srv"));
    assert_eq!(job(|name| (name == "LSB_JOBID").then(|| "9".into())).as_deref(), Some("lsf 9"));
    assert_eq!(job(|name| (name == "FLUX_JOB_ID").then(|| "f1".into())).as_deref(), Some("flux f1"));
    assert_eq!(job(|_| Some(String::new())), None);
}

#[test]
fn this_host_answers() {
    let facts = Host::default().facts(&[PathBuf::from(env!("CARGO_MANIFEST_DIR"))], "tsc");
    assert!(!facts.node.is_empty());
    assert!(facts.kernel.known().is_some());
    assert!(facts.memory_bytes > 1 << 20);
    assert!(facts.logical_cpus >= facts.usable_cpus);
    assert_eq!(facts.file_systems.len(), 1);
    assert!(Host::new(Root::default()).free_space(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap() > 0);
}

/// Two processors of one core, whose C-states, governors and registers differ.
fn set_by_hand() -> Tree {
    let mut tree = Tree::new(&[
        ("/sys/devices/system/cpu/online", "0-1\n"),
        ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
        ("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n"),
        ("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon\n"),
        ("/proc/cmdline", "root=/dev/sda1 password=secret intel_idle.max_cstate=1 quiet\n"),
    ]);
    for cpu in 0..2 {
        let base = format!("/sys/devices/system/cpu/cpu{cpu}");
        let disabled = if cpu == 1 { "1\n" } else { "0\n" };
        let governor = if cpu == 1 { "powersave\n" } else { "performance\n" };
        let mut registers = vec![0; 0x1FC];
        registers.extend((0x3504_0041_u64 | if cpu == 1 { 2 } else { 0 }).to_le_bytes());
        tree = tree
            .files(&[
                (&format!("{base}/topology/thread_siblings_list"), "0-1\n"),
                (&format!("{base}/cpufreq/scaling_governor"), governor),
                (&format!("{base}/cpuidle/state0/name"), "POLL\n"),
                (&format!("{base}/cpuidle/state0/latency"), "0\n"),
                (&format!("{base}/cpuidle/state0/disable"), "0\n"),
                (&format!("{base}/cpuidle/state1/name"), "C1E\n"),
                (&format!("{base}/cpuidle/state1/latency"), "10\n"),
                (&format!("{base}/cpuidle/state1/disable"), disabled),
                (&format!("{base}/cpuidle/state1/default_status"), "enabled\n"),
            ])
            .bytes(&format!("/dev/cpu/{cpu}/msr"), &registers);
    }
    tree
}

#[test]
fn settings_that_differ_between_processors_are_counted() {
    let facts = facts(&set_by_hand(), "/");
    let processors = &facts.processors;
    assert_eq!((processors.looked_at, known(&processors.threads_per_core)), (2, 2));
    assert_eq!(known(&processors.governors).len(), 2, "mixed");
    assert!(!known(&processors.turbo));
    let switched = known(&processors.c1e);
    assert_eq!((switched.on, switched.of), (1, 2));
    let idle = known(&processors.idle);
    assert_eq!((idle.states[1].name.as_str(), idle.states[1].enabled.on), ("C1E", 1));
    assert_eq!(
        (known(&idle.left_at_default), idle.limits),
        (false, vec!["intel_idle.max_cstate=1".to_owned()])
    );
    assert_eq!(
        known(&facts.machine.kernel_arguments).as_deref(),
        Some("intel_idle.max_cstate=1"),
        "what is nobody's business is not kept"
    );
}

#[test]
fn c_states_that_nobody_touched_are_left_at_default() {
    let tree = set_by_hand().files(&[
        ("/proc/cmdline", "root=/dev/sda1\n"),
        ("/sys/devices/system/cpu/cpu1/cpuidle/state1/disable", "0\n"),
    ]);
    assert!(known(&known(&facts(&tree, "/").processors.idle).left_at_default));
}

#[test]
fn arrays_volumes_and_networks_are_found_when_a_run_has_ended() {
    let tree = Tree::new(&[
        ("/sys/class/net/lo/mtu", "65536\n"),
        ("/sys/class/net/ib0/device/x", ""),
        ("/sys/class/net/ib0/type", "32\n"),
        ("/sys/class/net/ib0/speed", "100000\n"),
        ("/sys/class/net/ib0/mtu", "2044\n"),
        ("/sys/fs/lustre/version", "2.12.4\n"),
    ])
    .device(
        "virtual/block/md0",
        "9:0",
        &[("md/level", "raid0\n"), ("md/chunk_size", "131072\n"), ("md/array_state", "clean\n")],
    )
    .device("virtual/block/nvme0n1", "259:0", &[])
    .stacked("md0", "nvme0n1");
    let mut facts = facts(&tree, "/");
    assert!(reason(&facts.volumes).contains("not looked for"));
    host(&tree).complete(&mut facts);
    let volumes = known(&facts.volumes);
    assert_eq!(
        (volumes[0].members.as_slice(), known(&volumes[0].chunk_bytes)),
        (&["nvme0n1".to_owned()][..], 131_072)
    );
    let network = known(&facts.network);
    assert_eq!(network.len(), 1, "the loopback is software");
    assert_eq!(
        (network[0].kind.as_str(), known(&network[0].bits_per_second)),
        ("infiniband", 100_000_000_000)
    );
    let software = known(&facts.software);
    let version = |name: &str| known(&software.iter().find(|one| one.name == name).expect("listed").version);
    assert_eq!(version("Lustre").as_deref(), Some("2.12.4"));
    assert_eq!(version("XVM"), None);
}

#[test]
fn memory_and_huge_pages_are_those_of_the_tree_or_unknown() {
    let bare = Tree::new(&[("/proc/sys/kernel/hostname", "old\n")]);
    let found = facts(&bare, "/");
    assert_eq!(found.memory_bytes, 0, "not that of this host");
    assert!(reason(&found.transparent_hugepages).contains("/sys/kernel/mm/transparent_hugepage/enabled"));
    let redhat = Tree::new(&[
        ("/proc/meminfo", "MemTotal:       1048576 kB\n"),
        ("/sys/kernel/mm/redhat_transparent_hugepage/enabled", "[always] never\n"),
    ]);
    let found = facts(&redhat, "/");
    assert_eq!(found.memory_bytes, 1 << 30);
    assert_eq!(known(&found.transparent_hugepages), "[always] never");
}

#[test]
fn a_container_is_known_by_what_its_software_creates() {
    let container = |files: &[(&str, &str)]| facts(&Tree::new(files), "/").machine.container;
    assert_eq!(container(&[("/proc/sys/kernel/hostname", "node17\n")]), None);
    assert_eq!(container(&[("/.dockerenv", "")]).as_deref(), Some("Docker"));
    assert_eq!(container(&[("/run/.containerenv", "engine=\"podman-4.9.4\"\n")]).as_deref(), Some("Podman"));
    assert_eq!(container(&[("/.singularity.d/startscript", "")]).as_deref(), Some("Apptainer"));
    assert_eq!(container(&[("/run/systemd/container", "lxc\n")]).as_deref(), Some("lxc"));
    let pod = [("/.dockerenv", ""), ("/var/run/secrets/kubernetes.io/serviceaccount/namespace", "bench")];
    assert_eq!(container(&pod).as_deref(), Some("Kubernetes"));
}
