//! The name of the node.

use record::Fact;

use super::root::Root;

/// Stands for the name of a host that its tree does not contain.
const UNKNOWN_NODE: &str = "unknown";

/// The name of the node.
pub(crate) fn node_name(root: &Root) -> String {
    match root.text("/proc/sys/kernel/hostname") {
        Fact::Known(name) => name,
        Fact::Unknown(_) if root.is_system() => {
            rustix::system::uname().nodename().to_string_lossy().into_owned()
        }
        Fact::Unknown(_) => UNKNOWN_NODE.to_owned(),
    }
}
