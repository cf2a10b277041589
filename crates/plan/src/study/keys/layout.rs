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
    ("existing", "a directory that is there already, and stays"),
    ("own", "your own commands"),
];

/// `[[layout]]`.
pub(crate) const LAYOUT: Table = Table {
    name: "layout",
    named_by: Some("name"),
    meaning: "Devices put together in one way. A `[[target]]` with `layout` measures it: the \
                layout is made before the first of its cases and dismantled after the last, and \
                one stands at a time. **All data on its devices is lost**; \
                [LAYOUTS.md](LAYOUTS.md) has the guard rails. Which keys a recipe heeds stands \
                with each key; others are refused.",
    keys: &[
        Key::new("name", ValueKind::Name).means("What targets call it; unique in the study."),
        Key::new("recipe", ValueKind::Word(RECIPES)).means("How the devices are put together."),
        Key::new("title", ValueKind::Text)
            .left_out("its name")
            .means("What the report calls it, and its targets that have no title of their own."),
        Key::new("stands_for", ValueKind::Text)
            .left_out("none")
            .means("The published layout that it stands for, in your words; holds for its targets too."),
        Key::new("devices", ValueKind::Texts("[\"/dev/nvme0n1\", \"S3P2000A\"]"))
            .left_out("needed; `own` may do without, `existing` and `lustre` have none")
            .means(
                "The devices in the order of the members, each by path, serial number or world \
                wide name. `--set 'layout.*.devices=[…]'` names others.",
            ),
        Key::new("mount_point", ValueKind::Path).left_out("needed, but for `raw`").means(
            "Where it is mounted. `per-device` has a directory for each device below it, \
                `lvm` one for each volume by its name; of `existing` it is the directory that is \
                there, of `lustre` one that is made on it.",
        ),
        Key::new("file_system", ValueKind::Text).left_out("`\"xfs\"`; needed by `gpfs`").means(
            "`per-device`, `md`, `imsm`, `lvm`: `\"xfs\"`, `\"ext4\"` or `\"btrfs\"`. `gpfs`: \
                the name of the file system, as `\"p3700\"`.",
        ),
        Key::new("make_options", ValueKind::Texts("[\"-f\", \"-K\", \"-d\", \"su=128k,sw=1\"]"))
            .left_out("none")
            .means("`per-device`, `md`, `imsm`, `lvm`: words for `mkfs`."),
        Key::new("mount_options", ValueKind::Text).left_out("none").means(
            "`per-device`, `btrfs`, `md`, `imsm`, `lvm`: options of `mount`, as \
                `\"noatime,nodiratime\"`. They are read back, and a difference is warned about.",
        ),
        Key::new("chunk", ValueKind::Size)
            .left_out("`\"512KiB\"`, as mdadm has it")
            .means("`md`, `imsm`: bytes on a member before the next one comes."),
        Key::new("node", ValueKind::Path).left_out("`\"/dev/md0\"`").means("`md`, `imsm`: the array."),
        Key::new("group", ValueKind::Name)
            .left_out("`\"ioproof\"`")
            .means("`lvm`: the name of the volume group."),
        Key::new("stripe", ValueKind::Size)
            .left_out("needed by `lvm`; of `lustre` that of the file system")
            .means("`lvm`, `lustre`: bytes on a device before the next one comes."),
        Key::new("volumes", ValueKind::Texts("[\"data=3TB\", \"work\"]")).left_out("`[\"data\"]`").means(
            "`lvm`: the volumes, each with its size after `=`; those without one share evenly \
                what is left. Each is a member of a target.",
        ),
        Key::new("block", ValueKind::Size)
            .left_out("needed by `gpfs`")
            .means("`gpfs`: the block size (`-B`)."),
        Key::new("nodes", ValueKind::Count(1, NODES_MAX))
            .left_out("32, as GPFS has it")
            .means("`gpfs`: nodes that will mount it (`-n`)."),
        Key::new("nsd_list", ValueKind::Path)
            .left_out("needed by `gpfs`")
            .means("`gpfs`: the file that lists the NSDs (`-F`)."),
        Key::new("stripe_count", ValueKind::Count(1, STRIPE_COUNT_MAX))
            .left_out("needed by `lustre`")
            .means("`lustre`: over how many targets a file goes (`-c`)."),
        Key::new("first", ValueKind::Count(0, STRIPE_COUNT_MAX))
            .left_out("any")
            .means("`lustre`: on which target it starts (`-i`)."),
        Key::new(
            "create",
            ValueKind::Texts("[\"mkfs.xfs -K /dev/lxvm/p3700\", \"mount /dev/lxvm/p3700 {mount}\"]"),
        )
        .left_out("needed by `own`")
        .means(
            "`own`: commands that make and mount it, in this order. `{devices}`, `{device0}` \
                … and `{mount}` stand for what their names say.",
        ),
        Key::new("verify", ValueKind::Texts("[\"mountpoint {mount}\"]"))
            .left_out("nothing is looked at")
            .means("`own`: commands that end with 0 if it is what it should be."),
        Key::new("destroy", ValueKind::Texts("[\"umount {mount}\"]"))
            .left_out("needed by `own`")
            .means("`own`: commands that undo all of `create`."),
    ],
    ..Table::PLAIN
};
