//! TuneD, the daemon with which study C has set its storage profile.
//!
//! `tuned-adm profile` exits with 0 even if the daemon does not run: it only stores the name for the
//! daemon's next start, and the kernel stays as it was. So the content of a profile is compared with what
//! the kernel shows.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use record::Fact;

use super::programs::Programs;
use super::setting::{Setting, TUNED_STATE};
use crate::Root;

/// The program, and how to install it.
pub(in crate::tuning) const PROGRAM: &str = "tuned-adm";
pub(in crate::tuning) const PACKAGE: &str =
    "install the package tuned (Debian: apt install tuned; Red Hat: dnf install tuned)";
/// What to do if the daemon does not run.
pub(in crate::tuning) const START: &str = "start it: systemctl start tuned";
/// The name of its process.
const DAEMON: &str = "tuned";
/// Where TuneD stores the name of the profile: until version 2.23, and since.
const ACTIVE: &str = "/etc/tuned/active_profile";
/// The file that tells whether the profile was chosen by the user or by TuneD itself.
pub(in crate::tuning) const MODE: &str = "/etc/tuned/profile_mode";
/// Directories of profiles, each of which is a directory: of the user and of the system, until version
/// 2.23 and since.
const PROFILES: [&str; 4] =
    ["/etc/tuned", "/etc/tuned/profiles", "/usr/lib/tuned", "/usr/lib/tuned/profiles"];
/// The name of the profile in study C.
pub(in crate::tuning) const PUBLISHED: &str = "enterprise-storage";
/// The name of its successor.
pub(in crate::tuning) const SUCCESSOR: &str = "throughput-performance";

/// The active profile; empty if there is none.
pub(in crate::tuning) fn active(root: &Root) -> io::Result<String> {
    match root.read_setting(ACTIVE) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound && root.exists(TUNED_STATE) => {
            Ok(String::new())
        }
        Err(error) => Err(error),
    }
}

/// Whether the daemon runs.
pub(in crate::tuning) fn runs(root: &Root) -> bool {
    let file = |process: &str, name: &str| root.text(&format!("/proc/{process}/{name}"));
    let is_daemon = |process: &String| {
        process.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(file(process, "comm"), Fact::Known(name) if name == DAEMON)
            // A zombie has no command line.
            && file(process, "cmdline").known().is_some()
    };
    root.names("/proc").iter().any(is_daemon)
}

/// Whether TuneD has a profile with this name.
pub(in crate::tuning) fn has(root: &Root, profile: &str) -> bool {
    file_of(root, profile).is_some()
}

fn file_of(root: &Root, profile: &str) -> Option<String> {
    let files = PROFILES.iter().map(|directory| format!("{directory}/{profile}/tuned.conf"));
    files.into_iter().find(|file| root.exists(file))
}

/// Activates a profile; with an empty name, none is active. If the daemon does not run, the name is
/// stored for its next start, as `tuned-adm` does; `tuned-adm` itself cannot store an empty name.
pub(in crate::tuning) fn activate(root: &Root, programs: &Programs, profile: &str) -> io::Result<()> {
    if !runs(root) {
        return write_state(root, ACTIVE, profile);
    }
    if profile.is_empty() {
        return programs.run(PROGRAM, &["off"]).map(|_| ());
    }
    let mut arguments = vec!["profile"];
    // Several profiles may be active together; their names are separated by spaces.
    arguments.extend(profile.split_whitespace());
    programs.run(PROGRAM, &arguments).map(|_| ())
}

/// Writes a file of TuneD's state. It is a plain file and may become shorter.
pub(in crate::tuning) fn write_state(root: &Root, path: &str, value: &str) -> io::Result<()> {
    fs::write(root.path(path), if value.is_empty() { String::new() } else { format!("{value}\n") })
}

/// What the kernel shows that contradicts the profile, if anything.
pub(in crate::tuning) fn contradiction(root: &Root, profile: &str) -> Option<String> {
    if profile.is_empty() {
        return None;
    }
    let wanted = kernel_settings(root, profile);
    if wanted.is_empty() {
        return Some(format!("{profile} sets nothing that can be compared with the kernel"));
    }
    let mut wrong: Vec<String> = Vec::new();
    for (path, value) in &wanted {
        let Ok(text) = root.read_setting(path) else { continue };
        if !agrees(path, &text, value) {
            wrong.push(format!("{path} is {}, not {value}", Setting::file(path.as_str()).value(&text)));
        }
    }
    let more = wrong.len().saturating_sub(1);
    let first = wrong.into_iter().next()?;
    Some(if more == 0 { first } else { format!("{first}; {more} others also differ") })
}

/// The kernel files that are set by a profile and the profiles it includes, with their values: sysctl,
/// sysfs, governor and huge pages. Anything that depends on the hardware or on a variable is left out.
pub(in crate::tuning) fn kernel_settings(root: &Root, profile: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for name in profile.split_whitespace() {
        collect(root, name, 0, &mut all);
    }
    all.retain(|path, _| root.exists(path));
    all
}

fn collect(root: &Root, profile: &str, depth: usize, all: &mut BTreeMap<String, String>) {
    /// TuneD's own profiles include others up to three levels deep. The limit also ends the recursion of
    /// a profile that includes itself.
    const DEPTH_MAX: usize = 8;
    let Some(text) = file_of(root, profile).and_then(|file| root.read(&file).ok()) else { return };
    let sections = sections(&text);
    if depth < DEPTH_MAX {
        let main = sections.iter().filter(|section| section.name == "main");
        for included in main.filter_map(|section| section.option("include")) {
            let names = included.split([',', ' ', '\t']).filter(|name| !name.is_empty());
            names.for_each(|name| collect(root, name, depth + 1, all));
        }
    }
    for section in sections {
        if section.is_conditional() {
            // It is not known whether the section applies, so neither its value nor that of an included
            // profile is kept.
            section.settings(root).for_each(|(path, _)| drop(all.remove(&path)));
            continue;
        }
        for (path, value) in section.settings(root) {
            match value.contains("${") {
                true => drop(all.remove(&path)),
                false => drop(all.insert(path, value)),
            }
        }
    }
}

/// A section of a profile.
struct Section<'a> {
    name: &'a str,
    options: Vec<(&'a str, &'a str)>,
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut all: Vec<Section<'_>> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            all.push(Section { name: name.trim(), options: Vec::new() });
        } else if let (Some(section), Some((key, value))) = (all.last_mut(), line.split_once('=')) {
            section.options.push((key.trim(), value.trim().trim_matches(['"', '\''])));
        }
    }
    all
}

impl<'a> Section<'a> {
    fn option(&self, key: &str) -> Option<&'a str> {
        self.options.iter().rev().find(|(other, _)| *other == key).map(|(_, value)| *value)
    }

    fn is_conditional(&self) -> bool {
        ["uname_regex", "cpuinfo_regex", "enabled", "devices"].iter().any(|key| self.option(key).is_some())
    }

    fn settings<'s>(&'s self, root: &'s Root) -> impl Iterator<Item = (String, String)> + 's {
        let kind = self.option("type").unwrap_or(self.name);
        self.options.iter().flat_map(move |(key, value)| {
            paths(root, kind, key).into_iter().map(|path| (path, (*value).to_owned()))
        })
    }
}

/// The kernel files that correspond to an option in a section of this kind.
fn paths(root: &Root, kind: &str, key: &str) -> Vec<String> {
    match (kind, key) {
        (_, "type" | "replace" | "uname_regex" | "cpuinfo_regex" | "enabled" | "devices") => Vec::new(),
        ("sysctl", _) => vec![format!("/proc/sys/{}", key.replace('.', "/"))],
        ("sysfs", _) if key.starts_with("/sys/") && !key.contains(['*', '?', '[']) => vec![key.to_owned()],
        ("vm", "transparent_hugepages" | "transparent_hugepage") => {
            crate::activity::memory::HUGE_PAGES.map(str::to_owned).to_vec()
        }
        ("cpu", "governor") => {
            const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";
            let names = root.names(POLICIES).into_iter().filter(|name| name.starts_with("policy"));
            names.map(|name| format!("{POLICIES}/{name}/scaling_governor")).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the content `text` of a kernel file matches what a profile asks for: a value, one of several
/// values separated by `|`, or a number that is at least (`>`) or at most (`<`) a given one. The kernel
/// separates numbers by tabs.
fn agrees(path: &str, text: &str, wanted: &str) -> bool {
    let now = Setting::file(path).value(text);
    let number = |text: &str| text.trim().parse::<i64>().ok();
    if let (Some(least), Some(now)) = (wanted.strip_prefix('>').and_then(number), number(&now)) {
        return now >= least;
    }
    if let (Some(most), Some(now)) = (wanted.strip_prefix('<').and_then(number), number(&now)) {
        return now <= most;
    }
    wanted.split('|').any(|one| one.split_whitespace().eq(now.split_whitespace()))
}

#[cfg(test)]
mod tests {
    use super::{agrees, kernel_settings};
    use crate::fake::Tree;

    #[test]
    fn what_a_profile_sets_is_collected_from_those_it_includes() {
        let tree = Tree::in_memory(&[
            (
                "/usr/lib/tuned/base/tuned.conf",
                "[main]\nsummary=x\n[sysctl]\nvm.swappiness=10\nvm.dirty_ratio = 40\nkernel.sem=>9\n",
            ),
            (
                "/usr/lib/tuned/mine/tuned.conf",
                "[main]\ninclude=base\n# no\n[sysctl]\nvm.dirty_ratio=30\nvm.not_here=1\n[vm.arm]\ntype=vm\n\
                 uname_regex=aarch64\ntransparent_hugepages=never\n[sysfs]\n/sys/kernel/x=${a}\n",
            ),
            ("/usr/lib/tuned/round/tuned.conf", "[main]\ninclude=round\n[sysctl]\nvm.swappiness=1\n"),
            ("/proc/sys/vm/swappiness", "60\n"),
            ("/proc/sys/vm/dirty_ratio", "20\n"),
            ("/sys/kernel/x", "1\n"),
            ("/sys/kernel/mm/transparent_hugepage/enabled", "[always] never\n"),
        ]);
        let of = |profile| {
            let all = kernel_settings(tree.root(), profile);
            all.into_iter().map(|(path, value)| format!("{path}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(of("mine"), ["/proc/sys/vm/dirty_ratio=30", "/proc/sys/vm/swappiness=10"]);
        assert_eq!(of("round"), ["/proc/sys/vm/swappiness=1"]);
        assert_eq!(of("none"), [""; 0]);
    }

    #[test]
    fn limits_and_alternatives_of_a_profile_are_understood() {
        for (text, wanted, agree) in [
            ("4096\n", ">2048", true),
            ("1024\n", ">2048", false),
            ("3\n", "<4", true),
            ("powersave\n", "performance|powersave", true),
            ("32000\t1024000\t50\n", "32000 1024000 50", true),
            ("20\n", "40", false),
        ] {
            assert_eq!(agrees("/proc/sys/x", text, wanted), agree, "{text:?} {wanted}");
        }
    }
}
