//! What is reported for a run whose figures come from a model.

use analysis::{
    audit::Check,
    figures::figures,
    findings::{Findings, findings},
    gate::{Judgement, Table, Value},
};
use plan::{Amount, Claim, Phase, Quantity, RateName, Relation, Selector, Side};
use record::{ModelSource, PhaseRecord, PhaseRow, Run, Warning, WarningRow};

use crate::common::rows::{SECOND, at_least, case, cell, key, phase, plan, run, workload};

/// Ten buffered reads of 1 GB in 9 s each. The storage has no counters, other users are on the host, and the program
/// is at its limit. There is a promise and a claim of at least this rate.
fn reads(bytes_per_second: f64) -> Run {
    let mut plan = plan(vec![case(workload(|_| ()), vec![Phase::Read])]);
    plan.cases[0].repetitions = 10;
    plan.criteria.exclusive = Some(false);
    plan.criteria.commitments = vec![at_least(Amount::BytesPerSecond(bytes_per_second))];
    plan.criteria.claims = vec![Claim {
        id: "own".to_owned(),
        text: "it is fast".to_owned(),
        quantity: Quantity::BestRate,
        left: Selector::default(),
        relation: Relation::Greater,
        right: Side::Value(bytes_per_second),
        factor: 1.0,
        tolerance: 0.0,
    }];
    let record = |repetition| {
        let key = key(repetition, Phase::Read);
        let row = PhaseRow { device_read_bytes: None, ..phase(&key, 1_000_000_000, 9 * SECOND) };
        let warnings = [Warning::HarnessBound { cpu_share: 0.99 }];
        let warnings = warnings.map(|warning| WarningRow { key: Some(key.clone()), warning }).to_vec();
        PhaseRecord { warnings, ..PhaseRecord::new(row) }
    };
    run(&plan, (0..10).map(record).collect())
}

fn simulated(mut run: Run) -> Run {
    let model = ModelSource {
        name: "cards".to_owned(),
        path: "cards.toml".into(),
        sha256: "ab".repeat(32),
        seed: 1,
        percentile: None,
        simulates_all: false,
    };
    run.manifest = run.manifest.simulated(model);
    run
}

fn found(run: &Run) -> Findings {
    findings(run, &figures(run, RateName::ByWall))
}

#[test]
fn what_a_host_hides_is_no_doubt_about_a_model() {
    let checks = |run: &Run| found(run).audit.iter().map(|one| one.check).collect::<Vec<_>>();
    let of_host = [Check::MemoryNotExcluded, Check::HarnessBound, Check::NotQuiet];
    assert_eq!(checks(&reads(1.0)), of_host);
    assert_eq!(checks(&simulated(reads(1.0))), []);
}

#[test]
fn what_the_figures_themselves_say_stays_a_doubt_about_a_model() {
    let mut short = simulated(reads(1.0));
    let mut kept = 0..9;
    short.change_phases(|row| kept.next().map(|_| PhaseRow { wall_ns: 1_000_000, ..row }));
    let checks: Vec<Check> = found(&short).audit.iter().map(|one| one.check).collect();
    assert_eq!(checks, [Check::TooShort, Check::Unfinished]);
}

#[test]
fn what_is_advised_of_a_model_is_to_look_at_the_model() {
    let advised = |mut run: Run| {
        let mut slow = 0..5;
        run.change_phases(|row| {
            let times = if slow.next().is_some() { 10 } else { 1 };
            Some(PhaseRow { wall_ns: row.wall_ns * times, ..row })
        });
        let jump = found(&run).audit.into_iter().find(|one| one.check == Check::PassesJump);
        jump.expect("ten times the rate from one pass on").advice
    };
    let of_model = "look at the caches and the troubles of the model";
    assert_eq!(advised(simulated(reads(1.0))), of_model);
    assert!(!advised(reads(1.0)).contains("model"));
}

#[test]
fn statements_are_of_the_storage_or_of_the_model() {
    let caveat = |run: &Run| Table::of(&found(run).claims).notes.concat();
    assert!(caveat(&simulated(reads(1e3))).starts_with("The figures are those of a model"));
    assert!(caveat(&reads(1e3)).starts_with("A synthetic benchmark is a best case"));
}

#[test]
fn a_model_keeps_no_promise_and_breaks_none() {
    for (promised, judgement, word, claimed) in [
        (1e3, Judgement::Holds, "would be kept in this model", "holds in this model"),
        (1e12, Judgement::DoesNotHold, "would not be kept in this model", "does not hold in this model"),
    ] {
        let found = found(&simulated(reads(promised)));
        let verdict = found.verdicts[0].says().expect("a verdict");
        assert_eq!(cell(verdict, "judgement"), Value::Judgement(judgement, word));
        let claim = found.claims[0].says().expect("a claim");
        assert_eq!(cell(claim, "standing"), Value::Judgement(judgement, claimed));
    }
}
