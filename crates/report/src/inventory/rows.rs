//! The facts of a host as rows, with the same names and words in all formats.

use plan::Bytes;
use record::{
    BlockDeviceFacts, CountedValue, Fact, HostFacts, IdleFacts, LinkFacts, NetworkFacts, NumaNodeFacts,
    SwitchedOn, Tuning,
};

use crate::format::{counted, decimal_bytes};

/// Maximum number of items of a list; the rest is counted.
const LISTED_MAX: usize = 8;

/// An unknown value if there is no room for the reason; JSON contains the reason.
pub(super) const UNKNOWN: &str = "unknown";

/// A value; `Known(None)` if it was looked for and is absent.
pub(crate) type Shown = Fact<Option<String>>;

/// One fact of a host in words.
#[derive(Debug)]
pub(crate) struct FactRow {
    /// Key by which rows of published machines are matched.
    pub(crate) key: &'static str,
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    pub(crate) value: Shown,
}

impl FactRow {
    /// The value, its absence, or why it is unknown.
    pub(crate) fn text(&self) -> String {
        text(&self.value)
    }
}

fn text(value: &Shown) -> String {
    match value {
        Fact::Known(text) => text.clone().unwrap_or_else(|| "not present".to_owned()),
        Fact::Unknown(reason) => format!("unknown: {reason}"),
    }
}

fn known(text: impl Into<String>) -> Shown {
    Fact::Known(Some(text.into()))
}

fn shown<T>(fact: &Fact<T>, words: impl Fn(&T) -> String) -> Shown {
    match fact {
        Fact::Known(value) => known(words(value)),
        Fact::Unknown(reason) => Fact::Unknown(reason.clone()),
    }
}

fn plain<T: ToString>(fact: &Fact<T>) -> Shown {
    shown(fact, ToString::to_string)
}

/// A known fact, or why it is unknown.
pub(super) fn words<T: ToString>(fact: &Fact<T>) -> String {
    text(&plain(fact))
}

/// `Gen 3 x4`.
pub(super) fn link(link: &LinkFacts) -> String {
    match (link.generation.known(), link.width.known()) {
        (Some(generation), Some(width)) => format!("Gen {generation} x{width}"),
        (Some(generation), None) => format!("Gen {generation}"),
        (None, Some(width)) => format!("x{width}"),
        (None, None) => UNKNOWN.to_owned(),
    }
}

type Rows = Vec<(&'static str, &'static str, Shown)>;

fn group(group: &'static str, rows: Rows) -> impl Iterator<Item = FactRow> {
    rows.into_iter().map(move |(key, name, value)| FactRow { key, group, name, value })
}

/// The facts that are rows; devices, file systems, volumes and network have tables.
pub(crate) fn rows(host: &HostFacts) -> Vec<FactRow> {
    let (machine, cpu) = (&host.machine, &host.processors);
    let of_those = |text: String| match (cpu.looked_at, host.logical_cpus) {
        (looked_at, all) if looked_at == all => text,
        (looked_at, all) => format!("{text} (processors looked at: {looked_at} of {all})"),
    };
    let mut machine_rows = vec![
        ("node", "node", known(&host.node)),
        (
            "system",
            "machine",
            match (&machine.vendor, &machine.product) {
                (Fact::Known(vendor), Fact::Known(product)) => known(format!("{vendor} {product}")),
                (_, product) => plain(product),
            },
        ),
        ("firmware", "firmware of the machine", plain(&machine.firmware)),
        ("operating-system", "operating system", plain(&host.operating_system)),
        ("kernel", "kernel", plain(&host.kernel)),
        ("compiler", "built with", plain(&machine.compiler)),
        (
            "kernel-arguments",
            "kernel arguments",
            match &machine.kernel_arguments {
                Fact::Known(None) => known("none that concerns storage or processors"),
                arguments => arguments.clone(),
            },
        ),
        ("tuned", "tuned profile", machine.tuned_profile.clone()),
        ("tuning", "host tune", tuning(&host.tuning)),
        ("clock", "clock of latencies", known(&host.clock)),
        ("batch", "batch job", batch(host)),
    ];
    machine_rows.extend(machine.container.iter().map(|software| ("container", "container", known(software))));
    let governor = match &cpu.governors {
        // Records of earlier programs have the governor of the first processor only.
        Fact::Unknown(_) => plain(&host.governor),
        Fact::Known(all) => known(of_those(values(all))),
    };
    let threads = |threads: &u32| match threads {
        1 => "1 (no hyper-threading)".to_owned(),
        more => format!("{more} (hyper-threading)"),
    };
    let default_states = match &cpu.idle {
        Fact::Known(idle) => shown(&idle.left_at_default, |left| match (left, idle.limits.as_slice()) {
            (true, _) => "yes".to_owned(),
            (false, []) => "no: a state was enabled or disabled".to_owned(),
            (false, limits) => format!("no: {}", limits.join(" ")),
        }),
        Fact::Unknown(reason) => Fact::Unknown(reason.clone()),
    };
    let caches = shown(&cpu.caches, |all| {
        let kind = |kind: &str| match kind {
            "Unified" => String::new(),
            kind => format!(" {}", kind.to_lowercase()),
        };
        listed(all.iter().map(|one| format!("L{}{} {}", one.level, kind(&one.kind), Bytes(one.bytes))), ", ")
    });
    let processors = vec![
        ("processors", "processor model", plain(&host.cpu_model)),
        ("sockets", "sockets", plain(&host.sockets)),
        ("cores", "cores", plain(&cpu.cores)),
        ("threads", "threads per core", shown(&cpu.threads_per_core, threads)),
        (
            "logical",
            "logical processors",
            match (host.usable_cpus, host.logical_cpus) {
                (_, 0) => Fact::Unknown("the number is not reported".to_owned()),
                (usable, all) if usable == all => known(all.to_string()),
                (usable, all) => known(format!("{all}, {usable} usable here")),
            },
        ),
        ("caches", "caches", caches),
        ("numa", "NUMA nodes", numa(host)),
        ("governor", "frequency governor", governor),
        ("turbo", "turbo", shown(&cpu.turbo, |on| (if *on { "on" } else { "off" }).to_owned())),
        ("c-states", "C-states", shown(&cpu.idle, |idle| of_those(states(idle)))),
        ("c-states-default", "C-states left at default", default_states),
        ("c1e", "C1E", shown(&cpu.c1e, |c1e| of_those(switch(*c1e)))),
    ];
    let all = Bytes(host.memory_bytes).both_units();
    let memory = match host.memory_limit_bytes {
        _ if host.memory_bytes == 0 => Fact::Unknown("the total is not reported".to_owned()),
        Some(limit) => known(format!("{all}, limited to {} by the control group", Bytes(limit).both_units())),
        None => known(all),
    };
    let memory = vec![
        ("memory", "memory", memory),
        ("huge-pages", "transparent huge pages", plain(&host.transparent_hugepages)),
    ];
    // A row for each installed software; if nothing was looked for, a row for each known name.
    let version = |name: &str| match &host.software {
        Fact::Unknown(reason) => Some(Fact::Unknown(reason.clone())),
        Fact::Known(all) => all.iter().find(|one| one.name == name).map(|one| one.version.clone()),
    };
    let software = NAMES.iter().filter_map(|&(key, name)| Some((key, name, version(name)?))).collect();
    group("Machine", machine_rows)
        .chain(group("Processors", processors))
        .chain(group("Memory", memory))
        .chain(group("Storage software", software))
        .collect()
}

/// The names that `host` gives software, and their keys.
const NAMES: [(&str, &str); 12] = [
    ("nvme-driver", "NVMe driver"),
    ("mdadm", "mdadm"),
    ("rste", "Intel RSTe (IMSM)"),
    ("lvm", "LVM"),
    ("device-mapper", "device mapper"),
    ("xvm", "XVM"),
    ("gpfs", "GPFS (Spectrum Scale)"),
    ("lustre", "Lustre"),
    ("beegfs", "BeeGFS"),
    ("slurm", "Slurm"),
    ("pbs", "PBS"),
    ("flux", "Flux"),
];

/// The storage of the targets: devices with slots and links, file systems, network.
pub(crate) fn storage(host: &HostFacts) -> impl Iterator<Item = FactRow> {
    let some = |words: String| Fact::Known(Some(words).filter(|words| !words.is_empty()));
    let file_systems = host
        .file_systems
        .iter()
        .map(|one| format!("{} at {} ({})", one.kind, one.mount_point, one.options.replace(',', ", ")));
    let model = |device: &BlockDeviceFacts| {
        let model = device.model.known().map_or("without a model", String::as_str);
        format!("{model}, {}", decimal_bytes(device.size_bytes))
    };
    let slot = |device: &BlockDeviceFacts| match &device.pcie {
        Fact::Known(place) => {
            let slot = place.slot.known().map_or("slot unknown".to_owned(), |slot| format!("slot {slot}"));
            format!("{slot}, link {}, port {}", link(&place.link), link(&place.port))
        }
        Fact::Unknown(reason) => format!("unknown: {reason}"),
    };
    let network = match &host.network {
        Fact::Known(all) => some(listed(all.iter().map(interface), "; ")),
        Fact::Unknown(reason) => Fact::Unknown(reason.clone()),
    };
    let rows = vec![
        ("devices", "devices", each_kind(host, model)),
        ("device-firmware", "firmware of devices", each_kind(host, |device| words(&device.firmware))),
        ("slots", "slots and links", each_kind(host, slot)),
        ("file-systems", "file systems", some(listed(file_systems, "; "))),
        ("network", "network", network),
    ];
    group("Storage", rows)
}

fn listed(all: impl Iterator<Item = String>, between: &str) -> String {
    all.collect::<Vec<_>>().join(between)
}

/// The first of `all`, and `more` with the number of the others.
fn first(all: impl ExactSizeIterator<Item = String>, more: impl Fn(usize) -> String) -> String {
    let over = all.len().saturating_sub(LISTED_MAX);
    listed(all.take(LISTED_MAX).chain((over > 0).then(|| more(over))), "; ")
}

/// Settings tuned by this program, with their previous values.
fn tuning(tuning: &Tuning) -> Shown {
    let in_force = match tuning {
        Tuning::InForce(in_force) => in_force,
        Tuning::LeftAlone => return known(tuning.to_string()),
        Tuning::Unknown(reason) => return Fact::Unknown(reason.clone()),
        Tuning::NotRecorded => {
            return Fact::Unknown("the program that made the record did not look".to_owned());
        }
    };
    let settings = in_force.settings.iter().map(|one| {
        let more = if one.count > 1 { format!(" and {} more", one.count - 1) } else { String::new() };
        format!("{}{more} {} -> {}", one.setting, one.before, one.after)
    });
    known(format!("{tuning}: {}", first(settings, |more| format!("and {more} more"))))
}

fn interface(one: &NetworkFacts) -> String {
    let speed = one.bits_per_second.known().map(|bits| format!("{} Gbit/s", *bits as f64 / 1e9));
    format!("{} ({}, {})", one.name, one.kind, speed.as_deref().unwrap_or("speed unknown"))
}

/// `12 × …`: common properties of devices, in order of first occurrence.
fn each_kind(host: &HostFacts, what: impl Fn(&BlockDeviceFacts) -> String) -> Shown {
    let kinds = analysis::figures::grouped(host.devices.iter().map(what), String::clone);
    if kinds.is_empty() {
        return Fact::Unknown("no block device under the targets is known".to_owned());
    }
    let kinds = kinds.iter().map(|same| format!("{} × {}", same.len(), same[0]));
    known(first(kinds, |more| format!("and {}", counted(more as u64, "more kind"))))
}

fn batch(host: &HostFacts) -> Shown {
    let Some(job) = &host.job else {
        // Records of earlier programs have the number alone.
        return Fact::Known(host.batch_job.clone());
    };
    let parts = [("name", &job.name), ("queue", &job.queue), ("nodes", &job.nodes)];
    let parts = parts.map(|(what, fact)| format!(", {what} {}", words(fact)));
    known(format!("{} {}{}", job.system, job.id, parts.concat()))
}

/// NUMA nodes with their processors and memory.
fn numa(host: &HostFacts) -> Shown {
    let Fact::Known(nodes) = &host.processors.nodes else { return plain(&host.numa_nodes) };
    let one = |node: &NumaNodeFacts| {
        let cpus = if node.cpus.is_empty() { "none" } else { &node.cpus };
        let memory = text(&shown(&node.memory_bytes, |bytes| Bytes(*bytes).to_string()));
        format!("node {}: processors {cpus}, memory {memory}", node.node)
    };
    let listed = first(nodes.iter().map(one), |more| format!("and {more} more"));
    known(format!("{} ({listed})", nodes.len()))
}

fn values(all: &[CountedValue]) -> String {
    match all {
        [one] => one.value.clone(),
        several => {
            let each = several.iter().map(|one| format!("{} on {}", one.value, one.processors));
            format!("mixed: {}", listed(each, ", "))
        }
    }
}

fn switch(switch: SwitchedOn) -> String {
    match (switch.on, switch.of) {
        (0, _) => "off".to_owned(),
        (on, of) if on == of => "on".to_owned(),
        (on, of) => format!("on for {on} of {of} processors"),
    }
}

fn states(idle: &IdleFacts) -> String {
    let each = idle.states.iter().map(|state| {
        let exit = state.exit_us.known().map_or_else(String::new, |exit| format!(" ({exit} µs)"));
        let is = match (state.enabled.on, state.enabled.of) {
            (_, 0) => "unknown".to_owned(),
            (0, _) => "disabled".to_owned(),
            (on, of) if on == of => "enabled".to_owned(),
            (on, of) => format!("enabled on {on} of {of}"),
        };
        format!("{}{exit} {is}", state.name)
    });
    let driver = idle.driver.known().map_or_else(String::new, |driver| format!("{driver}: "));
    format!("{driver}{}", listed(each, ", "))
}
