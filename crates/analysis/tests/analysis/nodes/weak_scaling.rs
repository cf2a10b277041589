//! Rates over nodes: slope, efficiency, saturation, and the intersection of layers.

use analysis::{
    audit::{Outcome, audit},
    comparisons::{beside, claims},
    figures::Figure,
    gate::{Gate, Judgement},
    nodes::{Extrapolation, WeakScaling, extrapolations, layer_crossovers, saturation, weak_scaling},
    statistics::Sample,
    sweeps::{Curve, curves},
};
use plan::{
    Amount, Claim, Expectation, Layer, Phase, PublishedReference, Quantity, Relation, Selector, Side,
};
use record::published;

use crate::common::rows;
use crate::common::studies::{Study, count, findings, said, target};
use crate::nodes::comparison::{OnNode, case, pass};

const MB: f64 = 1e6;

/// Adds the rates of `name` on these numbers of nodes, with this many tasks per node.
fn add(study: &mut Study, name: &str, tasks: u64, nodes: &[u64], rate: impl Fn(f64) -> f64) {
    for &n in nodes {
        let settings = [count("nodes", n), count("tasks_per_node", tasks)];
        study.add("ws", name, &settings, Phase::Write, &[rate(n as f64)]);
    }
}

/// Like [`add`], with five repetitions.
fn repeat(study: &mut Study, name: &str, tasks: u64, nodes: &[u64], rate: impl Fn(f64) -> f64) {
    for &n in nodes {
        let settings = [count("nodes", n), count("tasks_per_node", tasks)];
        let rates = [0.999, 1.001, 1.0, 0.9995, 1.0005].map(|share| share * rate(n as f64));
        study.add("ws", name, &settings, Phase::Write, &rates);
    }
}

fn layers() -> Study {
    Study::new(vec![
        target("nvme", |target| target.layer = Layer::NodeLocal),
        target("ssd", |target| target.layer = Layer::NodeLocal),
        target("gpfs", |target| target.layer = Layer::Shared),
    ])
}

fn scaled(study: &Study) -> (Vec<Figure>, Vec<WeakScaling>) {
    let figures = study.figures();
    let scaling = weak_scaling(&Gate::new(&study.plan, &figures, &[]));
    (figures, scaling)
}

/// What the lines of `study` predict for numbers of nodes that were not measured.
fn beyond(study: &Study) -> Vec<Extrapolation> {
    let (figures, scaling) = scaled(study);
    extrapolations(&Gate::new(&study.plan, &figures, &[]), &scaling)
}

const SIXTEEN: [u64; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/// Study B, figure 7.
#[test]
fn sixteen_exact_points_give_their_slope_and_an_efficiency_of_one() {
    let mut study = layers();
    repeat(&mut study, "nvme", 64, &SIXTEEN, |n| 5153.0 * MB * n);
    study.plan.criteria.nodes = vec![1, 4, 16, 64];
    // Without a limit it is unknown how far the line continues.
    assert_eq!(beyond(&study), []);
    study.plan.criteria.expectations = vec![limit("nvme", 400_000.0 * MB)];
    let (_, scaling) = scaled(&study);
    let one = &scaling[0];
    assert_eq!((scaling.len(), one.tasks_per_node, one.layer), (1, 64, Layer::NodeLocal));
    let line = one.line.as_ref().expect("a line");
    assert!((line.slope - 5153.0 * MB).abs() < 1.0 && line.intercept.abs() < 1.0);
    assert!((line.r_squared - 1.0).abs() < 1e-12);
    assert!(one.points.iter().all(|point| (point.efficiency.expect("one node") - 1.0).abs() < 1e-9));
    // Only node counts that were not measured are extrapolated.
    let beyond = beyond(&study);
    assert_eq!(beyond.iter().map(|one| one.nodes).collect::<Vec<_>>(), [64]);
    let beyond = &beyond[0];
    assert!((beyond.rate - 64.0 * 5153.0 * MB).abs() < 100.0);
    assert!(beyond.half_width.expect("sixteen points") < 100.0);
    // A straight line is not saturated, although 15 nodes are within 10 % of 16.
    assert_eq!(one.saturation, None);
    assert_eq!((one.peak_nodes, one.reaches[0].nodes, one.reaches[1].nodes), (16, 15, 16));
}

fn limit(target: &str, bytes_per_second: f64) -> Expectation {
    Expectation {
        target: Some(target.to_owned()),
        ..crate::targets::expected::sheet("link", Amount::BytesPerSecond(bytes_per_second))
    }
}

#[test]
fn a_line_ends_at_what_the_study_says_can_be_reached() {
    let mut study = layers();
    repeat(&mut study, "gpfs", 64, &[1, 2, 4, 8], |n| 1250.0 * MB * n);
    study.plan.criteria.nodes = vec![1, 16, 1500];
    study.plan.criteria.expectations = vec![limit("gpfs", 10_100.0 * MB)];
    let beyond: Vec<_> = beyond(&study).iter().map(|one| (one.nodes, one.rate, one.half_width)).collect();
    assert_eq!(beyond, [(16, 10_100.0 * MB, None), (1500, 10_100.0 * MB, None)]);
}

#[test]
fn no_line_goes_through_points_that_saturate_are_flat_or_were_measured_once() {
    let line = |rate: &dyn Fn(f64) -> f64, repeated: bool| {
        let mut study = layers();
        match repeated {
            true => repeat(&mut study, "gpfs", 64, &[1, 2, 4, 8, 16], rate),
            false => add(&mut study, "gpfs", 64, &[1, 2, 4, 8, 16], rate),
        }
        let one = scaled(&study).1.remove(0);
        (one.line.is_some(), one.saturation.map(|full| full.from_nodes), one.reaches.len())
    };
    assert_eq!(line(&|n| 100.0 * MB * n, true), (true, None, 2));
    assert_eq!(line(&|n| 100.0 * MB * n.min(4.0), true), (false, Some(4), 2));
    assert_eq!(line(&|_| 100.0 * MB, true), (false, Some(1), 0));
    // A change of 2 % is no growth, however certain it is.
    assert_eq!(line(&|n| (98.0 + n / 8.0) * MB, true), (false, Some(1), 2));
    assert_eq!(line(&|n| 100.0 * MB * n, false), (false, None, 0), "no repetitions");
    assert_eq!(line(&|n| 100.0 * MB * n.min(4.0), false), (false, None, 0));
}

/// Study B: 378 MB/s per node reach a plateau of 4.4 GB/s at twelve nodes.
#[test]
fn a_local_layer_overtakes_a_saturated_one_at_twelve_nodes() {
    let mut study = layers();
    repeat(&mut study, "ssd", 64, &SIXTEEN, |n| 378.0 * MB * n);
    repeat(&mut study, "gpfs", 64, &SIXTEEN, |n| (1250.0 * MB * n).min(4400.0 * MB));
    repeat(&mut study, "nvme", 64, &[1, 2, 3, 4], |n| 1000.0 * MB * n);
    let (figures, scaling) = scaled(&study);
    let shared = scaling.iter().find(|one| one.target == "gpfs").expect("the shared layer");
    let plateau = shared.saturation.expect("saturated");
    assert_eq!((plateau.from_nodes, plateau.to_nodes, plateau.rate), (4, 16, 4400.0 * MB));
    assert_eq!(plateau.range, (4400.0 * MB, 4400.0 * MB));
    let found = layer_crossovers(&Gate::new(&study.plan, &figures, &[]), &scaling);
    let seen: Vec<_> =
        found.iter().map(|one| (scaling[one.local].target.as_str(), one.nodes, one.plateau)).collect();
    // The line of nvme reaches it beyond the measured node counts.
    assert_eq!(seen, [("ssd", Some(12), 4400.0 * MB), ("nvme", None, 4400.0 * MB)]);
    let stated = findings(&study.plan, &figures, 4).layer_crossovers;
    let stated: Vec<_> = said(&stated).into_iter().map(|(_, one)| one.clone()).collect();
    assert_eq!(found, stated);
}

/// A layer that all nodes share is full at one node already, although it drifts by 2 %.
#[test]
fn a_local_layer_overtakes_one_that_is_full_from_one_node_on() {
    let mut study = layers();
    repeat(&mut study, "ssd", 64, &[1, 2, 3, 4], |n| 119.0 * MB * n);
    repeat(&mut study, "gpfs", 64, &[1, 2, 3, 4], |n| (29.6 + 0.2 * n) * MB);
    let (figures, scaling) = scaled(&study);
    let crossovers = layer_crossovers(&Gate::new(&study.plan, &figures, &[]), &scaling);
    assert_eq!(crossovers.iter().map(|one| one.nodes).collect::<Vec<_>>(), [Some(1)]);
}

#[test]
fn nothing_is_said_of_series_with_a_figure_in_doubt() {
    let mut study = layers();
    repeat(&mut study, "ssd", 64, &SIXTEEN, |n| 378.0 * MB * n);
    repeat(&mut study, "gpfs", 64, &SIXTEEN, |n| (1250.0 * MB * n).min(4400.0 * MB));
    // A case of the shared layer that was cut short.
    study.plan.cases[20].repetitions += 1;
    let found = study.findings();
    let outcomes: Vec<_> = found.weak_scaling.iter().map(|one| one.outcome).collect();
    assert_eq!(outcomes, [Outcome::Stated, Outcome::Withheld]);
    assert_eq!(found.layer_crossovers[0].outcome, Outcome::Withheld);
}

#[test]
fn where_a_local_layer_that_does_not_grow_overtakes_cannot_be_told() {
    let mut study = layers();
    repeat(&mut study, "ssd", 64, &[1, 2, 4, 8], |_| 378.0 * MB);
    repeat(&mut study, "gpfs", 64, &[1, 2, 4, 8], |_| 4400.0 * MB);
    let (figures, scaling) = scaled(&study);
    assert_eq!(layer_crossovers(&Gate::new(&study.plan, &figures, &[]), &scaling)[0].nodes, None);
    // Layers with different numbers of tasks per node are not compared.
    let mut study = layers();
    repeat(&mut study, "ssd", 160, &[1, 2, 4, 8], |n| 378.0 * MB * n);
    repeat(&mut study, "gpfs", 64, &[1, 2, 4, 8], |_| 4400.0 * MB);
    let (figures, scaling) = scaled(&study);
    assert_eq!(layer_crossovers(&Gate::new(&study.plan, &figures, &[]), &scaling), []);
}

#[test]
fn each_number_of_tasks_on_a_node_is_a_series_and_strong_scaling_is_none() {
    let mut study = layers();
    for tasks in [160, 64] {
        add(&mut study, "nvme", tasks, &[4, 1, 2], |n| n * tasks as f64 * MB);
    }
    let (_, scaling) = scaled(&study);
    let series: Vec<_> = scaling.iter().map(|one| (one.tasks_per_node, one.points.len())).collect();
    assert_eq!(series, [(160, 3), (64, 3)]);
    let nodes: Vec<_> = scaling[0].points.iter().map(|point| point.nodes).collect();
    assert_eq!(nodes, [1, 2, 4], "in rising order");
    // The same total number of tasks, on more nodes.
    let mut study = layers();
    for nodes in [1, 2, 4] {
        study.add_of("strong", "nvme", &[count("nodes", nodes)], Phase::Write, &[MB], |spec| spec.tasks = 8);
    }
    assert_eq!(scaled(&study).1, []);
}

/// Before workloads stored their number of nodes, studies used a setting for it.
#[test]
fn the_setting_of_an_old_record_counts() {
    let mut study = layers();
    for nodes in [1, 2, 4] {
        let settings = [count("nodes", nodes), count("tasks", 64)];
        study.add_of("ws", "nvme", &settings, Phase::Write, &[nodes as f64 * MB], |spec| {
            (spec.nodes, spec.tasks) = (1, 64);
        });
    }
    let (_, scaling) = scaled(&study);
    assert_eq!((scaling[0].points[2].nodes, scaling[0].tasks_per_node), (4, 64));
}

#[test]
fn efficiency_falls_where_nodes_share_a_link() {
    let mut study = layers();
    add(&mut study, "gpfs", 1, &[1, 2, 4, 8], |n| (100.0 * MB * n).min(300.0 * MB));
    let (_, scaling) = scaled(&study);
    let efficiency: Vec<_> =
        scaling[0].points.iter().map(|point| point.efficiency.expect("one node")).collect();
    assert_eq!(efficiency, [1.0, 1.0, 0.75, 0.375]);
    // Without a result for one node there is nothing to compare with.
    let mut study = layers();
    add(&mut study, "gpfs", 1, &[2, 4], |n| 100.0 * MB * n);
    let (_, scaling) = scaled(&study);
    assert!(scaling[0].points.iter().all(|point| point.efficiency.is_none()));
}

/// Study D: close to the peak with a few nodes, and stable beyond that.
#[test]
fn a_few_nodes_reach_the_peak_and_the_rest_is_stable() {
    let mut study = layers();
    let rates = [(1, 30.0), (2, 60.0), (4, 92.0), (8, 96.0), (16, 100.0), (32, 97.0)];
    repeat(&mut study, "gpfs", 1, &[1, 2, 4, 8, 16, 32], |n| {
        MB * rates.iter().find(|(nodes, _)| f64::from(*nodes) == n).expect("listed").1
    });
    let (_, scaling) = scaled(&study);
    let [ninety, ninety_five] = scaling[0].reaches[..] else { panic!("two shares") };
    assert_eq!((ninety.share, ninety.nodes), (0.90, 4));
    assert_eq!((ninety_five.share, ninety_five.nodes), (0.95, 8));
    assert!((ninety.spread_beyond.expect("beyond") - 0.04).abs() < 1e-9);
    assert!((ninety_five.spread_beyond.expect("beyond") - 0.03).abs() < 1e-9);
    let variation = ninety.variation.expect("four points");
    assert!((variation - 0.0343).abs() < 1e-3, "{variation}");
}

#[test]
fn saturation_needs_a_plateau_that_is_wider_than_it_is_high() {
    let rates = |rate: &dyn Fn(f64) -> f64, nodes: &[f64]| {
        saturation(&nodes.iter().map(|&n| Sample::once(n, rate(n))).collect::<Vec<_>>())
    };
    let sixteen: Vec<f64> = (1..=16).map(f64::from).collect();
    assert_eq!(rates(&|n| 1000.0 + 100.0 * n, &sixteen), None);
    assert_eq!(rates(&|n| 100.0 * n, &[1.0, 2.0, 4.0]), None);
    let found = rates(&|n| (100.0 * n).min(200.0), &[1.0, 2.0, 3.0, 4.0]).expect("saturated");
    assert_eq!((found.from_nodes, found.rate), (2, 200.0));
    assert_eq!(rates(&|_| 0.0, &[1.0, 2.0]), None);
}

/// The cost of a layer is stated for the same number of nodes on both sides, the highest that both have.
#[test]
fn taxes_are_of_equal_numbers_of_nodes() {
    let mut study = layers();
    add(&mut study, "nvme", 1, &[1, 2, 4], |n| 100.0 * MB * n);
    add(&mut study, "ssd", 1, &[1, 2], |n| 50.0 * MB * n);
    let figures = study.figures();
    let found = study.findings().taxes;
    let nodes = |place: usize| figures[place].node_count;
    let seen: Vec<_> = found.iter().map(|one| (nodes(one.inputs[1]), nodes(one.inputs[0]))).collect();
    assert_eq!(seen, [(Some(2), Some(2))]);
}

fn rule(id: &str, quantity: Quantity, left: Selector, relation: Relation, right: Side) -> Claim {
    Claim {
        id: id.to_owned(),
        text: String::new(),
        quantity,
        left,
        relation,
        right,
        factor: 1.0,
        tolerance: 0.0,
    }
}

fn on(target: &str) -> Selector {
    Selector { target: Some(target.to_owned()), phase: Some(Phase::Write), ..Selector::default() }
}

fn judgement(study: &Study, rules: Vec<Claim>) -> (Judgement, String) {
    let mut plan = study.plan.clone();
    plan.criteria.claims = rules;
    let figures = study.figures();
    let curves: Vec<Curve> = curves(&Gate::new(&plan, &figures, &[]));
    let doubts = audit(&plan, &figures, &[]);
    let verdict = claims(&plan, &figures, &curves, &doubts, published()).remove(0);
    (verdict.judgement, verdict.evidence.join("; "))
}

#[test]
fn claims_about_many_nodes_are_tested() {
    let mut study = layers();
    repeat(&mut study, "nvme", 64, &SIXTEEN, |n| 5153.0 * MB * n);
    repeat(&mut study, "gpfs", 64, &SIXTEEN, |n| (1250.0 * MB * n).min((4400.0 + n) * MB));
    repeat(&mut study, "ssd", 64, &SIXTEEN, |n| 378.0 * MB * n);
    // An order of magnitude faster on sixteen nodes.
    let at_16 =
        |name: &str| Selector { at: vec![count("nodes", 16), count("tasks_per_node", 64)], ..on(name) };
    let order = |other: &str| Claim {
        factor: 10.0,
        ..rule(
            "b-claim-order",
            Quantity::BestRate,
            at_16("nvme"),
            Relation::Greater,
            Side::Measured(at_16(other)),
        )
    };
    let (held, evidence) = judgement(&study, vec![order("gpfs"), order("ssd")]);
    assert_eq!(held, Judgement::Holds, "{evidence}");
    let linear = |name: &str| {
        rule("b-claim-linear", Quantity::RSquared, on(name), Relation::Greater, Side::Value(0.99))
    };
    assert_eq!(
        judgement(&study, vec![linear("nvme")]),
        (Judgement::Holds, "R² = 1.0000 (nvme) > R² = 0.9900".to_owned())
    );
    assert_eq!(judgement(&study, vec![linear("gpfs")]).0, Judgement::DoesNotHold);
    let few = |name: &str| {
        rule("d-claim-few-nodes", Quantity::Reaches90, on(name), Relation::Less, Side::Value(5.0))
    };
    assert_eq!(judgement(&study, vec![few("gpfs")]), (Judgement::Holds, "4 (gpfs) < 5".to_owned()));
    assert_eq!(judgement(&study, vec![few("nvme")]).0, Judgement::DoesNotHold);
    let stable = |name: &str| {
        rule("d-claim-stable", Quantity::VariationBeyond, on(name), Relation::Less, Side::Value(0.05))
    };
    assert_eq!(judgement(&study, vec![stable("gpfs")]).0, Judgement::Holds);
}

#[test]
fn claims_about_many_nodes_are_not_tested_without_them() {
    let mut study = layers();
    study.add("w", "nvme", &[], Phase::Write, &[MB]);
    for quantity in
        [Quantity::RSquared, Quantity::Reaches90, Quantity::VariationBeyond, Quantity::SlowestShare]
    {
        let rule = rule("own", quantity, on("nvme"), Relation::Less, Side::Value(1.0));
        let (judgement, evidence) = judgement(&study, vec![rule]);
        assert_eq!(judgement, Judgement::NotTested, "{quantity:?}: {evidence}");
    }
}

/// Study B: the slowest of sixteen disks limits a collective transfer.
#[test]
fn that_the_slowest_node_bounds_all_is_tested() {
    let plan_of = |seconds: &[u64]| {
        let mut plan = rows::plan(vec![case("c", "ssd", 4, 5)]);
        let nodes = ["n1", "n2", "n3", "n4"];
        let on = nodes.iter().zip(seconds);
        let on: Vec<_> =
            on.map(|(node, &seconds)| OnNode { node, tasks: 2, bytes: 7_000_000_000, seconds }).collect();
        let left = Selector { phase: Some(Phase::Read), ..on_any() };
        let claim = rule("b-claim-slowest", Quantity::SlowestShare, left, Relation::Less, Side::Value(1.05));
        plan.criteria.claims = vec![claim];
        let passes = (0..5).map(|repetition| pass("c", repetition, Phase::Read, &on)).collect();
        let run = rows::run(&plan, passes);
        let figures = analysis::figures::figures(&run, plan::RateName::ByWall);
        claims(&plan, &figures, &[], &[], published()).remove(0)
    };
    let verdict = plan_of(&[16, 16, 20, 16]);
    assert_eq!(verdict.judgement, Judgement::Holds, "{:?}", verdict.evidence);
    assert!(
        verdict.evidence[0].starts_with("100 % (ssd, read, slowest n3 with nvme0n1)"),
        "{:?}",
        verdict.evidence
    );
}

fn on_any() -> Selector {
    Selector::default()
}

#[test]
fn the_own_slope_stands_beside_the_published_one() {
    let mut study = layers();
    repeat(&mut study, "nvme", 64, &SIXTEEN, |n| 5000.0 * MB * n);
    repeat(&mut study, "nvme", 160, &SIXTEEN, |n| 4000.0 * MB * n);
    let slope = published()
        .figures
        .iter()
        .find(|one| one.statistic == record::PublishedStatistic::Slope && one.value == 5153e6)
        .expect("the slope of study B");
    let place = PublishedReference { id: slope.id.clone(), figures: on("nvme") };
    study.plan.criteria.published = vec![place];
    let figures = study.figures();
    let found = &beside(&study.plan, &figures, published())[0];
    assert!((found.own.expect("measured") - 5000e6).abs() < 1.0, "of as many tasks on each node");
    assert_eq!(figures[found.figure.expect("the last point")].node_count, Some(16));
}
