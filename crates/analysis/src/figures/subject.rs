//! A figure together with its case and the target on which it was measured.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem::{Discriminant, discriminant};

use plan::{Case, Client, Layer, Phase, Plan, Setting, SettingValue, Sharing, TargetDescription};

use crate::figures::Figure;
use crate::statistics::median;

// Keys of settings: the swept target, which already distinguishes curves; the number of nodes of a case; the number
// of tasks in total and per node; the member of a target.
pub(crate) const TARGET: &str = "target";
pub(crate) const NODES: &str = "nodes";
pub(crate) const TASKS: &str = "tasks";
pub(crate) const TASKS_PER_NODE: &str = "tasks_per_node";
pub(crate) const MEMBER: &str = "member";

/// A figure with its information from the plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The index of the figure in the list.
    pub(crate) index: usize,
    pub(crate) figure: &'a Figure,
    pub(crate) case: &'a Case,
    /// `None` if the study does not describe the target.
    pub(crate) target: Option<&'a TargetDescription>,
}

/// Every figure whose case is in the plan, in the order of the figures.
pub(crate) fn subjects<'a>(plan: &'a Plan, figures: &'a [Figure]) -> Vec<Subject<'a>> {
    let cases: HashMap<&str, &Case> = plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let targets: HashMap<&str, &TargetDescription> =
        plan.criteria.targets.iter().map(|target| (target.name.as_str(), target)).collect();
    // Imported cases name no target; if the accompanying criteria describe exactly one, it is theirs.
    let only = plan.criteria.targets.first().filter(|_| plan.criteria.targets.len() == 1);
    let subject = |(index, figure): (usize, &'a Figure)| {
        let case: &Case = cases.get(&*figure.case)?;
        let target = match case.target.as_str() {
            "" => only.filter(|_| case.workload.work.has_target()),
            name => targets.get(name).copied(),
        };
        Some(Subject { index, figure, case, target })
    };
    figures.iter().enumerate().filter_map(subject).collect()
}

/// The number of nodes of a case. `None` if an imported text does not contain it. Older studies give it in a setting
/// `nodes`, because workloads did not contain it then.
pub(crate) fn nodes_of(case: &Case) -> Option<u64> {
    let setting = match value_of(case, NODES) {
        Some(SettingValue::Count(nodes)) => Some(*nodes),
        _ => None,
    };
    match case.nodes() {
        Some(0 | 1) => Some(setting.unwrap_or(1).max(1)),
        Some(nodes) => Some(u64::from(nodes)),
        None => setting.map(|nodes| nodes.max(1)),
    }
}

impl<'a> Subject<'a> {
    pub(crate) fn client(&self) -> Client {
        self.target.map_or(Client::Unstated, |target| target.client)
    }

    /// Its first rate, [`Figure::headline`]: the median over the counted repetitions.
    pub(crate) fn rate(&self) -> f64 {
        self.figure.headline().median
    }

    /// What points of a sweep are compared by, for all counted passes: their first rates. Of jobs it is passes per
    /// second, because the bytes that they move depend on the size of their pages.
    pub(crate) fn speeds(&self) -> Vec<f64> {
        match self.figure.phase {
            Phase::Jobs => self.seconds().into_iter().map(f64::recip).collect(),
            _ => self.figure.headline_of_passes(),
        }
    }

    /// The median of its speeds.
    pub(crate) fn speed(&self) -> f64 {
        match self.figure.phase {
            Phase::Jobs => median(&self.speeds()).unwrap_or(0.0),
            _ => self.rate(),
        }
    }

    /// Wall time of all counted passes in seconds.
    pub(crate) fn seconds(&self) -> Vec<f64> {
        self.figure.counted().map(|pass| pass.phase.wall_ns as f64 / 1e9).collect()
    }

    /// The number of devices of its target: that of its sweep, or that stated by the study, or else the number of its
    /// paths.
    pub(crate) fn devices(&self) -> u32 {
        let said = || self.target.map(|target| target.devices).filter(|&devices| devices > 0);
        self.case.members().or_else(said).unwrap_or_else(|| paths(self.case))
    }

    /// The number of its targets over all nodes, at least 1: each node has its own if the target is node-local. `None`
    /// if the number of nodes is not known.
    pub(crate) fn targets_of_all_nodes(&self) -> Option<u32> {
        match self.layer() {
            Layer::NodeLocal => Some(u32::try_from(self.nodes()?).unwrap_or(u32::MAX).max(1)),
            Layer::Shared | Layer::Unstated => Some(1),
        }
    }

    /// The bytes of one target that a pass uses: with a node-local target, each node has its own part of the data.
    pub(crate) fn working_set(&self) -> Option<u64> {
        Some(self.case.volume()?.0 / u64::from(self.targets_of_all_nodes()?))
    }

    /// The declared caches of its target ÷ [`Subject::working_set`], for transfers.
    pub(crate) fn cache_share(&self) -> Option<f64> {
        let caches = self.target?.caches?;
        let data = self.working_set().filter(|&data| data > 0 && self.figure.phase.is_transfers())?;
        Some(caches.0 as f64 / data as f64)
    }

    /// The number of tasks among which the targets are divided: for node-local targets, those of the node with the
    /// most tasks. `None` if they are not known.
    pub(crate) fn sharing_tasks(&self) -> Option<u32> {
        Some(self.case.tasks()?.div_ceil(self.targets_of_all_nodes()?))
    }

    /// The share of the sum of all targets that is reachable with the number of tasks. Tasks that share one file are
    /// not distributed, jobs use all spaces, and with a fixed duration each target moves what it can. `None` if tasks
    /// or nodes are not known.
    pub(crate) fn balance_bound(&self) -> Option<f64> {
        let workload = &self.case.workload;
        let targets = u32::try_from(workload.files.targets.len()).unwrap_or(u32::MAX);
        match workload.files.sharing {
            _ if workload.work.jobs().is_some() || workload.duration.is_some() => Some(1.0),
            Sharing::PerTask => Some(plan::balance_bound(self.sharing_tasks()?, targets)),
            Sharing::Shared => Some(1.0),
        }
    }

    /// Whether its transfers go to random offsets. `None` if it is not known.
    pub(crate) fn order_is_random(&self) -> Option<bool> {
        self.case.order().map(plan::Order::is_random)
    }

    /// Whether its transfers are known to go to random offsets.
    pub(crate) fn is_random(&self) -> bool {
        self.order_is_random() == Some(true)
    }

    /// The number of nodes of the case, if it is known.
    pub(crate) fn nodes(&self) -> Option<u64> {
        nodes_of(self.case)
    }

    /// Which nodes can reach the target.
    pub(crate) fn layer(&self) -> Layer {
        self.target.map_or(Layer::Unstated, |target| target.layer)
    }

    /// The settings, except those with the given keys.
    pub(crate) fn settings(&self, without: &[&str]) -> Vec<Setting> {
        self.case.settings.iter().filter(|one| !without.contains(&one.key.as_str())).cloned().collect()
    }

    /// Its workload and phase, and the settings except those with the given keys.
    pub(crate) fn place(&self, without: &[&str]) -> Place<'a> {
        let settings = self.case.settings.iter().filter(|one| !without.contains(&one.key.as_str()));
        let settings = settings.map(|one| (one.key.as_str(), ValueKey::of(&one.value)));
        (&self.case.group, self.figure.phase, settings.collect())
    }
}

fn paths(case: &Case) -> u32 {
    u32::try_from(case.workload.files.targets.len()).unwrap_or(u32::MAX).max(1)
}

/// What figures of one group have in common.
pub(crate) type Place<'a> = (&'a str, Phase, Vec<(&'a str, ValueKey<'a>)>);

/// Groups `all` by `key`, in the order of the first element of each group.
pub fn grouped<T, K: Eq + Hash>(all: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut groups: Vec<Vec<T>> = Vec::new();
    for one in all {
        let place = *places.entry(key(&one)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(one);
    }
    groups
}

/// The figures of each workload, target and phase, in the order of the figures.
pub(crate) fn sweeps<'a, 'b>(subjects: &'b [Subject<'a>]) -> Vec<Vec<&'b Subject<'a>>> {
    grouped(subjects, |one| (one.case.group.as_str(), one.case.target.as_str(), one.figure.phase))
}

/// The value of a setting as a map key: its kind, its number or the bits of its number, and its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ValueKey<'a>(Discriminant<SettingValue>, u64, &'a str);

impl<'a> ValueKey<'a> {
    pub(crate) fn of(value: &'a SettingValue) -> Self {
        let (number, word) = match value {
            SettingValue::Bytes(bytes) => (bytes.0, ""),
            SettingValue::Time(nanos) => (nanos.0, ""),
            SettingValue::Count(count) => (*count, ""),
            SettingValue::Number(number) => (number.to_bits(), ""),
            SettingValue::Flag(flag) => (u64::from(*flag), ""),
            SettingValue::Word(word) => (0, word.as_str()),
        };
        Self(discriminant(value), number, word)
    }
}

/// Formats each setting, as in `tasks 8`.
pub(crate) fn texts(settings: &[Setting]) -> Vec<String> {
    settings.iter().map(ToString::to_string).collect()
}

/// The value of `key` at the point of `case`.
pub(crate) fn value_of<'a>(case: &'a Case, key: &str) -> Option<&'a SettingValue> {
    case.settings.iter().find(|setting| setting.key == key).map(|setting| &setting.value)
}

/// What identifies a figure within a study: target, phase and settings, or the workload if there is no target.
pub(crate) fn label(subject: &Subject<'_>) -> String {
    let case = subject.case;
    let settings = case.settings.iter().filter(|setting| setting.key != "target").map(ToString::to_string);
    let place = if case.target.is_empty() { &case.group } else { &case.target };
    let phase = subject.figure.phase.to_string();
    let words: Vec<String> = [place.clone(), phase].into_iter().chain(settings).collect();
    words.join(", ")
}
