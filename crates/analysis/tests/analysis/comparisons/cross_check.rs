//! The same cases measured by two tools: the ratio of each pair, and what is reported about it.

use analysis::{
    RateName,
    comparisons::CrossCheck,
    figures::figures,
    findings::{Findings, findings},
    gate::Stated,
    statistics::Contrast,
};
use plan::{Case, PlanSource, Rival};
use record::Provenance;

use crate::common::study::{Study, reads};

/// The findings for one case in which the passes of each tool reached these numbers of transfers per second.
fn found(own: &[u64], theirs: &[u64], change: impl FnOnce(&mut Study)) -> Findings {
    let by_fio = Case { stated: Some("read, by fio".to_owned()), ..reads("x-fio") };
    let mut study = Study::default().with(reads("x"), own).with(by_fio, theirs);
    change(&mut study);
    let mut run = study.run();
    run.manifest.provenance = Provenance::Measured;
    run.manifest.plan.source = PlanSource::CrossCheck {
        directory: "/d".into(),
        tool: "fio 3.33".to_owned(),
        program: "/usr/bin/fio".into(),
        rivals: vec![Rival {
            own: "x".to_owned(),
            case: "x-fio".to_owned(),
            command_line: ["/usr/bin/fio", "--name=a b"].map(str::to_owned).to_vec(),
        }],
    };
    findings(&run, &figures(&run, RateName::ByWall))
}

fn only(all: &Findings) -> &Stated<CrossCheck> {
    assert_eq!(all.cross_checks.len(), 1);
    &all.cross_checks[0]
}

const RATES: [u64; 6] = [1000, 1010, 990, 1005, 995, 1002];

#[test]
fn what_drifts_with_both_is_no_difference_and_does_not_widen_the_interval() {
    let drifting = [1000, 1200, 1400, 1600, 1800, 2000];
    let slightly = drifting.map(|rate| rate + rate / 200);
    let all = found(&slightly, &drifting, |_| ());
    let check = only(&all).says().expect("nothing speaks against it");
    assert_eq!(
        (check.difference.outcome, check.outcome().as_str()),
        (Contrast::NotShown, "no difference shown")
    );
    let interval = check.interval.expect("six pairs have one");
    assert!(1.004 < interval.low && interval.high < 1.006, "{interval:?}");
    assert_eq!((check.pairs, check.command_line.as_str()), (6, "/usr/bin/fio '--name=a b'"));
}

#[test]
fn a_difference_is_stated_with_its_direction() {
    let all = found(&RATES.map(|rate| rate * 6 / 5), &RATES, |_| ());
    let check = only(&all).says().expect("nothing speaks against it");
    assert_eq!(check.outcome(), "differs: ioproof 20.0 % higher");
    assert!((check.ratio - 1.2).abs() < 0.01, "{check:?}");
    let all = found(&RATES, &RATES.map(|rate| rate * 2), |_| ());
    assert_eq!(only(&all).says().expect("likewise").outcome(), "differs: ioproof 50.0 % lower");
}

#[test]
fn pairs_are_those_of_one_pass() {
    // With fewer passes of one tool, for example after a failure, unpaired passes are in no ratio, and no difference
    // is told.
    let all = found(&RATES, &RATES[..3], |_| ());
    let check = only(&all);
    let told = check.says().map(|one| (one.pairs, one.outcome()));
    assert_eq!(told, Some((3, "cannot be told".to_owned())), "{check:?}");
    let names: Vec<_> = check.reasons.iter().map(|reason| reason.because.name()).collect();
    assert_eq!(names, ["too few repetitions"]);
}

#[test]
fn nothing_is_stated_of_a_figure_that_is_disqualified() {
    let all = found(&RATES, &RATES, |study| {
        for row in study.phases.iter_mut().filter(|row| *row.key.case == *"x-fio") {
            row.device_read_bytes = Some(row.read_bytes / 10);
        }
    });
    let check = only(&all);
    assert!(check.says().is_none(), "{check:?}");
    assert_eq!(check.reasons[0].because.name(), "cached");
    // A run without a requested cross-check has no result.
    let alone = Study::default().with(reads("x"), &RATES);
    assert!(findings(&alone.run(), &alone.figures()).cross_checks.is_empty());
}
