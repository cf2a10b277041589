//! Published figures are shown next to the own figures that the study assigns to them, in the same unit.

use analysis::comparisons::{PublishedComparison, beside, unknown_ids};
use plan::{Claim, Phase, PublishedReference, Quantity, Relation, Selector, Side};
use record::published;

use crate::common::studies::{Study, bytes, count, target};

fn place(id: &str, figures: Selector) -> PublishedReference {
    PublishedReference { id: id.to_owned(), figures }
}

fn all() -> Selector {
    Selector::default()
}

/// Twelve targets as fast as ten devices, and their baseline, in a sweep over tasks.
fn study() -> Study {
    let baseline = target("one", |target| target.devices = 1);
    let wide = target("twelve", |target| (target.devices, target.baseline) = (12, Some("one".to_owned())));
    let mut study = Study::new(vec![baseline, wide]);
    study.add("single", "one", &[], Phase::Read, &[2.5e9]);
    for (tasks, rate) in [(33, 24e9), (132, 30e9)] {
        let settings = [count("tasks", tasks), bytes("transfer", 1 << 20)];
        study.add("scale", "twelve", &settings, Phase::Read, &[rate, rate * 1.01, rate * 0.99]);
        study.add("scale", "twelve", &settings, Phase::Write, &[rate / 2.0]);
    }
    study
}

fn only(study: &Study, id: &str, figures: Selector) -> PublishedComparison {
    let mut plan = study.plan.clone();
    plan.criteria.published = vec![place(id, figures)];
    let mut found = beside(&plan, &study.figures(), published());
    assert_eq!(found.len(), 1, "{id}");
    found.remove(0)
}

#[test]
fn without_a_point_it_stands_beside_the_best_of_its_direction() {
    let study = study();
    let one = only(&study, "a-t2-read-best", Selector { workload: Some("scale".to_owned()), ..all() });
    assert_eq!((one.value(), one.own, one.unit()), (32.9e9, Some(30e9), "bytes/s"));
    assert_eq!((one.phase, one.target.as_deref()), (Some(Phase::Read), Some("twelve")));
    assert!((one.ratio().expect("a ratio") - 30.0 / 32.9).abs() < 1e-12);
    assert_eq!(
        (one.published.as_published().as_str(), one.published.statistic.name()),
        ("32.9 GB/s", "best")
    );
    assert!(
        one.source().starts_with("Analysis of Intel SSDs on SGI UV 300 (2016), Test 2"),
        "{}",
        one.source()
    );
    assert_eq!(one.misprint, "");
    // Its mark is drawn at the point where it was measured, not at our own best point.
    assert_eq!(one.at, [count("tasks", 132), bytes("transfer", 16 << 20)]);
}

/// Study A: 29.9 GB/s where the layer below reaches 32.9 GB/s is a loss of 9.1 %.
#[test]
fn a_published_tax_stands_beside_the_own_one_of_the_same_layout() {
    let cards = target("cards", |target| target.devices = 12);
    let imsm = target("imsm", |target| (target.devices, target.above) = (12, Some("cards".to_owned())));
    let mut study = Study::new(vec![cards, imsm]);
    for (target, rates) in [("cards", [30e9, 20e9]), ("imsm", [15e9, 24e9])] {
        for (tasks, rate) in [33, 66].into_iter().zip(rates) {
            study.add("layouts", target, &[count("tasks", tasks)], Phase::Read, &[rate]);
        }
    }
    let of = |target: &str| {
        let figures = Selector { target: Some(target.to_owned()), phase: Some(Phase::Read), ..all() };
        only(&study, "a-sum-tax-read", figures)
    };
    let one = of("imsm");
    assert!((one.own.expect("a tax") - 0.2).abs() < 1e-12, "the best of each: {one:?}");
    assert_eq!((one.figure, one.value()), (Some(3), 0.091));
    assert_eq!(of("cards").own, None, "it is built on nothing");
}

#[test]
fn a_right_value_is_no_misprint_because_a_statement_contradicts_it() {
    let one = only(&study(), "a-t5b-write-best", all());
    assert_eq!((one.published.as_published().as_str(), one.misprint.as_str()), ("24.2 GB/s", ""));
}

#[test]
fn at_a_point_it_stands_beside_that_point() {
    let at = Selector { at: vec![count("tasks", 33)], phase: Some(Phase::Write), ..all() };
    let one = only(&study(), "a-t2-write-best", at.clone());
    assert_eq!((one.own, one.at), (Some(12e9), at.at));
    let nowhere = Selector { at: vec![count("tasks", 34)], ..all() };
    let one = only(&study(), "a-t2-write-best", nowhere);
    assert_eq!((one.figure, one.own, one.ratio(), one.value()), (None, None, None, 24.1e9));
}

#[test]
fn scalability_is_counted_from_the_baseline() {
    let at = Selector { at: vec![count("tasks", 33)], ..all() };
    let one = only(&study(), "a-t2-scal-read-33", at);
    assert_eq!((one.value(), one.unit()), (0.81, "fraction"));
    assert!((one.own.expect("a share") - 24.0 / 30.0).abs() < 1e-12);
}

#[test]
fn misprints_are_marked_with_their_reading() {
    let one = only(&study(), "a-sum-imsm-read", all());
    assert_eq!((one.value(), one.published.as_published().as_str()), (29.9e9, "29.9 MB/s read"));
    assert!(one.misprint.starts_with("misprint: printed 29.9 MB/s read"), "{}", one.misprint);
    assert!(one.misprint.contains("read as GB/s"), "{}", one.misprint);
}

#[test]
fn operations_are_compared_with_transfers_and_deviations_with_deviations() {
    let one = only(&study(), "b-iops-nvme-read", Selector { workload: Some("scale".to_owned()), ..all() });
    assert_eq!(one.unit(), "ops/s");
    assert!((one.own.expect("a rate") - 30e9 / 1_048_576.0).abs() < 1.0, "{:?}", one.own);
    let at = Selector { at: vec![count("tasks", 132)], ..all() };
    let spread = only(&study(), "b-tab3-nvme-read-sdev", at);
    assert!((spread.own.expect("three repetitions") - 0.3e9).abs() < 1e3, "{:?}", spread.own);
    let memory = only(&study(), "c-tab1-flash-mem", all());
    assert_eq!((memory.own, memory.figure), (None, None));
}

#[test]
fn unknown_ids_are_named_with_the_nearest() {
    let mut plan = study().plan;
    plan.criteria.published = vec![place("a-t2-read-best", all()), place("a-t2-raed-best", all())];
    let rule = |id: &str, text: &str| Claim {
        id: id.to_owned(),
        text: text.to_owned(),
        quantity: Quantity::BestRate,
        left: all(),
        relation: Relation::Greater,
        right: Side::Value(1.0),
        factor: 1.0,
        tolerance: 0.0,
    };
    plan.criteria.claims =
        vec![rule("a-claim-besst", ""), rule("own", "flash is faster"), rule("a-claim-tax", "")];
    let found = unknown_ids(&plan, published());
    let found: Vec<_> =
        found.iter().map(|one| (one.table, one.index, one.id.as_str(), one.nearest.as_deref())).collect();
    assert_eq!(
        found,
        [
            ("published", 1, "a-t2-raed-best", Some("a-t2-read-best")),
            ("claim", 0, "a-claim-besst", Some("a-claim-best")),
        ]
    );
}

/// Study C prints the mean, deviation and range of 101 ratios, and levels of a profile. A figure for jobs has none of
/// these.
#[test]
fn published_sums_and_ratios_of_launches_stand_beside_no_figure_of_jobs() {
    let mut study = Study::new(vec![target("flash", |_| ())]);
    study.add("mix", "flash", &[], Phase::Jobs, &[1e9]);
    let place_of = |phase: Option<Phase>| {
        let ids =
            ["c-tab2-flash-mean", "c-tab2-flash-sdev", "c-tab1-flash-mem", "c-tab1-flash-real", "c-thr-peak"];
        ids.map(|id| place(id, Selector { phase, ..all() })).to_vec()
    };
    study.plan.criteria.published = place_of(Some(Phase::Jobs));
    assert_eq!(beside(&study.plan, &study.figures(), published()), []);
    study.plan.criteria.published = place_of(None);
    let owns: Vec<_> = beside(&study.plan, &study.figures(), published()).iter().map(|one| one.own).collect();
    assert_eq!(owns, [None; 5]);
}
