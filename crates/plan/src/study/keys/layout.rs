//! The keys of `[[layout]]`.

use crate::study::table::definition::{Key, Table, ValueKind, Word};

/// Limit on nodes; no file system was ever made for more.
const NODES_MAX: u64 = 16_384;
/// Limit on targets over which Lustre can stripe a file (`LOV_MAX_STRIPE_COUNT`).
const STRIPE_COUNT_MAX: u64 = 2000;

/// The ways to combine devices.
const RECIPES: &[Word] = &[
    ("raw", "the devices as they are; each is a member"),
    ("per-device", "a file system on each device, mounted at `0`, `1` … below `mount_point`"),
    ("btrfs", "one btrfs, data and metadata striped over all devices (RAID-0)"),
    ("md", "RAID-0 of the md driver, with one file system"),
    ("imsm", "the same with Intel's metadata: a container, an array in it, a partition on that"),
    ("lvm", "volumes of one LVM group, each striped over all devices, a file system on each"),
    ("gpfs", "one GPFS (Spectrum Scale) with the devices as its NSDs"),
    ("lustre", "a directory of a mounted Lustre with a stripe layout of its own"),
    ("existing", "an existing directory, which is kept"),
    ("own", "your own commands"),
];

/// `[[layout]]`.
pub(crate) const LAYOUT: Table = Table {
    name: "layout",
    named_by: Some("name"),
    meaning: "Devices combined in one way. A `[[target]]` with `layout` measures it: the layout is created \
                before the first of its cases and dismantled after the last, and only one exists at a \
                time. **All data on its devices is lost**; [LAYOUTS.md](LAYOUTS.md) has the guard rails. \
                Each key names the recipes that use it; other keys are refused.",
    keys: &[
        Key::new("name", ValueKind::Name).means("The name that targets use; unique in the study."),
        Key::new("recipe", ValueKind::Word(RECIPES)).means("How the devices are combined."),
        Key::new("title", ValueKind::Text)
            .left_out("its name")
            .means("Its title in the report, and that of its targets that have none of their own."),
        Key::new("stands_for", ValueKind::Text)
            .left_out("none")
            .means("The published layout that it stands for, in your words; applies to its targets too."),
        Key::new("devices", ValueKind::Texts("[\"/dev/nvme0n1\", \"S3P2000A\"]"))
            .left_out("required; optional for `own`, none for `existing` and `lustre`")
            .means(
                "The devices in the order of the members, each by path, serial number or world wide name. \
                `--set 'layout.*.devices=[…]'` replaces them.",
            ),
        Key::new("mount_point", ValueKind::Path).left_out("required, except for `raw`").means(
            "Where it is mounted. Below it, `per-device` has a directory for each device, and `lvm` one \
                for each volume, by its name; for `existing` it is the existing directory, for `lustre` \
                one that is created on it.",
        ),
        Key::new("file_system", ValueKind::Text).left_out("`\"xfs\"`; required by `gpfs`").means(
            "`per-device`, `md`, `imsm`, `lvm`: `\"xfs\"`, `\"ext4\"` or `\"btrfs\"`. `gpfs`: the name of \
                the file system, for example `\"p3700\"`.",
        ),
        Key::new("make_options", ValueKind::Texts("[\"-f\", \"-K\", \"-d\", \"su=128k,sw=1\"]"))
            .left_out("none")
            .means("`per-device`, `md`, `imsm`, `lvm`: options of `mkfs`, each word separately."),
        Key::new("mount_options", ValueKind::Text).left_out("none").means(
            "`per-device`, `btrfs`, `md`, `imsm`, `lvm`: options of `mount`, for example \
                `\"noatime,nodiratime\"`. They are read back, and a difference causes a warning.",
        ),
        Key::new("chunk", ValueKind::Size)
            .left_out("`\"512KiB\"`, the default of mdadm")
            .means("`md`, `imsm`: bytes on one member before the next one is used."),
        Key::new("node", ValueKind::Path)
            .left_out("`\"/dev/md0\"`")
            .means("`md`, `imsm`: the device node of the array."),
        Key::new("group", ValueKind::Name)
            .left_out("`\"ioproof\"`")
            .means("`lvm`: the name of the volume group."),
        Key::new("stripe", ValueKind::Size)
            .left_out("required by `lvm`; for `lustre` that of the file system")
            .means("`lvm`, `lustre`: bytes on one device before the next one is used."),
        Key::new("volumes", ValueKind::Texts("[\"data=3TB\", \"work\"]")).left_out("`[\"data\"]`").means(
            "`lvm`: the volumes, each with its size after `=`; those without one share the remaining space \
                evenly. Each is a member of a target.",
        ),
        Key::new("block", ValueKind::Size)
            .left_out("required by `gpfs`")
            .means("`gpfs`: the block size (`-B`)."),
        Key::new("nodes", ValueKind::Count(1, NODES_MAX))
            .left_out("32, the default of GPFS")
            .means("`gpfs`: nodes that will mount it (`-n`)."),
        Key::new("nsd_list", ValueKind::Path)
            .left_out("required by `gpfs`")
            .means("`gpfs`: the file that lists the NSDs (`-F`)."),
        Key::new("stripe_count", ValueKind::Count(1, STRIPE_COUNT_MAX))
            .left_out("required by `lustre`")
            .means("`lustre`: number of targets that a file is striped over (`-c`)."),
        Key::new("first", ValueKind::Count(0, STRIPE_COUNT_MAX))
            .left_out("any")
            .means("`lustre`: the target on which it starts (`-i`)."),
        Key::new(
            "create",
            ValueKind::Texts("[\"mkfs.xfs -K /dev/lxvm/p3700\", \"mount /dev/lxvm/p3700 {mount}\"]"),
        )
        .left_out("required by `own`")
        .means(
            "`own`: commands that create and mount it, in this order. `{devices}`, `{device0}` … and \
                `{mount}` stand for what their names say.",
        ),
        Key::new("verify", ValueKind::Texts("[\"mountpoint {mount}\"]"))
            .left_out("nothing is checked")
            .means("`own`: commands that exit with 0 if the layout is what it should be."),
        Key::new("destroy", ValueKind::Texts("[\"umount {mount}\"]"))
            .left_out("required by `own`")
            .means("`own`: commands that undo all of `create`."),
    ],
    ..Table::PLAIN
};
