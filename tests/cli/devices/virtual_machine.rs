//! A separate kernel in a virtual machine: md arrays, LVM volumes, NVMe devices on PCI, and NFS.
//!
//! These tests run only when started by name, since each of them boots a machine. Start them with
//! `scripts/virtual-machine.sh`, which also fetches what they need.

use std::time::Duration;

use testbed::{Finished, Program, Scratch, VirtualMachine, VirtualMachineBuilder, skipped};

use crate::desk::{assert_says, hash_in};

/// The devices of a case by serial number, for the command line of the machine.
fn named(devices: usize) -> String {
    (0..devices).map(|device| format!(" --device {}", VirtualMachine::serial(device))).collect()
}

/// A machine and a directory that it shares with the host.
struct Machine {
    machine: VirtualMachine,
    shared: Scratch,
    // Intel's arrays need an Intel controller, and disks with serial numbers that it accepts.
    variables: Vec<(&'static str, &'static str)>,
}

impl Machine {
    /// Returns `None` if no machine is available.
    fn boot(of: VirtualMachineBuilder) -> Option<Self> {
        if skipped(VirtualMachine::available()) {
            return None;
        }
        let shared = Scratch::on_disk().expect("a directory");
        let machine = of.shared(shared.path()).boot().expect("a virtual machine");
        Some(Self { machine, shared, variables: Vec::new() })
    }

    /// The program in the machine.
    fn ioproof(&self, words: &str) -> Finished {
        let mut program = Program::new(env!("CARGO_BIN_EXE_ioproof"))
            .args(words.split_whitespace())
            .current_dir(self.shared.path())
            .limit(Duration::from_secs(400));
        for (name, value) in &self.variables {
            program = program.env(name, value);
        }
        self.machine.run(&program).expect("it ends")
    }

    /// The output of shell commands run there; each must succeed.
    fn shell(&self, lines: &str) -> String {
        self.machine.shell(lines).expect("it ends").expect_code(0).stdout
    }

    /// Nodes of the devices, in order.
    fn nodes(&self, devices: usize) -> Vec<String> {
        let listed = self.shell("lsblk -dnpo NAME,SERIAL");
        let node = |serial: &str| {
            let line = listed.lines().find(|line| line.ends_with(serial)).expect("a device");
            line.split_whitespace().next().expect("a name").to_owned()
        };
        (0..devices).map(|device| node(&VirtualMachine::serial(device))).collect()
    }

    /// Fails if anything of a layout is left: an array, a volume, a mount, or a signature on these devices. The
    /// program's own guard must also accept the devices.
    fn nothing_left(&self, devices: usize) {
        let nodes = self.nodes(devices).join(" ");
        let left = self.shell(&format!(
            "grep '^md' /proc/mdstat || :\nls /dev/mapper | grep -v control || :\nfindmnt -no TARGET -t xfs || :\n\
             for node in {nodes}; do wipefs -n $node; done\nls -A /run/layouts 2>/dev/null || :"
        ));
        assert_eq!(left, "", "left behind");
        let list = self.ioproof("layout list").expect_code(0);
        assert_says(&list.stdout, &["there is no layout"]);
        let plan = self.ioproof(&format!("layout plan raw{}", named(devices))).expect_code(0);
        assert_says(&plan.stdout, &["nothing prevents it"]);
    }
}

#[test]
#[ignore = "boots a virtual machine: scripts/virtual-machine.sh"]
fn twelve_devices_become_an_array_as_published_and_are_blank_again() {
    let Some(machine) = Machine::boot(VirtualMachine::builder().devices(12)) else { return };
    let words = format!("md --chunk 128KiB{}", named(12));
    let made =
        machine.ioproof(&format!("layout create {words} --mount /run/layouts/md --yes")).expect_code(0);
    assert_says(&made.stdout, &["mdadm --create /dev/md0 --chunk=128 --level=0 --raid-devices=12"]);
    let seen = machine.shell(
        "cat /proc/mdstat; cat /sys/block/md0/md/raid_disks /sys/block/md0/md/chunk_size; xfs_info /run/layouts/md\n\
         for member in 0 1 2 3 4 5 6 7 8 9 10 11; do \
         cat /sys/block/md0/md/rd$member/block/device/serial; done",
    );
    assert_says(&seen, &["active raid0", "12 131072", "sunit=32 swidth=384 blks"]);
    let serials: Vec<&str> = seen.lines().filter(|line| line.starts_with("TESTBED")).map(str::trim).collect();
    assert_eq!(serials, (0..12).map(VirtualMachine::serial).collect::<Vec<_>>(), "the order of the members");
    let verified = machine.ioproof("layout verify md").expect_code(0);
    assert_says(&verified.stdout, &["12"]);
    let again =
        machine.ioproof(&format!("layout create {words} --name again --mount /run/layouts/again --yes"));
    assert_says(&again.expect_code(3).stderr, &["belongs to layout md", "ioproof layout destroy md"]);
    let _ = machine.ioproof("layout destroy md --yes").expect_code(0);
    machine.nothing_left(12);
}

#[test]
#[ignore = "boots a virtual machine: scripts/virtual-machine.sh"]
fn intels_metadata_makes_a_container_an_array_and_a_partition() {
    let Some(mut machine) = Machine::boot(VirtualMachine::builder().devices(4)) else { return };
    let create = format!("layout create imsm --chunk 128KiB --mount /run/layouts/imsm{} --yes", named(4));
    let refused = machine.ioproof(&create).expect_code(4);
    assert_says(&refused.stderr, &["not attached to Intel(R) RAID controller", "were undone"]);
    machine.nothing_left(4);
    machine.variables = vec![("IMSM_NO_PLATFORM", "1"), ("IMSM_DEVNAME_AS_SERIAL", "1")];
    let _ = machine.ioproof(&create).expect_code(0);
    let seen = machine.shell(
        "cat /proc/mdstat; findmnt -no SOURCE /run/layouts/imsm; xfs_info /run/layouts/imsm\n\
         for member in 0 1 2 3; do cat /sys/block/md0/md/rd$member/block/device/serial; done",
    );
    assert_says(&seen, &["super external:/md127/0 128k chunks", "/dev/md0p1", "sunit=32 swidth=128 blks"]);
    let serials: Vec<&str> = seen.lines().filter(|line| line.starts_with("TESTBED")).map(str::trim).collect();
    assert_eq!(serials, (0..4).map(VirtualMachine::serial).collect::<Vec<_>>(), "the order of the members");
    let _ = machine.ioproof("layout verify imsm").expect_code(0);
    let _ = machine.ioproof("layout destroy imsm --yes").expect_code(0);
    machine.nothing_left(4);
}

/// Five devices and three file systems, as printed in a study.
#[test]
#[ignore = "boots a virtual machine: scripts/virtual-machine.sh"]
fn volumes_are_striped_over_all_devices() {
    let Some(machine) = Machine::boot(VirtualMachine::builder().devices(5).bytes(1 << 30)) else { return };
    let words = "--stripe 128KiB --group sas --volume sasdata=1280MiB --volume saswork=1280MiB --volume utilloc \
                 --mount-options noatime,nodiratime --mount /run/layouts/sas";
    let _ = machine.ioproof(&format!("layout create lvm {words}{} --yes", named(5))).expect_code(0);
    for volume in ["sasdata", "saswork", "utilloc"] {
        let seen = machine.shell(&format!(
            "lvs --noheadings -o stripes,stripe_size sas/{volume}; findmnt -no OPTIONS /run/layouts/sas/{volume}; \
             xfs_info /run/layouts/sas/{volume}"
        ));
        assert_says(&seen, &["5 128.00k", "noatime,nodiratime", "sunit=32 swidth=160 blks"]);
    }
    let _ = machine.ioproof("layout verify lvm").expect_code(0);
    let _ = machine.ioproof("layout destroy lvm --yes").expect_code(0);
    machine.nothing_left(5);
}

/// A typo in a device name, on a machine where other devices hold data.
#[test]
#[ignore = "boots a virtual machine: scripts/virtual-machine.sh"]
fn no_device_is_taken_that_somebody_else_uses() {
    let Some(machine) = Machine::boot(VirtualMachine::builder().devices(7)) else { return };
    let nodes = machine.nodes(7);
    // udev would assemble an array again as soon as it is stopped.
    let _ = machine.shell(&format!(
        "mkdir -p /etc/mdadm\necho AUTO -all >/etc/mdadm/mdadm.conf\n\
         mdadm --create /dev/md7 --run --level=0 --raid-devices=2 {} {}\nmdadm --stop /dev/md7\n\
         mdadm --assemble /dev/md7 {0} {1}\nmdadm --create /dev/md8 --run --level=1 --force --raid-devices=1 {6}\n\
         mdadm --stop /dev/md8\n\
         pvcreate -q {2}\nvgcreate -q others {2}\n\
         parted -s {3} mklabel gpt mkpart data xfs 1MiB 100%\nmkdir -p /run/mounted\n\
         mkfs.ext4 -q {4}\nmount -o ro {4} /run/mounted\nmkswap -q {5}\nswapon {5}\nudevadm settle",
        nodes[0], nodes[1], nodes[2], nodes[3], nodes[4], nodes[5], nodes[6]
    ));
    let sums = || machine.shell(&format!("sync; md5sum {}", nodes.join(" ")));
    let before = sums();
    let cases: [(usize, &[&str]); 7] = [
        (0, &["part of md7"]),
        (1, &["part of md7"]),
        (2, &["LVM2_member"]),
        (3, &["partition"]),
        (4, &["mounted at /run/mounted"]),
        (5, &["swap"]),
        (6, &["linux_raid_member"]),
    ];
    for (device, words) in cases {
        for recipe in ["raw", "per-device"] {
            let serial = VirtualMachine::serial(device);
            let line = format!(
                "layout create {recipe} --mount /run/layouts/new --device {serial} --destroy-data-on unknown-data --yes"
            );
            let line = if recipe == "raw" { line.replace(" --mount /run/layouts/new", "") } else { line };
            assert_says(&machine.ioproof(&line).expect_code(3).stderr, words);
        }
    }
    assert_eq!(sums(), before);
    assert_says(&machine.ioproof("layout list").expect_code(0).stdout, &["there is no layout"]);
}

/// The program is killed at every stage of making an array and of dismantling it.
#[test]
#[ignore = "boots a virtual machine: scripts/virtual-machine.sh"]
fn what_a_killed_program_leaves_is_taken_down() {
    let Some(mut machine) = Machine::boot(VirtualMachine::builder().devices(3)) else { return };
    machine.variables = vec![("IMSM_NO_PLATFORM", "1"), ("IMSM_DEVNAME_AS_SERIAL", "1")];
    // What the killed program had done by the time it was killed.
    let stages = [
        ("md", "grep -q ^md0 /proc/mdstat"),
        ("md", "findmnt -n /run/layouts/new >/dev/null"),
        ("imsm", "grep -q imsm /proc/mdstat"),
        ("imsm", "[ -e /dev/md0p1 ]"),
        ("lvm --stripe 128KiB", "pvs 2>/dev/null | grep -q nvme"),
        ("lvm --stripe 128KiB", "lvs 2>/dev/null | grep -q data"),
    ];
    for (recipe, stage) in stages {
        let line = format!("layout create {recipe} --mount /run/layouts/new{} --yes", named(3));
        // The program refuses as long as the last command of the killed program still holds a device.
        let _ = machine.shell(&format!(
            "export IMSM_NO_PLATFORM=1 IMSM_DEVNAME_AS_SERIAL=1\n\
             create() {{ {} {line} >/run/created 2>&1 & }}\ncreate\n\
             until {stage}; do kill -0 $! 2>/dev/null || {{ cat /run/created; sleep 2; create; }}; sleep 0.05; done\n\
             kill -9 $!\nwait || :",
            env!("CARGO_BIN_EXE_ioproof")
        ));
        // Its last command may still be running; the test does not wait for it.
        let listed = machine.ioproof("layout list").expect_code(0);
        let name = recipe.split(' ').next().expect("a word");
        assert_says(&listed.stdout, &[name]);
        let cleaned = machine.ioproof("layout clean --yes");
        assert_eq!(cleaned.code, Some(0), "{stage}: {}{}", cleaned.stdout, cleaned.stderr);
        machine.nothing_left(3);
    }
}

#[test]
#[ignore = "boots a virtual machine: scripts/virtual-machine.sh"]
fn a_study_goes_over_an_array_and_single_devices() {
    let Some(machine) = Machine::boot(VirtualMachine::builder().devices(3)) else { return };
    let devices: Vec<String> =
        (0..3).map(|device| format!("\"{}\"", VirtualMachine::serial(device))).collect();
    let mut study = String::new();
    for (name, recipe) in [("each", "per-device"), ("striped", "md"), ("volumes", "lvm")] {
        study += &format!(
            "[[layout]]\nname = \"{name}\"\nrecipe = \"{recipe}\"\ndevices = [{}]\nmount_point = \"/run/layouts/{name}\"\n",
            devices.join(", ")
        );
        match recipe {
            "md" => study += "chunk = \"128KiB\"\n",
            "lvm" => study += "stripe = \"128KiB\"\n",
            _ => {}
        }
        study += &format!(
            "[[target]]\nname = \"{name}\"\nlayout = \"{name}\"\n\
             [[workload]]\nname = \"on-{name}\"\ntarget = \"{name}\"\ntasks = 3\nsharing = \"per-task\"\n\
             direct = true\ntransfer = \"1MiB\"\nsize = \"16MiB\"\n"
        );
    }
    std::fs::write(machine.shared.path().join("study.toml"), study).expect("a study");
    let refused = machine.ioproof("run study.toml --yes --out record").expect_code(3);
    let hash = hash_in(&refused.stderr);
    let _ =
        machine.ioproof(&format!("run study.toml --yes --allow-commands {hash} --out record")).expect_code(0);
    let report = machine.ioproof("report --format json record").expect_code(0);
    let report: serde_json::Value = serde_json::from_str(&report.stdout).expect("valid JSON");
    assert_eq!(report["run"]["state"], "complete");
    machine.nothing_left(3);
}

/// Twelve cards in slots of two PCI host bridges, each local to one of two NUMA nodes.
#[test]
#[ignore = "boots a virtual machine: scripts/virtual-machine.sh"]
fn slots_serial_numbers_and_memory_nodes_are_those_of_the_machine() {
    let Some(machine) = Machine::boot(VirtualMachine::builder().devices(12)) else { return };
    let facts = machine.ioproof("host facts --json").expect_code(0).stdout;
    let facts: serde_json::Value = serde_json::from_str(&facts).expect("valid JSON");
    assert_eq!(facts["host"]["numa_nodes"]["known"], 2, "{}", facts["host"]["numa_nodes"]);
    let devices = facts["host"]["devices"].as_array().expect("a list");
    for card in 0..12 {
        let serial = VirtualMachine::serial(card);
        let device = devices.iter().find(|device| device["serial"]["known"] == serial.as_str());
        let device = device.unwrap_or_else(|| panic!("no {serial} in {devices:?}"));
        assert_eq!(device["model"]["known"], "QEMU NVMe Ctrl");
        assert_eq!(device["numa_node"]["known"], card / 6, "{device}");
        let pcie = device["pcie"].to_string();
        assert!(pcie.contains(&format!("\"{}\"", card + 1)), "slot {} of {pcie}", card + 1);
    }
    let shown = machine.ioproof("host facts").expect_code(0).stdout;
    assert_says(&shown, &["TESTBED00", "TESTBED11", "QEMU NVMe Ctrl", "node 1"]);
    // The kernel manages NVMe interrupts itself and accepts no other affinity for them.
    let irq = machine.shell("for irq in /proc/irq/*/nvme0q1; do echo ${irq%/nvme0q1}; done");
    let irq = irq.trim();
    let written = machine.machine.shell(&format!("echo 1 > {irq}/smp_affinity")).expect("it ends");
    assert_ne!(written.code, Some(0), "the kernel took it");
    let plan = machine.ioproof("host tune irq-affinity --plan");
    let plan = plan.expect_code(0).stdout;
    assert_says(&plan, &["nvme0q1", "its driver provides no hint", "nothing to write"]);
    let _ = machine.ioproof("host tune irq-affinity --yes").expect_code(4);
    let restored = machine.ioproof("host restore --yes").expect_code(0);
    assert_says(&restored.stdout, &["nothing to restore"]);
}

/// A server and its client in one machine: the client's counters tell what its page cache served.
#[test]
#[ignore = "boots a virtual machine: scripts/virtual-machine.sh"]
fn a_client_of_nfs_tells_what_it_took_from_its_server() {
    let Some(machine) = Machine::boot(VirtualMachine::builder().devices(1)) else { return };
    let node = machine.nodes(1).remove(0);
    let _ = machine.shell(&format!(
        "ip link set lo up && mkfs.ext4 -q {node} && mkdir -p /srv /mnt/nfs && mount {node} /srv\n\
         modprobe nfsd && mount -t nfsd nfsd /proc/fs/nfsd\n\
         mkdir -p /var/lib/nfs/v4recovery && : >/var/lib/nfs/etab && : >/var/lib/nfs/rmtab\n\
         echo '/srv *(rw,fsid=0,no_root_squash,insecure,no_subtree_check)' >/etc/exports\n\
         exportfs -a && rpc.mountd -N 3 && rpc.nfsd -N 3 2\n\
         mount -t nfs4 127.0.0.1:/ /mnt/nfs"
    ));
    // A client forgets its pages when replies overtake each other, as on a busy host.
    let is_cached = (0..5).any(|attempt| read_over_nfs(&machine, false, attempt) < 0.05);
    assert!(is_cached, "the client read everything from its server each time");
    let direct = read_over_nfs(&machine, true, 0);
    assert!((0.95..=1.25).contains(&direct), "{direct}");
}

/// Reads 8 MiB that were written over NFS before. The share that came from the server, as the counters of the client
/// say, must be the one of the report.
fn read_over_nfs(machine: &Machine, direct: bool, attempt: u32) -> f64 {
    let study = format!(
        "[protocol]\nrepetitions = 1\nphase_min = \"1ms\"\n[[target]]\nname = \"t\"\ndirectory = \"/mnt/nfs\"\n\
         [[workload]]\nname = \"w\"\ntransfer = \"64KiB\"\nsize = \"8MiB\"\ndirect = {direct}\n"
    );
    std::fs::write(machine.shared.path().join("study.toml"), study).expect("a study");
    let record = format!("record-{direct}-{attempt}");
    // The sixth number of an operation is the number of bytes received.
    let received = || {
        let read = machine.shell("awk '$1 == \"READ:\" { print $6 }' /proc/self/mountstats");
        read.trim().parse::<f64>().expect("the counter of READ")
    };
    let before = received();
    let _ = machine.ioproof(&format!("run study.toml --yes --out {record}")).expect_code(0);
    let counted = (received() - before) / f64::from(8 << 20);
    let report = machine.ioproof(&format!("report --format json {record}")).expect_code(0).stdout;
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let rows = report["statements"]["server_side"].as_array().expect("a table");
    let told = rows.iter().find_map(|row| row["read_over_wire"].as_f64()).expect("reads");
    assert!((told - counted).abs() < 0.05, "direct {direct}: {told} told, {counted} counted: {rows:?}");
    let audit = machine.ioproof(&format!("check --json {record}")).stdout;
    assert_says(&audit, &[if counted > 0.5 { "memory not excluded" } else { "cached" }]);
    counted
}

/// Rows of the phases of a record, each with its wall time in nanoseconds.
fn wall_times(record: &std::path::Path) -> Vec<u64> {
    let run = record::Run::open(record).expect("a record");
    assert_eq!(run.damage, []);
    run.all_phases().map(|row| row.wall_ns).collect()
}

/// Two faults of the matrix in `docs/RELIABILITY.md` that would harm the test host: its clock is set, and a device is
/// removed from its bus.
#[test]
#[ignore = "boots a virtual machine: scripts/virtual-machine.sh"]
fn a_clock_that_is_set_and_a_device_that_vanishes_lose_and_leave_nothing() {
    let Some(machine) = Machine::boot(VirtualMachine::builder().devices(1)) else { return };
    // First in memory, where this kernel supports no direct transfers; then on a device, bypassing the page cache.
    for (study, direct) in [("stepped", false), ("vanished", true)] {
        let text = format!(
            "[protocol]\nrepetitions = 8\n[[target]]\nname = \"data\"\ndirectory = \"/run/data\"\n\
             [[workload]]\nname = \"moves\"\ntransfer = \"16KiB\"\nsize = \"256KiB\"\ndirect = {direct}\n\
             duration = \"500ms\"\n"
        );
        std::fs::write(machine.shared.path().join(format!("{study}.toml")), text).expect("written");
    }
    let program = env!("CARGO_BIN_EXE_ioproof");
    let start = |out: &str| {
        format!(
            "{program} run {out}.toml --yes --out {out} >{out}.log 2>&1 & run=$!\n\
             until grep -q phase-finished {out}/journal.jsonl 2>/dev/null; do\n\
             kill -0 $run || {{ cat {out}.log; exit 1; }}\nsleep 0.2; done\n"
        )
    };
    // Forward by one hour, and back by two.
    let _ = machine.shell(&format!(
        "mkdir -p /run/data\ncd {}\n{}date -s @$(($(date +%s) + 3600)) >/dev/null\nsleep 1\n\
         date -s @$(($(date +%s) - 7200)) >/dev/null\nwait $run\nls -A /run/data",
        machine.shared.path().display(),
        start("stepped")
    ));
    let took = wall_times(&machine.shared.path().join("stepped"));
    assert_eq!(took.len(), 16, "eight writes and reads");
    let longest = Duration::from_nanos(took.into_iter().max().unwrap_or_default());
    assert!(longest < Duration::from_secs(600), "a phase took {longest:?}: a clock was set in it");
    let _ = machine.ioproof("report stepped --format text").expect_code(0);

    let node = machine.nodes(1).remove(0);
    let name = node.trim_start_matches("/dev/");
    let left = machine.shell(&format!(
        "mkfs.ext4 -q {node}\nmount {node} /run/data\necho stays >/run/data/mine\nsync\ncd {}\n{}\
         echo 1 >/sys/block/{name}/device/device/remove\ncode=0; wait $run || code=$?\n\
         test $code = 5 || {{ echo \"ended with $code\"; cat vanished.log; exit 1; }}\n\
         umount -l /run/data\necho 1 >/sys/bus/pci/rescan\nsleep 5\n\
         mount /dev/disk/by-id/*{serial} /run/data 2>/dev/null || mount $(lsblk -dnpo NAME,SERIAL | sed -n 's/ *{serial}$//p') /run/data\n\
         {program} clean /run/data --yes >/dev/null\nls -A /run/data",
        machine.shared.path().display(),
        start("vanished"),
        serial = VirtualMachine::serial(0),
    ));
    assert_eq!(left, "lost+found\nmine\n");
    assert!(!wall_times(&machine.shared.path().join("vanished")).is_empty(), "what had ended is kept");
    let _ = machine.ioproof("run --yes --resume vanished").expect_code(0);
    assert_eq!(wall_times(&machine.shared.path().join("vanished")).len(), 16);
}
