//! `ioproof calc`: recomputes published figures, data sheets and columns of numbers.

use std::fs;

use crate::desk::{Desk, assert_says, run};

/// The output of a calculation.
fn told(words: &str) -> String {
    run(&Desk::new().ioproof(&format!("calc {words}"))).expect_code(0).stdout
}

/// The output of a calculation whose input is a file with this text.
fn fed(words: &str, text: &str) -> String {
    let desk = Desk::new();
    let path = desk.path("numbers");
    fs::write(&path, text).expect("the numbers are written");
    run(&desk.ioproof(&format!("calc {words}")).arg(path)).expect_code(0).stdout
}

#[test]
fn twelve_cards_scale_to_the_published_shares_of_one() {
    let of =
        |measured, one| told(&format!("scalability --measured {measured} --baseline {one} --devices 12"));
    assert_says(&of("24.1GB/s", "2.05GB/s"), &["98.0 %", "24.6 GB/s"]);
    assert_says(&of("32.9GB/s", "2.78GB/s"), &["98.6 %", "33.4 GB/s"]);
}

#[test]
fn what_a_layout_costs_is_a_share_of_the_reference() {
    assert_says(&told("tax --reference 32.9GB/s --other 29.9GB/s"), &["9.1 %"]);
    assert_says(&told("tax --reference 24.1GB/s --other 24.2GB/s"), &["-0.4 %"]);
}

#[test]
fn thirty_three_tasks_on_twelve_targets_are_bound() {
    assert_says(&told("balance --tasks 33 --targets 12"), &["91.7 %"]);
    assert_says(&told("balance --tasks 264 --targets 12"), &["100.0 %"]);
}

#[test]
fn a_bandwidth_and_its_operations_are_one_figure() {
    let all = ["4,709", "4,491", "1,149,696/s", "whole MiB/s"];
    assert_says(&told("units 4491MiB/s --transfer 4KiB"), &all);
    assert_says(&told("units 1149696/s --transfer 4KiB"), &all);
    let creates = told("units 2600000/s --transfer 32KiB");
    assert_says(&creates, &["85,197"]);
}

#[test]
fn a_goal_needs_drives_and_parity_needs_more() {
    let text = told("drives --goal 2.5TB/s --per-drive 150MB/s --per-drive 100MB/s --per-drive 40MB/s");
    assert_says(&text, &["16,667", "25,000", "62,500"]);
    assert_says(&told("drives --goal 2.5TB/s --per-drive 100MB/s --data 8 --parity 2"), &["31,250"]);
}

#[test]
fn the_lowest_limit_is_the_bound() {
    let text = told("bound --limit drives=60x120000/s --limit controllers=3x825000/s --measured 1320137/s");
    assert_says(&text, &["7,200,000/s", "2,475,000/s", "controllers", "53.3 %"]);
    // The aggregate of sixteen nodes is sixteen times the rate of the slowest.
    let text = told("bound --limit slowest=16x350MB/s --limit mean=16x378MB/s --measured 5.6GB/s");
    assert_says(&text, &["5.60 GB/s", "6.05 GB/s", "weakest link 5.60 GB/s slowest", "100.0 %"]);
}

#[test]
fn a_job_has_its_rate_by_wall_time_and_a_promise_its_margin() {
    assert_says(
        &told("job --tasks 14616 --operations 20000 --seconds 266"),
        &["1,098,947/s", "by wall time"],
    );
    assert_says(&told("margin --promised 1000000/s --measured 1320137/s"), &["PASS", "+32.0 %"]);
    assert_says(&told("margin --promised 1000000/s --measured 990000/s"), &["FAIL", "-1.0 %"]);
}

#[test]
fn latency_and_rate_tell_how_many_were_under_way() {
    assert_says(&told("little --rate 1200000/s --latency 50us --in-flight 64"), &["60", "93.8 %"]);
}

#[test]
fn an_impossible_deviation_is_told_with_the_least_that_it_can_be() {
    let text = told("statistics --n 101 --range 2.15 --sdev 0.035");
    assert_says(&text, &["IMPOSSIBLE", "0.152"]);
    assert_says(&told("statistics --n 101 --range 2.65 --sdev 0.345"), &["no contradiction"]);
    assert_says(&told("statistics --range 2.65 --sdev 0.345"), &["too small needs --n"]);
    for unchecked in ["statistics --mean 5", "statistics --sdev 5 --n 10"] {
        let text = told(unchecked);
        assert!(text.contains("not checked") && !text.contains("no contradiction"), "{text}");
    }
    assert_says(&told("statistics --mean 456 --sdev 53"), &["11.6 %"]);
    assert_says(&told("statistics --mean 2740 --sdev 115"), &["4.2 %"]);
}

#[test]
fn a_few_values_have_no_interval_of_their_median() {
    let column = |n: u32| (0..n).map(|value| format!("{}\n", 100 + value % 7)).collect::<String>();
    assert!(!fed("values", &column(3)).contains("interval"));
    assert_says(&fed("values", &column(30)), &["holds the median with 95.7 %"]);
}

#[test]
fn sums_are_compared_by_difference_and_share() {
    assert_says(&told("difference --before 1208 --after 1269"), &["+61", "+5.05 %"]);
    assert_says(&told("difference --before 5 --after -5"), &["-10", "-200.00 %"]);
    assert_says(&told("difference --before 56.1 --after 56.2"), &["+0.1"]);
}

#[test]
fn exact_points_give_their_line_back() {
    let points: String = (1..=16).map(|nodes| format!("{nodes} {}\n", nodes * 5153)).collect();
    let text = fed("regression --at 32", &points);
    assert_says(&text, &["slope", "5153", "1.0000", "164896", "beyond the points"]);
    assert_says(&told("crossover --slope 378MB/s --plateau 4.4GB/s"), &["12 nodes"]);
}

#[test]
fn a_dip_in_every_sixteenth_step_is_found_with_its_period() {
    let curve: String = (1..=256)
        .map(|step| {
            let rate = if step % 16 == 0 { 700.0 } else { 1000.0 + f64::from(step % 7) };
            format!("{} {rate}\n", step * 4096)
        })
        .collect();
    assert_says(&fed("curve", &curve), &["dips every", "65536"]);
}

#[test]
fn a_rise_and_a_plateau_have_a_knee_between_them() {
    let curve: String =
        (0..12).map(|power| 1_u64 << power).map(|x| format!("{x} {}\n", x.min(16) * 100)).collect();
    let text = fed("curve", &curve);
    let knee = text.lines().find(|line| line.starts_with("knee")).expect("a line for the knee");
    assert!(knee.contains("16"), "{text}");
    assert_says(&text, &["16 to 2048", "no regular dips"]);
}

#[test]
fn two_columns_differ_only_beyond_their_scatter() {
    let desk = Desk::new();
    let file = |name: &str, from: u32| {
        let text: String = (0..8).map(|index| format!("{}\n", from + index)).collect();
        fs::write(desk.path(name), text).expect("written");
    };
    file("one", 100);
    file("same", 101);
    file("more", 200);
    let told = |other: &str| run(&desk.ioproof(&format!("calc compare one {other}"))).expect_code(0).stdout;
    assert_says(&told("same"), &["no difference was shown"]);
    assert_says(&told("more"), &["the second is larger"]);
}

#[test]
fn what_cannot_be_computed_is_refused_with_the_way_to_write_it() {
    let refused = |words: &str| run(&Desk::new().ioproof(&format!("calc {words}"))).expect_code(2).stderr;
    assert_says(&refused("units 4491"), &["`4491` is not a rate", "2.8GB/s"]);
    assert_says(&refused("units 1000/s"), &["--transfer"]);
    assert_says(&refused("tax --reference 1GB/s --other 5/s"), &["cannot be compared"]);
    assert_says(&refused("bound --limit drives"), &["NAME=COUNTxRATE"]);
    assert_says(&refused("curve no-such-file"), &["no-such-file"]);
    assert_says(&refused("units 4491MiB/s --transfer 0"), &["cannot be measured", "4KiB"]);
    assert_says(&refused("difference --before nan --after 1"), &["`nan` is not a number"]);
    assert_says(&refused("job --tasks 1 --operations 1 --seconds 0"), &["above 0"]);
}
