//! The facts of a host as rows: the same names and words wherever a host is shown.

use plan::Bytes;
use record::{
    BlockDeviceFacts, CountedValue, Fact, HostFacts, IdleFacts, LinkFacts, MachineFacts, NetworkFacts,
    NumaNodeFacts, ProcessorFacts, SoftwareFacts, SwitchedOn, Tuning,
};

use crate::format::counted;

/// Clocks, nodes and members that are listed whole.
const LISTED_MAX: usize = 8;

/// What is not known, where a reason has no place; the form for programs has it.
pub(super) const UNKNOWN: &str = "unknown";

/// One fact of a host in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FactRow {
    /// What rows of published machines are found by.
    pub(crate) key: &'static str,
    /// Rows of one group stand together.
    pub(crate) group: &'static str,
    /// What it is a fact about.
    pub(crate) name: &'static str,
    /// What it says.
    pub(crate) value: Shown,
}

/// A value, that there is none, or why it is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// As read.
    Known(String),
    /// Looked for, and not there.
    NotPresent,
    /// Not known, and why.
    Unknown(String),
}

impl Shown {
    /// The words of all three.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Known(text) => text.clone(),
            Self::NotPresent => "not present".to_owned(),
            Self::Unknown(reason) => format!("unknown: {reason}"),
        }
    }
}

/// The words of a fact, if it is known.
pub(crate) fn shown<T>(fact: &Fact<T>, words: impl Fn(&T) -> String) -> Shown {
    match fact {
        Fact::Known(value) => Shown::Known(words(value)),
        Fact::Unknown(reason) => Shown::Unknown(reason.clone()),
    }
}

/// `Gen 3 x4`.
pub(crate) fn link(link: &LinkFacts) -> String {
    match (link.generation.known(), link.width.known()) {
        (Some(generation), Some(width)) => format!("Gen {generation} x{width}"),
        (Some(generation), None) => format!("Gen {generation}"),
        (None, Some(width)) => format!("x{width}"),
        (None, None) => UNKNOWN.to_owned(),
    }
}

fn plain<T: ToString>(fact: &Fact<T>) -> Shown {
    shown(fact, ToString::to_string)
}

/// Every fact that is a row; devices, file systems, volumes and network are tables of their own.
pub(crate) fn rows(host: &HostFacts) -> Vec<FactRow> {
    let row = |group: &'static str| {
        move |key: &'static str, name: &'static str, value: Shown| FactRow { key, group, name, value }
    };
    let known = |text: String| Shown::Known(text);
    let mut all = Vec::new();
    let MachineFacts { vendor, product, firmware, compiler, kernel_arguments, tuned_profile, .. } =
        &host.machine;
    let here = row("Machine");
    all.extend([
        here("node", "node", known(host.node.clone())),
        here("system", "machine", machine(vendor, product)),
        here("firmware", "firmware of the machine", plain(firmware)),
        here("operating-system", "operating system", plain(&host.operating_system)),
        here("kernel", "kernel", plain(&host.kernel)),
        here("compiler", "built with", plain(compiler)),
        here("kernel-arguments", "kernel arguments", none(kernel_arguments)),
        here("tuned", "tuned profile", option(tuned_profile)),
        here("tuning", "host tune", tuning(&host.tuning)),
        here("clock", "clock of latencies", known(host.clock.clone())),
        here("batch", "batch job", batch(host)),
    ]);
    let here = row("Processors");
    let ProcessorFacts { cores, threads_per_core, caches, nodes, looked_at, governors, turbo, idle, c1e } =
        &host.processors;
    let of_those = |text: String| {
        let all = host.logical_cpus;
        if *looked_at == all { text } else { format!("{text} (processors looked at: {looked_at} of {all})") }
    };
    all.extend([
        here("processors", "processor model", plain(&host.cpu_model)),
        here("sockets", "sockets", plain(&host.sockets)),
        here("cores", "cores", plain(cores)),
        here(
            "threads",
            "threads per core",
            shown(threads_per_core, |threads| match threads {
                1 => "1 (no hyper-threading)".to_owned(),
                more => format!("{more} (hyper-threading)"),
            }),
        ),
        here("logical", "logical processors", known(logical(host))),
        here(
            "caches",
            "caches",
            shown(caches, |all| {
                let each = all.iter().map(|one| {
                    let kind = if one.kind == "Unified" {
                        String::new()
                    } else {
                        format!(" {}", one.kind.to_lowercase())
                    };
                    format!("L{}{kind} {}", one.level, Bytes(one.bytes))
                });
                each.collect::<Vec<_>>().join(", ")
            }),
        ),
        here("numa", "NUMA nodes", numa(host, nodes)),
        here(
            "governor",
            "frequency governor",
            match governors {
                // Records of earlier programs have that of the first processor.
                Fact::Unknown(_) => shown(&host.governor, Clone::clone),
                Fact::Known(all) => known(of_those(values(all))),
            },
        ),
        here("turbo", "turbo", shown(turbo, |on| (if *on { "on" } else { "off" }).to_owned())),
        here("c-states", "C-states", shown(idle, |idle| of_those(states(idle)))),
        here(
            "c-states-default",
            "C-states left at default",
            match idle {
                Fact::Known(idle) => shown(&idle.left_at_default, |left| default_states(idle, *left)),
                Fact::Unknown(reason) => Shown::Unknown(reason.clone()),
            },
        ),
        here("c1e", "C1E", shown(c1e, |c1e| of_those(switch(*c1e)))),
    ]);
    let here = row("Memory");
    all.extend([
        here("memory", "memory", memory(host)),
        here("huge-pages", "transparent huge pages", plain(&host.transparent_hugepages)),
    ]);
    all.extend(software(&host.software));
    all
}

/// What this program had set, with the values before.
fn tuning(tuning: &Tuning) -> Shown {
    let Tuning::InForce(in_force) = tuning else {
        return match tuning {
            Tuning::Unknown(reason) => Shown::Unknown(reason.clone()),
            Tuning::NotRecorded => Shown::Unknown("the program that made the record did not look".to_owned()),
            Tuning::LeftAlone | Tuning::InForce(_) => Shown::Known(tuning.to_string()),
        };
    };
    let settings = in_force.settings.iter().take(LISTED_MAX).map(|one| {
        let more = if one.count > 1 { format!(" and {} more", one.count - 1) } else { String::new() };
        format!("{}{more} {} -> {}", one.setting, one.before, one.after)
    });
    let mut text = format!("{tuning}: {}", settings.collect::<Vec<_>>().join("; "));
    if in_force.settings.len() > LISTED_MAX {
        text.push_str(&format!("; and {} more", in_force.settings.len() - LISTED_MAX));
    }
    Shown::Known(text)
}

/// What is measured on: devices under the targets, how their links run, file systems.
pub(crate) fn storage(host: &HostFacts) -> Vec<FactRow> {
    let group = "Storage";
    let row = |key: &'static str, name: &'static str, value: Shown| FactRow { key, group, name, value };
    let options: Vec<String> = host
        .file_systems
        .iter()
        .map(|one| format!("{} at {} ({})", one.kind, one.mount_point, one.options.replace(',', ", ")))
        .collect();
    let file_systems = match options.is_empty() {
        true => Shown::NotPresent,
        false => Shown::Known(options.join("; ")),
    };
    vec![
        row(
            "devices",
            "devices",
            each_kind(host, |device| {
                let model = device.model.known().map_or("without a model", String::as_str);
                format!("{model}, {}", crate::format::decimal_bytes(device.size_bytes))
            }),
        ),
        row(
            "device-firmware",
            "firmware of devices",
            each_kind(host, |device| plain(&device.firmware).text()),
        ),
        row(
            "slots",
            "slots and links",
            each_kind(host, |device| match &device.pcie {
                Fact::Known(place) => {
                    let slot =
                        place.slot.known().map_or("slot unknown".to_owned(), |slot| format!("slot {slot}"));
                    format!("{slot}, link {}, port {}", link(&place.link), link(&place.port))
                }
                Fact::Unknown(reason) => format!("unknown: {reason}"),
            }),
        ),
        row("file-systems", "file systems", file_systems),
        row(
            "network",
            "network",
            match &host.network {
                Fact::Known(all) if all.is_empty() => Shown::NotPresent,
                Fact::Known(all) => Shown::Known(all.iter().map(interface).collect::<Vec<_>>().join("; ")),
                Fact::Unknown(reason) => Shown::Unknown(reason.clone()),
            },
        ),
    ]
}

fn interface(one: &NetworkFacts) -> String {
    let speed = match &one.bits_per_second {
        Fact::Known(bits) => format!("{} Gbit/s", *bits as f64 / 1e9),
        Fact::Unknown(_) => "speed unknown".to_owned(),
    };
    format!("{} ({}, {speed})", one.name, one.kind)
}

/// `12 × …`: what devices have in common, in the order in which they come first.
fn each_kind(host: &HostFacts, what: impl Fn(&BlockDeviceFacts) -> String) -> Shown {
    let mut kinds: Vec<(String, u64)> = Vec::new();
    for device in &host.devices {
        let kind = what(device);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    if kinds.is_empty() {
        return Shown::Unknown("no block device under the targets is known".to_owned());
    }
    let more = kinds.len().saturating_sub(LISTED_MAX);
    let mut text: Vec<String> =
        kinds.iter().take(LISTED_MAX).map(|(kind, count)| format!("{count} × {kind}")).collect();
    if more > 0 {
        text.push(format!("and {}", counted(more as u64, "more kind")));
    }
    Shown::Known(text.join("; "))
}

/// Software has a row for each of its names; all of them where nobody looked.
fn software(software: &Fact<Vec<SoftwareFacts>>) -> Vec<FactRow> {
    let group = "Storage software";
    let value = |name: &str| match software {
        Fact::Unknown(reason) => Some(Shown::Unknown(reason.clone())),
        Fact::Known(all) => all.iter().find(|one| one.name == name).map(|one| option(&one.version)),
    };
    let rows = NAMES.iter().filter_map(|(key, name)| Some(FactRow { key, group, name, value: value(name)? }));
    rows.collect()
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

fn option(fact: &Fact<Option<String>>) -> Shown {
    match fact {
        Fact::Known(Some(text)) => Shown::Known(text.clone()),
        Fact::Known(None) => Shown::NotPresent,
        Fact::Unknown(reason) => Shown::Unknown(reason.clone()),
    }
}

/// As [`option`], for what may be set or not.
fn none(fact: &Fact<Option<String>>) -> Shown {
    match option(fact) {
        Shown::NotPresent => Shown::Known("none that concerns storage or processors".to_owned()),
        shown => shown,
    }
}

fn machine(vendor: &Fact<String>, product: &Fact<String>) -> Shown {
    match (vendor, product) {
        (Fact::Known(vendor), Fact::Known(product)) => Shown::Known(format!("{vendor} {product}")),
        (_, product) => plain(product),
    }
}

fn batch(host: &HostFacts) -> Shown {
    let Some(job) = &host.job else {
        // Records of earlier programs have the number alone.
        return host.batch_job.clone().map_or(Shown::NotPresent, Shown::Known);
    };
    let mut text = format!("{} {}", job.system, job.id);
    let parts = [("name", &job.name), ("queue", &job.queue), ("nodes", &job.nodes)];
    for (what, fact) in parts {
        match fact {
            Fact::Known(value) => text.push_str(&format!(", {what} {value}")),
            Fact::Unknown(reason) => text.push_str(&format!(", {what} unknown: {reason}")),
        }
    }
    Shown::Known(text)
}

fn logical(host: &HostFacts) -> String {
    match host.usable_cpus == host.logical_cpus {
        true => host.logical_cpus.to_string(),
        false => format!("{}, {} usable here", host.logical_cpus, host.usable_cpus),
    }
}

fn memory(host: &HostFacts) -> Shown {
    let all = Bytes(host.memory_bytes).both_units();
    Shown::Known(match host.memory_limit_bytes {
        Some(limit) => format!("{all}, limited to {} by the control group", Bytes(limit).both_units()),
        None => all,
    })
}

/// Nodes with their processors and memory; many are counted, since they are alike.
fn numa(host: &HostFacts, nodes: &Fact<Vec<NumaNodeFacts>>) -> Shown {
    let Fact::Known(nodes) = nodes else { return plain(&host.numa_nodes) };
    let one = |node: &NumaNodeFacts| {
        let cpus = if node.cpus.is_empty() { "none".to_owned() } else { node.cpus.clone() };
        let memory = shown(&node.memory_bytes, |bytes| Bytes(*bytes).to_string());
        format!("node {}: processors {cpus}, memory {}", node.node, memory.text())
    };
    let listed: Vec<String> = nodes.iter().take(LISTED_MAX).map(one).collect();
    let more = nodes.len().saturating_sub(LISTED_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    Shown::Known(format!("{} ({}{more})", nodes.len(), listed.join("; ")))
}

fn values(all: &[CountedValue]) -> String {
    match all {
        [one] => one.value.clone(),
        several => {
            let each = several.iter().map(|one| format!("{} on {}", one.value, one.processors));
            format!("mixed: {}", each.collect::<Vec<_>>().join(", "))
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
        match (state.enabled.on, state.enabled.of) {
            (_, 0) => format!("{}{exit} unknown", state.name),
            (0, _) => format!("{}{exit} disabled", state.name),
            (on, of) if on == of => format!("{}{exit} enabled", state.name),
            (on, of) => format!("{}{exit} enabled on {on} of {of}", state.name),
        }
    });
    let driver = idle.driver.known().map_or_else(String::new, |driver| format!("{driver}: "));
    format!("{driver}{}", each.collect::<Vec<_>>().join(", "))
}

fn default_states(idle: &IdleFacts, left: bool) -> String {
    match (left, idle.limits.as_slice()) {
        (true, _) => "yes".to_owned(),
        (false, []) => "no: a state was enabled or disabled".to_owned(),
        (false, limits) => format!("no: {}", limits.join(" ")),
    }
}
