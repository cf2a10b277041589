//! A figure together with the case that it is of and the target that it was measured on.

use std::collections::HashMap;

use plan::{Case, Client, Layer, Phase, Plan, Setting, SettingValue, Sharing, TargetTerms};

use crate::Figure;

/// The setting that names a swept target; curves are told apart by [`Case::target`] already.
pub(crate) const TARGET: &str = "target";

/// The setting that says how many nodes a case is on.
pub(crate) const NODES: &str = "nodes";
/// The setting that says how many tasks it has.
pub(crate) const TASKS: &str = "tasks";
/// The setting that says how many of them each node has.
pub(crate) const TASKS_PER_NODE: &str = "tasks_per_node";

/// The setting that picks one member of a target.
pub(crate) const MEMBER: &str = "member";

/// A figure and what the plan says of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The figure's place in the list.
    pub(crate) index: usize,
    pub(crate) figure: &'a Figure,
    pub(crate) case: &'a Case,
    /// None where the study does not describe the target.
    pub(crate) target: Option<&'a TargetTerms>,
}

/// Every figure whose case is in the plan, in the order of the figures.
pub(crate) fn subjects<'a>(plan: &'a Plan, figures: &'a [Figure]) -> Vec<Subject<'a>> {
    let cases: HashMap<&str, &Case> = plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let targets: HashMap<&str, &TargetTerms> =
        plan.terms.targets.iter().map(|terms| (terms.name.as_str(), terms)).collect();
    // Imported cases name no target: terms that came with them may describe the one that they are of.
    let only = match plan.terms.targets.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let subject = |(index, figure): (usize, &'a Figure)| {
        let case: &Case = cases.get(&*figure.case)?;
        let target = match case.target.as_str() {
            "" => only,
            name => targets.get(name).copied(),
        };
        Some(Subject { index, figure, case, target })
    };
    figures.iter().enumerate().filter_map(subject).collect()
}

/// The nodes that a case ran on. Before workloads said so, studies had a setting `nodes` for it.
pub(crate) fn nodes_of(case: &Case) -> u64 {
    let setting = || match value_of(case, NODES) {
        Some(SettingValue::Count(nodes)) => *nodes,
        _ => 1,
    };
    match case.workload.nodes {
        0 | 1 => setting().max(1),
        nodes => u64::from(nodes),
    }
}

impl Subject<'_> {
    pub(crate) fn client(&self) -> Client {
        self.target.map_or(Client::Unstated, |terms| terms.client)
    }

    /// Its first rate, [`Figure::headline`]: the median over the repetitions that count.
    pub(crate) fn rate(&self) -> f64 {
        self.figure.headline().median
    }

    /// How many of its targets there are: of node-local ones each node has its own.
    pub(crate) fn targets_of_all_nodes(&self) -> u32 {
        match self.layer() {
            Layer::NodeLocal => u32::try_from(self.nodes()).unwrap_or(u32::MAX),
            Layer::Shared | Layer::Unstated => 1,
        }
    }

    /// Tasks among which the targets are shared out: on node-local targets those of one node, of the
    /// node that has most.
    pub(crate) fn sharing_tasks(&self) -> u32 {
        self.case.workload.tasks.div_ceil(self.targets_of_all_nodes())
    }

    /// The share of the sum of all targets that the number of tasks can reach; tasks that share
    /// one file are spread over nothing, jobs use all spaces, and in a given time each target moves what it can.
    pub(crate) fn balance_bound(&self) -> f64 {
        let workload = &self.case.workload;
        let targets = u32::try_from(workload.files.targets.len()).unwrap_or(u32::MAX);
        match workload.files.sharing {
            _ if workload.work.jobs().is_some() || workload.duration.is_some() => 1.0,
            Sharing::PerTask => plan::balance_bound(self.sharing_tasks(), targets),
            Sharing::Shared => 1.0,
        }
    }

    /// Nodes that the case is on.
    pub(crate) fn nodes(&self) -> u64 {
        nodes_of(self.case)
    }

    /// Which nodes can reach the target.
    pub(crate) fn layer(&self) -> Layer {
        self.target.map_or(Layer::Unstated, |terms| terms.layer)
    }

    /// The settings without the target.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        self.case.settings.iter().filter(|setting| setting.key != TARGET).cloned().collect()
    }
}

/// The figures of each workload, target and phase, in the order of the figures.
pub(crate) fn sweeps<'a, 'b>(subjects: &'b [Subject<'a>]) -> Vec<Vec<&'b Subject<'a>>> {
    let mut places: HashMap<(&str, &str, Phase), usize> = HashMap::new();
    let mut sweeps: Vec<Vec<&Subject<'_>>> = Vec::new();
    for subject in subjects {
        let key = (subject.case.group.as_str(), subject.case.target.as_str(), subject.figure.phase);
        let place = *places.entry(key).or_insert_with(|| {
            sweeps.push(Vec::new());
            sweeps.len() - 1
        });
        sweeps[place].push(subject);
    }
    sweeps
}

/// A setting's value as a key of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ValueKey<'a> {
    Bytes(u64),
    Time(u64),
    Count(u64),
    /// The bits of the number.
    Number(u64),
    Flag(bool),
    Word(&'a str),
}

impl<'a> From<&'a SettingValue> for ValueKey<'a> {
    fn from(value: &'a SettingValue) -> Self {
        match value {
            SettingValue::Bytes(bytes) => Self::Bytes(bytes.0),
            SettingValue::Time(nanos) => Self::Time(nanos.0),
            SettingValue::Count(count) => Self::Count(*count),
            SettingValue::Number(number) => Self::Number(number.to_bits()),
            SettingValue::Flag(flag) => Self::Flag(*flag),
            SettingValue::Word(word) => Self::Word(word),
        }
    }
}

/// The value of `key` at the point of `case`.
pub(crate) fn value_of<'a>(case: &'a Case, key: &str) -> Option<&'a SettingValue> {
    case.settings.iter().find(|setting| setting.key == key).map(|setting| &setting.value)
}

/// What tells a figure apart within a study: target, phase and settings, and the workload where
/// there is no target.
pub(crate) fn label(subject: &Subject<'_>) -> String {
    let case = subject.case;
    let settings = case.settings.iter().filter(|setting| setting.key != "target").map(ToString::to_string);
    let place = if case.target.is_empty() { &case.group } else { &case.target };
    let phase = subject.figure.phase.to_string();
    let words: Vec<String> = [place.clone(), phase].into_iter().chain(settings).collect();
    words.join(", ")
}
