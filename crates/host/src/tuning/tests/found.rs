//! What each step finds and would write.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::fake_kernel::{C1E_ON, FakeKernel, host, plan};
use crate::fake::Tree;
use crate::tuning::{Compliance, Finding, SettingState, Severity, TuningContext, profile};

fn findings(tree: &Tree, name: &str) -> Vec<Finding> {
    let kernel = FakeKernel::of(tree);
    let context = TuningContext::new(tree.root(), &kernel, &[PathBuf::from("all")]).unwrap();
    profile(name).unwrap().steps[0].findings(&context)
}

fn writes(tree: &Tree, name: &str) -> Vec<String> {
    let kernel = FakeKernel::of(tree);
    let plan = plan(tree, &kernel, &[name]);
    plan.writes.iter().map(|write| write.setting.command(&write.new)).collect()
}

#[test]
fn interrupts_of_nvme_devices_and_no_others_go_where_the_driver_hints() {
    let tree = host()
        .directories(&["/proc/irq/25/nvme0q9"])
        .files(&[("/proc/irq/25/affinity_hint", "00,00000000\n"), ("/proc/irq/25/smp_affinity", "d3\n")]);
    assert_eq!(
        writes(&tree, "irq-affinity"),
        [
            "echo 00,00000001 > /proc/irq/24/smp_affinity",
            "echo 00,00000010 > /proc/irq/31/smp_affinity",
            "echo 80 > /proc/irq/107/smp_affinity",
        ]
    );
    let silent = &findings(&tree, "irq-affinity")[1];
    assert_eq!(silent.state.compliance, Compliance::NotHere("its driver provides no hint".to_owned()));
}

#[test]
fn c1e_goes_off_by_one_bit_on_every_processor_of_a_list_with_gaps() {
    let tree = host();
    let other = C1E_ON + (1 << 20);
    let off = |value: u64| format!("{:#x}", value & !2);
    assert_eq!(
        writes(&tree, "c1e-off"),
        [(0, other), (1, C1E_ON), (4, other), (6, other), (7, other)]
            .map(|(cpu, value)| format!("wrmsr -p {cpu} 0x1fc {}", off(value))),
        "bits that differ between processors stay as they are"
    );
}

#[test]
fn a_host_without_msrs_says_so() {
    let tree = Tree::new(&[("/sys/devices/system/cpu/online", "0-3")]);
    let found = findings(&tree, "c1e-off");
    let [Finding { state: SettingState { compliance: Compliance::NotHere(why), .. }, .. }] = found.as_slice()
    else {
        panic!("{found:?}")
    };
    assert!(why.contains("modprobe msr"), "{why}");
}

#[test]
fn deep_idle_states_are_named_with_their_processors_and_left_at_default_is_said() {
    let tree = host();
    let found = findings(&tree, "c-states");
    assert!(found[0].state.current.as_ref().unwrap().contains("left at default: all 20"), "{found:?}");
    let deep: Vec<&str> = found
        .iter()
        .filter(|found| found.state.compliance == Compliance::Differs)
        .map(|found| found.state.what.as_str())
        .collect();
    assert_eq!(deep.len(), 10, "{deep:?}");
    assert!(deep.contains(&"C-state C1E of CPU 4") && deep.contains(&"C-state C6 of CPU 7"));
    let tree = tree.files(&[("/sys/devices/system/cpu/cpu4/cpuidle/state3/disable", "1\n")]);
    assert!(findings(&tree, "c-states")[0].state.current.as_ref().unwrap().contains("changed: 1 of 20"));
}

#[test]
fn huge_pages_are_set_where_the_kernel_has_them() {
    let tree = host();
    assert_eq!(writes(&tree, "thp-never"), ["echo never > /sys/kernel/mm/transparent_hugepage/enabled"]);
    let tree =
        tree.files(&[("/sys/kernel/mm/redhat_transparent_hugepage/enabled", "[always] madvise never\n")]);
    assert_eq!(
        writes(&tree, "thp-never"),
        ["echo never > /sys/kernel/mm/redhat_transparent_hugepage/enabled"]
    );
    let none = Tree::new(&[]);
    assert!(
        matches!(&findings(&none, "thp-never")[0].state.compliance, Compliance::NotHere(why) if why.contains("redhat"))
    );
}

#[test]
fn queues_are_set_by_the_kind_of_device() {
    let tree = host();
    assert_eq!(
        writes(&tree, "scheduler"),
        [
            "echo none > /sys/block/nvme0n1/queue/scheduler",
            "echo mq-deadline > /sys/block/sda/queue/scheduler"
        ]
    );
    assert_eq!(
        writes(&tree, "read-ahead"),
        [
            "echo 8192 > /sys/block/nvme0n1/queue/read_ahead_kb",
            "echo 8192 > /sys/block/sda/queue/read_ahead_kb"
        ],
        "16384 sectors of 512 bytes"
    );
    assert_eq!(writes(&tree, "max-sectors")[0], "echo 1024 > /sys/block/nvme0n1/queue/max_sectors_kb");
    for (name, value) in [("rq-affinity", "2 "), ("no-merges", "2 "), ("writeback-throttling", "0 ")] {
        assert!(
            writes(&tree, name)[1].starts_with(&format!("echo {value}> /sys/block/sda/queue/")),
            "{name}"
        );
    }
}

#[test]
fn a_queue_that_loses_its_scheduler_in_the_same_plan_is_not_made_longer() {
    let tree = host();
    assert_eq!(writes(&tree, "nr-requests").len(), 2);
    let long = |path: &String| path.contains("nr_requests");
    let together = writes(&tree, "storage-benchmark");
    let longer: Vec<&String> = together.iter().filter(|write| long(write)).collect();
    assert_eq!(longer, ["echo 1024 > /sys/block/sda/queue/nr_requests"]);
}

#[test]
fn the_profile_of_tuned_is_the_published_one_or_its_successor() {
    let program = |tree: Tree| tree.files(&[("/usr/sbin/tuned-adm", "")]);
    assert_eq!(
        writes(&program(host()), "tuned-enterprise-storage"),
        ["tuned-adm profile enterprise-storage"]
    );
    let stopped = program(host());
    fs::remove_file(stopped.root().path("/proc/812/comm")).unwrap();
    let finding = &findings(&stopped, "tuned-enterprise-storage")[0];
    assert!(
        matches!(&finding.state.compliance, Compliance::ByHand(todo) if todo.contains("systemctl start tuned"))
    );
    let tree = program(Tree::new(&[
        ("/etc/tuned/active_profile", ""),
        ("/proc/7/comm", "tuned\n"),
        ("/proc/7/cmdline", "tuned"),
        ("/proc/sys/vm/swappiness", "60\n"),
        ("/usr/lib/tuned/profiles/throughput-performance/tuned.conf", "[sysctl]\nvm.swappiness=10\n"),
    ]));
    assert_eq!(writes(&tree, "tuned-enterprise-storage"), ["tuned-adm profile throughput-performance"]);
    assert!(
        findings(&tree, "tuned-enterprise-storage")[0]
            .state
            .what
            .contains("instead of enterprise-storage, which no longer exists")
    );
    let without = &findings(&host(), "tuned-enterprise-storage")[0];
    assert!(
        matches!(&without.state.compliance, Compliance::NotHere(why) if why.contains("install the package tuned"))
    );
    assert_eq!(without.state.current.as_deref(), Some("balanced"), "what is active is told all the same");
}

#[test]
fn read_caches_that_are_on_are_warnings() {
    let tree = host();
    let kernel = FakeKernel::of(&tree);
    let text = "oss21: obdfilter.highiops-OST0000.read_cache_enable=1\n\
                oss26: obdfilter.highiops-OST0009.read_cache_enable=0\n";
    let context = TuningContext::new(tree.root(), &kernel, &[]).unwrap();
    let step = profile("lustre-server-caches").unwrap().steps[0];
    let plan = &step.findings(&context)[0];
    assert!(
        matches!(&plan.state.compliance, Compliance::NotHere(why) if why.contains("lctl get_param obdfilter.*.read_cache"))
    );
    let found = step.findings(&context.with_lustre(text.to_owned(), "params.txt".to_owned()));
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].severity, found[1].severity), (Severity::Warning, Severity::Fine));
    assert!(found[0].state.what.starts_with("oss21:") && found[0].state.current.as_deref() == Some("1"));
}

#[test]
fn devices_are_named_by_path_name_directory_or_all() {
    let tree = host()
        .device("pci0000:00/sda/sda1", "8:1", &[("partition", "1")])
        .files(&[("/data/file", "")])
        .link("/dev/disk/by-id/ata-X", "/dev/sda1")
        .files(&[("/proc/self/mountinfo", "30 1 8:1 / / rw,relatime - xfs /dev/sda1 rw\n")]);
    let kernel = FakeKernel::of(&tree);
    let names = |given: &str| {
        TuningContext::new(tree.root(), &kernel, &[PathBuf::from(given)])
            .map(|context| context.devices().iter().map(|device| device.name.clone()).collect::<Vec<_>>())
            .map_err(|error| error.to_string())
    };
    assert_eq!(names("/dev/nvme0n1").unwrap(), ["nvme0n1"]);
    assert_eq!(names("sda").unwrap(), ["sda"]);
    assert_eq!(names("/dev/disk/by-id/ata-X").unwrap(), ["sda"], "a partition shares the queue of its disk");
    assert_eq!(names("/data").unwrap(), ["sda"]);
    assert_eq!(names("all").unwrap(), ["nvme0n1", "sda"]);
    let error = names("/dev/nvme9n1").unwrap_err();
    assert!(error.contains("no such device") && error.contains("nvme0n1, sda"), "{error}");
    assert!(names("/data/file").unwrap_err().contains("not a block device"));
}

#[test]
fn mounts_on_the_devices_are_compared_with_the_published_options() {
    let tree = host().files(&[(
        "/proc/self/mountinfo",
        "30 1 8:0 / /slow rw,relatime - xfs /dev/sda rw\n31 1 259:0 / /sas rw,noatime - xfs /dev/nvme0n1 rw\n\
         32 1 0:99 / /tmp rw - tmpfs tmpfs rw\n",
    )]);
    let found = findings(&tree, "mount-options");
    assert_eq!(found.len(), 2, "tmpfs is on no device: {found:?}");
    assert_eq!(
        (found[0].state.what.as_str(), &found[0].state.compliance),
        ("/slow (xfs)", &Compliance::Differs)
    );
    assert_eq!(found[0].state.advised.as_deref(), Some("rw,noatime,nodiratime"));
    assert_eq!(found[0].severity, Severity::Warning);
    assert_eq!(
        found[1].state.compliance,
        Compliance::AsAdvised,
        "noatime alone writes no times of directories either"
    );
}

proptest! {
    #[test]
    fn every_processor_of_any_list_has_its_bit_cleared(cpus in prop::collection::btree_set(0_u32..40, 1..12)) {
        let mut list: Vec<String> = Vec::new();
        let cpus: Vec<u32> = cpus.into_iter().collect();
        let mut from = 0;
        while from < cpus.len() {
            let mut to = from;
            while to + 1 < cpus.len() && cpus[to + 1] == cpus[to] + 1 { to += 1; }
            list.push(if from == to { cpus[from].to_string() } else { format!("{}-{}", cpus[from], cpus[to]) });
            from = to + 1;
        }
        let mut tree = Tree::in_memory(&[("/sys/devices/system/cpu/online", &list.join(","))]);
        for cpu in &cpus {
            let mut registers = vec![0; 0x1fc];
            registers.extend((C1E_ON + (u64::from(*cpu) << 32)).to_ne_bytes());
            tree = tree.bytes(&format!("/dev/cpu/{cpu}/msr"), &registers);
        }
        let kernel = FakeKernel::of(&tree);
        super::fake_kernel::tune(&tree, &kernel, &["c1e-off"]);
        for cpu in &cpus {
            let bytes = std::fs::read(tree.root().path(format!("/dev/cpu/{cpu}/msr"))).unwrap();
            let value = u64::from_ne_bytes(bytes[0x1fc..].try_into().unwrap());
            prop_assert_eq!(value, (C1E_ON + (u64::from(*cpu) << 32)) & !2);
        }
        prop_assert_eq!(kernel.writes.get(), cpus.len());
    }
}
