//! Whether the kernel's settings allow this process to use io_uring.

use std::fmt;

use record::Fact;

use crate::Root;

/// The setting `kernel.io_uring_disabled` (`Documentation/admin-guide/sysctl/kernel.rst`). A seccomp
/// filter may still reject the call, which can only be found out by calling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IoUringState {
    /// Every process may use it.
    Allowed,
    /// Only members of a group and privileged processes may use it.
    OnlyGroup {
        /// The number of the group; -1 means that there is no group.
        group: i64,
    },
    /// No process may use it.
    Disabled,
    /// The kernel has no such setting (before Linux 6.6), or it cannot be read.
    Unknown {
        /// The reason.
        reason: String,
    },
}

/// Reads the setting.
#[must_use]
pub fn io_uring_state(root: &Root) -> IoUringState {
    match root.number::<i64>("/proc/sys/kernel/io_uring_disabled") {
        Fact::Known(0) => IoUringState::Allowed,
        Fact::Known(1) => IoUringState::OnlyGroup {
            group: *root.number("/proc/sys/kernel/io_uring_group").known().unwrap_or(&-1),
        },
        Fact::Known(2) => IoUringState::Disabled,
        Fact::Known(other) => IoUringState::Unknown {
            reason: format!("kernel.io_uring_disabled is {other}, which is an unknown value"),
        },
        Fact::Unknown(reason) => IoUringState::Unknown { reason },
    }
}

impl fmt::Display for IoUringState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allowed => f.write_str("io_uring is allowed for every process"),
            Self::OnlyGroup { group: -1 } => f.write_str(
                "io_uring is only allowed for privileged processes (kernel.io_uring_disabled is 1): \
                 run as root, or sysctl kernel.io_uring_disabled=0",
            ),
            Self::OnlyGroup { group } => write!(
                f,
                "io_uring is only allowed for group {group} and privileged processes \
                 (kernel.io_uring_disabled is 1): join the group, or sysctl kernel.io_uring_disabled=0"
            ),
            Self::Disabled => f.write_str(
                "io_uring is disabled for every process (kernel.io_uring_disabled is 2): \
                 sysctl kernel.io_uring_disabled=0",
            ),
            Self::Unknown { reason } => write!(f, "it is unknown whether io_uring is allowed: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{IoUringState, io_uring_state};
    use crate::fake::Tree;

    #[test]
    fn each_value_of_the_switch_has_words_and_a_next_step() {
        let state = |disabled: &str, group: &str| {
            let tree = Tree::new(&[
                ("/proc/sys/kernel/io_uring_disabled", disabled),
                ("/proc/sys/kernel/io_uring_group", group),
            ]);
            io_uring_state(tree.root())
        };
        assert_eq!(state("0\n", "-1\n"), IoUringState::Allowed);
        assert_eq!(state("1\n", "4711\n"), IoUringState::OnlyGroup { group: 4711 });
        assert!(state("1\n", "4711\n").to_string().contains("group 4711"));
        assert_eq!(state("2\n", "-1\n"), IoUringState::Disabled);
        assert!(state("2\n", "-1\n").to_string().contains("sysctl kernel.io_uring_disabled=0"));
        assert!(matches!(state("3\n", "-1\n"), IoUringState::Unknown { .. }));
    }

    #[test]
    fn a_kernel_without_the_switch_is_not_guessed_about() {
        let tree = Tree::new(&[]);
        let state = io_uring_state(tree.root());
        assert_eq!(state, IoUringState::Unknown { reason: "no /proc/sys/kernel/io_uring_disabled".into() });
    }
}
