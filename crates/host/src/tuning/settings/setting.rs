//! A setting of a host: its location, how it is read, and when two of its values are equal.

use std::fmt;
use std::io;

use plan::shell_word;
use serde::{Deserialize, Serialize};

use super::mount_flags;
use crate::devices::block::chosen;

/// The directory in which TuneD keeps its state.
pub(in crate::tuning) const TUNED_STATE: &str = "/etc/tuned/";

/// The location of a value that can be changed at run time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Setting {
    /// A kernel file that contains a single value, or a list of choices with the selected one in
    /// brackets.
    File {
        /// Its path, without the prefix of a [`Root`](crate::Root).
        path: String,
    },
    /// A model-specific register of a processor (`msr(4)`): 8 bytes at the register's number in
    /// `/dev/cpu/N/msr`.
    Register {
        /// The processor.
        cpu: u32,
        /// The register.
        register: u32,
    },
    /// The options of one mount, which the kernel keeps separate from those of its file system.
    Mount {
        /// Where it is mounted.
        mount_point: String,
    },
    /// The active profile of TuneD.
    TunedProfile,
}

impl Setting {
    /// The setting stored in this file.
    pub fn file(path: impl Into<String>) -> Self {
        Self::File { path: path.into() }
    }

    /// Whether its value survives a reboot of the host.
    #[must_use]
    pub fn outlives_boot(&self) -> bool {
        match self {
            Self::TunedProfile => true,
            Self::File { path } => path.starts_with(TUNED_STATE),
            Self::Register { .. } | Self::Mount { .. } => false,
        }
    }

    /// The block device that the setting belongs to.
    #[must_use]
    pub fn device(&self) -> Option<&str> {
        let Self::File { path } = self else { return None };
        path.strip_prefix("/sys/block/")?.split('/').next()
    }

    /// The command that has the same effect when run by hand.
    #[must_use]
    pub fn command(&self, value: &str) -> String {
        match self {
            Self::File { path } => format!("echo {} > {}", shell_word(value), shell_word(path)),
            Self::Register { cpu, register } => {
                format!("wrmsr -p {cpu} {register:#x} {}", shell_word(value))
            }
            Self::Mount { mount_point } => {
                let options = format!("remount,bind,{value}");
                format!("mount -o {} {}", shell_word(&options), shell_word(mount_point))
            }
            Self::TunedProfile if value.is_empty() => "tuned-adm off".to_owned(),
            Self::TunedProfile => {
                let names: Vec<String> = value.split_whitespace().map(shell_word).collect();
                format!("tuned-adm profile {}", names.join(" "))
            }
        }
    }

    /// Extracts the value from the text of the setting: without surrounding space, and from a list of
    /// choices the selected one.
    #[must_use]
    pub fn value(&self, text: &str) -> String {
        let text = text.trim();
        match self {
            Self::File { .. } => chosen(text).to_owned(),
            _ => text.to_owned(),
        }
    }

    /// Whether two values are the same for the kernel.
    #[must_use]
    pub fn same(&self, one: &str, other: &str) -> bool {
        let (one, other) = (self.value(one), self.value(other));
        if one == other {
            return true;
        }
        match self {
            Self::File { path } if path.ends_with("/smp_affinity") => {
                matches!((mask(&one), mask(&other)), (Some(one), Some(other)) if one == other)
            }
            Self::File { .. } => {
                matches!((one.parse::<i64>(), other.parse::<i64>()), (Ok(one), Ok(other)) if one == other)
            }
            Self::Register { .. } => {
                matches!((number(&one), number(&other)), (Some(one), Some(other)) if one == other)
            }
            Self::Mount { .. } => mount_flags::same(&one, &other),
            Self::TunedProfile => false,
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path } => f.write_str(path),
            Self::Register { cpu, register } => write!(f, "/dev/cpu/{cpu}/msr {register:#x}"),
            Self::Mount { mount_point } => write!(f, "mount options of {mount_point}"),
            Self::TunedProfile => f.write_str("profile of TuneD"),
        }
    }
}

/// The digits of a processor mask such as `00000000,0000ff00`, without leading zeros.
fn mask(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|digit| *digit != ',').collect();
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    Some(digits.trim_start_matches('0').to_ascii_lowercase())
}

/// Whether a mask contains no processor or is invalid, which means that a driver gave no hint.
pub(crate) fn names_nobody(text: &str) -> bool {
    mask(text.trim()).is_none_or(|digits| digits.is_empty())
}

/// Parses a register's value in its displayed form, for example `0x35040041`.
pub(crate) fn number(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

/// Reads and writes settings. The real implementation is [`HostSettings`](crate::tuning::HostSettings). Tests
/// have one that rejects writes, changes values, and fails.
pub trait Settings {
    /// Reads the setting.
    ///
    /// # Errors
    /// Errors if it does not exist or may not be read.
    fn read(&self, setting: &Setting) -> io::Result<String>;

    /// Sets a value.
    ///
    /// # Errors
    /// Returns the kernel's error.
    fn write(&self, setting: &Setting, value: &str) -> io::Result<()>;

    /// What the kernel shows that contradicts this value of the setting. A program that was asked to set
    /// the value may have done no more than record it.
    fn contradiction(&self, setting: &Setting, value: &str) -> Option<String>;
}

#[cfg(test)]
mod tests {
    use super::Setting;

    #[test]
    fn values_that_the_kernel_writes_otherwise_are_the_same() {
        let irq = Setting::file("/proc/irq/24/smp_affinity");
        assert!(irq.same("00000000,000000ff\n", "ff"));
        assert!(irq.same("0", "00"), "no processor at all");
        assert!(!irq.same("ff", "fe"));
        let thp = Setting::file("/sys/kernel/mm/transparent_hugepage/enabled");
        assert!(thp.same("always madvise [never]\n", "never"));
        assert!(!thp.same("always [madvise] never\n", "never"));
        let register = Setting::Register { cpu: 0, register: 0x1fc };
        assert!(register.same("0x35040041", "0x0000000035040041"));
        let mount = Setting::Mount { mount_point: "/data".to_owned() };
        assert!(mount.same("rw,noatime,nodiratime", "rw,nodiratime,noatime"));
    }

    #[test]
    fn a_command_that_is_shown_may_be_copied() {
        let mount = Setting::Mount { mount_point: "/mnt/a $(touch PWNED)".to_owned() };
        assert_eq!(mount.command("rw,noatime"), "mount -o remount,bind,rw,noatime '/mnt/a $(touch PWNED)'");
        assert_eq!(Setting::TunedProfile.command("a b;c"), "tuned-adm profile a 'b;c'");
        let thp = Setting::file("/sys/kernel/mm/transparent_hugepage/enabled");
        assert_eq!(thp.command("never"), "echo never > /sys/kernel/mm/transparent_hugepage/enabled");
    }
}
