//! Simulated scenarios and their true values. The statements are the same as for drawn records.

use plan::{Criteria, Layer, Phase, Statistic};

use super::draw::{Fault, Point, Random, count, plan, word};
use super::said::Kind;
use super::scenario::{
    DISTANCES, EFFECTS, MEDIAN_ERROR, NOISES, REPETITIONS, Setup, TOLERANCE, Trial, Truth, USUAL, by_effect,
    claim, commitment, down, not_up, nothing, of, of_run, point, target, up,
};
use super::simulation::{Disks, model, run};

/// The base rate in bytes per second, of which all others are multiples. It gives some thousand transfers per
/// repetition.
const RATE: f64 = 1e8;
/// Every family occurs within this many consecutive trials.
pub(super) const FAMILIES: usize = 12;

/// Troubles that affect the devices of both targets equally, as tables of a model.
const TROUBLES: [(&str, &str); 5] = [
    // Affects a fifth of one repetition of the first target.
    ("stall", "kind = \"stall\"\nat = \"45s\"\nlength = \"6s\"\n"),
    ("stalls", "kind = \"stall\"\nat = \"7s\"\nlength = \"500ms\"\nevery = \"11s\"\n"),
    // Other users take three tenths of the time.
    ("load", "kind = \"load\"\nshare = 0.3\n"),
    ("slow member", "kind = \"slow\"\nmembers = [2]\nshare = 0.5\n"),
    // From the second repetition on, a part is served by a cache in front of the devices.
    ("warm cache", "kind = \"warming\"\nshare = 0.6\n"),
];

/// Simulates trial number `index`. Half of the trials have no effect, a quarter has the usual one.
pub(super) fn simulated(index: usize, random: &mut Random) -> Trial {
    let any = Setup { effect: 0.0, noise: random.of(&NOISES), repetitions: random.of(&REPETITIONS), ..USUAL };
    let setup = match random.uniform() {
        chance if chance < 0.25 => USUAL,
        chance if chance < 0.5 => Setup { effect: random.of(&EFFECTS), ..any },
        _ => any,
    };
    match index % FAMILIES {
        0 | 1 => pair(setup, &[], "", random),
        family @ 2..=6 => {
            let (name, trouble) = TROUBLES[family - 2];
            pair(setup, &[name], trouble, random)
        }
        7 => throttled(setup, random),
        8 => drifting(setup, random),
        9 => saturated(setup, random),
        10 => curve(setup, random),
        _ => {
            if random.uniform() < 0.5 {
                more_nodes(setup, random)
            } else {
                promise(setup, random)
            }
        }
    }
}

/// A random seed for a run.
fn seed(random: &mut Random) -> u64 {
    let _ = random.uniform();
    random.0
}

/// Runs `points` on the model `text`.
fn trial(
    setup: Setup,
    criteria: Criteria,
    points: &[Point],
    text: &str,
    truths: Vec<Truth>,
    random: &mut Random,
) -> Trial {
    let (run, place) = run(text, plan("Simulated", criteria, points), seed(random));
    Trial { places: vec![place], ..of_run(setup, run, truths) }
}

/// Two targets.
fn two() -> Criteria {
    Criteria {
        targets: ["a", "b"].map(|name| target(name, 1, None, Layer::Unstated)).to_vec(),
        claims: vec![
            claim("greater", "B is faster than A.", plan::Relation::Greater),
            claim("equal", "B is as fast as A.", plan::Relation::Equal),
        ],
        ..Criteria::default()
    }
}

/// The true statements for two targets of which the second is faster by the effect.
fn of_two(effect: f64) -> Vec<Truth> {
    let mut truths = vec![
        by_effect(Kind::LayerOverhead, effect),
        if effect > 0.0 { up(Kind::ClaimGreater) } else { not_up(Kind::ClaimGreater) },
        by_effect(Kind::Compared, effect),
    ];
    if effect == 0.0 {
        truths.push(up(Kind::ClaimEqual));
    } else if effect > TOLERANCE {
        truths.push(down(Kind::ClaimEqual));
    }
    truths
}

/// Two targets on separate disks with the same trouble, of which the second is faster by the effect. Also compares
/// two runs on the first target, of which the later uses the disks of the second.
fn pair(setup: Setup, names: &[&str], trouble: &str, random: &mut Random) -> Trial {
    let warm = names.contains(&"warm cache");
    let disks = |name, rate| Disks {
        trouble: trouble.to_owned(),
        members: if names.contains(&"slow member") { 4 } else { 1 },
        ..Disks::one(name, rate)
    };
    let faster = RATE * (1.0 + setup.effect);
    let at = |name: &'static str| Point {
        phase: if warm { Phase::Read } else { Phase::Write },
        ..point(setup, "pair", name, RATE)
    };
    let text = model(setup.noise, 1, &[disks("a", RATE), disks("b", faster)]);
    let truths = if warm {
        Kind::ALL.into_iter().filter(|kind| *kind != Kind::Fail).map(nothing).collect()
    } else {
        of_two(setup.effect)
    };
    let setup = if warm { Setup { fault: Fault::Cached, ..setup } } else { setup };
    let mut made = trial(setup, two(), &[at("a"), at("b")], &text, truths, random);
    let mut again = |rate: f64| {
        let text = model(setup.noise, 1, &[disks("a", rate)]);
        run(&text, plan("Simulated", two(), &[at("a")]), seed(random))
    };
    let ((before, one), (after, other)) = (again(RATE), again(faster));
    made.places.extend([one, other]);
    let rates = if names.is_empty() { vec![RATE, faster] } else { Vec::new() };
    Trial { compared: Some((before, after)), troubled: !names.is_empty() && !warm, rates, ..made }
}

/// Two targets that are throttled after a burst. The limit of the second is higher by the effect.
fn throttled(setup: Setup, random: &mut Random) -> Trial {
    let disks = |name, throttle: f64| Disks {
        trouble: format!("kind = \"burst\"\nsize = \"{}B\"\nrate = \"{throttle}B/s\"\n", 2e9),
        ..Disks::one(name, 4.0 * RATE)
    };
    let text = model(setup.noise, 1, &[disks("a", RATE), disks("b", RATE * (1.0 + setup.effect))]);
    let points = ["a", "b"].map(|name| point(setup, "pair", name, RATE));
    let truths = of_two(setup.effect).into_iter().filter(|truth| truth.kind != Kind::Compared).collect();
    Trial { troubled: true, ..trial(setup, two(), &points, &text, truths, random) }
}

/// Two targets whose rates change over the run, measured alternately. The second is faster by the effect.
fn drifting(setup: Setup, random: &mut Random) -> Trial {
    let share = random.of(&[-0.8, -0.3, 0.5]);
    let disks = |name, rate| Disks {
        trouble: format!("kind = \"drift\"\nshare = {share:?}\n"),
        ..Disks::one(name, rate)
    };
    let text = model(setup.noise, 1, &[disks("a", RATE), disks("b", RATE * (1.0 + setup.effect))]);
    let points = ["a", "b"].map(|name| point(setup, "pair", name, RATE));
    let mut plan = plan("Simulated", two(), &points);
    plan.cases.iter_mut().for_each(|case| case.in_turn = true);
    let (run, place) = run(&text, plan, seed(random));
    let truths = of_two(setup.effect).into_iter().filter(|truth| truth.kind != Kind::Compared).collect();
    Trial { troubled: true, places: vec![place], ..of_run(setup, run, truths) }
}

/// Two targets behind links that are slower than both, so that the effect is not visible to the tasks.
fn saturated(setup: Setup, random: &mut Random) -> Trial {
    let disks = |name, rate: f64| Disks { link: Some(0.8 * RATE), slots: 4, ..Disks::one(name, rate) };
    let text = model(setup.noise, 1, &[disks("a", RATE), disks("b", RATE * (1.0 + setup.effect))]);
    let points = ["a", "b"].map(|name| point(setup, "pair", name, RATE));
    let setup = Setup { effect: 0.0, ..setup };
    let truths = of_two(0.0).into_iter().filter(|truth| truth.kind != Kind::Compared).collect();
    Trial { troubled: true, ..trial(setup, two(), &points, &text, truths, random) }
}

/// One to 24 tasks on a device that serves one request at a time, as many as there are, or eight.
fn curve(setup: Setup, random: &mut Random) -> Trial {
    let slots = if setup.effect > 0.0 { random.of(&[24, 8]) } else { 1 };
    let disks = Disks { slots, ..Disks::one("a", RATE / f64::from(slots)) };
    let at = |tasks: u32| Point {
        settings: vec![count("tasks", tasks.into())],
        tasks,
        ..point(setup, "curve", "a", RATE)
    };
    let points: Vec<Point> = (1..=24).map(at).collect();
    let truths = match slots {
        1 => vec![nothing(Kind::Knee), nothing(Kind::Slope), nothing(Kind::Best), up(Kind::Plateau)],
        8 => vec![up(Kind::Knee), up(Kind::Plateau)],
        _ => vec![nothing(Kind::Knee), nothing(Kind::Plateau), up(Kind::Slope)],
    };
    let truths = truths.into_iter().chain([nothing(Kind::SweetSpot), nothing(Kind::Dips)]).collect();
    trial(setup, Criteria::default(), &points, &model(setup.noise, 1, &[disks]), truths, random)
}

/// The same work per node on 1 to 8 nodes, on local devices and on a shared one. The shared device is twice as fast
/// as a local one and saturates with one node, or its rate grows with the number of nodes.
fn more_nodes(setup: Setup, random: &mut Random) -> Trial {
    let wide = setup.effect > 0.0;
    let local = Disks { local: true, ..Disks::one("local", RATE) };
    let slots = if wide { 64 } else { 2 };
    let shared = Disks { slots, ..Disks::one("shared", 2.0 * RATE) };
    let mut points = Vec::new();
    for name in ["local", "shared"] {
        for nodes in [1_u32, 2, 4, 6, 8] {
            let settings = vec![word(name), count("nodes", nodes.into())];
            let node_rates = vec![RATE; nodes as usize];
            points.push(Point { settings, node_rates, tasks: nodes, ..point(setup, "weak", name, RATE) });
        }
    }
    let targets = vec![target("local", 0, None, Layer::NodeLocal), target("shared", 0, None, Layer::Shared)];
    let criteria = Criteria { targets, nodes: vec![1, 2, 4, 6, 8], ..Criteria::default() };
    let truths = match wide {
        true => vec![up(Kind::WeakSlope), nothing(Kind::Saturation), nothing(Kind::Crossover)],
        false => vec![of("shared", up(Kind::Saturation)), up(Kind::Crossover)],
    };
    trial(setup, criteria, &points, &model(setup.noise, 8, &[local, shared]), truths, random)
}

/// A promise that is exceeded by the true value by a given number of standard errors.
fn promise(setup: Setup, random: &mut Random) -> Trial {
    let distance = random.of(&DISTANCES);
    let statistic = random.of(&[Statistic::Median, Statistic::ConfidenceBound]);
    let error = setup.noise * MEDIAN_ERROR / f64::from(setup.repetitions).sqrt();
    let promised = commitment(statistic, RATE * (-distance * error).exp());
    let criteria = Criteria { commitments: vec![promised], ..Criteria::default() };
    let truths = match distance > 0.0 {
        true => vec![up(Kind::Pass), nothing(Kind::Fail)],
        false => vec![nothing(Kind::Pass), up(Kind::Fail)],
    };
    let setup = Setup { effect: distance.abs(), ..setup };
    let text = model(setup.noise, 1, &[Disks::one("b", RATE)]);
    // For writes, the audit asks whether the device has a volatile cache, which a model does not state.
    let reads = Point { phase: Phase::Read, ..point(setup, "promise", "b", RATE) };
    let made = trial(setup, criteria, &[reads], &text, truths, random);
    Trial { distance: Some(distance), by_bound: statistic == Statistic::ConfidenceBound, ..made }
}
