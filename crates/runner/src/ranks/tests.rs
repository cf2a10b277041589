//! Tests how ranks handle answers, rows and orders that another rank should not have sent.

use std::collections::BTreeSet;

use comm::{Comm, Fake};
use engine::{Controls, PhaseJob};
use host::{DeviceCounters, DeviceSample, Host, LoadSample, Observed, Root};
use plan::{Backend, Bytes, Geometry, Nanos, Phase, WorkloadSpec};
use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, proptest};
use proptest::sample::Index;
use record::PhaseKey;
use serde_json::Value;

use crate::RunnerError;
use crate::ranks::merge_ranks::PhaseTotals;
use crate::ranks::nodes::Nodes;
use crate::ranks::order::{Answer, HostReports, NodeReport, Order};
use crate::ranks::rank_group::{answer, finish_phase, receive};
use crate::ranks::rows::{Rows, Table, TraceSource};

/// Texts in place of a message: empty, truncated, of another kind, nested extremely deep, and with
/// invalid rank numbers.
fn wrong() -> Vec<Vec<u8>> {
    let failed = r#"{"Err":{"rank":4000000000,"kind":"Internal","message":"x","is_echo":false}}"#;
    vec![
        Vec::new(),
        b"{\"Ok\":".to_vec(),
        b"{\"Ok\":{\"Files\":{\"removed\":99999999999,\"there\":true}}}".to_vec(),
        b"[".repeat(1_000_000),
        vec![0xff; 100],
        failed.as_bytes().to_vec(),
    ]
}

/// The results of two ranks on two nodes. Each rank is a function in its own thread.
fn between<T: Send>(first: impl FnOnce(&Fake) -> T + Send, second: impl FnOnce(&Fake) + Send) -> T {
    let mut world = Fake::world(&["n0", "n1"]);
    let (two, one) = (world.pop().expect("two"), world.pop().expect("two"));
    std::thread::scope(|scope| {
        scope.spawn(move || second(&two));
        scope.spawn(move || first(&one)).join().expect("no panic")
    })
}

#[test]
fn an_answer_that_cannot_be_read_is_an_error_of_the_run() {
    for bytes in wrong() {
        let answered = between(
            |rank| answer(rank, Ok(Answer::Done)),
            |rank| drop(rank.combine(bytes, &mut |own, _| own)),
        );
        let error = answered.expect_err("no answer");
        assert!(matches!(error, RunnerError::Elsewhere { .. }), "{error}");
    }
}

#[test]
fn rows_that_cannot_be_read_name_their_rank() {
    for bytes in wrong().into_iter().filter(|bytes| !bytes.is_empty()) {
        let finished = between(
            |rank| {
                let names = ["n0".to_owned(), "n1".to_owned()];
                let mut table = Table::new(key(), &names);
                finish_phase(rank, Ok(None), Some(&mut table))
            },
            |rank| {
                drop(answer(rank, Ok(Answer::Done)));
                drop(rank.stream(bytes, &mut |_, _| {}));
            },
        );
        match finished {
            Err(RunnerError::Elsewhere { rank: 1, node, .. }) => assert_eq!(node, "n1"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_order_that_cannot_be_read_is_an_error() {
    for bytes in wrong() {
        // Rank 1 receives what rank 0 sends.
        let mut world = Fake::world(&["n0", "n1"]);
        let (two, one) = (world.pop().expect("two"), world.pop().expect("two"));
        one.broadcast(bytes).expect("sent");
        let error = receive(&two).expect_err("no order");
        assert!(matches!(error, RunnerError::Words(_)), "{error}");
    }
}

#[test]
fn nodes_that_do_not_exist_are_refused() {
    let report = |node: u32| NodeReport {
        node,
        facts: None,
        boot_id: String::new(),
        pids: BTreeSet::new(),
        cpus: BTreeSet::new(),
        quota: None,
        devices: Vec::new(),
        quiet: None,
    };
    for told in [vec![], vec![2], vec![u32::MAX], vec![1, 2]] {
        let nodes = told.into_iter().map(report).collect();
        let known = between(
            |rank| Nodes::query(&Host::new(Root::default()), rank, &[], false).map(drop),
            |rank| {
                drop(receive(rank));
                drop(answer(rank, Ok(Answer::HostReports(HostReports { nodes, uring_missing: None }))));
                drop(receive(rank));
                drop(rank.synchronize());
            },
        );
        assert!(matches!(known, Err(RunnerError::OutOfPlace)), "{known:?}");
    }
}

fn key() -> PhaseKey {
    PhaseKey { case: "c".into(), repetition: 0, phase: Phase::Read }
}

/// The result and the rows of a rank.
fn sample() -> (PhaseTotals, Rows) {
    let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::mib(1), segments: 1 };
    let mut spec = WorkloadSpec::new("w", "unused", geometry);
    (spec.backend, spec.history) = (Backend::Null, Some(4));
    let workload = spec.validate().expect("valid");
    let job = PhaseJob { series_interval: Nanos::millis(1), ..PhaseJob::new(&workload, Phase::Read, 0) };
    let outcome = engine::run(&job, &engine::SingleProcess, &Controls::new()).expect("moves nothing");
    let observed = Observed {
        devices: vec![DeviceSample { start_ns: 0, length_ns: 5, counters: DeviceCounters::default() }],
        load: vec![LoadSample::default()],
        ..Observed::default()
    };
    (PhaseTotals::of(&outcome), Rows::of(&outcome, 0, observed, true, TraceSource::default()))
}

/// The numbers in `value`, wherever they are.
fn numbers<'v>(value: &'v mut Value, all: &mut Vec<&'v mut Value>) {
    match value {
        Value::Number(_) => all.push(value),
        Value::Array(list) => list.iter_mut().for_each(|one| numbers(one, all)),
        Value::Object(fields) => fields.values_mut().for_each(|one| numbers(one, all)),
        _ => {}
    }
}

/// Replaces numbers in a message by invalid ones.
fn distort(message: &impl serde::Serialize, changes: &[(Index, u8)]) -> Vec<u8> {
    let mut value = serde_json::to_value(message).expect("it is written");
    let mut all = Vec::new();
    numbers(&mut value, &mut all);
    for (place, with) in changes {
        let index = place.index(all.len());
        *all[index] = match with % 6 {
            0 => u64::MAX.into(),
            1 => i64::MAX.into(),
            2 => u32::MAX.into(),
            3 => 0.into(),
            4 => i64::MIN.into(),
            _ => (u64::MAX - 1).into(),
        };
    }
    serde_json::to_vec(&value).expect("it is written")
}

proptest! {
    #[test]
    fn results_and_rows_with_any_numbers_are_merged_without_a_panic(
        changes in vec((any::<Index>(), any::<u8>()), 0..6),
        bytes in vec(any::<u8>(), 0..100),
    ) {
        let (totals, rows) = sample();
        if let Ok(mut totals) = serde_json::from_slice::<PhaseTotals>(&distort(&totals, &changes)) {
            let distorted = serde_json::from_slice::<PhaseTotals>(&distort(&sample().0, &changes));
            let mut other = distorted.unwrap_or_else(|_| sample().0);
            totals.join(sample().0);
            other.join(totals);
            let _ = (other.phase_row(&key(), None), other.latency_rows(&key()), other.series_rows(&key()));
        }
        if let Ok(distorted) = serde_json::from_slice::<Rows>(&distort(&rows, &changes)) {
            let names = ["n0".to_owned()];
            let mut table = Table::new(key(), &names);
            table.add(rows);
            table.add(distorted);
            let _ = table.pattern();
            table.close();
            prop_assert!(table.record.nodes.len() < 10_000);
        }
        let _ = (serde_json::from_slice::<Order>(&bytes).is_ok(), serde_json::from_slice::<Rows>(&bytes).is_ok());
    }
}
