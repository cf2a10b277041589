//! The machine: its maker, its firmware, the kernel's build, the profile of tuned, the container.

use record::{Fact, MachineFacts};

use crate::Root;

/// Directory with the firmware's description of the machine.
const IDENTITY: &str = "/sys/class/dmi/id";
/// Model of a machine that has a device tree, for example POWER and ARM.
const DEVICE_TREE_MODEL: &str = "/proc/device-tree/model";
/// Files with the active profile of TuneD: since version 2, and in Red Hat Enterprise Linux 6.
const TUNED_PROFILES: [&str; 2] = ["/etc/tuned/active_profile", "/etc/tune-profiles/active-profile"];

/// Kernel arguments that affect storage and processors. Others are not recorded, because records are
/// shared and arguments may contain server names and keys of the site.
const ARGUMENTS: [&str; 22] = [
    "cpuidle",
    "default_hugepagesz",
    "elevator",
    "hugepages",
    "hugepagesz",
    "idle",
    "intel_idle",
    "intel_iommu",
    "intel_pstate",
    "amd_iommu",
    "amd_pstate",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "mitigations",
    "nohz_full",
    "numa_balancing",
    "nvme",
    "nvme_core",
    "pcie_aspm",
    "processor",
    "transparent_hugepage",
];

/// What container software creates in each container. Kubernetes comes first, because it starts containers of others.
/// `/.dockerenv` and `/run/.containerenv` are documented by Docker and Podman, `/.singularity.d` by Apptainer.
const CONTAINER_MARKS: [(&str, &str); 4] = [
    ("/var/run/secrets/kubernetes.io", "Kubernetes"),
    ("/.singularity.d", "Apptainer"),
    ("/run/.containerenv", "Podman"),
    ("/.dockerenv", "Docker"),
];
/// Files with the name of the container software, by the container interface of systemd: written by the software, and
/// by systemd in the container.
const CONTAINER_NAMES: [&str; 2] = ["/run/host/container-manager", "/run/systemd/container"];

pub(super) fn gather(root: &Root) -> MachineFacts {
    let kernel_build = root.text("/proc/version");
    MachineFacts {
        vendor: root.text(&format!("{IDENTITY}/sys_vendor")),
        product: product(root),
        firmware: firmware(root),
        compiler: kernel_build.clone().and_then(|text| {
            Fact::of(compiler(&text).map(str::to_owned), || "/proc/version names no compiler".to_owned())
        }),
        kernel_build,
        kernel_arguments: kernel_arguments(root),
        tuned_profile: tuned_profile(root),
        container: container(root),
    }
}

fn container(root: &Root) -> Option<String> {
    let mark = CONTAINER_MARKS.iter().find(|(path, _)| root.exists(path));
    let name = || CONTAINER_NAMES.iter().find_map(|path| root.text(path).known().cloned());
    mark.map(|(_, software)| (*software).to_owned()).or_else(name)
}

fn kernel_arguments(root: &Root) -> Fact<Option<String>> {
    let matters = |word: &&str| {
        let name = word.split('=').next().unwrap_or(word);
        ARGUMENTS.contains(&name.split('.').next().unwrap_or(name))
    };
    root.text("/proc/cmdline").map(|line| {
        let words: Vec<&str> = line.split_whitespace().filter(matters).collect();
        (!words.is_empty()).then(|| words.join(" "))
    })
}

fn product(root: &Root) -> Fact<String> {
    match root.text(&format!("{IDENTITY}/product_name")) {
        Fact::Known(name) => Fact::Known(name),
        Fact::Unknown(reason) => match root.text(DEVICE_TREE_MODEL) {
            Fact::Known(model) => Fact::Known(model.trim_end_matches('\0').to_owned()),
            Fact::Unknown(other) => Fact::Unknown(format!("{reason}, {other}")),
        },
    }
}

fn firmware(root: &Root) -> Fact<String> {
    match (root.text(&format!("{IDENTITY}/bios_version")), root.text(&format!("{IDENTITY}/bios_date"))) {
        (Fact::Known(version), Fact::Known(date)) => Fact::Known(format!("{version} of {date}")),
        (version, _) => version,
    }
}

/// The compiler named in a text such as `Linux version 6.1.0 (builder@host) (gcc (Debian 12.2.0-14)
/// 12.2.0, GNU ld 2.40) #1 SMP`: the part in parentheses that names one, up to its first comma.
fn compiler(version: &str) -> Option<&str> {
    let group = groups(version).into_iter().find(|group| group.contains("gcc") || group.contains("clang"))?;
    let mut depth = 0_i32;
    let end = group.char_indices().find(|(_, letter)| {
        depth += i32::from(*letter == '(') - i32::from(*letter == ')');
        *letter == ',' && depth == 0
    });
    Some(group[..end.map_or(group.len(), |(at, _)| at)].trim())
}

/// The texts in the outermost pairs of parentheses.
fn groups(text: &str) -> Vec<&str> {
    let (mut groups, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            ')' if depth == 1 => {
                groups.push(&text[start..at]);
                depth = 0;
            }
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    groups
}

fn tuned_profile(root: &Root) -> Fact<Option<String>> {
    for path in TUNED_PROFILES {
        if let Fact::Known(profile) = root.text(path) {
            return Fact::Known(Some(profile));
        }
    }
    let is_there = ["/usr/sbin/tuned-adm", "/usr/bin/tuned-adm"].iter().find(|path| root.exists(path));
    match is_there {
        Some(path) => Fact::Unknown(format!("{path} exists, but {} contains no profile", TUNED_PROFILES[0])),
        None => Fact::Known(None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::compiler;

    #[test]
    fn the_compiler_is_found_in_the_build_strings_of_distributions() {
        let debian = "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) \
                      12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC";
        assert_eq!(compiler(debian), Some("gcc-12 (Debian 12.2.0-14) 12.2.0"));
        let suse = "Linux version 3.0.76-0.11-default (geeko@buildhost) (gcc version 4.3.4 [gcc-4_3-branch \
                    revision 152973] (SUSE Linux) ) #1 SMP Fri Jun 14 08:21:43 UTC 2013";
        assert_eq!(compiler(suse), Some("gcc version 4.3.4 [gcc-4_3-branch revision 152973] (SUSE Linux)"));
        assert_eq!(compiler("Linux version 9 (a@b)"), None);
    }

    proptest! {
        #[test]
        fn no_build_string_stops_the_reader(text in "[()gc, é]{0,60}") {
            compiler(&text);
        }
    }
}
