//! Checks that data fits on the devices of a model, and that nodes can reach them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use plan::{Bytes, Case, FileSystemSpace, Layer, Plan, RunEnvironment, Sharing, estimates, node_local_rule};
use runner::RunnerError;

use super::{SimulatedMachine, lacking};
use crate::model::Layout;
use crate::simulation::parts::route::Striping;

/// Maximum number of chunks in a transfer, because each is processed before the next event.
const CHUNKS_MAX: u64 = 1 << 20;

impl SimulatedMachine {
    /// The layouts of the model whose devices have a size, each with its capacity for data and the targets of `plan`
    /// that are on it. Layouts on the same devices are also listed together.
    #[must_use]
    pub fn spaces(&self, plan: &Plan) -> Vec<FileSystemSpace> {
        let mut spaces: Vec<(&Layout, FileSystemSpace)> = Vec::new();
        spaces.extend(
            self.setup.model.layouts.iter().filter_map(|layout| Some((layout, self.space(layout, plan)?))),
        );
        let mut together: Vec<FileSystemSpace> = Vec::new();
        for (number, (layout, space)) in spaces.iter().enumerate() {
            let is_same = |other: &Layout| (&other.devices, other.local) == (&layout.devices, layout.local);
            let others: Vec<&FileSystemSpace> = spaces[number + 1..]
                .iter()
                .filter(|(other, _)| is_same(other))
                .map(|(_, space)| space)
                .collect();
            if others.is_empty() || spaces[..number].iter().any(|(other, _)| is_same(other)) {
                continue;
            }
            let all = || std::iter::once(space).chain(others.iter().copied());
            together.push(FileSystemSpace {
                name: format!("device group `{}` of the model", layout.devices),
                free: all().map(|space| space.free).max().unwrap_or(Bytes(0)),
                targets: all().flat_map(|space| space.targets.clone()).collect(),
            });
        }
        spaces.into_iter().map(|(_, space)| space).chain(together).collect()
    }

    fn space(&self, layout: &Layout, plan: &Plan) -> Option<FileSystemSpace> {
        let capacity = Striping::new(&self.setup.model, layout).capacity(self.device_bytes(layout)?);
        let cases =
            || plan.cases.iter().filter(|case| self.setup.model.layout_of(&case.target) == Some(layout));
        let each = |case: &Case| {
            plan.criteria
                .targets
                .iter()
                .any(|target| target.name == case.target && target.layer == Layer::NodeLocal)
        };
        // What is needed is counted on each node if the study says so, otherwise for all nodes together.
        let nodes = match layout.local && !cases().any(each) {
            true => cases().map(|case| case.workload.nodes).max()?,
            false => 1,
        };
        let targets: BTreeSet<PathBuf> =
            cases().flat_map(|case| case.workload.files.targets.clone()).collect();
        Some(FileSystemSpace {
            name: format!("layout `{}` of the model", layout.name),
            free: Bytes(capacity.saturating_mul(u64::from(nodes))),
            targets: targets.into_iter().collect(),
        })
    }

    /// Checks that the files of `plan` fit on the devices.
    pub(super) fn check_capacity(&self, plan: &Plan) -> Result<(), RunnerError> {
        let transfers = || plan.cases.iter().filter(|case| case.workload.work.is_transfers());
        transfers().try_for_each(|case| self.check_file(case))?;
        let environment = RunEnvironment {
            spaces: self.spaces(plan),
            model: Some(self.setup.model.model.name.clone()),
            ..RunEnvironment::default()
        };
        let (of_cases, together) = estimates(plan, &environment);
        let Some(lacks) = together.into_iter().find(|space| space.needed > space.free) else {
            return transfers().try_for_each(|case| self.check_fullest(case));
        };
        let needs = |number: &usize| {
            let spaces = of_cases[*number].spaces.iter();
            spaces.filter(|space| space.name == lacks.name).map(|space| space.needed).max()
        };
        let largest = (0..plan.cases.len()).max_by_key(needs).unwrap_or(0);
        let told = format!(
            "the files need {}, but {} has a capacity of {}: write less, or raise `size` of its devices",
            lacks.needed, lacks.name, lacks.free
        );
        Err(lacking(&plan.cases[largest], told))
    }

    /// Checks that a file fits on the devices that store it.
    fn check_file(&self, case: &Case) -> Result<(), RunnerError> {
        let workload = &case.workload;
        let Some(layout) = self.setup.model.layout_of(&case.target) else { return Ok(()) };
        let (_, chunk) = layout.striping(u32::MAX);
        if let Some(chunk) = chunk.filter(|chunk| workload.geometry.transfer.0 / chunk.0 > CHUNKS_MAX) {
            let told = format!(
                "a transfer of {} covers more than {CHUNKS_MAX} chunks of {} on layout `{}`: make it smaller",
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
        let striping = Striping::new(&self.setup.model, layout);
        let most = striping.file_capacity(size);
        if file.0 <= most {
            return Ok(());
        }
        let devices = match striping.devices_of_file() {
            1 => "one device".to_owned(),
            several => format!("{several} devices"),
        };
        let told = format!(
            "a file of {file} is on {} of layout `{}`, which can store only {} of it: make it smaller, or \
             give the layout a larger `stripe` and a `chunk`",
            devices,
            layout.name,
            Bytes(most)
        );
        Err(lacking(case, told))
    }

    /// Checks that the device with most files of `case` has room for them.
    fn check_fullest(&self, case: &Case) -> Result<(), RunnerError> {
        let workload = &case.workload;
        let Some(layout) = self.setup.model.layout_of(&case.target) else { return Ok(()) };
        let Some(size) = self.device_bytes(layout) else { return Ok(()) };
        if workload.files.sharing == Sharing::Shared || self.setup.members.contains_key(&case.id) {
            return Ok(());
        }
        let file = workload.geometry.bytes_per_task();
        let striping = Striping::new(&self.setup.model, layout);
        let most = striping.file_capacity(size);
        let files = u64::from(workload.tasks / if layout.local { workload.nodes.max(1) } else { 1 });
        let fullest = striping.files_of_fullest_device(files);
        if file.0.saturating_mul(fullest) <= most {
            return Ok(());
        }
        let told = format!(
            "{files} files of {file} are distributed unevenly over the devices of layout `{}`: one device \
             gets {fullest} files, but has space for {}: make the files smaller, or use as many files as \
             devices",
            layout.name,
            most / file.0.max(1)
        );
        Err(lacking(case, told))
    }

    /// Checks that no node of `case` accesses data that another node has on its own devices.
    pub(super) fn check_local(&self, case: &Case) -> Result<(), RunnerError> {
        let is_local = self.setup.model.layout_of(&case.target).is_some_and(|layout| layout.local);
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

    /// Checks that the model has a device for each member of the target of `case`.
    pub(super) fn check_members(&self, case: &Case) -> Result<(), RunnerError> {
        let (Some(members), Some(layout)) =
            (self.setup.members.get(&case.id), self.setup.model.layout_of(&case.target))
        else {
            return Ok(());
        };
        if !case.workload.work.is_transfers() {
            let told = "only files of transfers can be placed on selected members of a target: omit \
                        `member` and `members`";
            return Err(lacking(case, told.to_owned()));
        }
        let devices = self.setup.model.group(&layout.devices).map_or(0, |group| group.count);
        let (stripe, _) = layout.striping(devices);
        if stripe > 1 {
            let told = format!(
                "a member of `{}` is one device, but layout `{}` stores each file on {stripe}: omit its \
                 `stripe`, `chunk` and `parity`, or omit `member` and `members`",
                case.target, layout.name
            );
            return Err(lacking(case, told));
        }
        let needed = u64::from(members.first) + u64::from(members.count);
        if needed > u64::from(devices) {
            let told = format!(
                "`{}` has {needed} members, but layout `{}` has {devices} devices: raise `count` of its \
                 devices",
                case.target, layout.name
            );
            return Err(lacking(case, told));
        }
        Ok(())
    }

    /// Size of each device of `layout` in bytes, if the model specifies it.
    fn device_bytes(&self, layout: &Layout) -> Option<u64> {
        Some(self.setup.model.group(&layout.devices)?.size?.0)
    }
}
