//! What fits onto the devices of a model.

use std::collections::BTreeSet;
use std::path::PathBuf;

use plan::{Bytes, Case, Layer, Plan, RunEnvironment, Sharing, Space, estimates, node_local_rule};
use runner::RunnerError;

use super::{SimulatedMachine, lacking};
use crate::model::Layout;
use crate::simulation::route::Striping;

/// Chunks of one transfer at most: each is looked at before the next event.
const CHUNKS_MAX: u64 = 1 << 20;

impl SimulatedMachine {
    /// The layouts of the model whose devices have a size, each with the bytes of data that it holds and the targets
    /// of `plan` that are on it. Layouts on the same devices have all of them.
    #[must_use]
    pub fn spaces(&self, plan: &Plan) -> Vec<Space> {
        let space = |layout: &Layout| {
            let capacity = Striping::new(&self.model, layout).capacity(self.device_bytes(layout)?);
            let cases =
                || plan.cases.iter().filter(|case| self.model.layout_of(&case.target) == Some(layout));
            let each = |case: &Case| {
                plan.terms
                    .targets
                    .iter()
                    .any(|target| target.name == case.target && target.layer == Layer::NodeLocal)
            };
            // What is needed is counted on each node where the study says so, else on all of them.
            let nodes = match layout.local && !cases().any(each) {
                true => cases().map(|case| case.workload.nodes).max()?,
                false => 1,
            };
            let targets: BTreeSet<PathBuf> =
                cases().flat_map(|case| case.workload.files.targets.clone()).collect();
            Some(Space {
                name: format!("layout `{}` of the model", layout.name),
                free: Bytes(capacity.saturating_mul(u64::from(nodes))),
                targets: targets.into_iter().collect(),
            })
        };
        self.model.layouts.iter().filter_map(space).collect()
    }

    /// Checks that the files of `plan` fit onto the devices.
    pub(super) fn check_capacity(&self, plan: &Plan) -> Result<(), RunnerError> {
        for case in plan.cases.iter().filter(|case| case.workload.work.is_transfers()) {
            self.check_file(case)?;
        }
        let environment =
            RunEnvironment { spaces: self.spaces(plan), has_data: true, ..RunEnvironment::default() };
        let (of_cases, together) = estimates(plan, &environment);
        let Some(lacks) = together.into_iter().find(|space| space.needed > space.free) else { return Ok(()) };
        let needs = |number: &usize| {
            let spaces = of_cases[*number].spaces.iter();
            spaces.filter(|space| space.name == lacks.name).map(|space| space.needed).max()
        };
        let largest = (0..plan.cases.len()).max_by_key(needs).unwrap_or(0);
        let told = format!(
            "the files need {}, and {} holds {}: write less, or raise `size` of its devices",
            lacks.needed, lacks.name, lacks.free
        );
        Err(lacking(&plan.cases[largest], told))
    }

    /// Checks that a file fits onto the devices that it is on.
    fn check_file(&self, case: &Case) -> Result<(), RunnerError> {
        let workload = &case.workload;
        let Some(layout) = self.model.layout_of(&case.target) else { return Ok(()) };
        let (_, chunk) = layout.striping(u32::MAX);
        if let Some(chunk) = chunk.filter(|chunk| workload.geometry.transfer.0 / chunk.0 > CHUNKS_MAX) {
            let told = format!(
                "a transfer of {} is in more than {CHUNKS_MAX} chunks of {} on layout `{}`: make it smaller",
                workload.geometry.transfer,
                Bytes(chunk.0),
                layout.name
            );
            return Err(lacking(case, told));
        }
        let Some(size) = self.device_bytes(layout) else { return Ok(()) };
        let file = match workload.files.sharing {
            Sharing::Shared => workload.footprint(),
            _ => workload.geometry.bytes_per_task(),
        };
        let striping = Striping::new(&self.model, layout);
        let most = striping.file_capacity(size);
        if file.0 <= most {
            return Ok(());
        }
        let devices = match striping.devices_of_file() {
            1 => "one device".to_owned(),
            several => format!("{several} devices"),
        };
        let told = format!(
            "a file of {file} is on {} of layout `{}`, which holds {} of it: make it smaller, or give the layout a larger \
             `stripe` and a `chunk`",
            devices,
            layout.name,
            Bytes(most)
        );
        Err(lacking(case, told))
    }

    /// Checks that no node of `case` reaches for what another one has on its own devices.
    pub(super) fn check_local(&self, case: &Case) -> Result<(), RunnerError> {
        let is_local = self.model.layout_of(&case.target).is_some_and(|layout| layout.local);
        if !is_local || case.workload.nodes < 2 {
            return Ok(());
        }
        let target = plan::TargetDescription {
            name: case.target.clone(),
            layer: Layer::NodeLocal,
            ..plan::TargetDescription::default()
        };
        node_local_rule(case, &target).map_err(|problem| RunnerError::Rule { case: case.id.clone(), problem })
    }

    /// Bytes of each device of `layout`, if the model says so.
    fn device_bytes(&self, layout: &Layout) -> Option<u64> {
        Some(self.model.group(&layout.devices)?.size?.0)
    }
}
