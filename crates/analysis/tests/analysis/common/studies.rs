//! Studies with known rates, for tests that combine figures.

use analysis::{
    RateName,
    figures::{Figure, figures},
    findings::Findings,
    gate::Stated,
};
use plan::{Bytes, Case, Phase, Plan, Setting, SettingValue, TargetDescription, WorkloadSpec};
use record::{PhaseKey, PhaseRow};

use crate::common::rows::{self, SECOND};

/// A plan and its measured phases.
pub(crate) struct Study {
    pub(crate) plan: Plan,
    pub(crate) phases: Vec<PhaseRow>,
}

pub(crate) fn count(key: &str, value: u64) -> Setting {
    Setting { key: key.to_owned(), value: SettingValue::Count(value) }
}

pub(crate) fn bytes(key: &str, value: u64) -> Setting {
    Setting { key: key.to_owned(), value: SettingValue::Bytes(Bytes(value)) }
}

pub(crate) fn word(key: &str, value: &str) -> Setting {
    Setting { key: key.to_owned(), value: SettingValue::Word(value.to_owned()) }
}

pub(crate) fn target(name: &str, change: impl FnOnce(&mut TargetDescription)) -> TargetDescription {
    let mut target = TargetDescription { name: name.to_owned(), ..TargetDescription::default() };
    change(&mut target);
    target
}

impl Study {
    pub(crate) fn new(targets: Vec<TargetDescription>) -> Self {
        let mut plan = rows::plan(Vec::new());
        plan.criteria.targets = targets;
        Self { plan, phases: Vec::new() }
    }

    /// Adds a case of the workload `group` on `target`, with the rate of each repetition in bytes per second. The
    /// settings `tasks`, `nodes`, `tasks_per_node` after it, `transfer` and `size` are applied to the workload.
    pub(crate) fn add(
        &mut self,
        group: &str,
        target: &str,
        settings: &[Setting],
        phase: Phase,
        rates: &[f64],
    ) {
        self.add_of(group, target, settings, phase, rates, |_| {});
    }

    pub(crate) fn add_of(
        &mut self,
        group: &str,
        target: &str,
        settings: &[Setting],
        phase: Phase,
        rates: &[f64],
        change: impl FnOnce(&mut WorkloadSpec),
    ) {
        let id = format!("{group}/{}", self.plan.cases.len());
        let workload = rows::workload(|spec| {
            for setting in settings {
                match (setting.key.as_str(), &setting.value) {
                    ("tasks", SettingValue::Count(tasks)) => spec.tasks = u32::try_from(*tasks).expect("few"),
                    ("nodes", SettingValue::Count(nodes)) => {
                        spec.nodes = u32::try_from(*nodes).expect("few");
                        spec.tasks = spec.tasks.max(spec.nodes);
                    }
                    ("tasks_per_node", SettingValue::Count(tasks)) => {
                        spec.tasks = spec.nodes * u32::try_from(*tasks).expect("few");
                    }
                    ("transfer", SettingValue::Bytes(transfer)) => {
                        (spec.geometry.transfer, spec.geometry.block) = (*transfer, *transfer);
                    }
                    ("size", SettingValue::Bytes(size)) => spec.geometry.block = *size,
                    _ => {}
                }
            }
            change(spec);
        });
        for (repetition, rate) in (0_u32..).zip(rates) {
            let key = PhaseKey { case: id.as_str().into(), repetition, phase };
            // One second in ten is spent on open and close.
            let bytes = format!("{:.0}", rate * 10.0).parse().expect("a rate of whole tenths of a byte");
            let mut row = rows::phase(&key, bytes, 9 * SECOND);
            let transfer = workload.geometry.transfer.0;
            (row.reads, row.writes) = (row.read_bytes / transfer, row.write_bytes / transfer);
            row.user_cpu_ns = SECOND;
            self.phases.push(row);
        }
        self.plan.cases.push(Case {
            id: id.clone(),
            group: group.to_owned(),
            target: target.to_owned(),
            settings: settings.to_vec(),
            repetitions: u32::try_from(rates.len()).expect("few"),
            ..Case::new(id, workload, vec![phase])
        });
    }

    /// All findings from the figures, on hosts with four processors.
    pub(crate) fn findings(&self) -> Findings {
        findings(&self.plan, &self.figures(), 4)
    }

    pub(crate) fn figures(&self) -> Vec<Figure> {
        figures(&rows::run_of(&self.plan, &self.phases, &[], &[]), RateName::ByWall)
    }
}

/// All findings from `figures`, on hosts with this many processors, about which nothing else is known.
pub(crate) fn findings(plan: &Plan, figures: &[Figure], usable_cpus: u32) -> Findings {
    let mut run = rows::run_of(plan, &[], &[], &[]);
    run.manifest.host.usable_cpus = usable_cpus;
    analysis::findings::findings(&run, figures)
}

/// The contents of statements, each with the figures that it is based on. Withheld statements are omitted.
pub(crate) fn said<T>(statements: &[Stated<T>]) -> Vec<(&[usize], &T)> {
    statements.iter().filter_map(|one| Some((&one.inputs[..], one.says()?))).collect()
}
