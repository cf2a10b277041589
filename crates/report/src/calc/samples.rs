//! Formulas of several values: what they have in common, whether they differ, and what a curve
//! through them looks like.

use std::fmt::Write as _;

use analysis::{
    Bootstrap, CONFIDENCE, Contrast, Dips, PrintedStatistics, Regression, Sample, Shape, Steadier, Summary,
    bootstrap_mean, check_statistics, compare_spread, deviation_min,
};

use super::line;
use crate::format::{grouped, percent};

/// Of fewer values an interval that is called one of 95 % holds the mean in less than 93 % of all samples of a
/// normal distribution, as resampling takes their scatter to be √((n − 1) ÷ n) of what it is.
const BOOTSTRAP_LEAST: usize = 20;

/// The difference of two numbers and its share of the first.
#[must_use]
pub fn difference(before: f64, after: f64) -> String {
    let mut out = String::new();
    line(&mut out, "difference", &format!("{:+}", rounded(after - before)), &format!("{after} − {before}"));
    if before != 0.0 {
        let share = (after - before) / before;
        line(&mut out, "share of the first", &format!("{:+.2} %", share * 100.0), "");
    }
    out
}

/// Without the digits that binary arithmetic adds.
fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

/// Whether printed statistics can belong together.
#[must_use]
pub fn statistics(printed: &PrintedStatistics) -> String {
    let mut out = String::new();
    let range = printed.min.zip(printed.max).map(|(min, max)| max - min).or(printed.range);
    if let (Some(range), Some(n)) = (range, printed.n) {
        let how = format!("range ÷ √(2 (n − 1)), for {} values with a range of {range}", grouped(n));
        line(&mut out, "deviation at least", &format!("{:.3}", deviation_min(range, n)), &how);
    }
    if let (Some(deviation), Some(mean)) = (printed.deviation, printed.mean)
        && mean != 0.0
    {
        line(&mut out, "fluctuation", &percent(deviation / mean), &format!("{deviation} ÷ {mean}"));
    }
    let found = check_statistics(printed);
    for one in &found {
        line(&mut out, "IMPOSSIBLE", &one.to_string(), "");
    }
    let checked = checked(printed);
    if checked.is_empty() {
        let needed = "the mean needs --min and --max, the deviation --range or both, and --n";
        line(&mut out, "not checked", needed, "");
    } else if found.is_empty() {
        line(&mut out, "no contradiction", &format!("checked: {}", checked.join("; ")), "");
    }
    out
}

/// What [`check_statistics`] can say of these.
fn checked(printed: &PrintedStatistics) -> Vec<&'static str> {
    let extremes = printed.min.is_some() && printed.max.is_some();
    let deviation = (extremes || printed.range.is_some()) && printed.deviation.is_some();
    let several = printed.n.is_some_and(|n| n > 1);
    let parts = [
        (extremes, "the extremes"),
        (extremes && printed.mean.is_some(), "the mean against the extremes"),
        (deviation && several, "the deviation against range and number"),
        (deviation && !several, "whether the deviation is too large for the range; too small needs --n"),
    ];
    parts.into_iter().filter(|(is_checked, _)| *is_checked).map(|(_, what)| what).collect()
}

/// Statistics of a column.
///
/// # Errors
/// There are no values.
pub fn values(column: &[f64]) -> Result<String, String> {
    let all = Summary::of(column).ok_or("no numbers were given")?;
    let mut out = String::new();
    let value = |value: f64| significant(value);
    line(&mut out, "values", &grouped(all.n as u64), "");
    line(&mut out, "median", &value(all.median), "");
    if let Some(interval) = all.median_interval {
        let how =
            format!("holds the median with {}, whatever the distribution", percent(interval.confidence));
        line(&mut out, "  interval", &format!("{} to {}", value(interval.low), value(interval.high)), &how);
    }
    line(
        &mut out,
        "mean ± deviation",
        &format!("{} ± {}", value(all.mean), value(all.deviation_sample)),
        "divisor n − 1",
    );
    let bootstrap = Bootstrap::default();
    let interval = bootstrap.interval(column, bootstrap_mean).filter(|_| all.n >= BOOTSTRAP_LEAST);
    if let Some(interval) = interval {
        let how = format!("of the mean, {} bootstrap (BCa), seed 0", percent(CONFIDENCE));
        line(&mut out, "  interval", &format!("{} to {}", value(interval.low), value(interval.high)), &how);
    }
    line(&mut out, "fluctuation", &percent(all.variation), "deviation ÷ mean");
    line(&mut out, "smallest, largest", &format!("{}, {}", value(all.min), value(all.max)), "");
    let apart = analysis::standing_apart(column);
    if !apart.is_empty() {
        let named: Vec<String> = apart
            .iter()
            .take(10)
            .map(|&index| format!("{} (line {})", value(column[index]), index + 1))
            .collect();
        line(&mut out, "standing apart", &named.join(", "), "robust z-score above 3.5");
    }
    Ok(out)
}

/// Whether two columns differ.
///
/// # Errors
/// One has no values.
pub fn compare(before: &[f64], after: &[f64]) -> Result<String, String> {
    let found = analysis::difference(before, after, 1).ok_or("a column has no numbers")?;
    let mut out = String::new();
    let medians = format!("{} → {}", significant(found.before), significant(found.after));
    line(&mut out, "medians", &medians, &format!("{:+.2} %", found.change * 100.0));
    if let Some((low, high)) = found.interval {
        let interval = format!("{:+.2} % to {:+.2} %", low * 100.0, high * 100.0);
        line(&mut out, "change", &interval, "99 % confidence, by ranks and by Student's t of the logarithms");
    }
    if let Some(p) = found.p_value {
        line(
            &mut out,
            "by chance",
            &percent(p),
            "the larger of Mann–Whitney's and Welch's; at most 1 % is a difference",
        );
    }
    let word = match found.outcome {
        Contrast::Higher => "the second is larger",
        Contrast::Lower => "the second is smaller",
        Contrast::NotShown => "no difference was shown",
        Contrast::TooFew => "too few values to tell: five of each are needed",
    };
    line(&mut out, "outcome", word, "");
    if let Some(spread) = compare_spread(before, after) {
        let word = match spread.steadier {
            Steadier::First => "the first is steadier",
            Steadier::Second => "the second is steadier",
            Steadier::NoDifference => "no difference beyond chance",
            Steadier::TooFew => "too few values to tell",
        };
        let how = format!("fluctuation {} and {}", percent(spread.first), percent(spread.second));
        line(&mut out, "consistency", word, &how);
    }
    Ok(out)
}

/// A straight line through points.
///
/// # Errors
/// There are fewer than two different x.
pub fn regression(points: &[(f64, f64)], at: &[f64]) -> Result<String, String> {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let found = Regression::of(&x, &y).ok_or("a line needs at least two points with different x")?;
    let mut out = String::new();
    let half = |width: Option<f64>| width.map_or(String::new(), |width| format!(" ± {}", significant(width)));
    let unsure = found.uncertainty;
    let slope = format!("{}{}", significant(found.slope), half(unsure.map(|one| one.slope_half_width)));
    line(&mut out, "slope", &slope, "95 % confidence");
    let intercept =
        format!("{}{}", significant(found.intercept), half(unsure.map(|one| one.intercept_half_width)));
    line(&mut out, "intercept", &intercept, "");
    line(&mut out, "R²", &format!("{:.4}", found.r_squared), &format!("{} points", found.n));
    let largest = found.residuals.iter().copied().fold(0.0_f64, |most, one| most.max(one.abs()));
    line(&mut out, "largest residual", &significant(largest), "");
    for &place in at {
        let predicted = found.predict(place);
        let value = format!("{}{}", significant(predicted.value), half(predicted.half_width));
        let how = if predicted.extrapolated { "beyond the points, where nothing was measured" } else { "" };
        line(&mut out, &format!("at {place}"), &value, how);
    }
    Ok(out)
}

/// Peak, knee, plateau, sweet spot and dips of a curve.
///
/// # Errors
/// There are fewer than three points.
pub fn curve(points: &[(f64, f64)]) -> Result<String, String> {
    if points.len() < 3 {
        return Err(format!("{} points make no curve: give at least three", points.len()));
    }
    let mut sorted = points.to_vec();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    let samples: Vec<Sample> = sorted.iter().map(|&(x, y)| Sample::once(x, y)).collect();
    let shape: Shape = analysis::shape(&samples);
    let mut out = String::new();
    if let Some(&(x, y)) = shape.peak.and_then(|index| sorted.get(index)) {
        line(&mut out, "peak", &format!("{} at {}", significant(y), significant(x)), "");
    }
    let mut at = |name: &str, value: Option<f64>, how: &str| {
        let text = value.map_or_else(|| "none".to_owned(), significant);
        line(&mut out, name, &text, how);
    };
    at("knee", shape.knee, "where the rise ends");
    at("90 % of the peak from", shape.reaches_90, "");
    at("95 % of the peak from", shape.reaches_95, "");
    at("sweet spot", shape.sweet_spot, "a peak that stands out from both neighbours");
    if let Some((from, to)) = shape.plateau {
        let value = format!("{} to {}", significant(from), significant(to));
        line(&mut out, "plateau", &value, "within 10 % of the peak");
    }
    match analysis::dips(&sorted) {
        Some(Dips { period, depth, .. }) => {
            let how = format!("{} deep", percent(depth));
            line(&mut out, "dips every", &significant(period), &how);
        }
        None => {
            let _ = writeln!(out, "no regular dips");
        }
    }
    Ok(out)
}

/// Six significant digits, as short as they can be written.
fn significant(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value}");
    }
    // The shortest form of a number that was rounded in decimal digits.
    format!("{value:.5e}").parse::<f64>().map_or_else(|_| value.to_string(), |rounded| rounded.to_string())
}
