//! Hosts whose storage is arranged as on real ones: the directories and links are those of the kernel.

use super::Tree;

const MOUNTS: &str = "27 1 8:240 / / rw - ext4 /dev/root rw\n";

fn host() -> Tree {
    Tree::new(&[
        ("/proc/self/mountinfo", MOUNTS),
        ("/proc/swaps", "Filename Type Size Used Priority\n"),
        ("/proc/sys/kernel/hostname", "far\n"),
        ("/proc/sys/kernel/random/boot_id", "b1\n"),
    ])
}

/// The queue of a disk with a scheduler.
fn queue(tree: Tree, directory: &str, scheduler: &str) -> Tree {
    let base = format!("/sys/devices/{directory}/queue");
    tree.files(&[
        (&format!("{base}/rotational"), "0\n"),
        (&format!("{base}/read_ahead_kb"), "128\n"),
        (&format!("{base}/scheduler"), scheduler),
        (&format!("{base}/iostats"), "1\n"),
    ])
}

/// A LUN over `paths` as `dm-0` (`/dev/mapper/mpatha`), whose disks are `sda`, `sdb` and so on; the disks numbered in
/// `offline` have failed. `dm-1` is the first partition of it, and `sdx` an unrelated disk.
pub(crate) fn dm_multipath(paths: usize, offline: &[usize]) -> Tree {
    const WWID: &str = "naa.600a098038303053453f463045727a41\n";
    let mut tree = host();
    for (number, letter) in ('a'..='w').take(paths).enumerate() {
        let target = format!("pci0000:00/host{number}/target{number}:0:0/{number}:0:0:1");
        let directory = format!("{target}/block/sd{letter}");
        let state = if offline.contains(&number) { "offline\n" } else { "running\n" };
        tree = tree.files(&[
            (&format!("/sys/devices/{target}/state"), state),
            (&format!("/sys/devices/{target}/wwid"), WWID),
            (&format!("/sys/devices/{target}/vendor"), "NETAPP  \n"),
            (&format!("/sys/devices/{target}/model"), "LUN C-Mode      \n"),
            (&format!("/sys/devices/{target}/rev"), "9131\n"),
        ]);
        tree = tree.device(
            &directory,
            &format!("8:{}", 16 * number),
            &[("removable", "0\n"), ("hidden", "0\n")],
        );
        tree = tree.link(&format!("/sys/devices/{directory}/device"), &format!("/sys/devices/{target}"));
        tree = queue(tree, &directory, "none [mq-deadline] kyber\n");
    }
    tree = tree
        .device(
            "virtual/block/dm-0",
            "253:0",
            &[("dm/name", "mpatha\n"), ("dm/uuid", "mpath-3600a098038303053453f463045727a41\n")],
        )
        .device(
            "virtual/block/dm-1",
            "253:1",
            &[("dm/name", "mpatha1\n"), ("dm/uuid", "part1-mpath-3600a098038303053453f463045727a41\n")],
        )
        .files(&[("/sys/devices/virtual/block/dm-0/dm/suspended", "0\n")])
        .link("/dev/mapper/mpatha", "/dev/dm-0")
        .stacked("dm-1", "dm-0")
        .device("pci0000:00/sdx", "65:112", &[("device/wwid", "naa.5000c500aaaaaaaa\n")]);
    for letter in ('a'..='w').take(paths) {
        tree = tree.stacked("dm-0", &format!("sd{letter}"));
    }
    tree = queue(tree, "pci0000:00/sdx", "none [mq-deadline] kyber\n");
    queue(tree, "virtual/block/dm-0", "[none] mq-deadline kyber\n")
}

/// A namespace `nvme0n1` that is reached through the controllers `nvme0` (optimized) and `nvme1` (in the state
/// `second`, not optimized). `nvme0n1p1` is a partition of it.
pub(crate) fn nvme_multipath(second: &str) -> Tree {
    const SUBSYSTEM: &str = "/sys/devices/virtual/nvme-subsystem/nvme-subsys0";
    const WWID: &str = "uuid.554bd55f-1de4-4600-a72a-e0e6da97b5be\n";
    let head = "virtual/nvme-subsystem/nvme-subsys0/nvme0n1";
    let mut tree = host()
        .files(&[
            (&format!("{SUBSYSTEM}/subsysnqn"), "nqn.1992-08.com.netapp:sn.d646:subsystem.one\n"),
            (&format!("{SUBSYSTEM}/iopolicy"), "numa\n"),
            (&format!("{SUBSYSTEM}/model"), "NetApp ONTAP Controller\n"),
            (&format!("{SUBSYSTEM}/serial"), "80-AABMxwn3xAAAAAAAB\n"),
            (&format!("{SUBSYSTEM}/firmware_rev"), "FFFFFFFF\n"),
        ])
        .device(head, "259:1", &[("hidden", "0\n"), ("wwid", WWID)])
        .link(&format!("/sys/devices/{head}/device"), SUBSYSTEM)
        .device(&format!("{head}/nvme0n1p1"), "259:2", &[("partition", "1\n"), ("start", "2048\n")]);
    for (number, state, access) in [(0, "live", "optimized\n"), (1, second, "non-optimized\n")] {
        let controller = format!("pci0000:0{number}/0000:0{number}:00.0/nvme/nvme{number}");
        let directory = format!("{controller}/nvme0c{number}n1");
        tree = tree
            .files(&[
                (&format!("/sys/devices/{controller}/state"), &format!("{state}\n")),
                (&format!("/sys/devices/{controller}/serial"), "80-AABMxwn3xAAAAAAAB\n"),
                (&format!("/sys/devices/{controller}/firmware_rev"), "FFFFFFFF\n"),
                (&format!("/sys/devices/pci0000:0{number}/0000:0{number}:00.0/class"), "0x010802\n"),
            ])
            .hidden(&directory, &[("wwid", WWID), ("ana_state", access)])
            .link(&format!("/sys/devices/{directory}/device"), &format!("/sys/devices/{controller}"))
            .link(
                &format!("/sys/bus/pci/devices/0000:0{number}:00.0"),
                &format!("/sys/devices/pci0000:0{number}/0000:0{number}:00.0"),
            )
            .link(&format!("{SUBSYSTEM}/nvme{number}"), &format!("/sys/devices/{controller}"))
            .link(&format!("/sys/class/nvme/nvme{number}"), &format!("/sys/devices/{controller}"));
        tree = queue(tree, &directory, "[mq-deadline] kyber none\n");
    }
    queue(tree, head, "none\n")
}

/// A rotational disk `sda` that bcache keeps on flash `nvme0n1`, as `bcache0`.
pub(crate) fn bcache() -> Tree {
    host()
        .device("pci0000:00/sda", "8:0", &[("queue/rotational", "1\n"), ("bcache/state", "clean\n")])
        .device("pci0000:01/nvme/nvme0/nvme0n1", "259:0", &[("queue/rotational", "0\n"), ("bcache/set", "")])
        .device("virtual/block/bcache0", "252:0", &[])
        .files(&[(
            "/sys/devices/pci0000:00/sda/bcache/cache_mode",
            "writethrough [writeback] writearound none\n",
        )])
        .link("/sys/devices/virtual/block/bcache0/bcache", "/sys/devices/pci0000:00/sda/bcache")
        .stacked("bcache0", "sda")
        .stacked("bcache0", "nvme0n1")
}

/// A pool of ZFS on the partition `sda1` with the volume `zd0` (`/dev/zvol/tank/one`): the kernel shows no relation.
pub(crate) fn zfs_volume() -> Tree {
    host()
        .device("pci0000:00/sda", "8:0", &[])
        .device("pci0000:00/sda/sda1", "8:1", &[("partition", "1\n"), ("start", "2048\n")])
        .device(
            "pci0000:00/sda/sda9",
            "8:9",
            &[("partition", "9\n"), ("start", "2031616\n"), ("size", "16384\n")],
        )
        .device("virtual/block/zd0", "230:0", &[])
        .link("/dev/zvol/tank/one", "/dev/zd0")
}

/// A logical volume `dm-0` (`/dev/vg/data`) on the array `md127` of `sda1` and `sdb1`.
pub(crate) fn lvm_on_md() -> Tree {
    let mut tree = host();
    for (number, letter) in ['a', 'b'].iter().enumerate() {
        let disk = format!("pci0000:00/sd{letter}");
        tree = tree.device(&disk, &format!("8:{}", 16 * number), &[]).device(
            &format!("{disk}/sd{letter}1"),
            &format!("8:{}", 16 * number + 1),
            &[("partition", "1\n"), ("start", "2048\n")],
        );
    }
    tree.device(
        "virtual/block/md127",
        "9:127",
        &[("md/level", "raid1\n"), ("md/array_state", "clean\n"), ("md/metadata_version", "1.2\n")],
    )
    .device(
        "virtual/block/dm-0",
        "253:0",
        &[("dm/name", "vg-data\n"), ("dm/uuid", "LVM-9QxVtGpZqgJ8\n"), ("dm/suspended", "0\n")],
    )
    .link("/dev/mapper/vg-data", "/dev/dm-0")
    .link("/dev/vg/data", "/dev/dm-0")
    .stacked("md127", "sda1")
    .stacked("md127", "sdb1")
    .stacked("dm-0", "md127")
}

/// A logical drive of a Smart Array controller, whose node is `/dev/cciss/c0d0`, with a partition.
pub(crate) fn smart_array() -> Tree {
    host()
        .device("pci0000:00/cciss0/c0d0/block/cciss!c0d0", "104:0", &[("device/serial", "PAFGK0N9SXA0J3\n")])
        .device(
            "pci0000:00/cciss0/c0d0/block/cciss!c0d0/cciss!c0d0p1",
            "104:1",
            &[("partition", "1\n"), ("start", "2048\n")],
        )
        .link("/dev/disk/by-id/scsi-one", "/dev/cciss/c0d0")
}

/// A file `/srv/image` on `sda1` as `loop0`; `loop1` has no file. `sr0` has no medium.
pub(crate) fn loop_on_a_file() -> Tree {
    host()
        .files(&[("/proc/self/mountinfo", "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n"), ("/srv/image", "x")])
        .device("pci0000:00/sda", "8:0", &[])
        .device("pci0000:00/sda/sda1", "8:1", &[("partition", "1\n"), ("start", "2048\n")])
        .device("virtual/block/loop0", "7:0", &[("loop/backing_file", "/srv/image\n"), ("loop/dio", "0\n")])
        .device("virtual/block/loop1", "7:1", &[("size", "0\n")])
        .device("pci0000:00/sr0", "11:0", &[("size", "0\n"), ("removable", "1\n")])
}
