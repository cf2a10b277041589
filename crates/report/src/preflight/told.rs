//! What the planned repetitions can tell for claims and commitments, and how many would tell more.

use analysis::comparisons::RepetitionNeed;
use analysis::figures::grouped;
use analysis::statistics::{POWER, Question, REPETITIONS_MOST, repetitions_to_show};
use plan::{Case, Phase, Plan, RunEnvironment, visible};

use crate::format::counted;
use crate::format::screen::Screen;
use crate::format::table::wrapped;

/// The noises that are shown where none is known.
const NOISES: [f64; 3] = [0.01, 0.02, 0.05];

/// The difference that is asked for where a claim states none: a twentieth, or a point of a variation.
const USUAL: (f64, f64) = (0.05, 0.01);

/// What is told for each claim and each commitment; those of which the same is told share a line.
pub(super) fn told(plan: &Plan, environment: &RunEnvironment, screen: Screen) -> String {
    let needs = needs(plan, environment);
    if needs.is_empty() {
        return String::new();
    }
    let mut title = format!("What the repetitions tell in {:.0} of 10 runs", POWER * 10.0);
    if needs.iter().any(|(_, need)| need.noise.is_none()) {
        title += &format!(
            ", if rates of passes scatter by {} (to know it: --like RUNDIR, or noise = \"2 %\" in [protocol])",
            listed(&NOISES.map(share))
        );
    }
    let line = |same: &Vec<&(String, RepetitionNeed)>| {
        let names: Vec<&str> =
            grouped(same.iter(), |(name, _)| name).iter().map(|one| one[0].0.as_str()).collect();
        let names = visible(&names.join(", ")).into_owned();
        wrapped("  · ", &format!("{names}: {}", words(&same[0].1)), screen.prose())
    };
    let lines: String = grouped(needs.iter(), |(_, need)| words(need)).iter().map(line).collect();
    format!("\n{}{lines}", wrapped("", &title, screen.prose()))
}

/// The claims whose own size the planned repetitions do not tell, as far as noise is known.
pub(super) fn untold(plan: &Plan, environment: &RunEnvironment, screen: Screen) -> String {
    let needs = needs(plan, environment);
    let line = |(name, need): &(String, RepetitionNeed)| {
        let (noise, tolerance) = need.noise.zip(need.tolerance)?;
        let differs = need.difference.map(|size| need.takes_to_differ(size, noise));
        let takes = differs.into_iter().chain([need.takes(tolerance, noise)]);
        let takes = takes.max_by_key(|takes| takes.unwrap_or(usize::MAX))?;
        let planned = counted(need.planned as u64, "repetition");
        let text = format!(
            "{}: {planned} do not tell it where passes scatter by {}: {} would",
            visible(name),
            share(noise),
            number(takes)
        );
        takes.is_none_or(|takes| takes > need.planned).then(|| wrapped("  ! ", &text, screen.prose()))
    };
    grouped(needs.iter().filter_map(line), String::clone).into_iter().map(|mut same| same.remove(0)).collect()
}

/// The need of each rule and commitment, with its name.
fn needs(plan: &Plan, environment: &RunEnvironment) -> Vec<(String, RepetitionNeed)> {
    let noise =
        |case: &Case, phase: Phase| environment.predicted.noise(&case.id, phase).or(case.protocol.noise);
    let claims = plan.criteria.claims.iter();
    let claims = claims.filter_map(|one| Some((one.id.clone(), RepetitionNeed::of_claim(plan, one, noise)?)));
    let commitments = plan.criteria.commitments.iter();
    let commitments = commitments
        .filter_map(|one| Some((one.name.clone(), RepetitionNeed::of_commitment(plan, one, noise)?)));
    claims.chain(commitments).collect()
}

/// `5 repetitions a side tell differences of 9.8 %; 5 % takes 12`.
fn words(need: &RepetitionNeed) -> String {
    let noises: Vec<f64> = need.noise.map_or_else(|| NOISES.to_vec(), |noise| vec![noise]);
    let list =
        |of: &dyn Fn(f64) -> String| listed(&noises.iter().map(|&noise| of(noise)).collect::<Vec<_>>());
    let size = |effect: f64| {
        if effect < 0.0 {
            share(-effect)
        } else if need.of_variation {
            rounded(effect * 100.0)
        } else {
            share(effect)
        }
    };
    let (usual, unit) = if need.of_variation { (USUAL.1, " points") } else { (USUAL.0, "") };
    let sides = match need.question {
        Question::Differ | Question::Equal => " a side",
        Question::Number | Question::EqualsNumber | Question::Promise => "",
    };
    let what = match (need.question, need.of_variation) {
        (_, true) => "variations apart by",
        (Question::Equal | Question::EqualsNumber, _) => "equality within",
        (Question::Promise, _) => "a margin of",
        (Question::Differ | Question::Number, _) => "differences of",
    };
    let told: Vec<Option<f64>> = noises.iter().map(|&noise| need.told(noise)).collect();
    let nothing = || "nothing".to_owned();
    let effects = match told.iter().all(Option::is_none) {
        true => nothing(),
        false => {
            let effects: Vec<String> =
                told.into_iter().map(|effect| effect.map_or_else(nothing, size)).collect();
            format!("{what} {}{unit}", listed(&effects))
        }
    };
    let tell = if need.planned == 1 { "tells" } else { "tell" };
    let mut text = format!("{}{sides} {tell} {effects}", counted(need.planned as u64, "repetition"));
    text += &need.noise.map(|noise| format!(" where passes scatter by {}", share(noise))).unwrap_or_default();
    let mut takes = |effect: f64, of: &dyn Fn(f64) -> Option<usize>| {
        let unit = unit.strip_suffix('s').unwrap_or(unit);
        text += &format!("; {}{unit} takes {}", size(effect), list(&|noise| number(of(noise))));
    };
    let wanted = need.tolerance.filter(|tolerance| *tolerance > 0.0).unwrap_or(usual);
    takes(wanted, &|noise| need.takes(wanted, noise));
    if let Some(effect) = need.difference {
        takes(effect, &|noise| need.takes_to_differ(effect, noise));
    }
    let shown = repetitions_to_show(need.family);
    match need.question {
        Question::Differ if need.planned < shown => format!("{text}; below {shown} it is obvious at most"),
        _ => text,
    }
}

/// `1, 2 or 5`.
fn listed(all: &[String]) -> String {
    match all {
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => String::new(),
    }
}

fn number(repetitions: Option<usize>) -> String {
    match repetitions {
        Some(takes) => takes.to_string(),
        None => format!("more than {}", crate::format::grouped(REPETITIONS_MOST as u64)),
    }
}

/// `9.1 %`; from twice on, a factor.
fn share(effect: f64) -> String {
    match effect {
        1.0.. => format!("×{}", rounded(1.0 + effect)),
        _ => format!("{} %", rounded(effect * 100.0)),
    }
}

/// Two significant digits, for what a noise that nobody knows well tells.
fn rounded(value: f64) -> String {
    match value {
        10.0.. => format!("{value:.0}"),
        0.0001..1.0 => {
            let digits = (1.0 - value.log10().floor()).clamp(1.0, 5.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 5")]
            let text = format!("{value:.*}", digits as usize);
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => {
            let text = format!("{value:.1}");
            text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
        }
    }
}
