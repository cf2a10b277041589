//! What the page draws and where: figures side by side, promises, two runs.

use report::Study;
use serde_json::Value;

use crate::common;
use crate::golden;

fn page(study: &Study<'_>) -> String {
    let mut page = Vec::new();
    study.html(&mut page).expect("written");
    String::from_utf8(page).expect("UTF-8")
}

fn charts(page: &str) -> Vec<Value> {
    let (_, charts) = page.split_once("id=\"charts\">").expect("charts");
    serde_json::from_str(charts.split_once("</script>").expect("an end").0).expect("JSON")
}

fn chart(page: &str, id: &str) -> Value {
    charts(page).into_iter().find(|one| one["id"] == id).unwrap_or_else(|| {
        panic!("no {id}: {:?}", charts(page).iter().map(|one| one["id"].clone()).collect::<Vec<_>>())
    })
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|one| one.as_str().expect("text")).collect()
}

fn two_runs() -> String {
    let (before, after) = (common::study::study(), common::study::again());
    page(&Study::of(&before).beside(Study::of(&after), &[]))
}

#[test]
fn every_figure_has_a_bar_or_the_chart_says_how_many_have() {
    let few = page(&Study::of(&common::study::large(1, 52)));
    assert_eq!(strings(&chart(&few, "chart-iops-0")["layout"]["yaxis"]["tickvals"]).len(), 52);
    let many = page(&Study::of(&common::study::large(20, 30)));
    assert!(many.contains(" 1 of 600 figures: the fastest of each target, workload and phase"));
}

#[test]
fn a_sweep_stands_in_the_order_of_its_values() {
    let mut run = common::study::large(1, 4);
    run.manifest.plan.cases.reverse();
    let page = page(&Study::of(&run));
    let rows = chart(&page, "chart-iops-0");
    let rows = strings(&rows["layout"]["yaxis"]["tickvals"]);
    assert!(rows[0].starts_with("4. ") && rows[3].starts_with("1. "), "{rows:?}");
}

#[test]
fn what_is_kept_is_right_of_the_line_and_what_is_not_stands_first() {
    let mut run = common::study::study();
    let latency = &mut run.manifest.plan.criteria.commitments[3];
    (latency.figures.workload, latency.statistic) = (Some("ladder".to_owned()), plan::Statistic::Median);
    // Without a sweep or many targets there is no other picture.
    let target = run.manifest.plan.cases[0].target.clone();
    run.manifest.plan.cases.iter_mut().for_each(|case| {
        case.settings.clear();
        case.target.clone_from(&target);
    });
    let page = page(&Study::of(&run));
    let promised = chart(&page, "chart-promised-0");
    let rows = strings(&promised["layout"]["yaxis"]["tickvals"]);
    assert!(rows[0].starts_with("FAIL"), "{rows:?}");
    let mut at_most = 0;
    for trace in
        promised["data"].as_array().expect("series").iter().filter(|one| one["name"] != "repetitions")
    {
        for (share, row) in trace["x"].as_array().expect("shares").iter().zip(strings(&trace["y"])) {
            let share = share.as_f64().expect("a number");
            assert!(!row.starts_with("FAIL") || share < 100.0, "{row}: {share}");
            assert!(!row.starts_with("PASS") || share >= 100.0, "{row}: {share}");
            at_most += usize::from(row.contains("at most"));
        }
    }
    assert!(at_most > 0);
}

#[test]
fn a_page_of_two_runs_begins_with_what_the_comparison_prints() {
    let page = two_runs();
    let first = page.split_once("<main>").expect("a first screen").1.split_once("</main>").expect("an end").0;
    for words in ["no change shown", "hosts", "too few values"] {
        assert!(first.contains(words), "no {words:?} in {first}");
    }
    let changes = chart(&page, "chart-changes-0");
    let title = changes["layout"]["xaxis"]["title"]["text"].as_str().expect("a title");
    assert!(title.contains("slower") && title.ends_with("faster →"), "{title}");
    let rows = strings(&changes["layout"]["yaxis"]["tickvals"]);
    assert!(rows.iter().all(|row| !row.contains("latency of")), "{rows:?} repeat the rates");
}

#[test]
fn lines_of_the_second_run_have_one_name_and_bytes_one_unit() {
    let charts = charts(&two_runs());
    let sweeps =
        charts.iter().filter(|one| one["id"].as_str().is_some_and(|id| id.starts_with("chart-sweep")));
    for sweep in sweeps {
        let series = sweep["data"].as_array().expect("series").iter();
        let named = series.filter(|one| one["name"] == "the second run" && one["showlegend"] == true).count();
        assert_eq!(named, 1, "{}", sweep["id"]);
        assert!(!sweep.to_string().contains("MiB/s"), "{}", sweep["id"]);
    }
}

#[test]
fn ranges_of_the_card_have_bars_and_unused_words_no_meaning() {
    let whole = page(&Study::of(&common::operations::files()));
    assert!(whole.contains("<span class=\"range\""));
    let empty = page(&Study::of(&common::empty()));
    assert!(!empty.contains("<dt>device ÷ tasks</dt>"));
}

#[test]
fn rates_that_are_the_first_one_in_every_repetition_have_no_column() {
    let mut run = common::run();
    run.change_phases(|row| Some(record::PhaseRow { io_ns: row.wall_ns, ..row }));
    let page = page(&Study::of(&run));
    let each = page.split_once("<details id=\"figure-1\"").expect("a figure").1;
    let each = each.split_once("</table>").expect("a table").0;
    assert!(each.contains("; the same ") && !each.contains("scope=\"col\">by I/O phase"), "{each}");
}

#[test]
fn only_tests_of_several_streams_number_them() {
    let page = page(&Study::of(&common::timeline::jobs()));
    let launches = chart(&page, "chart-jobs-launches-0");
    let rows = strings(&launches["layout"]["yaxis"]["tickvals"]);
    for name in rows.iter().filter_map(|row| row.strip_suffix(" · 1")) {
        assert!(rows.contains(&format!("{name} · 2").as_str()), "{rows:?}");
    }
}

#[test]
fn charts_over_time_have_enough_seconds_and_latencies_that_were_measured() {
    for (name, run) in golden::runs() {
        for time in charts(&page(&Study::of(&run)))
            .iter()
            .filter(|one| one["id"].as_str().is_some_and(|id| id.starts_with("chart-time")))
        {
            let series = || time["data"].as_array().expect("series").iter();
            let points = series().filter_map(|one| one["x"].as_array()).map(Vec::len).max();
            assert!(points >= Some(3), "{name}, {}: {points:?} points", time["id"]);
            let mut longest = series().filter(|one| one["yaxis"] == "y2").peekable();
            let none = longest.peek().is_some()
                && longest
                    .all(|one| one["y"].as_array().is_some_and(|all| all.iter().all(|one| one == 0.001)));
            assert!(!none, "{name}, {}: latencies of nothing", time["id"]);
        }
    }
}

#[test]
fn messages_are_no_files() {
    let page = page(&Study::of(&common::operations::exchanges()));
    assert!(!page.contains("file size"));
}
