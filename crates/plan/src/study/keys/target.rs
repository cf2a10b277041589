//! The keys of `[[target]]`.

use crate::study::kind::{Absent, Key, Kind, NUMBER_LEAST, Sweeps, Table};

/// More devices than the largest systems have.
const DEVICES_MAX: u64 = 1 << 20;

/// `[[target]]`.
pub(in crate::study) const TARGET: Table = Table {
    name: "target",
    named_by: Some("name"),
    meaning: "A place to measure. One of `path`, `paths`, `directory`, `device`, `disks` and `layout` says where it \
              is. Relative paths start from the directory in which `ioproof` is called.",
    sweeps: Sweeps::None,
    shared: &[],
    works: &[],
    keys: &[
        Key {
            name: "name",
            kind: Kind::Name,
            absent: Absent::Refused,
            meaning: "What workloads call it; unique in the study.",
        },
        Key {
            name: "path",
            kind: Kind::Path,
            absent: Absent::Described("another key says where"),
            meaning: "The file. With `sharing = \"per-task\"` each task's number is appended to it.",
        },
        Key {
            name: "paths",
            kind: Kind::Paths,
            absent: Absent::Described("another key says where"),
            meaning: "Several files, as one for each device: task *t* uses the path *t* modulo their number. \
                      Needs `sharing = \"per-task\"`.",
        },
        Key {
            name: "directory",
            kind: Kind::Path,
            absent: Absent::Described("another key says where"),
            meaning: "A directory that exists. The file in it is called `ioproof-NAME.data`, NAME being the \
                      target's name.",
        },
        Key {
            name: "device",
            kind: Kind::Path,
            absent: Absent::Described("another key says where"),
            meaning: "A block device, as `/dev/nvme1n1`. It is read and written as it is, by tasks that share \
                      it. It is written only when `--destroy-data-on` names it as well.",
        },
        Key {
            name: "disks",
            kind: Kind::Paths,
            absent: Absent::Described("another key says where"),
            meaning: "Several block devices, as a list of paths: task *t* has the device *t* for itself, as it is. \
                      A workload on them has as many tasks as there are devices, and `sharing = \"per-task\"`. \
                      They are written only when `--destroy-data-on` names each of them as well.",
        },
        Key {
            name: "layout",
            kind: Kind::Reference("layout"),
            absent: Absent::Described("another key says where"),
            meaning: "The name of a `[[layout]]`, which is made before this target is measured. Each of its \
                      directories is a member, with a file called `ioproof-NAME.data`; of `raw` each device.",
        },
        Key {
            name: "volume",
            kind: Kind::Text,
            absent: Absent::Described("all volumes"),
            meaning: "Only this volume of a `layout` of several.",
        },
        Key {
            name: "work",
            kind: Kind::Path,
            absent: Absent::Described("the second of several directories or volumes, else the same place"),
            meaning: "Where jobs keep data for their own later steps (SASWORK): a directory; with a `layout` the name \
                      of one of its volumes, or a directory from the root.",
        },
        Key {
            name: "utility",
            kind: Kind::Path,
            absent: Absent::Described("the third of several directories or volumes, else as `work`"),
            meaning: "Where steps of jobs keep data for themselves, as the runs of a sort (UTILLOC): written as \
                      `work`.",
        },
        Key {
            name: "title",
            kind: Kind::Text,
            absent: Absent::Described("that of its layout, or its name"),
            meaning: "What the report calls it.",
        },
        Key {
            name: "stands_for",
            kind: Kind::Text,
            absent: Absent::Described("what its layout says"),
            meaning: "The published layout that it stands for, in your words.",
        },
        Key {
            name: "layer",
            kind: Kind::Word(&[
                ("node-local", "each node has its own: no shared file, and no reading back across nodes"),
                ("shared", "all nodes reach the same files"),
            ]),
            absent: Absent::Described("nothing is said"),
            meaning: "Which nodes can reach it.",
        },
        Key {
            name: "client",
            kind: Kind::Word(&[
                ("local-to-server", "on the server of the storage"),
                ("remote", "behind a network"),
            ]),
            absent: Absent::Described("nothing is said"),
            meaning: "Where the measuring program runs, seen from the storage.",
        },
        Key {
            name: "devices",
            kind: Kind::Count(1, DEVICES_MAX),
            absent: Absent::Described("as many as its layout has"),
            meaning: "Devices or members that it is made of. Scalability and limits per device count them.",
        },
        Key {
            name: "baseline",
            kind: Kind::Reference("target"),
            absent: Absent::Described("none"),
            meaning: "The target of one device that scalability is counted from.",
        },
        Key {
            name: "above",
            kind: Kind::Reference("target"),
            absent: Absent::Described("none"),
            meaning: "The target that this one is built on: the layer below it, as a device below its file system. \
                      The report shows what each layer costs.",
        },
        Key {
            name: "fs_block",
            kind: Kind::Size,
            absent: Absent::Described("nothing is said"),
            meaning: "Bytes of a block of a file system that spreads each block over all its devices. With `above` \
                      and `devices` the report predicts its rate from that of one device with strips of \
                      `fs_block` ÷ `devices`.",
        },
        Key {
            name: "server_memory",
            kind: Kind::Size,
            absent: Absent::Described("nothing is said"),
            meaning: "Memory of all servers. A workload with less than 4 times as much data is refused, because \
                      the servers could answer from memory. Reads of a file system whose devices cannot be watched \
                      from here keep a commitment only with it: docs/AUDIT.md.",
        },
        Key {
            name: "server_collect",
            kind: Kind::Texts(
                "[\"ssh oss1 lctl get_param obdfilter.*.stats osd-*.*.read_cache_enable \
                 osd-*.*.writethrough_cache_enable\", \"lfs getstripe /scratch/bench\"]",
            ),
            absent: Absent::Described("nothing is asked"),
            meaning: "Commands that print what servers and clients have counted and how they are set. A shell of \
                      the first process runs each before and after every phase that is a result, once somebody has \
                      agreed to them: see *What servers tell*.",
        },
        Key {
            name: "server_time_limit",
            kind: Kind::Time,
            absent: Absent::Value("\"30s\""),
            meaning: "How long each command of `server_collect` may take. One that takes longer is ended, and its \
                      figure says so.",
        },
        Key {
            name: "caches",
            kind: Kind::Size,
            absent: Absent::Described("nothing is said"),
            meaning: "Caches of clients, servers and controllers together. A workload with less than 20 times as \
                      much data is warned about.",
        },
        Key {
            name: "rack_units",
            kind: Kind::Number(NUMBER_LEAST, 1e9),
            absent: Absent::Described("nothing is said"),
            meaning: "Rack units, or what else the cost is counted in.",
        },
        Key {
            name: "ports",
            kind: Kind::Count(1, DEVICES_MAX),
            absent: Absent::Described("nothing is said"),
            meaning: "Ports of switches that it takes: time × ports stands in its cost.",
        },
        Key {
            name: "slots",
            kind: Kind::Count(1, DEVICES_MAX),
            absent: Absent::Described("nothing is said"),
            meaning: "Slots that there are for its devices. The report says whether `devices` fit.",
        },
        Key {
            name: "capacity",
            kind: Kind::Size,
            absent: Absent::Described("nothing is said"),
            meaning: "Bytes that it holds. The report says whether the data of the workloads on it fit, and those of \
                      `needs`.",
        },
        Key {
            name: "needs",
            kind: Kind::Size,
            absent: Absent::Described("what the workloads of the study put there"),
            meaning: "Bytes that the real work would put there, of which the study measures a part.",
        },
    ],
};
