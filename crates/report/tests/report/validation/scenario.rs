//! The scenarios to draw, and their true values.

use plan::{
    Amount, Bound, Bytes, Claim, Commitment, Criteria, Expectation, Layer, Over, Phase, PlanSource,
    PublishedReference, Quantity, RateName, Relation, Rival, Selector, Setting, SettingValue, Side,
    Statistic, TargetDescription,
};
use record::Run;
use tempfile::TempDir;

use super::devices::{devices, layered, seek, seeks, slow_device};
use super::draw::{Fault, Point, Random, count, run, word};
use super::levels::levels;
use super::said::{IntervalOf, Kind, Way};
use super::systems::systems;

/// The base rate. All other true rates are multiples of it.
pub(super) const RATE: f64 = 1e9;
/// The tolerance of a claim of equality.
pub(super) const TOLERANCE: f64 = 0.03;
/// Standard error of the median of n normal values × √n, for large n.
pub(super) const MEDIAN_ERROR: f64 = 1.2533;

pub(crate) const EFFECTS: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.5];
pub(crate) const NOISES: [f64; 4] = [0.001, 0.02, 0.05, 0.2];
pub(crate) const REPETITIONS: [u32; 5] = [1, 3, 5, 6, 10];
pub(crate) const FAULTS: [Fault; 4] = [Fault::TooShort, Fault::Cached, Fault::Damaged, Fault::Unfinished];
/// Distances of the true value above the promise, in standard errors.
pub(crate) const DISTANCES: [f64; 6] = [-4.5, -2.0, -0.5, 0.5, 2.0, 4.5];

/// The size of the effect, the noise of repetitions, and their number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setup {
    pub(crate) effect: f64,
    pub(crate) noise: f64,
    pub(crate) repetitions: u32,
    /// The defect of every figure.
    pub(crate) fault: Fault,
}

/// The true statement for one kind.
pub(crate) struct Truth {
    pub(crate) kind: Kind,
    /// The only subject for which the statement is true. For any other subject it is false.
    pub(crate) subject: Option<&'static str>,
    pub(crate) right: Option<Way>,
    pub(crate) wrong: &'static [Way],
}

const EITHER: &[Way] = &[Way::Up, Way::Down];

pub(super) const fn nothing(kind: Kind) -> Truth {
    Truth { kind, subject: None, right: None, wrong: EITHER }
}

pub(super) const fn not_up(kind: Kind) -> Truth {
    Truth { kind, subject: None, right: None, wrong: &[Way::Up] }
}

pub(super) const fn up(kind: Kind) -> Truth {
    Truth { kind, subject: None, right: Some(Way::Up), wrong: &[Way::Down] }
}

pub(super) const fn down(kind: Kind) -> Truth {
    Truth { kind, subject: None, right: Some(Way::Down), wrong: &[Way::Up] }
}

/// Restricts the truth to this subject.
pub(super) const fn of(subject: &'static str, truth: Truth) -> Truth {
    Truth { subject: Some(subject), ..truth }
}

/// Up if there is an effect. Otherwise nothing may be stated.
pub(super) fn by_effect(kind: Kind, effect: f64) -> Truth {
    if effect > 0.0 { up(kind) } else { nothing(kind) }
}

/// Records and their true values.
pub(crate) struct Trial {
    pub(crate) setup: Setup,
    pub(crate) run: Run,
    /// Two more runs to compare.
    pub(crate) compared: Option<(Run, Run)>,
    pub(crate) truths: Vec<Truth>,
    /// The true rates of the figures, in the same order.
    pub(crate) rates: Vec<f64>,
    /// The values that intervals must contain, with their target.
    pub(crate) values: Vec<(IntervalOf, &'static str, f64)>,
    /// Distance of the true value above the promise, in standard errors.
    pub(crate) distance: Option<f64>,
    /// Whether the promise is judged by the bound of an interval instead of by a median.
    pub(crate) by_bound: bool,
    /// Whether its devices have troubles.
    pub(crate) troubled: bool,
    /// The directories of its records, kept until the trial has been judged.
    pub(crate) places: Vec<TempDir>,
}

/// A figure of `group` on `target`.
pub(super) fn point(setup: Setup, group: &'static str, target: &'static str, rate: f64) -> Point {
    Point {
        group,
        target,
        settings: vec![word(target)],
        phase: Phase::Write,
        node_rates: vec![rate],
        noise: setup.noise,
        repetitions: setup.repetitions,
        loss: 0.0,
        seconds: None,
        tasks: 8,
        block: None,
        random: None,
        busy: false,
        fault: setup.fault,
    }
}

pub(super) fn trial(
    setup: Setup,
    criteria: Criteria,
    points: &[Point],
    truths: Vec<Truth>,
    random: &mut Random,
) -> Trial {
    let rates = points.iter().map(|point| point.node_rates.iter().sum()).collect();
    Trial { rates, ..of_run(setup, run(criteria, points, random), truths) }
}

/// A trial of `run`, in which figures that do not count must lead to no statement.
pub(super) fn of_run(setup: Setup, run: Run, truths: Vec<Truth>) -> Trial {
    // A figure that is too low despite help from memory does break a promise.
    let kinds = Kind::ALL.into_iter().filter(|&kind| kind != Kind::Fail || setup.fault != Fault::Cached);
    let truths = if setup.fault == Fault::None { truths } else { kinds.map(nothing).collect() };
    Trial {
        setup,
        run,
        compared: None,
        truths,
        rates: Vec::new(),
        values: Vec::new(),
        distance: None,
        by_bound: false,
        troubled: false,
        places: Vec::new(),
    }
}

pub(super) fn target(name: &str, devices: u32, baseline: Option<&str>, layer: Layer) -> TargetDescription {
    let baseline = baseline.map(str::to_owned);
    TargetDescription {
        name: name.to_owned(),
        devices,
        slots: devices,
        baseline,
        layer,
        ..TargetDescription::default()
    }
}

pub(super) fn of_target(name: &str) -> Selector {
    Selector { target: Some(name.to_owned()), ..Selector::default() }
}

pub(super) fn claim(id: &str, text: &str, relation: Relation) -> Claim {
    Claim {
        id: id.to_owned(),
        text: text.to_owned(),
        quantity: Quantity::BestRate,
        left: of_target("b"),
        relation,
        right: Side::Measured(of_target("a")),
        factor: 1.0,
        tolerance: if relation == Relation::Equal { TOLERANCE } else { 0.0 },
    }
}

pub(super) fn commitment(statistic: Statistic, bytes_per_second: f64) -> Commitment {
    Commitment {
        name: "promised".to_owned(),
        by: String::new(),
        figures: of_target("b"),
        rate: RateName::ByWall,
        statistic,
        bound: Bound::AtLeast,
        asked: Amount::BytesPerSecond(bytes_per_second).into(),
        over: Over::Every,
        terms: plan::Terms::default(),
    }
}

/// Two targets, of which the second is faster by the effect.
pub(crate) fn pair(setup: Setup, random: &mut Random) -> Trial {
    // A target that is a baseline for another is not compared with it at their best points.
    let baseline = random.of(&[None, Some("a")]);
    let criteria = Criteria {
        targets: vec![target("a", 1, None, Layer::Unstated), target("b", 1, baseline, Layer::Unstated)],
        claims: vec![
            claim("greater", "B is faster than A.", Relation::Greater),
            claim("equal", "B is as fast as A.", Relation::Equal),
        ],
        ..Criteria::default()
    };
    let a = point(setup, "pair", "a", RATE);
    let b = point(setup, "pair", "b", RATE * (1.0 + setup.effect));
    let mut truths = vec![
        by_effect(if baseline.is_some() { Kind::Scaling } else { Kind::LayerOverhead }, setup.effect),
        if setup.effect > 0.0 { up(Kind::ClaimGreater) } else { not_up(Kind::ClaimGreater) },
        by_effect(Kind::Compared, setup.effect),
    ];
    if setup.effect == 0.0 {
        truths.push(up(Kind::ClaimEqual));
    } else if setup.effect > TOLERANCE {
        truths.push(down(Kind::ClaimEqual));
    }
    let before = run(criteria.clone(), std::slice::from_ref(&a), random);
    // In the later run the first target is faster as well.
    let later = Point { node_rates: b.node_rates.clone(), ..a.clone() };
    let after = run(criteria.clone(), &[later], random);
    let made = trial(setup, criteria, &[a, b], truths, random);
    Trial { compared: Some((before, after)), ..made }
}

/// A sweep of two points on each of two targets. The second point of the second target is faster by the effect.
fn points(setup: Setup, random: &mut Random) -> Trial {
    let mut all = Vec::new();
    for (target, effect) in [("a", 0.0), ("b", setup.effect)] {
        for (tasks, rate) in [(8, RATE), (16, RATE * (1.0 + effect))] {
            let settings = vec![word(target), count("tasks", tasks.into())];
            all.push(Point { settings, tasks, ..point(setup, "sweep", target, rate) });
        }
    }
    let truths = match setup.effect > 0.0 {
        true => vec![of("b", up(Kind::Best)), of("a", up(Kind::Consistency))],
        false => vec![nothing(Kind::Best), nothing(Kind::Consistency)],
    };
    trial(setup, Criteria::default(), &all, truths, random)
}

/// A sweep of tasks on one target. The other target has one point of it or all. With more tasks the rate stays the
/// same or doubles. The other target is faster by the effect.
pub(crate) fn sweeps(setup: Setup, random: &mut Random) -> Trial {
    let growth = random.of(&[0.0, 1.0]);
    let most = random.of(&[1, 24]);
    let mut all = Vec::new();
    for (target, most, effect) in [("a", 24, 0.0), ("b", most, setup.effect)] {
        for tasks in 1..=most {
            let rate = RATE * (1.0 + growth * f64::from(tasks - 1) / 23.0) * (1.0 + effect);
            let settings = vec![word(target), count("tasks", tasks.into())];
            all.push(Point { settings, tasks, ..point(setup, "sweep", target, rate) });
        }
    }
    let targets = ["a", "b"].map(|name| target(name, 1, None, Layer::Unstated)).to_vec();
    trial(
        setup,
        Criteria { targets, ..Criteria::default() },
        &all,
        vec![by_effect(Kind::LayerOverhead, setup.effect)],
        random,
    )
}

/// Files of eight sizes. If there is an effect, repetitions with the larger four scatter ten times as much.
fn spread(setup: Setup, random: &mut Random) -> Trial {
    let size = |step: u64| {
        let noise = if setup.effect > 0.0 && step > 4 { 10.0 * setup.noise } else { setup.noise };
        let block = Bytes::gib(4 * step);
        let settings = vec![Setting { key: "size".to_owned(), value: SettingValue::Bytes(block) }];
        Point { settings, block: Some(block), noise, ..point(setup, "sizes", "a", RATE) }
    };
    let all: Vec<Point> = (1..=8).map(size).collect();
    trial(setup, Criteria::default(), &all, vec![by_effect(Kind::Dispersion, setup.effect)], random)
}

/// The shape of a curve over 1 to 24 tasks.
#[derive(Clone, Copy)]
enum Form {
    Flat,
    Straight,
    Bent,
    Saturated,
    /// The twelfth point is higher by 10 %.
    Peaked,
    /// Every sixth point is lower by 10 %.
    Dipped,
}

fn curve(setup: Setup, random: &mut Random) -> Trial {
    let forms = [Form::Straight, Form::Bent, Form::Saturated, Form::Peaked, Form::Dipped];
    let form = if setup.effect > 0.0 { random.of(&forms) } else { Form::Flat };
    let rate = |tasks: u32| match (form, f64::from(tasks)) {
        (Form::Straight, x) => x / 24.0,
        (Form::Bent, x) => x.min(8.0) / 8.0,
        (Form::Saturated, x) => 1.0 - (-x / 4.0).exp(),
        (Form::Peaked, _) if tasks == 12 => 1.1,
        (Form::Dipped, _) if tasks.is_multiple_of(6) => 0.9,
        _ => 1.0,
    };
    let point_at = |tasks: u32| Point {
        settings: vec![count("tasks", tasks.into())],
        tasks,
        ..point(setup, "curve", "a", RATE * rate(tasks))
    };
    let all: Vec<Point> = (1..=24).map(point_at).collect();
    let spot = if matches!(form, Form::Peaked) { up(Kind::SweetSpot) } else { nothing(Kind::SweetSpot) };
    let dips = if matches!(form, Form::Dipped) { up(Kind::Dips) } else { nothing(Kind::Dips) };
    let mut truths = vec![spot, dips];
    truths.extend(match form {
        Form::Flat => vec![nothing(Kind::Knee), nothing(Kind::Slope), nothing(Kind::Best), up(Kind::Plateau)],
        Form::Straight => vec![nothing(Kind::Knee), nothing(Kind::Plateau), up(Kind::Slope)],
        Form::Bent => vec![up(Kind::Knee), up(Kind::Plateau)],
        Form::Saturated => vec![up(Kind::Plateau)],
        Form::Peaked => vec![nothing(Kind::Knee), nothing(Kind::Slope)],
        Form::Dipped => vec![nothing(Kind::Knee)],
    });
    trial(setup, Criteria::default(), &all, truths, random)
}

/// Eight nodes, of which the fourth is slower by the effect.
fn slow_node(setup: Setup, random: &mut Random) -> Trial {
    let rates = (0..8).map(|node| if node == 3 { RATE * (1.0 - setup.effect) } else { RATE });
    let one = Point { node_rates: rates.collect(), ..point(setup, "nodes", "a", RATE) };
    let truth = match setup.effect > 0.0 {
        true => of("n3", up(Kind::SlowNode)),
        false => nothing(Kind::SlowNode),
    };
    trial(setup, Criteria::default(), &[one], vec![truth], random)
}

/// The same work per node on 1 to 8 nodes, on local and on shared devices.
#[derive(Clone, Copy, PartialEq)]
enum Growth {
    /// Constant rate for any number of nodes. The shared devices are twice as fast.
    None,
    /// The rate is proportional to the number of nodes. The shared devices are twice as fast.
    Apart,
    /// The shared devices saturate at two nodes, so that the local ones catch up with them at four.
    Crossing,
}

pub(crate) fn more_nodes(setup: Setup, random: &mut Random) -> Trial {
    let some = random.of(&[Growth::Apart, Growth::Crossing]);
    let growth = if setup.effect > 0.0 { some } else { Growth::None };
    let mut all = Vec::new();
    for (target, factor) in [("local", 1.0), ("shared", 2.0)] {
        for nodes in [1_u32, 2, 4, 6, 8] {
            let whole = match growth {
                Growth::None => factor,
                Growth::Crossing if target == "shared" => factor * f64::from(nodes.min(2)),
                _ => factor * f64::from(nodes),
            };
            let each = RATE * whole / f64::from(nodes);
            let settings = vec![word(target), count("nodes", nodes.into())];
            let node_rates = vec![each; nodes as usize];
            all.push(Point { settings, node_rates, tasks: nodes, ..point(setup, "weak", target, each) });
        }
    }
    let targets = vec![target("local", 0, None, Layer::NodeLocal), target("shared", 0, None, Layer::Shared)];
    let nodes = vec![1, 2, 4, 6, 8, NOT_MEASURED];
    let criteria = Criteria { targets, nodes, expectations: vec![ceiling()], ..Criteria::default() };
    let truths = match growth {
        Growth::None => vec![nothing(Kind::WeakSlope), up(Kind::Saturation), nothing(Kind::Crossover)],
        Growth::Apart => vec![up(Kind::WeakSlope), nothing(Kind::Saturation), nothing(Kind::Crossover)],
        Growth::Crossing => vec![of("shared", up(Kind::Saturation)), up(Kind::Crossover)],
    };
    let grown = match growth {
        Growth::None => Vec::new(),
        Growth::Apart => vec![("local", 1.0), ("shared", 2.0)],
        Growth::Crossing => vec![("local", 1.0)],
    };
    let value = |(target, factor)| (IntervalOf::MoreNodes, target, factor * f64::from(NOT_MEASURED) * RATE);
    let made = trial(setup, criteria, &all, truths, random);
    Trial { values: grown.into_iter().map(value).collect(), ..made }
}

/// A number of nodes for which an extrapolation is requested.
const NOT_MEASURED: u32 = 16;

/// A limit far above all rates.
fn ceiling() -> Expectation {
    Expectation { ceiling: true, ..Expectation::new("switch", Amount::BytesPerSecond(1000.0 * RATE)) }
}

/// Two sweeps of tasks with different transfer sizes, of which the second is slower by the effect.
fn lines(setup: Setup, random: &mut Random) -> Trial {
    let mut all = Vec::new();
    for (transfer, effect) in [(64, 0.0), (128, setup.effect)] {
        for tasks in [1, 2, 4, 8] {
            let size =
                Setting { key: "transfer".to_owned(), value: SettingValue::Bytes(Bytes(transfer << 10)) };
            let rate = RATE * f64::from(tasks) * (1.0 - effect);
            let settings = vec![size, count("tasks", tasks.into())];
            all.push(Point { settings, tasks, ..point(setup, "lines", "a", rate) });
        }
    }
    trial(setup, Criteria::default(), &all, vec![by_effect(Kind::Overlay, setup.effect)], random)
}

/// Two cases that another tool measured as well. Its first result is lower by the effect, the second is equal.
fn beside(setup: Setup, random: &mut Random) -> Trial {
    let mut all = Vec::new();
    for (group, rate) in [("w", RATE), ("w-tool", RATE * (1.0 - setup.effect)), ("x", RATE), ("x-tool", RATE)]
    {
        all.push(point(setup, group, "a", rate));
    }
    let id = |group: &str| format!("{group}:target=a");
    let truth = match setup.effect > 0.0 {
        true => of("w:target=a", up(Kind::CrossCheck)),
        false => nothing(Kind::CrossCheck),
    };
    let mut made = trial(setup, Criteria::default(), &all, vec![truth], random);
    let plan = &mut made.run.manifest.plan;
    for case in plan.cases.iter_mut().filter(|case| case.group.ends_with("-tool")) {
        case.stated = Some("1 MiB writes, direct".to_owned());
    }
    let rival = |own: &str| Rival {
        own: id(own),
        case: id(&format!("{own}-tool")),
        command_line: vec!["tool".to_owned()],
    };
    plan.source = PlanSource::CrossCheck {
        directory: "/data".into(),
        tool: "tool 1".to_owned(),
        program: "/usr/bin/tool".into(),
        rivals: ["w", "x"].map(rival).to_vec(),
    };
    made
}

/// A promise that is exceeded by the true value by a given number of standard errors.
fn promise(setup: Setup, random: &mut Random) -> Trial {
    let distance = random.of(&DISTANCES);
    let statistic = random.of(&[Statistic::Median, Statistic::ConfidenceBound]);
    // With several cases, the medians are wrong as often as any of them is.
    let cases = if statistic == Statistic::Median { 1 } else { random.of(&[1, 8]) };
    promised(setup, distance, statistic, cases, random)
}

/// The same with this many cases, all of which must keep the promise.
pub(crate) fn promised(
    setup: Setup,
    distance: f64,
    statistic: Statistic,
    cases: u32,
    random: &mut Random,
) -> Trial {
    let error = setup.noise * MEDIAN_ERROR / f64::from(setup.repetitions).sqrt();
    let promised = RATE * (-distance * error).exp();
    let criteria = Criteria { commitments: vec![commitment(statistic, promised)], ..Criteria::default() };
    let truths = match distance > 0.0 {
        true => vec![up(Kind::Pass), nothing(Kind::Fail)],
        false => vec![nothing(Kind::Pass), up(Kind::Fail)],
    };
    let setup = Setup { effect: distance.abs(), ..setup };
    let at = |tasks: u32| {
        let settings = vec![word("b"), count("tasks", tasks.into())];
        Point { settings, tasks, ..point(setup, "promise", "b", RATE) }
    };
    let made = trial(setup, criteria, &(1..=cases).map(at).collect::<Vec<_>>(), truths, random);
    Trial { distance: Some(distance), by_bound: statistic == Statistic::ConfidenceBound, ..made }
}

/// A run with a device and a layer above it with the cost of both, a disk with a file system, a data sheet, a
/// published figure, a promise, a claim, members, a sweep, and nodes.
#[cfg_attr(not(test), expect(dead_code, reason = "only a test asks for it"))]
pub(crate) fn of_every_kind(setup: Setup, random: &mut Random) -> Run {
    let on = |below: &str, above: &str| TargetDescription {
        above: Some(below.to_owned()),
        ..target(above, 1, None, Layer::Unstated)
    };
    let costly = |target| TargetDescription { rack_units: 2.0, ..target };
    let sheet = Expectation {
        reached: "an excellent disk".to_owned(),
        missed: "look for a different vendor".to_owned(),
        ..Expectation::new("data sheet", Amount::BytesPerSecond(RATE / 2.0))
    };
    let criteria = Criteria {
        targets: vec![
            costly(target("a", 1, None, Layer::Unstated)),
            costly(on("a", "b")),
            target("disks", 12, None, Layer::Unstated),
            target("disk", 1, None, Layer::Unstated),
            TargetDescription { fs_block: Some(Bytes::mib(1)), ..on("disk", "file-system") },
        ],
        claims: vec![claim("greater", "B is faster than A.", Relation::Greater)],
        commitments: vec![commitment(Statistic::Median, RATE / 2.0)],
        expectations: vec![sheet],
        published: vec![PublishedReference { id: "d-onenode-bs-peak".to_owned(), figures: of_target("a") }],
        ..Criteria::default()
    };
    let mut all = Vec::new();
    for (target, effect) in [("a", 0.0), ("b", setup.effect)] {
        for tasks in [8, 16] {
            let settings = vec![word(target), count("tasks", tasks.into())];
            all.push(Point { settings, tasks, ..point(setup, "w", target, RATE * (1.0 + effect)) });
        }
    }
    let member = |member| Point {
        settings: vec![count("member", member)],
        ..point(setup, "alone", "disks", if member == 3 { RATE / 2.0 } else { RATE })
    };
    all.extend((0..12).map(member));
    all.push(Point { node_rates: vec![RATE, RATE, RATE / 2.0, RATE], ..point(setup, "nodes", "a", RATE) });
    all.extend(seeks(setup));
    all.push(Point { phase: Phase::Read, ..point(setup, "large", "file-system", RATE) });
    run(criteria, &all, random)
}

/// The usual setup: an effect of 10 % at 2 % noise, with six repetitions.
pub(crate) const USUAL: Setup = Setup { effect: 0.1, noise: 0.02, repetitions: 6, fault: Fault::None };
/// Every family occurs within this many consecutive trials.
pub(crate) const FAMILIES: usize = 19;

/// Draws trial number `index`. Half of the trials have no effect, a quarter the usual one. One in nineteen has
/// figures that do not count.
pub(crate) fn drawn(index: usize, random: &mut Random) -> Trial {
    let any = Setup { effect: 0.0, noise: random.of(&NOISES), repetitions: random.of(&REPETITIONS), ..USUAL };
    let setup = match random.uniform() {
        chance if chance < 0.25 => USUAL,
        chance if chance < 0.5 => Setup { effect: random.of(&EFFECTS), ..any },
        _ => any,
    };
    match index % FAMILIES {
        0 | 1 => pair(setup, random),
        2 => points(setup, random),
        3 | 4 => curve(setup, random),
        5 => slow_node(setup, random),
        6 => more_nodes(setup, random),
        7 => devices(setup, random),
        8 => promise(setup, random),
        9 => sweeps(setup, random),
        10 => slow_device(setup, random),
        11 => spread(setup, random),
        12 => layered(setup, random),
        13 => lines(setup, random),
        14 => beside(setup, random),
        15 => levels(setup, random),
        16 => systems(setup, random),
        17 => seek(setup, random),
        _ => {
            let family = random.of::<fn(Setup, &mut Random) -> Trial>(&[
                pair,
                points,
                curve,
                slow_node,
                more_nodes,
                devices,
                promise,
                sweeps,
                slow_device,
                spread,
                layered,
                lines,
                beside,
                levels,
                systems,
                seek,
            ]);
            family(Setup { fault: random.of(&FAULTS), ..USUAL }, random)
        }
    }
}
