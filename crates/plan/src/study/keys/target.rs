//! The keys of `[[target]]`.

use crate::study::table::definition::{Key, NUMBER_LEAST, Setter, Table, ValueKind};

/// Limit on devices; the largest systems have fewer.
const DEVICES_MAX: u64 = 1 << 20;

/// `[[target]]`.
pub(crate) const TARGET: Table = Table {
    name: "target",
    named_by: Some("name"),
    meaning: "A place to measure. One of `path`, `paths`, `directory`, `device`, `disks` and `layout` \
                gives its location. Relative paths start from the directory in which `ioproof` is called.",
    keys: &[
        Key::new("name", ValueKind::Name).means("The name that workloads use; unique in the study."),
        Key::new("path", ValueKind::Path)
            .left_out("another key gives the location")
            .means("The file. With `sharing = \"per-task\"` each task's number is appended to it."),
        Key::new("paths", ValueKind::Paths).left_out("another key gives the location").means(
            "Several files, for example one for each device: task *t* uses the path *t* modulo their \
                number. Needs `sharing = \"per-task\"`.",
        ),
        Key::new("directory", ValueKind::Path).left_out("another key gives the location").means(
            "A directory that exists. The file in it is called `ioproof-NAME.data`, NAME \
                being the target's name.",
        ),
        Key::new("device", ValueKind::Path).left_out("another key gives the location").means(
            "A block device, for example `/dev/nvme1n1`. It is read and written without a file system, by \
                tasks that share it. It is written only when `--destroy-data-on` names it as well.",
        ),
        Key::new("disks", ValueKind::Paths).left_out("another key gives the location").means(
            "Several block devices, as a list of paths: task *t* has the device *t* to itself, without a \
                file system. A workload on them has as many tasks as there are devices, and `sharing = \
                \"per-task\"`. They are written only when `--destroy-data-on` names each of them as well.",
        ),
        Key::new("layout", ValueKind::Reference("layout")).left_out("another key gives the location").means(
            "The name of a `[[layout]]`, which is created before this target is measured. Each of its \
                directories is a member, with a file called `ioproof-NAME.data`; for `raw`, each device is \
                one.",
        ),
        Key::new("volume", ValueKind::Text)
            .left_out("all volumes")
            .means("Only this volume of a `layout` with several."),
        Key::new("work", ValueKind::Path)
            .left_out("the second of several directories or volumes, otherwise the same place")
            .means(
                "Where jobs keep data for their own later steps (SASWORK): a directory; with a `layout` \
                the name of one of its volumes, or an absolute path.",
            ),
        Key::new("utility", ValueKind::Path)
            .left_out("the third of several directories or volumes, otherwise like `work`")
            .means(
                "Where steps of jobs keep their own temporary data, such as the runs of a sort (UTILLOC): \
                given like `work`.",
            ),
        Key::new("title", ValueKind::Text)
            .left_out("that of its layout, or its name")
            .means("Its title in the report.")
            .sets(Setter::Target(|target, value| target.title = value.text())),
        Key::new("stands_for", ValueKind::Text)
            .left_out("what its layout says")
            .means("The published layout that it stands for, in your words.")
            .sets(Setter::Target(|target, value| target.stands_for = value.text())),
        Key::new(
            "layer",
            ValueKind::Word(&[
                ("node-local", "each node has its own: no shared file, and no reading back across nodes"),
                ("shared", "all nodes reach the same files"),
            ]),
        )
        .left_out("not stated")
        .means("Which nodes can reach it.")
        .sets(Setter::Target(|target, value| value.put(&mut target.layer))),
        Key::new(
            "client",
            ValueKind::Word(&[
                ("local-to-server", "on the server of the storage"),
                ("remote", "behind a network"),
            ]),
        )
        .left_out("not stated")
        .means("Where the measuring program runs, seen from the storage.")
        .sets(Setter::Target(|target, value| value.put(&mut target.client))),
        Key::new("devices", ValueKind::Count(1, DEVICES_MAX))
            .left_out("as many as its layout has")
            .means(
                "Number of devices or members that it is made of. Scalability and limits per device count \
                    them.",
            )
            .sets(Setter::Target(|target, value| target.devices = value.count_u32())),
        Key::new("baseline", ValueKind::Reference("target"))
            .left_out("none")
            .means("The target of one device that scalability is measured against.")
            .sets(Setter::Target(|target, value| target.baseline = Some(value.text()))),
        Key::new("above", ValueKind::Reference("target"))
            .left_out("none")
            .means(
                "The target that this one is built on: the layer below it, such as a device below its file \
                system. The report shows what each layer costs.",
            )
            .sets(Setter::Target(|target, value| target.above = Some(value.text()))),
        Key::new("fs_block", ValueKind::Size)
            .left_out("not stated")
            .means(
                "Bytes of a block of a file system that spreads each block over all its devices. \
                With `above` and `devices` the report predicts its rate from that of one device \
                with strips of `fs_block` ÷ `devices`.",
            )
            .sets(Setter::Target(|target, value| target.fs_block = Some(value.bytes()))),
        Key::new("server_memory", ValueKind::Size)
            .left_out("not stated")
            .means(
                "Memory of all servers. A workload with less than 4 times as much data is refused, because \
                the servers could answer from memory. Reads of a file system whose devices cannot be \
                observed from here can keep a commitment only if it is given: docs/AUDIT.md.",
            )
            .sets(Setter::Target(|target, value| target.server_memory = Some(value.bytes()))),
        Key::new(
            "server_collect",
            ValueKind::Texts(
                "[\"ssh oss1 lctl get_param obdfilter.*.stats osd-*.*.read_cache_enable \
                osd-*.*.writethrough_cache_enable\", \"lfs getstripe /scratch/bench\"]",
            ),
        )
        .left_out("no commands")
        .means(
            "Commands that print the counters and settings of servers and clients. A shell of the first \
                process runs each before and after every phase that is a result, once somebody has agreed \
                to them: see *What servers tell*.",
        )
        .sets(Setter::Target(|target, value| target.server_collect = value.texts())),
        Key::new("server_time_limit", ValueKind::Time)
            .default("\"30s\"")
            .means(
                "How long each command of `server_collect` may take. One that takes longer is \
                ended, and its figure says so.",
            )
            .sets(Setter::Target(|target, value| target.server_time_limit = Some(value.nanos()))),
        Key::new("caches", ValueKind::Size)
            .left_out("not stated")
            .means(
                "Caches of clients, servers and controllers together. A workload with less than 20 times \
                as much data causes a warning. Of a local disk it is what lies behind the device: the memory of \
                the drive, of a RAID controller or an array, and the page cache of a hypervisor's host (0 with \
                QEMU's `cache=none`). `\"0\"` says that nothing there keeps data that is read. Promised reads \
                need this or `server_memory`, because no host can see it: docs/AUDIT.md.",
            )
            .sets(Setter::Target(|target, value| target.caches = Some(value.bytes()))),
        Key::new("rack_units", ValueKind::Number(NUMBER_LEAST, 1e9))
            .left_out("not stated")
            .means("Rack units, or another unit of the cost.")
            .sets(Setter::Target(|target, value| target.rack_units = value.number())),
        Key::new("ports", ValueKind::Count(1, DEVICES_MAX))
            .left_out("not stated")
            .means("Switch ports that it uses: time × ports is part of its cost.")
            .sets(Setter::Target(|target, value| target.ports = value.count_u32())),
        Key::new("slots", ValueKind::Count(1, DEVICES_MAX))
            .left_out("not stated")
            .means("Slots available for its devices. The report says whether `devices` fit.")
            .sets(Setter::Target(|target, value| target.slots = value.count_u32())),
        Key::new("capacity", ValueKind::Size)
            .left_out("not stated")
            .means(
                "Bytes that it can hold. The report says whether the data of the workloads on it fit, and \
                those of `needs`.",
            )
            .sets(Setter::Target(|target, value| target.capacity = Some(value.bytes()))),
        Key::new("needs", ValueKind::Size)
            .left_out("what the workloads of the study store there")
            .means("Bytes that the real work would store there, of which the study measures a part.")
            .sets(Setter::Target(|target, value| target.needs = Some(value.bytes()))),
    ],
    ..Table::PLAIN
};
