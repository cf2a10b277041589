//! The tasks of a phase at its beginning.

use engine::{Mixture, Offsets};

use super::PhaseInput;
use crate::simulation::objects::{ObjectPhase, ObjectState};
use crate::simulation::task::{Items, Members, Program, Task, limit_of};

impl PhaseInput<'_> {
    /// The tasks of a phase on a layout with `devices` devices.
    pub(super) fn tasks(&self, devices: u32) -> Vec<Task> {
        let input = self;
        let job = input.job;
        let workload = job.workload;
        let new = |number: u32, file: u32, program: Program, limit: u64| {
            let node = input.node_of[number as usize];
            let cached = input.cached.get(node as usize).copied().unwrap_or(0.0);
            let mut task = Task::new(number, (node, file), program, limit, cached);
            if let Some(Members { first, count }) = input.members {
                // A file on a single device is on the device with its number.
                task.place = u64::from(first + file % count) + u64::from(file / count) * u64::from(devices);
            }
            task
        };
        let work = &workload.work;
        // Launches create their tasks when they start.
        if work.jobs().is_some() {
            return Vec::new();
        }
        if let Some(tree) = work.tree() {
            let of = |(index, number): (usize, u32)| {
                let limit = limit_of(job.limit, index);
                let (items, count) = Items::of(tree, job.phase, number, workload.tasks, limit);
                new(number, number, Program::Items(items), count)
            };
            return job.tasks.clone().enumerate().map(of).collect();
        }
        if let Some(objects) = work.objects() {
            let objects = ObjectPhase::new(job, objects);
            let of = |(index, number): (usize, u32)| {
                let program = Program::Objects(ObjectState::default());
                new(number, number, program, objects.calls(index, number))
            };
            return job.tasks.clone().enumerate().map(of).collect();
        }
        if let Some(rpc) = work.rpc() {
            let limit = if job.ending().limit().is_some() { u64::MAX } else { workload.transfers_per_task() };
            let of = |number: u32| new(number, rpc.server_of(number), Program::Exchanges, limit);
            return job.tasks.clone().map(of).collect();
        }
        let percent = job.read_percent();
        let of = |plan: engine::TaskPlan| {
            let offsets = Offsets::new(&plan.region, plan.whole);
            let mixture = Mixture::new(percent, plan.task);
            new(plan.task, plan.file.index, Program::Transfers { offsets, mixture }, plan.limit)
        };
        job.task_plans().into_iter().map(of).collect()
    }
}
