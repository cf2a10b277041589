//! Compares the devices of a target, measured individually or all together: which are slow, and how each model
//! compares with what was promised for it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use plan::{Expectation, Layer, Per, Phase, Plan, Setting, SettingValue};
use record::{BlockDeviceFacts, HostFacts, TargetDevices};

use crate::audit::Use;
use crate::figures::{
    MEMBER, MemberFigure, MemberRates, NodeFigure, RateOf, Subject, TARGET, bytes_of_one, grouped,
    in_unit_of, value_of,
};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, bandwidth, below, count, flag, list, operations, rate, share, subject, text, word},
};
use crate::nodes::{Passes, is_below, slow_nodes, unconfirmed};
use crate::statistics::{
    CONFIDENCE, Contrast, Summary, bound_least, difference::difference, median, median_bounds,
};
use crate::targets::{Grade, about, too_near};

/// Members are reported as uneven if they differ by more than this share of the fastest: study D does so for its
/// twelve LUNs, whose "variation is more than 40 %".
pub const UNEVEN_SHARE: f64 = 0.40;
/// Stands for the model of a device that does not report one.
const NO_MODEL: &str = "model unknown";

/// Members that were measured in the same way.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberSet {
    /// The workload.
    pub group: String,
    /// The target of which they are members; empty if each is a target of its own.
    pub target: String,
    /// The node that has the devices; empty if no other node measured its own devices.
    pub node: String,
    /// The phase.
    pub phase: Phase,
    /// The swept keys and their values, without those that select the member.
    pub fixed: Vec<Setting>,
    /// Whether all were measured at the same time; otherwise one after the other.
    pub together: bool,
    /// The members, in the order of the study.
    pub members: Vec<Member>,
    /// (Fastest − slowest) ÷ fastest for the model whose devices differ most.
    pub variation: f64,
    /// Whether that is above [`UNEVEN_SHARE`]. `None` if it is but the test of differences does not show it.
    pub uneven: Option<bool>,
    /// The verdicts by model, in order of first occurrence.
    pub models: Vec<ModelVerdict>,
    /// What the study expects of one device in this phase, in the unit of its rate, with the meaning; easiest first.
    pub grades: Vec<(f64, Expectation)>,
}

/// A member in comparison with the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The figure of this member alone, or of all members.
    pub figure: usize,
    /// Its number: the value of the key, the index among the paths, or that among the targets.
    pub place: u64,
    /// The kernel's name of its device, or else its path or target; with several nodes, the name of the node comes
    /// first: `node3:nvme0n1`.
    pub name: String,
    /// The model of its device; if the device does not report one, that of its target in the study.
    pub model: String,
    /// Summary over the counted repetitions.
    pub bytes_per_second: Summary,
    /// Summary over the counted repetitions.
    pub transfers_per_second: Summary,
    /// Its rate ÷ the median of its model.
    pub share: f64,
    /// Whether it is much slower than others of its model, by the rule of [`slow_nodes`]. `None` if it is, but the
    /// test of differences does not show it or there are too few passes.
    pub slow: Option<bool>,
    /// Its rate in each pass.
    passes: Passes,
    counts: RateOf,
    together: bool,
}

impl Member {
    /// The rate that is compared, which is [`crate::figures::Figure::headline`] if it was measured alone.
    #[must_use]
    pub const fn rate(&self) -> &Summary {
        self.counts.pick(&self.bytes_per_second, &self.transfers_per_second)
    }

    /// The same as a device of `node`, which is empty if there is only one.
    fn on(self, node: &str) -> Self {
        match node {
            "" => self,
            node => Self { name: format!("{node}:{}", self.name), ..self },
        }
    }
}

/// The devices of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelVerdict {
    /// The model.
    pub model: String,
    /// Summary of their rates.
    pub rates: Summary,
    /// The hardest grade that the median reached, or that it is below the easiest; empty if there are no grades, or
    /// if too few repetitions leave it undecided.
    pub grade: String,
    /// The meaning of that, from the study.
    pub says: String,
    /// Whether it is below the easiest grade.
    is_missed: bool,
    devices_of: String,
    counts: RateOf,
}

impl MemberSet {
    /// The name, as in `read of disks, one by one, transfer 2 MiB`.
    #[must_use]
    pub fn name(&self) -> String {
        let of = if self.target.is_empty() { &self.group } else { &self.target };
        let how = if self.together { "all together" } else { "one by one" };
        let fixed: String = self.fixed.iter().map(|setting| format!(", {setting}")).collect();
        let node = if self.node.is_empty() { String::new() } else { format!(", {}", self.node) };
        format!("{} of {of}{node}, {how}{fixed}", self.phase)
    }

    fn rates(&self) -> impl Iterator<Item = f64> {
        self.members.iter().map(|one| one.rate().median)
    }
}

impl Statement for MemberSet {
    const KIND: Kind = Kind::DeviceSet;
    const OF: Of = Of::Nothing;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| RateOf::phase(one.phase));
    const CAPTION: &'static str =
        "Devices beside each other. Variation: (fastest − slowest) ÷ fastest of one model; uneven above 40 %";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(text("devices_of", "devices of", "The measurement and its devices.", Self::name)),
        subject(word("workload", "workload", "The workload.", |one| &one.group)),
        count("devices", "n", "Devices.", |one| Some(one.members.len() as u64)),
        rate("lowest_per_second", "slowest", "The slowest.", |one| one.rates().reduce(f64::min)),
        rate("highest_per_second", "fastest", "The fastest.", |one| one.rates().reduce(f64::max)),
        share(
            "variation",
            "variation",
            "(Fastest − slowest) ÷ fastest of the model that differs most.",
            |one| Some(one.variation),
        ),
        flag("uneven", "uneven", "Whether that is more than 40 %; empty where it cannot be told.", |one| {
            one.uneven
        }),
        list("slow", "slow", "Much slower than others of their model.", |one| {
            one.members.iter().filter(|one| one.slow == Some(true)).map(|one| one.name.clone()).collect()
        }),
        list("may_be_slow", "may be slow", "Far below the others, which the test does not confirm.", |one| {
            one.members.iter().filter(|one| one.slow.is_none()).map(|one| one.name.clone()).collect()
        }),
    ];
}

impl Statement for ModelVerdict {
    const KIND: Kind = Kind::DeviceModel;
    const OF: Of = Of::Nothing;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str =
        "Models: the median of their devices against what the study expects of one device";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("devices_of", "devices of", "The measurement and its devices.", |one| &one.devices_of)),
        subject(word("model", "model", "The model.", |one| &one.model)),
        count("devices", "n", "Devices.", |one| Some(one.rates.n as u64)),
        rate("median_per_second", "median", "Their median.", |one| Some(one.rates.median)),
        rate("lowest_per_second", "slowest", "The slowest.", |one| Some(one.rates.min)),
        rate("highest_per_second", "fastest", "The fastest.", |one| Some(one.rates.max)),
        word("grade", "grade", "The hardest grade that the median reached, or `below` the easiest.", |one| {
            &one.grade
        }),
        word("says", "verdict", "What that means according to the study.", |one| &one.says),
    ];
}

impl Statement for Member {
    const KIND: Kind = Kind::Device;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str = "Devices. Slow: below 93 % of the median of its model and 3.5 robust \
         standard deviations under it (Iglewicz and Hoaglin, 1993); for fewer than four devices, below 75 % \
         of the median. Only stated where the test of differences confirms it";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(count("place", "no.", "Its number.", |one| Some(one.place))),
        subject(word("device", "device", "The kernel's name, or else its path or target.", |one| &one.name)),
        subject(word("model", "model", "Its model.", |one| &one.model)),
        subject(flag("together", "together", "All at the same time.", |one| Some(one.together))),
        bandwidth("bytes_per_second", "bandwidth", "Median.", |one| Some(one.bytes_per_second.median)),
        operations("transfers_per_second", "transfers", "Median of the repetitions, in transfers.", |one| {
            Some(one.transfers_per_second.median)
        }),
        count("repetitions", "n", "Repetitions that count.", |one| Some(one.rate().n as u64)),
        share("share", "of its model", "Its rate ÷ the median of its model.", |one| Some(one.share)),
        flag(
            "slow",
            "slow",
            "Whether it is much slower than others of its model; empty where that cannot be told.",
            |one| one.slow,
        ),
        below(text(
            "unconfirmed",
            "unconfirmed",
            "Why a device that is far below the others is not called slow.",
            |one| unconfirmed(one.slow, one.rate().n).unwrap_or_default(),
        )),
    ];
}

type Devices = (Vec<Stated<MemberSet>>, Vec<Stated<ModelVerdict>>, Vec<Stated<Member>>);

/// Sets, their models, and each device, as statements; no member of a disqualified figure is called slow.
pub(crate) fn of_gate(gate: &Gate<'_>, hosts: &[&HostFacts]) -> Devices {
    let (mut sets, mut models, mut devices) = (Vec::new(), Vec::new(), Vec::new());
    for mut set in member_sets(gate, hosts) {
        let easiest = set.grades.first().map(|(rate, _)| *rate);
        for one in set.members.iter_mut().filter(|one| !gate.is_usable(one.figure)) {
            one.slow = one.slow.filter(|slow| !slow);
        }
        let mut inputs: Vec<usize> = set.members.iter().map(|one| one.figure).collect();
        inputs.dedup();
        let device = |one: &Member| gate.state(vec![one.figure], one.clone());
        devices.extend(set.members.iter().map(device));
        models.extend(set.models.iter().map(|one| {
            let of_model = set.members.iter().filter(|member| member.model == one.model);
            let of_model: Vec<usize> = of_model.map(|member| member.figure).collect();
            let missed = easiest.filter(|_| one.is_missed).map(|grade| one.rates.median / grade - 1.0);
            let statement = missed.map_or(Use::Other, |change| gate.weighed(&of_model, change));
            gate.state_as(statement, inputs.clone(), one.clone())
        }));
        sets.push(gate.state(inputs, set));
    }
    (sets, models, devices)
}

/// The device below `path`, if there is exactly one.
pub(crate) fn device_of<'a>(host: &'a HostFacts, path: &Path) -> Option<&'a BlockDeviceFacts> {
    let path = path.display().to_string();
    let known = host.target_devices.iter().find(|one| one.path == path);
    let name = match known.map(|one| one.top.as_slice()) {
        Some([only]) => only,
        Some([_, ..]) => return None,
        // Records of earlier versions do not contain it; a device in /dev usually has the kernel's name.
        Some([]) | None => path.strip_prefix("/dev/")?,
    };
    host.devices.iter().find(|device| device.name == name)
}

/// Whether `path` leads to devices of this host.
fn has_devices(host: &HostFacts, path: &Path) -> bool {
    let is_on = |one: &TargetDevices| Path::new(&one.path) == path && !one.top.is_empty();
    host.target_devices.iter().any(is_on) || device_of(host, path).is_some()
}

/// Whether each of these nodes has a device of its own on `path`: the study says so, or a device of the node carries
/// its bytes. A file system that all nodes share has no device on them.
fn is_of_each_node<'n>(
    subject: &Subject<'_>,
    hosts: &[&HostFacts],
    path: &Path,
    mut nodes: impl Iterator<Item = &'n String>,
) -> bool {
    subject.layer() == Layer::NodeLocal
        || nodes.any(|node| host_of(hosts, node).is_some_and(|host| has_devices(host, path)))
}

/// The facts of a node; those of the first one if it is not among them.
fn host_of<'h>(hosts: &[&'h HostFacts], node: &str) -> Option<&'h HostFacts> {
    hosts.iter().copied().find(|host| host.node == node).or_else(|| hosts.first().copied())
}

/// The settings in which the figures of one set differ.
const APART: [&str; 2] = [MEMBER, TARGET];

/// All sets of at least two members: those that a swept `member` measured one by one, targets of one device each that
/// one workload has measured, and figures of several members together. A member is a device of a node: nodes that have
/// devices of their own on the same path, and those that measured their devices individually, as in merged runs, have
/// members of their own. The models come from the `hosts`, the first of which also stands for all nodes that are not
/// among them.
#[must_use]
pub fn member_sets(gate: &Gate<'_>, hosts: &[&HostFacts]) -> Vec<MemberSet> {
    let plan = gate.plan;
    let called = models_by_path(plan);
    let subjects = || gate.subjects.iter().filter(|subject| subject.figure.phase.is_transfers());
    let alone = subjects().flat_map(|subject| {
        let of_nodes = by_node(subject, hosts).into_iter();
        of_nodes.filter_map(move |(node, rates)| {
            let (target, member) = single(plan, subject, host_of(hosts, node), rates)?;
            Some((subject, node, (target, member.on(node))))
        })
    });
    let alone = grouped(alone, |(subject, node, (target, _))| (*target, *node, subject.place(&APART)));
    let one_by_one = alone.into_iter().filter_map(|members| {
        let (subject, node, (target, _)) = members[0];
        let mut members: Vec<Member> = members.into_iter().map(|(_, _, (_, member))| member).collect();
        // Members that were measured twice, as in merged runs, are listed once.
        members.sort_by_key(|member| member.place);
        members.dedup_by_key(|member| member.place);
        finished(plan, subject, (target, node), false, members)
    });
    one_by_one.chain(subjects().filter_map(|subject| together(plan, subject, hosts, &called))).collect()
}

/// The model that each target with a single path stands for in the study, by path, for devices that do not report a
/// model.
fn models_by_path(plan: &Plan) -> HashMap<&Path, &str> {
    let stands_for: HashMap<&str, &str> =
        plan.criteria.targets.iter().map(|one| (one.name.as_str(), one.stands_for.as_str())).collect();
    let called = plan.cases.iter().filter_map(|case| match case.workload.files.targets.as_slice() {
        [path] => {
            Some((path.as_path(), *stands_for.get(case.target.as_str()).filter(|one| !one.is_empty())?))
        }
        _ => None,
    });
    called.collect()
}

/// Rates in bytes and in operations, and the compared rate of each pass.
type Rates = (Summary, Summary, Passes);

/// The rates of a figure: by node name if each pass ran on one of several nodes, or if each node has a device of its
/// own, else for all together.
fn by_node<'a>(subject: &Subject<'a>, hosts: &[&HostFacts]) -> Vec<(&'a str, Rates)> {
    let figure = subject.figure;
    let own = match subject.case.workload.files.targets.as_slice() {
        [path] => is_of_each_node(subject, hosts, path, figure.nodes.iter().map(|one| &one.node)),
        _ => false,
    };
    let counts = figure.rate_of();
    let rates = |node: &'a NodeFigure| {
        let passes = node.passes.iter().map(|pass| (pass.repetition, counts.of_node(&pass.rate))).collect();
        (&*node.node, (node.bytes_per_second, node.transfers_per_second, passes))
    };
    let of_nodes: usize = figure.nodes.iter().map(|node| node.passes.len()).sum();
    if figure.nodes.len() > 1 && (own || of_nodes == figure.headline_of_passes().len()) {
        return figure.nodes.iter().map(rates).collect();
    }
    let passes = (0..).zip(figure.headline_of_passes()).collect();
    vec![("", (figure.bytes_per_second, figure.transfers_per_second, passes))]
}

/// The target of which a figure measures a member (empty if the member is a target of its own), and the member.
fn single<'a>(
    plan: &Plan,
    subject: &Subject<'a>,
    host: Option<&HostFacts>,
    rates: Rates,
) -> Option<(&'a str, Member)> {
    let case = subject.case;
    let [path] = case.workload.files.targets.as_slice() else { return None };
    let (target, place, name, stands_for) = match value_of(case, MEMBER) {
        Some(SettingValue::Count(member)) => {
            (case.target.as_str(), *member, path.display().to_string(), None)
        }
        _ => {
            // A layer above another one is not comparable with the device itself.
            let described = subject.target.filter(|target| target.above.is_none())?;
            let is_device = path.starts_with("/dev/") && described.devices == 0;
            let place = plan.criteria.targets.iter().position(|one| one.name == described.name)?;
            let place = (is_device || described.devices == 1).then_some(place as u64)?;
            let name = if described.title.is_empty() { &described.name } else { &described.title };
            ("", place, name.clone(), Some(described.stands_for.as_str()).filter(|words| !words.is_empty()))
        }
    };
    Some((target, member(subject, place, (path, host), (name, stands_for), rates)))
}

/// A member on a path, with its name, model and rates. If its device has a name and model, these take precedence.
fn member(
    subject: &Subject<'_>,
    place: u64,
    (path, host): (&Path, Option<&HostFacts>),
    (name, stands_for): (String, Option<&str>),
    (bytes_per_second, transfers_per_second, passes): Rates,
) -> Member {
    let device = host.and_then(|host| device_of(host, path));
    let model = device.and_then(|device| device.model.known()).map(String::as_str);
    Member {
        figure: subject.index,
        place,
        name: device.map_or(name, |device| device.name.clone()),
        model: model.or(stands_for).unwrap_or(NO_MODEL).to_owned(),
        bytes_per_second,
        transfers_per_second,
        share: 1.0,
        slow: Some(false),
        passes,
        counts: subject.figure.rate_of(),
        together: false,
    }
}

/// The set of a figure that measures several members at once.
fn together(
    plan: &Plan,
    subject: &Subject<'_>,
    hosts: &[&HostFacts],
    called: &HashMap<&Path, &str>,
) -> Option<MemberSet> {
    let counts = subject.figure.rate_of();
    let of = |one: &MemberFigure, node: &str, rates: &MemberRates| {
        let path = Path::new(&one.path);
        let named = (one.path.clone(), called.get(path).copied());
        let passes = rates.passes.iter().map(|(bytes, transfers)| *counts.pick(bytes, transfers));
        let rates = (rates.bytes_per_second, rates.transfers_per_second, (0..).zip(passes).collect());
        let place = (path, host_of(hosts, node));
        Member { together: true, ..member(subject, one.place as u64, place, named, rates) }.on(node)
    };
    let members = subject.figure.members.iter().flat_map(|one| {
        let nodes = one.nodes.iter().map(|(node, _)| node);
        match is_of_each_node(subject, hosts, Path::new(&one.path), nodes) && !one.nodes.is_empty() {
            true => one.nodes.iter().map(|(node, rates)| of(one, node, rates)).collect(),
            false => vec![of(one, "", &one.all)],
        }
    });
    finished(plan, subject, (&subject.case.target, ""), true, members.collect())
}

/// Marks the slow members of each model, and adds the verdict on the model.
fn finished(
    plan: &Plan,
    subject: &Subject<'_>,
    (target, node): (&str, &str),
    together: bool,
    members: Vec<Member>,
) -> Option<MemberSet> {
    let paths: HashSet<u64> = members.iter().map(|one| one.place).collect();
    let mut set = MemberSet {
        group: subject.case.group.clone(),
        target: target.to_owned(),
        node: node.to_owned(),
        phase: subject.figure.phase,
        fixed: subject.settings(&APART),
        together,
        variation: 0.0,
        uneven: Some(false),
        models: Vec::new(),
        grades: grades(plan, subject, if together { paths.len() } else { 1 }),
        members,
    };
    // Several directories on one device are not several devices.
    let devices: HashSet<&str> = set.members.iter().map(|one| one.name.as_str()).collect();
    if devices.len() < set.members.len().max(2) {
        return None;
    }
    let devices_of = set.name();
    for mut these in grouped(&mut set.members, |member| member.model.clone()) {
        let rates: Vec<f64> = these.iter().map(|member| member.rate().median).collect();
        for (place, score) in slow_nodes(&rates).into_iter().enumerate() {
            let others = these.iter().enumerate().filter(|(other, _)| *other != place);
            let others = others.map(|(_, other)| other.passes.clone());
            let is_below = || is_below(&these[place].passes, others, rates.len()).then_some(true);
            let slow = if score.slow { is_below() } else { Some(false) };
            (these[place].share, these[place].slow) = (score.share, slow);
        }
        let variation = variation(&these, &rates);
        if variation.0 > set.variation {
            (set.variation, set.uneven) = variation;
        }
        let rates = Summary::of(&rates)?;
        // The certainty of the median is limited by the number of passes or by the number of devices.
        let passes = these.iter().map(|member| member.passes.len()).min().unwrap_or(0);
        let of_pass = |pass: usize| {
            median(&these.iter().map(|member| member.passes[pass].1).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        let values: Vec<f64> = if passes >= bound_least(1.0 - CONFIDENCE) {
            (0..passes).map(of_pass).collect()
        } else {
            these.iter().map(|member| member.rate().median).collect()
        };
        let bounds = median_bounds(&values, 1.0 - CONFIDENCE);
        let margins = |rate: f64| {
            let of = |value: f64| value / rate - 1.0;
            (of(rates.median), bounds.map(|ends| (of(ends.low), of(ends.high))))
        };
        let grade_of = Grade::of(set.grades.iter().map(|(rate, _)| margins(*rate)));
        let is_missed = grade_of.reached.is_none() && grade_of.open.is_empty() && !set.grades.is_empty();
        let (grade, mut says) = match (grade_of.reached, set.grades.first()) {
            (Some(place), _) => (set.grades[place].1.name.clone(), set.grades[place].1.reached.clone()),
            (None, Some((_, grade))) if grade_of.open.is_empty() => {
                (format!("below {}", grade.name), grade.missed.clone())
            }
            (None, _) => Default::default(),
        };
        for (_, open) in &set.grades[grade_of.open] {
            let text = format!("{}: {}", open.name, too_near());
            says = if says.is_empty() { text } else { format!("{says}; {text}") };
        }
        let (model, devices_of) = (these[0].model.clone(), devices_of.clone());
        let counts = subject.figure.rate_of();
        set.models.push(ModelVerdict { model, rates, grade, says, is_missed, devices_of, counts });
    }
    Some(set)
}

/// [`MemberSet::variation`] and [`MemberSet::uneven`] for the devices of one model with these rates.
fn variation(these: &[&mut Member], rates: &[f64]) -> (f64, Option<bool>) {
    let by_rate = |one: &usize, other: &usize| rates[*one].total_cmp(&rates[*other]);
    let ends = (0..rates.len()).min_by(by_rate).zip((0..rates.len()).max_by(by_rate));
    let Some((slowest, fastest)) = ends.filter(|ends| rates[ends.1] > 0.0) else { return (0.0, Some(false)) };
    let variation = (rates[fastest] - rates[slowest]) / rates[fastest];
    let of = |place: usize, share: f64| -> Vec<f64> {
        these[place].passes.iter().map(|(_, rate)| rate * share).collect()
    };
    let (even, slow) = (of(fastest, 1.0 - UNEVEN_SHARE), of(slowest, 1.0));
    // Any two of them could have been the slowest and the fastest.
    let pairs = rates.len() * (rates.len() - 1);
    let shown = || {
        difference(&even, &slow, pairs)
            .is_some_and(|found| found.outcome == Contrast::Lower && found.is_repeated())
    };
    (variation, if variation > UNEVEN_SHARE { shown().then_some(true) } else { Some(false) })
}

/// [`MemberSet::grades`]. The expectation for a target applies to all its `devices` together.
fn grades(plan: &Plan, subject: &Subject<'_>, devices: usize) -> Vec<(f64, Expectation)> {
    let (case, phase) = (subject.case, subject.figure.phase);
    let grade = |one: &Expectation| {
        let share = match one.per {
            Per::Device => one.count,
            Per::Target => one.count / devices as f64,
            Per::Node => return None,
        };
        let unit = subject.figure.rate_of().amount(0.0);
        let rate = in_unit_of(one.amount, unit, bytes_of_one(case, phase))? * share;
        Some((rate, one.clone()))
    };
    let about = about(subject, &plan.criteria.expectations);
    let graded = about.filter(|one| !one.reached.is_empty() && !one.ceiling);
    let mut grades: Vec<_> = graded.filter_map(grade).collect();
    grades.sort_by(|a, b| a.0.total_cmp(&b.0));
    grades
}
