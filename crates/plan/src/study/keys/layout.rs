//! The keys of `[[layout]]`.

use crate::study::kind::{Absent, Key, Kind, Sweeps, Table, Word};

/// More nodes than a file system was ever made for.
const NODES_MAX: u64 = 16_384;
/// More targets than a file of Lustre can be striped over (`LOV_MAX_STRIPE_COUNT`).
const STRIPE_COUNT_MAX: u64 = 2000;

/// How devices can be put together.
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
pub(in crate::study) const LAYOUT: Table = Table {
    name: "layout",
    named_by: Some("name"),
    meaning: "Devices put together in one way. A `[[target]]` with `layout` measures it: the layout is made \
              before the first of its cases and dismantled after the last, and one stands at a time. **All \
              data on its devices is lost**; [LAYOUTS.md](LAYOUTS.md) has the guard rails. Which keys a \
              recipe heeds stands with each key; others are refused.",
    sweeps: Sweeps::None,
    shared: &[],
    works: &[],
    keys: &[
        Key {
            name: "name",
            kind: Kind::Name,
            absent: Absent::Refused,
            meaning: "What targets call it; unique in the study.",
        },
        Key {
            name: "recipe",
            kind: Kind::Word(RECIPES),
            absent: Absent::Refused,
            meaning: "How the devices are put together.",
        },
        Key {
            name: "title",
            kind: Kind::Text,
            absent: Absent::Described("its name"),
            meaning: "What the report calls it, and its targets that have no title of their own.",
        },
        Key {
            name: "stands_for",
            kind: Kind::Text,
            absent: Absent::Described("none"),
            meaning: "The published layout that it stands for, in your words; holds for its targets too.",
        },
        Key {
            name: "devices",
            kind: Kind::Texts("[\"/dev/nvme0n1\", \"S3P2000A\"]"),
            absent: Absent::Described("needed; `own` may do without, `existing` and `lustre` have none"),
            meaning: "The devices in the order of the members, each by path, serial number or world wide name. \
                      `--set 'layout.*.devices=[…]'` names others.",
        },
        Key {
            name: "mount_point",
            kind: Kind::Path,
            absent: Absent::Described("needed, but for `raw`"),
            meaning: "Where it is mounted. `per-device` has a directory for each device below it, `lvm` one for \
                      each volume by its name; of `existing` it is the directory that is there, of `lustre` one \
                      that is made on it.",
        },
        Key {
            name: "file_system",
            kind: Kind::Text,
            absent: Absent::Described("`\"xfs\"`; needed by `gpfs`"),
            meaning: "`per-device`, `md`, `imsm`, `lvm`: `\"xfs\"`, `\"ext4\"` or `\"btrfs\"`. `gpfs`: the name of the \
                      file system, as `\"p3700\"`.",
        },
        Key {
            name: "make_options",
            kind: Kind::Texts("[\"-f\", \"-K\", \"-d\", \"su=128k,sw=1\"]"),
            absent: Absent::Described("none"),
            meaning: "`per-device`, `md`, `imsm`, `lvm`: words for `mkfs`.",
        },
        Key {
            name: "mount_options",
            kind: Kind::Text,
            absent: Absent::Described("none"),
            meaning: "`per-device`, `btrfs`, `md`, `imsm`, `lvm`: options of `mount`, as `\"noatime,nodiratime\"`. They \
                      are read back, and a difference is warned about.",
        },
        Key {
            name: "chunk",
            kind: Kind::Size,
            absent: Absent::Described("`\"512KiB\"`, as mdadm has it"),
            meaning: "`md`, `imsm`: bytes on a member before the next one comes.",
        },
        Key {
            name: "node",
            kind: Kind::Path,
            absent: Absent::Described("`\"/dev/md0\"`"),
            meaning: "`md`, `imsm`: the array.",
        },
        Key {
            name: "group",
            kind: Kind::Name,
            absent: Absent::Described("`\"ioproof\"`"),
            meaning: "`lvm`: the name of the volume group.",
        },
        Key {
            name: "stripe",
            kind: Kind::Size,
            absent: Absent::Described("needed by `lvm`; of `lustre` that of the file system"),
            meaning: "`lvm`, `lustre`: bytes on a device before the next one comes.",
        },
        Key {
            name: "volumes",
            kind: Kind::Texts("[\"data=3TB\", \"work\"]"),
            absent: Absent::Described("`[\"data\"]`"),
            meaning: "`lvm`: the volumes, each with its size after `=`; those without one share evenly what is left. \
                      Each is a member of a target.",
        },
        Key {
            name: "block",
            kind: Kind::Size,
            absent: Absent::Described("needed by `gpfs`"),
            meaning: "`gpfs`: the block size (`-B`).",
        },
        Key {
            name: "nodes",
            kind: Kind::Count(1, NODES_MAX),
            absent: Absent::Described("32, as GPFS has it"),
            meaning: "`gpfs`: nodes that will mount it (`-n`).",
        },
        Key {
            name: "nsd_list",
            kind: Kind::Path,
            absent: Absent::Described("needed by `gpfs`"),
            meaning: "`gpfs`: the file that lists the NSDs (`-F`).",
        },
        Key {
            name: "stripe_count",
            kind: Kind::Count(1, STRIPE_COUNT_MAX),
            absent: Absent::Described("needed by `lustre`"),
            meaning: "`lustre`: over how many targets a file goes (`-c`).",
        },
        Key {
            name: "first",
            kind: Kind::Count(0, STRIPE_COUNT_MAX),
            absent: Absent::Described("any"),
            meaning: "`lustre`: on which target it starts (`-i`).",
        },
        Key {
            name: "create",
            kind: Kind::Texts("[\"mkfs.xfs -K /dev/lxvm/p3700\", \"mount /dev/lxvm/p3700 {mount}\"]"),
            absent: Absent::Described("needed by `own`"),
            meaning: "`own`: commands that make and mount it, in this order. `{devices}`, `{device0}` … and `{mount}` \
                      stand for what their names say.",
        },
        Key {
            name: "verify",
            kind: Kind::Texts("[\"mountpoint {mount}\"]"),
            absent: Absent::Described("nothing is looked at"),
            meaning: "`own`: commands that end with 0 if it is what it should be.",
        },
        Key {
            name: "destroy",
            kind: Kind::Texts("[\"umount {mount}\"]"),
            absent: Absent::Described("needed by `own`"),
            meaning: "`own`: commands that undo all of `create`.",
        },
    ],
};
