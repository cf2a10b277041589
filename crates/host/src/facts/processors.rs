//! Cores, caches, NUMA nodes, and processor settings: governors, turbo, C-states, C1E.

use std::os::unix::fs::FileExt;

use record::{
    CacheFacts, CountedValue, Fact, IdleFacts, IdleState, NumaNodeFacts, ProcessorFacts, SwitchedOn,
};

use crate::Root;
use crate::system::cpu_list;

/// Directory of the processors.
const CPUS: &str = "/sys/devices/system/cpu";
/// Directory of the NUMA nodes.
const NODES: &str = "/sys/devices/system/node";
/// Number of processors sampled at the start of a run. Each takes about 30 file reads, which delay the
/// start.
const SAMPLE: usize = 4;
/// Maximum number of processors; a longer list is treated as invalid.
const CPUS_MAX: u32 = 1 << 16;
/// The register whose bit 1 lets a core enter C1E.
const POWER_CONTROL: u64 = 0x1FC;
/// That bit.
const C1E: u64 = 1 << 1;
/// Kernel arguments that limit C-states.
const LIMITS: [&str; 5] =
    ["intel_idle.max_cstate=", "intel_idle.states_off=", "processor.max_cstate=", "cpuidle.off=", "idle="];

/// Extent of the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FactScope {
    /// Only the facts that can be read fast, for the start of a run.
    Start,
    /// Everything.
    Whole,
}

pub(super) fn gather(root: &Root, scope: FactScope) -> ProcessorFacts {
    let online = online(root);
    let looked_at = match scope {
        FactScope::Whole => online.clone(),
        FactScope::Start => spread(&online),
    };
    let mut facts = ProcessorFacts {
        threads_per_core: threads_per_core(root, &looked_at),
        looked_at: u32::try_from(looked_at.len()).unwrap_or(u32::MAX),
        governors: governors(root, &looked_at),
        turbo: turbo(root),
        idle: idle(root, &looked_at),
        c1e: c1e(root, &looked_at),
        ..ProcessorFacts::default()
    };
    if scope == FactScope::Whole {
        complete(root, &mut facts);
    }
    facts
}

/// Adds the facts that do not change during a run and need a read for every processor.
pub(super) fn complete(root: &Root, facts: &mut ProcessorFacts) {
    facts.cores = cores(root, &online(root));
    facts.caches = caches(root);
    facts.nodes = nodes(root);
}

fn online(root: &Root) -> Vec<u32> {
    let list = root.text(&format!("{CPUS}/online"));
    let ranges = list.known().and_then(|list| cpu_list::parse(list)).unwrap_or_default();
    if cpu_list::count(&ranges) > CPUS_MAX {
        return Vec::new();
    }
    ranges.into_iter().flatten().collect()
}

/// A few of `all`, including the first and the last.
fn spread(all: &[u32]) -> Vec<u32> {
    if all.len() <= SAMPLE {
        return all.to_vec();
    }
    (0..SAMPLE).map(|place| all[place * (all.len() - 1) / (SAMPLE - 1)]).collect()
}

fn none_online<T>() -> Fact<T> {
    Fact::Unknown(format!("{CPUS}/online lists no processor"))
}

fn threads_per_core(root: &Root, cpus: &[u32]) -> Fact<u32> {
    let Some(first) = cpus.first() else { return none_online() };
    let threads = |cpu: u32| -> Fact<u32> {
        root.text(&format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list")).and_then(|list| {
            let count = cpu_list::parse(&list).map(|ranges| cpu_list::count(&ranges));
            Fact::of(count, || format!("processor {cpu}: {list:?} is not a list"))
        })
    };
    let one = threads(*first);
    let differs = cpus.iter().find(|cpu| threads(**cpu).known() != one.known());
    match differs {
        Some(cpu) => Fact::Unknown(format!(
            "the cores of processor {first} and processor {cpu} differ in the number of threads"
        )),
        None => one,
    }
}

/// Counts the processors that are the first one of their core.
fn cores(root: &Root, cpus: &[u32]) -> Fact<u32> {
    if cpus.is_empty() {
        return none_online();
    }
    let mut cores = 0;
    for cpu in cpus {
        let path = format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list");
        let list = match root.text(&path) {
            Fact::Known(list) => list,
            Fact::Unknown(reason) => return Fact::Unknown(reason),
        };
        let first = cpu_list::parse(&list).and_then(|ranges| ranges.first().map(|range| *range.start()));
        cores += u32::from(first == Some(*cpu));
    }
    Fact::Known(cores)
}

fn caches(root: &Root) -> Fact<Vec<CacheFacts>> {
    let base = format!("{CPUS}/cpu0/cache");
    let entries = root.names(&base).into_iter().filter(|name| name.starts_with("index"));
    let caches = entries.filter_map(|name| {
        let file = |what: &str| root.text(&format!("{base}/{name}/{what}")).known().cloned();
        Some(CacheFacts {
            level: file("level")?.parse().ok()?,
            kind: file("type")?,
            bytes: kibibytes(&file("size")?)?,
            shared_by: file("shared_cpu_list").unwrap_or_default(),
        })
    });
    let caches: Vec<CacheFacts> = caches.collect();
    if caches.is_empty() { Fact::Unknown(format!("no {base}/index0")) } else { Fact::Known(caches) }
}

/// Parses the kernel's format of cache sizes: `30720K`.
fn kibibytes(text: &str) -> Option<u64> {
    text.strip_suffix('K')?.parse::<u64>().ok()?.checked_mul(1024)
}

fn nodes(root: &Root) -> Fact<Vec<NumaNodeFacts>> {
    let path = format!("{NODES}/online");
    let ranges = root.text(&path).and_then(|list| {
        let ranges = cpu_list::parse(&list).filter(|ranges| cpu_list::count(ranges) <= CPUS_MAX);
        Fact::of(ranges, || format!("{path} contains {list:?}, not a list"))
    });
    let node = |node: u32| {
        let base = format!("{NODES}/node{node}");
        NumaNodeFacts {
            node,
            cpus: root.text(&format!("{base}/cpulist")).known().cloned().unwrap_or_default(),
            memory_bytes: memory(root, &format!("{base}/meminfo")),
        }
    };
    ranges.map(|ranges| ranges.into_iter().flatten().map(node).collect())
}

/// Parses `Node 0 MemTotal:  197000000 kB`.
fn memory(root: &Root, path: &str) -> Fact<u64> {
    let total = |line: &str| {
        let rest = line.split_once("MemTotal:")?.1.trim().strip_suffix("kB")?;
        rest.trim().parse::<u64>().ok()?.checked_mul(1024)
    };
    let text = root.text(path);
    text.and_then(|text| Fact::of(text.lines().find_map(total), || format!("{path} has no MemTotal")))
}

fn governors(root: &Root, cpus: &[u32]) -> Fact<Vec<CountedValue>> {
    let mut counted: Vec<CountedValue> = Vec::new();
    for cpu in cpus {
        let value = match root.text(&format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor")) {
            Fact::Known(value) => value,
            Fact::Unknown(reason) => return Fact::Unknown(reason),
        };
        match counted.iter_mut().find(|one| one.value == value) {
            Some(one) => one.processors += 1,
            None => counted.push(CountedValue { value, processors: 1 }),
        }
    }
    counted.sort_by_key(|one| std::cmp::Reverse(one.processors));
    if counted.is_empty() { none_online() } else { Fact::Known(counted) }
}

/// Whether turbo is on. `intel_pstate` reports whether it is off, other drivers whether it is on.
fn turbo(root: &Root) -> Fact<bool> {
    if let Fact::Known(off) = root.number::<u8>(&format!("{CPUS}/intel_pstate/no_turbo")) {
        return Fact::Known(off == 0);
    }
    match root.number::<u8>(&format!("{CPUS}/cpufreq/boost")) {
        Fact::Known(on) => Fact::Known(on != 0),
        Fact::Unknown(_) => {
            Fact::Unknown(format!("no {CPUS}/intel_pstate/no_turbo, no {CPUS}/cpufreq/boost"))
        }
    }
}

fn idle(root: &Root, cpus: &[u32]) -> Fact<IdleFacts> {
    let Some(first) = cpus.first() else { return none_online() };
    let base = format!("{CPUS}/cpu{first}/cpuidle");
    let mut names = root.names(&base);
    names.retain(|name| name.starts_with("state"));
    names.sort_by_key(|name| name["state".len()..].parse::<u32>().unwrap_or(u32::MAX));
    if names.is_empty() {
        return Fact::Unknown(format!("no {base}/state0: this kernel does not choose C-states"));
    }
    let arguments = root.text("/proc/cmdline");
    let limits: Vec<String> = arguments
        .known()
        .map_or("", String::as_str)
        .split_whitespace()
        .filter(|word| LIMITS.iter().any(|limit| word.starts_with(limit)))
        .map(str::to_owned)
        .collect();
    let mut as_the_driver_set_it = true;
    let mut states = Vec::new();
    for name in names {
        let file = |cpu: u32, what: &str| format!("{CPUS}/cpu{cpu}/cpuidle/{name}/{what}");
        let mut enabled = SwitchedOn { on: 0, of: 0 };
        for cpu in cpus {
            let Fact::Known(disabled) = root.number::<u64>(&file(*cpu, "disable")) else { continue };
            enabled.of += 1;
            enabled.on += u32::from(disabled == 0);
            // Kernels before 5.6 do not report the driver's defaults; at that time drivers enabled all
            // states.
            let began_disabled =
                root.text(&file(*cpu, "default_status")).known().is_some_and(|text| text == "disabled");
            as_the_driver_set_it &= (disabled != 0) == began_disabled;
        }
        states.push(IdleState {
            name: root.text(&file(*first, "name")).known().cloned().unwrap_or(name.clone()),
            exit_us: root.number(&file(*first, "latency")),
            enabled,
        });
    }
    Fact::Known(IdleFacts {
        driver: root.text(&format!("{CPUS}/cpuidle/current_driver")),
        left_at_default: match (arguments, states.iter().all(|state| state.enabled.of > 0)) {
            (Fact::Unknown(reason), _) => Fact::Unknown(reason),
            (_, false) => Fact::Unknown(format!("{base}/state0/disable cannot be read")),
            _ => Fact::Known(limits.is_empty() && as_the_driver_set_it),
        },
        states,
        limits,
    })
}

fn c1e(root: &Root, cpus: &[u32]) -> Fact<SwitchedOn> {
    if cpus.is_empty() {
        return none_online();
    }
    let vendor = super::cpuinfo::value(root, &["vendor_id"]);
    if vendor.as_deref().is_some_and(|vendor| vendor != "GenuineIntel") {
        return Fact::Unknown("bit 1 of register 0x1FC is C1E only on Intel processors".to_owned());
    }
    let mut switched = SwitchedOn { on: 0, of: 0 };
    for cpu in cpus {
        let path = format!("/dev/cpu/{cpu}/msr");
        let mut value = [0; 8];
        match root.open(&path).and_then(|file| file.read_exact_at(&mut value, POWER_CONTROL)) {
            Ok(()) => {
                switched.of += 1;
                switched.on += u32::from(u64::from_le_bytes(value) & C1E != 0);
            }
            Err(error) => {
                return Fact::Unknown(match error.kind() {
                    std::io::ErrorKind::NotFound => {
                        format!(
                            "no {path}: `modprobe msr` provides it on processors that have such \
                                 registers"
                        )
                    }
                    std::io::ErrorKind::PermissionDenied => {
                        format!("{path}: {error}; it can be read as root")
                    }
                    _ => format!("{path}: {error}"),
                });
            }
        }
    }
    Fact::Known(switched)
}

#[cfg(test)]
mod tests {
    use super::{kibibytes, spread};

    #[test]
    fn a_sample_has_both_ends_of_the_machine() {
        assert_eq!(spread(&[0, 1]), [0, 1]);
        let all: Vec<u32> = (0..384).collect();
        assert_eq!(spread(&all), [0, 127, 255, 383]);
    }

    #[test]
    fn caches_are_given_in_kibibytes() {
        assert_eq!(kibibytes("30720K"), Some(30_720 * 1024));
        assert_eq!(kibibytes("30720"), None);
    }
}
