//! Simulated runs: the model that they name, and the runs that they must not be mixed with.

use std::path::Path;

use plan::Phase;
use record::{Manifest, ModelSource, RecordError, Run, merge};

use crate::sample;

fn model(sha256: &str, seed: u64) -> ModelSource {
    ModelSource {
        name: "twelve cards".to_owned(),
        path: "models/cards.toml".into(),
        sha256: sha256.repeat(32),
        seed,
        percentile: None,
        simulates_all: false,
    }
}

/// A run of the case `seq`, simulated with `model` or measured.
fn run(id: &str, model: Option<ModelSource>) -> Run {
    let mut manifest = Manifest { run_id: id.to_owned(), ..sample::manifest() };
    manifest.plan.cases.truncate(1);
    let manifest = match model {
        Some(model) => manifest.simulated(model),
        None => manifest,
    };
    Run::in_memory(manifest, vec![sample::phase("seq", 0, Phase::Read, 2)])
}

fn refusal(result: Result<impl Sized, RecordError>) -> String {
    result.err().expect("refused").to_string()
}

#[test]
fn a_record_keeps_its_model_and_measured_ones_have_no_word_of_it() {
    let simulated = sample::manifest().simulated(model("ab", 7));
    let text = serde_json::to_string(&simulated).expect("JSON");
    let read: Manifest = serde_json::from_str(&text).expect("a manifest");
    assert_eq!(read, simulated);
    let measured = serde_json::to_value(sample::manifest()).expect("JSON");
    assert!(measured.get("model").is_none());
}

#[test]
fn simulated_runs_merge_with_other_seeds_of_their_model_only() {
    let of = |other| merge(vec![run("a", Some(model("ab", 7))), run("b", other)]);
    let whole = of(Some(model("ab", 8))).expect("merged");
    let seeds: Vec<u64> = whole.parts.iter().filter_map(|part| Some(part.model.as_ref()?.seed)).collect();
    assert_eq!(seeds, [7, 8]);
    let text = refusal(of(None));
    assert!(text.contains("run a is simulated and run b is not"), "{text}");
    let text = refusal(merge(vec![run("a", None), run("b", Some(model("ab", 7)))]));
    assert!(text.contains("run b is simulated and run a is not"), "{text}");
    let text = refusal(of(Some(model("cd", 8))));
    assert!(text.contains("different models"), "{text}");
    let text = refusal(of(Some(model("ab", 7))));
    assert!(text.contains("seed 7 in runs a and b"), "{text}");
    let text = refusal(merge(vec![whole, run("c", Some(model("ab", 8)))]));
    assert!(text.contains("count twice"), "{text}");
}

#[test]
fn a_run_goes_on_as_it_began() {
    let place = Path::new("runs/one");
    let measured = sample::manifest();
    let simulated = sample::manifest().simulated(model("ab", 7));
    let elsewhere = ModelSource { path: "other.toml".into(), ..model("ab", 7) };
    measured.check_resumed_with(place, None).expect("as it began");
    simulated.check_resumed_with(place, Some(&elsewhere)).expect("the same model");
    let text = refusal(measured.check_resumed_with(place, Some(&model("ab", 7))));
    assert!(text.contains("runs/one") && text.contains("started without a model"), "{text}");
    let text = refusal(simulated.check_resumed_with(place, None));
    assert!(text.contains("--model models/cards.toml --seed 7"), "{text}");
    let all = ModelSource { simulates_all: true, ..model("ab", 7) };
    let text = refusal(sample::manifest().simulated(all.clone()).check_resumed_with(place, None));
    assert!(text.contains("--seed 7 --simulate-all"), "{text}");
    for other in [model("ab", 8), model("cd", 7), all] {
        let text = refusal(simulated.check_resumed_with(place, Some(&other)));
        assert!(text.contains("started with model twelve cards"), "{text}");
    }
}
