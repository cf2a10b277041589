//! A host of plain files with a fake kernel that refuses, changes and couples settings, and crashes.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::Root;
use crate::fake::Tree;
use crate::tuning::{
    Applied, HostSettings, Ledger, RestoreResult, Setting, Settings, TuningContext, TuningPlan, apply,
    profile, restore, steps_of,
};
use crate::{HostIdentity, LedgerError};

/// `MSR_POWER_CTL` with C1E on, as a machine of study A may have read.
pub(super) const C1E_ON: u64 = 0x3504_0043;

/// A host with everything that a step knows of: five processors with gaps, NVMe interrupts, idle states,
/// frequency scaling, a turning disk and flash.
pub(super) fn host() -> Tree {
    let mut tree = Tree::in_memory(&[
        ("/etc/machine-id", "5f2c\n"),
        ("/proc/sys/kernel/hostname", "appel\n"),
        ("/proc/sys/kernel/random/boot_id", "b00t-1\n"),
        ("/sys/devices/system/cpu/online", "0-1,4,6-7\n"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("/proc/sys/vm/swappiness", "60\n"),
        ("/proc/sys/vm/dirty_ratio", "20\n"),
        ("/proc/sys/vm/dirty_bytes", "0\n"),
        ("/proc/sys/vm/dirty_background_ratio", "0\n"),
        ("/proc/sys/vm/dirty_background_bytes", "67108864\n"),
        ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
        ("/etc/tuned/active_profile", "balanced\n"),
        ("/etc/tuned/profile_mode", "auto\n"),
        ("/usr/lib/tuned/enterprise-storage/tuned.conf", "[main]\ninclude=throughput-performance\n"),
        ("/usr/lib/tuned/throughput-performance/tuned.conf", "[main]\n[sysctl]\nvm.dirty_ratio = 40\n"),
        ("/proc/812/comm", "tuned\n"),
        ("/proc/812/cmdline", "python3\0tuned"),
        ("/proc/811/comm", "tuned\n"),
        ("/proc/811/cmdline", ""),
        ("/proc/self/mountinfo", ""),
    ]);
    for (irq, queue, hint) in
        [(24, "nvme0q0", "00,00000001"), (31, "nvme0q1", "00,00000010"), (107, "nvme1q0", "80")]
    {
        tree = tree
            .directories(&[&format!("/proc/irq/{irq}/{queue}")])
            .files(&[(&format!("/proc/irq/{irq}/affinity_hint"), hint)])
            .files(&[(&format!("/proc/irq/{irq}/smp_affinity"), "00,000000d3\n")]);
    }
    tree = tree.directories(&["/proc/irq/40/eth0"]).files(&[("/proc/irq/40/smp_affinity", "d3\n")]);
    for cpu in [0, 1, 4, 6, 7] {
        let idle = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
        for (state, name, latency) in [(0, "POLL", "0"), (1, "C1", "1"), (2, "C1E", "10"), (3, "C6", "133")] {
            tree = tree.files(&[
                (&format!("{idle}/state{state}/name"), name),
                (&format!("{idle}/state{state}/latency"), latency),
                (&format!("{idle}/state{state}/disable"), "0\n"),
            ]);
        }
        let policy = format!("/sys/devices/system/cpu/cpufreq/policy{cpu}");
        tree = tree.files(&[
            (&format!("{policy}/scaling_governor"), "powersave\n"),
            (&format!("{policy}/energy_performance_preference"), "balance_power\n"),
        ]);
        let mut registers = vec![0; 0x1fc];
        registers.extend((C1E_ON + (u64::from(cpu != 1) << 20)).to_ne_bytes());
        tree = tree.bytes(&format!("/dev/cpu/{cpu}/msr"), &registers);
    }
    device(device(tree, "nvme0n1", "259:0", "0"), "sda", "8:0", "1")
}

fn device(tree: Tree, name: &str, number: &str, rotational: &str) -> Tree {
    tree.device(
        &format!("pci0000:00/{name}"),
        number,
        &[
            ("diskseq", if rotational == "1" { "12\n" } else { "7\n" }),
            ("queue/rotational", rotational),
            (
                "queue/scheduler",
                if rotational == "1" { "none mq-deadline [bfq]\n" } else { "none [mq-deadline]\n" },
            ),
            ("queue/nr_requests", "64\n"),
            ("queue/read_ahead_kb", "128\n"),
            ("queue/rq_affinity", "1\n"),
            ("queue/nomerges", "0\n"),
            ("queue/wbt_lat_usec", "75000\n"),
            ("queue/max_sectors_kb", "512\n"),
            ("queue/max_hw_sectors_kb", "1024\n"),
            ("queue/iosched/front_merges", "0\n"),
        ],
    )
}

/// Dies in the middle of a write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Death {
    /// At which write, from 0.
    pub(super) at: usize,
    /// Whether the value has been set by then.
    pub(super) after: bool,
}

/// The kernel of a tree.
pub(super) struct FakeKernel<'a> {
    root: &'a Root,
    files: HostSettings<'a>,
    refusals: RefCell<HashMap<Setting, Errno>>,
    death: Cell<Option<Death>>,
    pub(super) writes: Cell<usize>,
}

impl<'a> FakeKernel<'a> {
    pub(super) fn of(tree: &'a Tree) -> Self {
        Self {
            root: tree.root(),
            files: HostSettings::new(tree.root()),
            refusals: RefCell::default(),
            death: Cell::new(None),
            writes: Cell::new(0),
        }
    }

    /// The same kernel, which refuses this.
    pub(super) fn refusing(self, path: &str, error: Errno) -> Self {
        self.refusals.borrow_mut().insert(Setting::file(path), error);
        self
    }

    pub(super) fn takes_again(&self, path: &str) {
        self.refusals.borrow_mut().remove(&Setting::file(path));
    }

    /// The same kernel, under which the program dies.
    pub(super) fn dying(self, death: Death) -> Self {
        self.death.set(Some(death));
        self
    }

    /// Applies the side effects of a setting.
    fn couple(&self, path: &str, value: &str) -> io::Result<()> {
        let zero = |other: &str| self.root.write_setting(other, "0");
        match path {
            "/proc/sys/vm/dirty_ratio" => zero("/proc/sys/vm/dirty_bytes")?,
            "/proc/sys/vm/dirty_bytes" => zero("/proc/sys/vm/dirty_ratio")?,
            "/proc/sys/vm/dirty_background_ratio" => zero("/proc/sys/vm/dirty_background_bytes")?,
            "/proc/sys/vm/dirty_background_bytes" => zero("/proc/sys/vm/dirty_background_ratio")?,
            _ => {}
        }
        if let Some(queue) = path.strip_suffix("/scheduler") {
            self.root.write_setting(
                &format!("{queue}/nr_requests"),
                if value == "none" { "128" } else { "256" },
            )?;
            let parameters = self.root.path(format!("{queue}/iosched"));
            let _ = fs::remove_dir_all(&parameters);
            if value != "none" {
                fs::create_dir(&parameters)?;
                fs::write(parameters.join("front_merges"), "1\n")?;
            }
        }
        if let Some(policy) = path.strip_suffix("/scaling_governor") {
            let preference = if value == "performance" { "performance" } else { "balance_performance" };
            self.root.write_setting(&format!("{policy}/energy_performance_preference"), preference)?;
        }
        Ok(())
    }

    fn refuses(&self, setting: &Setting, value: &str) -> Option<Errno> {
        if let Some(error) = self.refusals.borrow().get(setting) {
            return Some(*error);
        }
        let Setting::File { path } = setting else { return None };
        let governor = |policy: &str| self.root.read_setting(&format!("{policy}/scaling_governor"));
        match path.strip_suffix("/energy_performance_preference") {
            Some(policy) if governor(policy).is_ok_and(|text| text.trim() == "performance") => {
                Some(Errno::BUSY)
            }
            _ => (path.ends_with("_bytes") && value == "0").then_some(Errno::INVAL),
        }
    }
}

/// Ends the program under test here, as a signal would: no message, and no hook that prints a backtrace.
fn die() -> ! {
    std::panic::resume_unwind(Box::new("killed"))
}

impl Settings for FakeKernel<'_> {
    fn read(&self, setting: &Setting) -> io::Result<String> {
        self.files.read(setting)
    }

    fn write(&self, setting: &Setting, value: &str) -> io::Result<()> {
        let number = self.writes.replace(self.writes.get() + 1);
        let death = self.death.get().filter(|death| death.at == number);
        if death.is_some_and(|death| !death.after) {
            die();
        }
        if let Some(error) = self.refuses(setting, value) {
            return Err(error.into());
        }
        self.files.write(setting, value)?;
        if let Setting::File { path } = setting {
            self.couple(path, value)?;
        }
        match death {
            Some(_) => die(),
            None => Ok(()),
        }
    }

    fn contradiction(&self, setting: &Setting, value: &str) -> Option<String> {
        self.files.contradiction(setting, value)
    }
}

/// Every file of a tree with its content, without the program's own state.
pub(super) fn contents(tree: &Tree) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(directory: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                collect(&path, all);
            } else if path.is_file() {
                all.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    collect(&tree.root().path("/"), &mut all);
    all.retain(|path, _| !path.starts_with(state(tree)));
    all
}

pub(super) fn state(tree: &Tree) -> PathBuf {
    tree.root().path("/var/lib/ioproof")
}

/// The plan of some profiles for all devices of the tree.
pub(super) fn plan(tree: &Tree, kernel: &FakeKernel<'_>, names: &[&str]) -> TuningPlan {
    plan_for(tree, kernel, names, "all")
}

/// The plan of some profiles for a device of the tree.
pub(super) fn plan_for(tree: &Tree, kernel: &FakeKernel<'_>, names: &[&str], device: &str) -> TuningPlan {
    let mut context = TuningContext::new(tree.root(), kernel, &[PathBuf::from(device)]).unwrap();
    let profiles: Vec<_> = names.iter().map(|name| profile(name).unwrap()).collect();
    TuningPlan::new(&mut context, profiles.iter().map(|profile| profile.name).collect(), &steps_of(&profiles))
}

pub(super) fn open(tree: &Tree) -> Result<Ledger, LedgerError> {
    Ledger::open(&state(tree), &HostIdentity::of(tree.root()))
}

/// The ledger once it is unlocked: a process started by another test holds the lock until its exec.
pub(super) fn opened(state: &Path, root: &Root) -> Ledger {
    loop {
        match Ledger::open(state, &HostIdentity::of(root)) {
            Err(LedgerError::Busy { .. }) => std::thread::yield_now(),
            opened => return opened.unwrap(),
        }
    }
}

pub(super) fn open_soon(tree: &Tree) -> Ledger {
    opened(&state(tree), tree.root())
}

/// Applies profiles to all devices of the tree.
pub(super) fn tune(tree: &Tree, kernel: &FakeKernel<'_>, names: &[&str]) -> Vec<Applied> {
    let plan = plan(tree, kernel, names);
    apply(&plan, tree.root(), kernel, &mut open_soon(tree), 1_000_000_000, &mut |_| {}).unwrap()
}

pub(super) fn put_back(tree: &Tree, kernel: &FakeKernel<'_>, force: bool) -> RestoreResult {
    restore(open_soon(tree), tree.root(), kernel, force).unwrap()
}

/// The text of a file of the tree.
pub(super) fn text(tree: &Tree, path: &str) -> String {
    fs::read_to_string(tree.root().path(path)).unwrap().trim().to_owned()
}
