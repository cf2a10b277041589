//! Transfers within files that stay open.

use super::{WorkKind, backend, halvings, tasks};
use crate::{Advice, Bytes, FileSlot, Order, Phase, Placement, PlanError, Workload, WorkloadSpec};

/// Their parameters are those of the workload itself.
pub(crate) struct Transfers;

/// Every device takes transfers of whole pages.
const PAGE: u64 = 4096;

impl WorkKind for Transfers {
    fn check(&self, spec: &WorkloadSpec) -> Result<(), PlanError> {
        spec.check_sizes()?;
        spec.check_order()
    }

    fn pass(&self, workload: &Workload) -> u64 {
        workload.geometry.transfers_per_task()
    }

    fn footprint(&self, workload: &Workload) -> Bytes {
        Bytes(workload.transfers_per_pass() * u64::from(workload.tasks) * workload.geometry.transfer.0)
    }

    fn bytes(&self, workload: &Workload) -> Bytes {
        Bytes(workload.transfers().saturating_mul(workload.geometry.transfer.0))
    }

    fn operation_bytes(&self, _phase: Phase) -> Option<Bytes> {
        None
    }

    fn read_part(&self, workload: &Workload, phase: Phase) -> (u64, u64) {
        match phase {
            Phase::Mixed => (u64::from(workload.read_percent), 100),
            _ if phase.makes() => (0, 1),
            _ => (1, 1),
        }
    }

    fn listed_files(&self, workload: &Workload, repetition: u32) -> Vec<FileSlot> {
        Placement::new(workload).files(repetition)
    }

    fn owner(&self, workload: &Workload, task: u32, phase: Phase, repetition: u32) -> u32 {
        Placement::new(workload).owner(task, phase, repetition)
    }

    fn direct_sizes(&self, workload: &Workload, _phases: &[Phase]) -> Vec<Bytes> {
        vec![workload.geometry.transfer]
    }

    fn can_be_direct(&self, workload: &Workload) -> bool {
        let is_plain = workload.advice == Advice::None && !workload.forget && workload.primed == 0;
        let is_able = workload.backend.capabilities().direct_refused.is_none();
        is_plain && is_able && workload.geometry.transfer.0.is_multiple_of(PAGE)
    }

    fn cached_bytes(&self, workload: &Workload) -> Option<u64> {
        if !workload.backend.moves_data() || workload.direct {
            return None;
        }
        let volume = workload.footprint().min(workload.bytes()).0;
        Some(volume / u64::from(workload.tasks) * u64::from(workload.tasks.div_ceil(workload.nodes)))
    }

    fn needed(&self, workload: &Workload, _phase: Phase) -> u64 {
        workload.geometry.transfers_per_task()
    }

    fn amount(&self, workload: &Workload) -> u64 {
        workload.footprint().0
    }

    fn halvings(&self, workload: &Workload, least: u64) -> u32 {
        halvings(workload.transfers_per_pass(), least * u64::from(workload.backend.depth()))
    }

    fn longer(&self, workload: &Workload) -> &'static str {
        match workload.duration {
            Some(_) => "set a longer duration",
            None => "move more data, or set a duration",
        }
    }

    fn what(&self, workload: &Workload, phase: Phase) -> String {
        let does = match phase {
            Phase::Mixed => {
                format!("mix {}/{}", workload.read_percent, 100 - workload.read_percent.min(100))
            }
            _ => phase.name().to_owned(),
        };
        format!("{} {} {does}", workload.geometry.transfer, workload.order_name())
    }

    fn conditions(&self, workload: &Workload, phase: Phase) -> String {
        let order = match workload.order {
            Order::Strided { stride } => format!("strided ({stride})"),
            Order::Same => "same-place".to_owned(),
            _ => workload.order_name().to_owned(),
        };
        let path = match (workload.backend.capabilities().by_calls, workload.direct) {
            (false, _) => "",
            (true, true) => "direct, ",
            (true, false) => "buffered, ",
        };
        let mix = match phase {
            Phase::Mixed => format!(" ({} % reads)", workload.read_percent),
            _ => String::new(),
        };
        let (transfer, by, tasks) = (workload.geometry.transfer, backend(workload), tasks(workload));
        format!("{transfer} {order} {phase}{mix}, {path}{by}, {tasks}")
    }
}
