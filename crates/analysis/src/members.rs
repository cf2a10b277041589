//! The devices of a target beside each other: each alone, or all together; which are slow, and how each
//! model stands to what was promised of it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use plan::{Amount, Per, Phase, Plan, Setting, SettingValue};
use record::{BlockDeviceFacts, HostFacts};

use crate::amount::{bytes_of_one, in_unit_of};
use crate::expected::about;
use crate::gate::{Gate, Kind, Stated};
use crate::member_figures::MemberFigure;
use crate::subject::{MEMBER, Subject, TARGET, ValueKey, subjects};
use crate::table::{Column, Of, Quantity, Statement, Value};
use crate::{Figure, RateOf, Summary, slow_nodes};

/// Members that differ by more than this share of the fastest are told as uneven: study D calls its twelve
/// LUNs so, whose "variation is more than 40 %".
pub const UNEVEN_SHARE: f64 = 0.40;
/// What stands for the model of a device that tells none.
const NO_MODEL: &str = "model unknown";

/// Members that were measured in the same way.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberSet {
    /// The workload.
    pub group: String,
    /// The target that they are members of; empty where each is a target of its own.
    pub target: String,
    /// The phase.
    pub phase: Phase,
    /// The swept keys and their values, without those that pick the member.
    pub fixed: Vec<Setting>,
    /// All at the same time; else one after the other.
    pub together: bool,
    /// In the order of the study.
    pub members: Vec<Member>,
    /// (Fastest − slowest) ÷ fastest.
    pub variation: f64,
    /// They differ by more than [`UNEVEN_SHARE`].
    pub uneven: bool,
    /// By model, in the order in which they come.
    pub models: Vec<ModelVerdict>,
    /// What one device is graded by, the easiest first.
    pub grades: Vec<Grade>,
}

/// A member among the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The figure: of it alone, or of all.
    pub figure: usize,
    /// Its number: the value of the key, the place among the paths, or that among the targets.
    pub place: u64,
    /// The kernel's name of its device, or else its path or target.
    pub name: String,
    /// The model of its device; of one that tells none what its target stands for.
    pub model: String,
    /// The rate that is compared, [`Figure::headline`] where it was alone: one of the next two.
    pub rate: f64,
    /// Median over the repetitions that count.
    pub bytes_per_second: f64,
    /// Median over the repetitions that count.
    pub transfers_per_second: f64,
    /// Repetitions that count.
    pub n: usize,
    /// Standard deviation (n − 1) of them; 0 for one.
    pub deviation: f64,
    /// Its rate ÷ the median of its model.
    pub share: f64,
    /// Much slower than others of its model; see [`slow_nodes`], whose rule it is.
    pub slow: bool,
    /// All members worked at the same time.
    pub together: bool,
}

/// The devices of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelVerdict {
    /// What they are devices of, as in `read of disks, one by one`.
    pub of: String,
    /// What the rates count.
    pub counts: RateOf,
    /// The model.
    pub model: String,
    /// Devices.
    pub n: usize,
    /// Their median rate.
    pub median: f64,
    /// The slowest.
    pub lowest: f64,
    /// The fastest.
    pub highest: f64,
    /// Slow ones.
    pub slow: usize,
    /// The hardest grade that the median reached; none where it reached none or there are none.
    pub reached: Option<Grade>,
    /// The easiest grade, where it was missed too.
    pub missed: Option<Grade>,
}

/// A rate of one device with what it means to reach it.
#[derive(Debug, Clone, PartialEq)]
pub struct Grade {
    /// [`plan::Expectation::name`].
    pub name: String,
    /// In the unit of the member's rate.
    pub rate: f64,
    /// [`plan::Expectation::reached`].
    pub reached: String,
    /// [`plan::Expectation::missed`].
    pub missed: String,
}

impl MemberSet {
    /// `read of disks, one by one, transfer 2 MiB`.
    #[must_use]
    pub fn name(&self) -> String {
        let of = if self.target.is_empty() { &self.group } else { &self.target };
        let how = if self.together { "all together" } else { "one by one" };
        let fixed: String = self.fixed.iter().map(|setting| format!(", {setting}")).collect();
        format!("{} of {of}, {how}{fixed}", self.phase)
    }

    fn end(&self, of: impl Fn(f64, f64) -> bool) -> Option<&Member> {
        self.members.iter().reduce(|best, one| if of(one.rate, best.rate) { one } else { best })
    }

    fn rate(&self, of: Option<&Member>) -> Value {
        Value::or_none(of, |one| Value::Rate(one.rate, RateOf::phase(self.phase)))
    }
}

impl Statement for MemberSet {
    const KIND: Kind = Kind::DeviceSet;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str =
        "Devices beside each other. Variation: (fastest − slowest) ÷ fastest; uneven above 40 %";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("devices_of", Self::name, "What was measured of which devices.")
            .headed("devices of")
            .subject(),
        Column::text("workload", |one: &Self| one.group.clone(), "The workload.").subject(),
        Column::count("devices", |one: &Self| Some(one.members.len() as u64), "Devices.").headed("n"),
        Column::rate("lowest_per_second", |one: &Self| one.rate(one.end(|a, b| a < b)), "The slowest.")
            .headed("slowest"),
        Column::rate("highest_per_second", |one: &Self| one.rate(one.end(|a, b| a > b)), "The fastest.")
            .headed("fastest"),
        Column::share("variation", |one: &Self| Some(one.variation), "(Fastest − slowest) ÷ fastest."),
        Column::flag("uneven", |one: &Self| Some(one.uneven), "Whether that is more than 40 %."),
        Column::new(
            "slow",
            "slow",
            Quantity::List,
            |one: &Self| {
                Value::List(one.members.iter().filter(|one| one.slow).map(|one| one.name.clone()).collect())
            },
            "Much slower than others of their model.",
        ),
    ];
}

impl Statement for ModelVerdict {
    const KIND: Kind = Kind::DeviceModel;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str =
        "Models: the median of their devices against what the study expects of one device";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("devices_of", |one: &Self| one.of.clone(), "What was measured of which devices.")
            .headed("devices of")
            .subject(),
        Column::text("model", |one: &Self| one.model.clone(), "The model.").subject(),
        Column::count("devices", |one: &Self| Some(one.n as u64), "Devices.").headed("n"),
        Column::rate("median_per_second", |one: &Self| Value::Rate(one.median, one.counts), "Their median.")
            .headed("median"),
        Column::rate("lowest_per_second", |one: &Self| Value::Rate(one.lowest, one.counts), "The slowest.")
            .headed("slowest"),
        Column::rate("highest_per_second", |one: &Self| Value::Rate(one.highest, one.counts), "The fastest.")
            .headed("fastest"),
        Column::text(
            "grade",
            |one: &Self| one.grade().0,
            "The hardest grade that the median reached, or the easiest that it missed.",
        ),
        Column::text("says", |one: &Self| one.grade().1, "What that means, by the study.").headed("verdict"),
    ];
}

impl ModelVerdict {
    fn grade(&self) -> (String, String) {
        match (&self.reached, &self.missed) {
            (Some(grade), _) => (grade.name.clone(), grade.reached.clone()),
            (None, Some(grade)) => (format!("below {}", grade.name), grade.missed.clone()),
            (None, None) => Default::default(),
        }
    }
}

impl Statement for Member {
    const KIND: Kind = Kind::Device;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str = "Devices. Slow: below 93 % of the median of its model and 3.5 robust standard deviations under it (Iglewicz and \
         Hoaglin, 1993); of fewer than four devices below 75 % of the median";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::count("place", |one: &Self| Some(one.place), "Its number.").headed("no.").subject(),
        Column::text(
            "device",
            |one: &Self| one.name.clone(),
            "The kernel's name, or else its path or target.",
        )
        .subject(),
        Column::text("model", |one: &Self| one.model.clone(), "Its model.").subject(),
        Column::flag(
            "together",
            |one: &Self| Some(one.together),
            "Whether all were measured at the same time.",
        )
        .subject(),
        Column::rate(
            "bytes_per_second",
            |one: &Self| Value::Rate(one.bytes_per_second, RateOf::Bytes),
            "Median of the repetitions that count.",
        )
        .headed("bandwidth"),
        Column::rate(
            "transfers_per_second",
            |one: &Self| Value::Rate(one.transfers_per_second, RateOf::Operations),
            "Likewise.",
        )
        .headed("transfers"),
        Column::count("repetitions", |one: &Self| Some(one.n as u64), "Repetitions that count.").headed("n"),
        Column::share("share", |one: &Self| Some(one.share), "Its rate ÷ the median of its model.")
            .headed("of its model"),
        Column::flag(
            "slow",
            |one: &Self| Some(one.slow),
            "Whether it is much slower than others of its model.",
        ),
    ];
}

/// Members of targets as statements; of figures that count for nothing none is called slow.
pub(crate) fn of_gate(gate: &Gate<'_>, sets: &[MemberSet]) -> Devices {
    let mut found = Devices::default();
    for set in sets {
        let mut set = set.clone();
        for one in set.members.iter_mut().filter(|one| !gate.is_usable(one.figure)) {
            one.slow = false;
        }
        let mut inputs: Vec<usize> = set.members.iter().map(|one| one.figure).collect();
        inputs.dedup();
        let each = set.members.iter().map(|one| gate.state(Kind::Device, vec![one.figure], one.clone()));
        found.devices.extend(each);
        let models = set.models.iter().map(|one| gate.state(Kind::DeviceModel, inputs.clone(), one.clone()));
        found.models.extend(models);
        found.sets.push(gate.state(Kind::DeviceSet, inputs, set));
    }
    found
}

/// What is stated of members.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    pub(crate) sets: Vec<Stated<MemberSet>>,
    pub(crate) models: Vec<Stated<ModelVerdict>>,
    pub(crate) devices: Vec<Stated<Member>>,
}

/// The device under `path`, where it is one alone.
pub(crate) fn device_of<'a>(host: &'a HostFacts, path: &Path) -> Option<&'a BlockDeviceFacts> {
    let path = path.display().to_string();
    let known = host.target_devices.iter().find(|one| one.path == path);
    let name = match known.map(|one| one.top.as_slice()) {
        Some([only]) => only,
        Some([_, ..]) => return None,
        // Records of earlier programs do not tell; a device in /dev mostly has the kernel's name.
        Some([]) | None => path.strip_prefix("/dev/")?,
    };
    host.devices.iter().find(|device| device.name == name)
}

/// All sets of at least two members: those that a swept `member` measured one by one, targets of one device
/// each that one workload has measured, and figures of several members together. Their models are those
/// that `host` knows.
#[must_use]
pub fn member_sets(plan: &Plan, figures: &[Figure], host: Option<&HostFacts>) -> Vec<MemberSet> {
    of_subjects(plan, &subjects(plan, figures), host)
}

/// What the members of one set have in common.
type SetKey<'a> = (&'a str, &'a str, Phase, Vec<(&'a str, ValueKey<'a>)>);

/// As [`member_sets`], of figures that were looked up already.
pub(crate) fn of_subjects(plan: &Plan, subjects: &[Subject<'_>], host: Option<&HostFacts>) -> Vec<MemberSet> {
    let called = models_by_path(plan);
    let mut places: HashMap<SetKey<'_>, usize> = HashMap::new();
    let mut alone: Vec<Vec<(&Subject<'_>, Member)>> = Vec::new();
    let mut sets = Vec::new();
    for subject in subjects.iter().filter(|subject| subject.figure.phase.is_transfers()) {
        if let Some((target, member)) = single(plan, subject, host) {
            let fixed = fixed(subject).map(|one| (one.key.as_str(), ValueKey::from(&one.value))).collect();
            let key = (subject.case.group.as_str(), target, subject.figure.phase, fixed);
            let place = *places.entry(key).or_insert_with(|| {
                alone.push(Vec::new());
                alone.len() - 1
            });
            // What was measured twice, as in merged runs, stands once.
            if !alone[place].iter().any(|(_, known)| known.place == member.place) {
                alone[place].push((subject, member));
            }
        }
        sets.extend(together(plan, subject, host, &called));
    }
    let mut all: Vec<MemberSet> = alone.into_iter().filter_map(|members| one_by_one(plan, members)).collect();
    all.extend(sets);
    all
}

fn fixed<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a Setting> {
    subject.case.settings.iter().filter(|one| one.key != MEMBER && one.key != TARGET)
}

/// What targets of one path each stand for, by their paths: the models of devices that tell none.
fn models_by_path(plan: &Plan) -> HashMap<&Path, &str> {
    let terms: HashMap<&str, &str> =
        plan.terms.targets.iter().map(|one| (one.name.as_str(), one.stands_for.as_str())).collect();
    let called =
        |case: &'_ plan::Case| terms.get(case.target.as_str()).copied().filter(|one| !one.is_empty());
    plan.cases
        .iter()
        .filter_map(|case| match case.workload.files.targets.as_slice() {
            [path] => Some((path.as_path(), called(case)?)),
            _ => None,
        })
        .collect()
}

/// The member that a figure is of, and the target that it is a member of.
fn single<'a>(plan: &Plan, subject: &Subject<'a>, host: Option<&HostFacts>) -> Option<(&'a str, Member)> {
    let case = subject.case;
    let [path] = case.workload.files.targets.as_slice() else { return None };
    let chosen = case.settings.iter().find(|one| one.key == MEMBER).map(|one| &one.value);
    let device = host.and_then(|host| device_of(host, path));
    let (target, place) = match chosen {
        Some(SettingValue::Count(member)) => (case.target.as_str(), *member),
        _ => {
            // A layer above another one is another thing than the device beside it.
            let terms = subject.target.filter(|terms| terms.above.is_none())?;
            let is_device = path.starts_with("/dev/") && terms.devices == 0;
            let place = plan.terms.targets.iter().position(|one| one.name == terms.name)?;
            (is_device || terms.devices == 1).then_some(("", place as u64))?
        }
    };
    let named = match (device, chosen) {
        (Some(device), _) => device.name.clone(),
        (None, Some(_)) => path.display().to_string(),
        (None, None) => subject.target.map_or("", |terms| called(terms)).to_owned(),
    };
    let figure = subject.figure;
    let rate = figure.headline();
    Some((
        target,
        Member {
            figure: subject.index,
            place,
            name: named,
            model: model(device, subject, chosen.is_none()),
            rate: rate.median,
            bytes_per_second: figure.bytes_per_second.median,
            transfers_per_second: figure.transfers_per_second.median,
            n: rate.n,
            deviation: rate.deviation_sample,
            share: 1.0,
            slow: false,
            together: false,
        },
    ))
}

fn called(terms: &plan::TargetTerms) -> &str {
    if terms.title.is_empty() { &terms.name } else { &terms.title }
}

fn model(device: Option<&BlockDeviceFacts>, subject: &Subject<'_>, own_target: bool) -> String {
    let known = device.and_then(|device| device.model.known()).cloned();
    let stands_for = subject.target.filter(|_| own_target).map(|terms| terms.stands_for.clone());
    let stands_for = stands_for.filter(|words| !words.is_empty());
    known.or(stands_for).unwrap_or_else(|| NO_MODEL.to_owned())
}

fn one_by_one(plan: &Plan, members: Vec<(&Subject<'_>, Member)>) -> Option<MemberSet> {
    let (first, _) = members.first()?;
    let first = *first;
    let target = match first.case.settings.iter().any(|one| one.key == MEMBER) {
        true => first.case.target.clone(),
        false => String::new(),
    };
    let mut members: Vec<Member> = members.into_iter().map(|(_, member)| member).collect();
    members.sort_by_key(|member| member.place);
    finished(plan, first, target, false, members)
}

/// The set of a figure of several members at once.
fn together(
    plan: &Plan,
    subject: &Subject<'_>,
    host: Option<&HostFacts>,
    called: &HashMap<&Path, &str>,
) -> Option<MemberSet> {
    let figure = subject.figure;
    let rate_of = figure.rate_of();
    let member = |one: &MemberFigure| {
        let device = host.and_then(|host| device_of(host, Path::new(&one.path)));
        let rate = match rate_of {
            RateOf::Bytes => &one.bytes_per_second,
            RateOf::Operations => &one.transfers_per_second,
        };
        Member {
            figure: subject.index,
            place: one.place as u64,
            name: device.map_or_else(|| one.path.clone(), |device| device.name.clone()),
            model: match called.get(Path::new(&one.path)) {
                Some(name) if device.is_none_or(|device| device.model.known().is_none()) => {
                    (*name).to_owned()
                }
                _ => model(device, subject, false),
            },
            rate: rate.median,
            bytes_per_second: one.bytes_per_second.median,
            transfers_per_second: one.transfers_per_second.median,
            n: rate.n,
            deviation: rate.deviation_sample,
            share: 1.0,
            slow: false,
            together: true,
        }
    };
    let members = figure.members.iter().map(member).collect();
    finished(plan, subject, subject.case.target.clone(), true, members)
}

fn finished(
    plan: &Plan,
    subject: &Subject<'_>,
    target: String,
    together: bool,
    members: Vec<Member>,
) -> Option<MemberSet> {
    if members.len() < 2 {
        return None;
    }
    let all = Summary::of(&members.iter().map(|member| member.rate).collect::<Vec<_>>())?;
    let variation = if all.max > 0.0 { (all.max - all.min) / all.max } else { 0.0 };
    let mut seen = HashSet::new();
    let names: Vec<String> = members
        .iter()
        .map(|member| member.model.clone())
        .filter(|model| seen.insert(model.clone()))
        .collect();
    let grades = grades(plan, subject, if together { members.len() } else { 1 });
    let mut set = MemberSet {
        group: subject.case.group.clone(),
        target,
        phase: subject.figure.phase,
        fixed: fixed(subject).cloned().collect(),
        together,
        variation,
        uneven: variation > UNEVEN_SHARE,
        models: Vec::new(),
        grades,
        members,
    };
    let (of, counts) = (set.name(), subject.figure.rate_of());
    let models = names.into_iter();
    set.models =
        models.filter_map(|model| verdict((&of, counts), model, &mut set.members, &set.grades)).collect();
    Some(set)
}

/// Marks the slow ones of `model` among `members`, and says how it stands.
fn verdict(
    (of, counts): (&str, RateOf),
    model: String,
    members: &mut [Member],
    grades: &[Grade],
) -> Option<ModelVerdict> {
    let mut these: Vec<&mut Member> = members.iter_mut().filter(|member| member.model == model).collect();
    let rates: Vec<f64> = these.iter().map(|member| member.rate).collect();
    for (member, score) in these.iter_mut().zip(slow_nodes(&rates)) {
        (member.share, member.slow) = (score.share, score.slow);
    }
    let slow = these.iter().filter(|member| member.slow).count();
    let all = Summary::of(&rates)?;
    // In rising order of hardness.
    let reached = grades.iter().rev().find(|grade| all.median >= grade.rate).cloned();
    let missed = grades.first().filter(|_| reached.is_none()).cloned();
    Some(ModelVerdict {
        of: of.to_owned(),
        counts,
        model,
        n: rates.len(),
        median: all.median,
        lowest: all.min,
        highest: all.max,
        slow,
        reached,
        missed,
    })
}

/// What the study expects of one device in this phase, with what it means; the easiest first. What is
/// expected of a target is that of all its `devices` together.
fn grades(plan: &Plan, subject: &Subject<'_>, devices: usize) -> Vec<Grade> {
    let (case, phase) = (subject.case, subject.figure.phase);
    let unit = match subject.figure.rate_of() {
        RateOf::Bytes => Amount::BytesPerSecond(0.0),
        RateOf::Operations => Amount::OperationsPerSecond(0.0),
    };
    let grade = |one: &plan::Expectation| {
        let share = match one.per {
            Per::Device => one.count,
            Per::Target => one.count / devices as f64,
            Per::Node => return None,
        };
        let rate = in_unit_of(one.amount, unit, bytes_of_one(case, phase))? * share;
        Some(Grade { name: one.name.clone(), rate, reached: one.reached.clone(), missed: one.missed.clone() })
    };
    let about = about(case, phase, &plan.terms.expectations);
    let mut grades: Vec<Grade> =
        about.filter(|one| !one.reached.is_empty() && !one.ceiling).filter_map(grade).collect();
    grades.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    grades
}
