//! A study in every output format, as an engineer reads it and passes it to a vendor.

use plan::Client;
use report::{Screen, Study};
use std::slice;

use crate::common;

fn shown<R>(of: impl FnOnce(&Study<'_>) -> R) -> R {
    let run = common::study::study();
    of(&Study::of(&run))
}

#[test]
fn a_study_fits_a_terminal() {
    let text = shown(|study| study.text_in_full(Screen::PLAIN));
    for line in text.lines() {
        assert!(line.chars().count() <= 120, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn two_runs_are_compared_with_their_conditions() {
    let (before, after) = (common::study::study(), common::study::again());
    let pair = report::compare([&before, &after].map(slice::from_ref), &[]);
    let text = pair.text_in_full(Screen::PLAIN);
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    for form in [&text, &pair.markdown()] {
        assert!(
            form.contains("The largest gap between both is") && form.contains("too few values"),
            "{form}"
        );
    }
    let json: serde_json::Value = serde_json::from_str(&pair.json()).expect("JSON");
    let rows = json["comparisons"].as_array().expect("comparisons");
    let outcome = |phase: &str, group: &str, is: &str| {
        rows.iter().any(|row| {
            row["phase"] == phase
                && row["outcome"] == is
                && row["case"].as_str().is_some_and(|case| case.starts_with(group))
        })
    };
    assert!(outcome("write", "sizes", "slower"), "{text}");
    assert!(!outcome("read", "ladder", "slower") && !outcome("read", "ladder", "faster"));
    assert!(rows.iter().all(|row| {
        row["conditions"].as_str().is_some_and(|words| words.contains("tasks") || words.contains("task"))
    }));
}

#[test]
fn a_large_study_is_cut_where_a_reader_would_drown_and_whole_where_a_program_reads() {
    let run = common::study::large(20, 30);
    let study = Study::of(&run);
    let (cases, text) = (run.manifest.plan.cases.len(), study.text(Screen::PLAIN));
    assert!(text.lines().count() < 60, "{} lines", text.lines().count());
    let full = study.text_in_full(Screen::PLAIN);
    assert!(full.lines().all(|line| line.chars().count() <= 120));
    let figures = study.csv().lines().filter(|line| line.starts_with("figure,")).count();
    assert_eq!(figures, cases);
    let mut page = Vec::new();
    study.html(&mut page).expect("written");
    let page = String::from_utf8(page).expect("UTF-8");
    assert!(page.matches("<details id=\"figure-").count() <= 40);
    assert!(page.contains("more rows in the CSV and JSON forms") && page.contains("of 600 figures"));
}

/// In a case of two rounds, the first round is kept but does not count, and is not listed as a repetition anywhere on
/// the page.
#[test]
fn rounds_that_do_not_count_are_no_repetitions_on_the_page() {
    let run = common::study::study();
    let study = Study::of(&run);
    let json: serde_json::Value = serde_json::from_str(&study.json()).expect("JSON");
    let mut page = Vec::new();
    study.html(&mut page).expect("written");
    let page = String::from_utf8(page).expect("UTF-8");
    let (_, rates) = page.split_once("<h3 id=\"rates\">").expect("rates");
    let rates = rates.split("</section>").next().expect("an end");
    let figures = json["figures"].as_array().expect("figures").iter();
    let (mut rounds, mut shown) = (0, 0);
    for figure in figures {
        let all = figure["repetitions"].as_array().expect("repetitions");
        let counted = all.iter().filter(|one| one["role"] == "recorded").count();
        rounds += usize::from(counted < all.len());
        let number = &figure["number"];
        let link = format!("<a href=\"#figure-{number}\">");
        let Some((_, row)) = rates.split_once(&link) else { continue };
        let row = row.split_once("</tr>").expect("its end").0;
        assert!(row.contains(&format!("<td class=\"n plain\">{counted}</td>")), "figure {number}: {row}");
        shown += 1;
    }
    assert!(rounds > 0 && shown > 0, "no figure of several rounds was tried");
    let (_, charts) = page.split_once("id=\"charts\">").expect("charts");
    let charts: Vec<serde_json::Value> =
        serde_json::from_str(charts.split_once("</script>").expect("an end").0).expect("JSON");
    let bars = charts.iter().filter(|one| one["id"] == "chart-bandwidth-0" || one["id"] == "chart-iops-0");
    let bars = bars.flat_map(|one| one["data"].as_array().expect("series"));
    let ticks = bars.filter(|one| one["name"] == "repetitions").flat_map(|one| one["figures"].as_array());
    let mut drawn = std::collections::HashMap::<u64, usize>::new();
    for figure in ticks.flatten() {
        *drawn.entry(figure.as_u64().expect("a number")).or_default() += 1;
    }
    assert!(!drawn.is_empty());
    for (number, points) in drawn {
        let all = json["figures"][usize::try_from(number).expect("a place") - 1]["repetitions"]
            .as_array()
            .expect("repetitions");
        let counted = all.iter().filter(|one| one["role"] == "recorded").count();
        assert_eq!(points, counted, "points of figure {number}");
    }
}

/// Measurements at the server and over a network are labelled as such wherever they appear.
#[test]
fn targets_that_are_measured_from_different_sides_say_so() {
    let mut run = common::study::study();
    let same = Study::of(&run).text_in_full(Screen::PLAIN);
    assert!(!same.contains("(remote)") && !same.contains("(local to server)"), "{same}");
    run.manifest.plan.criteria.targets[1].client = Client::Remote;
    let title = run.manifest.plan.criteria.targets[1].title.clone();
    let study = Study::of(&run);
    for form in [study.text_in_full(Screen::PLAIN), study.markdown()] {
        assert!(form.contains(&format!("{title} (remote)")) && form.contains("(local to server)"), "{form}");
    }
}
