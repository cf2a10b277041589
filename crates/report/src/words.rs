//! The short forms of conditions that columns of tables use; the long form is
//! [`plan::Workload::conditions`].

use plan::{Backend, Phase, Workload};

/// `sequential`, `random`, `backward`, `strided` or `same`.
pub(crate) fn order(workload: &Workload) -> &'static str {
    workload.order.name()
}

/// `4 KiB random read`; `64 KiB sequential mix 70/30` has 70 % of reads.
pub(crate) fn what(workload: &Workload, phase: Phase) -> String {
    let does = match phase {
        Phase::Mixed => format!("mix {}/{}", workload.read_percent, 100 - workload.read_percent.min(100)),
        _ => phase.name().to_owned(),
    };
    format!("{} {} {does}", workload.geometry.transfer, order(workload))
}

/// `direct uring 32`, `buffered psync 1`, `mmap`: how transfers reach the kernel, and how many of
/// each task are under way.
pub(crate) fn path(workload: &Workload) -> String {
    let name = workload.backend.name();
    match workload.backend {
        Backend::Stdio | Backend::Mmap | Backend::Null => name.to_owned(),
        Backend::Psync | Backend::Vectored { .. } | Backend::Uring { .. } => {
            let cache = if workload.direct { "direct" } else { "buffered" };
            format!("{cache} {name} {}", workload.backend.depth())
        }
    }
}

/// Whether others could use the storage meanwhile, as the study says.
pub(crate) const fn exclusive(exclusive: bool) -> &'static str {
    if exclusive { "exclusive" } else { "not exclusive" }
}
