//! One figure of many runs: which figure a name stands for, and which runs count.

use analysis::gate::Outcome;
use analysis::over_time::{NoValue, RunValue, changes, value_of};
use plan::FigureName;
use record::{Damage, Run};

use crate::common::random::Random;
use crate::common::study::{Study, reads};

fn name(text: &str) -> FigureName {
    text.parse().expect(text)
}

fn run(rates: &[u64]) -> Run {
    Study::default().with(reads("a"), rates).run()
}

#[test]
fn a_figure_has_the_median_of_its_passes_and_their_interval_or_range() {
    let few = value_of(&run(&[100, 300, 200]), &name("read.rate")).expect("a rate");
    assert_eq!((few.value, few.unit, few.n), (200.0 * 4096.0, "bytes/s", 3));
    assert_eq!((few.ends, few.is_interval), (Some((100.0 * 4096.0, 300.0 * 4096.0)), false));
    let many = value_of(&run(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), &name("a read.rate")).expect("a rate");
    assert!(
        many.is_interval && many.ends.is_some_and(|(low, high)| low > 4096.0 && high < 9.0 * 4096.0),
        "{many:?}"
    );
    let one = value_of(&run(&[100]), &name("read.rate")).expect("a rate");
    assert_eq!(one.ends, None);
}

#[test]
fn a_name_that_stands_for_several_figures_or_for_none_is_told() {
    let study = Study::default().with(reads("a"), &[100]).with(reads("b"), &[200]).run();
    let told = |text: &str| value_of(&study, &name(text)).expect_err(text);
    assert!(matches!(told("read.rate"), NoValue::Ambiguous(why) if why.contains("a read.rate, b read.rate")));
    assert!(matches!(told("c read.rate"), NoValue::Missing(_)));
    assert!(matches!(told("write.rate"), NoValue::Missing(_)));
    assert!(matches!(told("a read.latency"), NoValue::Missing(_)));
    assert_eq!(value_of(&study, &name("b read.rate")).expect("a rate").value, 200.0 * 4096.0);
}

/// The values of runs with 1 % noise, of which those from `from` on are a fifth slower.
fn nights(from: u32) -> Vec<RunValue> {
    let random = &mut Random::seeded(4);
    let of = run(&[1000, 1001, 1002]);
    let like = value_of(&of, &name("read.rate")).expect("a rate");
    (0..30)
        .map(|night| {
            let level = if night < from { 1.0 } else { 0.8 };
            RunValue { value: like.value * level * (0.01 * random.normal()).exp(), ..like.clone() }
        })
        .collect()
}

#[test]
fn runs_whose_figure_is_withheld_or_missing_are_no_part_of_a_level() {
    let mut values = nights(20);
    let places = |values: &[Option<&RunValue>]| changes(values).iter().map(|one| one.at).collect::<Vec<_>>();
    assert_eq!(places(&values.iter().map(Some).collect::<Vec<_>>()), [20]);
    // The first slow night is withheld, and two nights before have no figure: the next one is named by its own index.
    values[20].outcome = Outcome::Withheld;
    let all: Vec<Option<&RunValue>> =
        values.iter().enumerate().map(|(at, one)| (at != 3 && at != 7).then_some(one)).collect();
    assert_eq!(places(&all), [21]);
    values[20..].iter_mut().for_each(|one| one.outcome = Outcome::Withheld);
    assert_eq!(places(&values.iter().map(Some).collect::<Vec<_>>()), [] as [usize; 0]);
}

#[test]
fn a_damaged_record_is_withheld() {
    let mut damaged = run(&[1000, 1001, 1002]);
    let is_withheld =
        |run: &Run| value_of(run, &name("read.rate")).expect("a rate").outcome == Outcome::Withheld;
    let before = value_of(&damaged, &name("read.rate")).expect("a rate").reasons;
    damaged.damage.push(Damage { path: "journal.jsonl".into(), what: "lost".to_owned() });
    let after = value_of(&damaged, &name("read.rate")).expect("a rate").reasons;
    assert!(after != before || is_withheld(&damaged), "{after:?}");
}
