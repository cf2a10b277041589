//! Formulas for samples: summary statistics, significance of differences, and the shape of a curve.

use analysis::{
    printed::{PrintedStatistics, check_statistics, deviation_min},
    statistics::{Contrast, Regression, Sample, Settled, Steadier, Summary, compare_spread, settled_by},
};

use super::line;
use crate::format::{grouped, percent};

/// The difference of two numbers and its share of the first.
#[must_use]
pub fn difference(before: f64, after: f64) -> String {
    // Removes the digits added by binary arithmetic.
    let difference = ((after - before) * 1e9).round() / 1e9;
    let mut out = line("difference", &format!("{difference:+}"), &format!("{after} − {before}"));
    if before != 0.0 {
        let share = (after - before) / before;
        out += &line("share of the first", &format!("{:+.2} %", share * 100.0), "");
    }
    out
}

/// Whether printed statistics are consistent with each other.
#[must_use]
pub fn statistics(printed: &PrintedStatistics) -> String {
    let mut out = String::new();
    let range = printed.min.zip(printed.max).map(|(min, max)| max - min).or(printed.range);
    if let (Some(range), Some(n)) = (range, printed.n) {
        let how = format!("range ÷ √(2 (n − 1)), for {} values with a range of {range}", grouped(n));
        out += &line("deviation at least", &format!("{:.3}", deviation_min(range, n)), &how);
    }
    if let (Some(deviation), Some(mean)) = (printed.deviation, printed.mean.filter(|mean| *mean != 0.0)) {
        out += &line("fluctuation", &percent(deviation / mean), &format!("{deviation} ÷ {mean}"));
    }
    let found = check_statistics(printed);
    out.extend(found.iter().map(|(_, evidence)| line("IMPOSSIBLE", evidence, "")));
    let checked = checked(printed);
    if checked.is_empty() {
        let needed = "the mean needs --min and --max, the deviation --range or both, and --n";
        out += &line("not checked", needed, "");
    } else if found.is_empty() {
        out += &line("no contradiction", &format!("checked: {}", checked.join("; ")), "");
    }
    out
}

/// The problems that [`check_statistics`] finds in these.
fn checked(printed: &PrintedStatistics) -> Vec<&'static str> {
    let extremes = printed.min.is_some() && printed.max.is_some();
    let deviation = (extremes || printed.range.is_some()) && printed.deviation.is_some();
    let several = printed.n.is_some_and(|n| n > 1);
    let parts = [
        (extremes, "the extremes"),
        (extremes && printed.mean.is_some(), "the mean against the extremes"),
        (deviation && several, "the deviation against range and number"),
        (deviation && !several, "whether the deviation is too large for the range (too small needs --n)"),
    ];
    parts.into_iter().filter(|(is_checked, _)| *is_checked).map(|(_, what)| what).collect()
}

/// Statistics of a non-empty column.
pub fn values(column: &[f64]) -> Result<String, String> {
    let all = Summary::of(column).ok_or("no numbers were given")?;
    let interval = |low, high, how: &str| {
        line("  interval", &format!("{} to {}", significant(low), significant(high)), how)
    };
    let mut out = line("values", &grouped(all.n as u64), "");
    out += &line("median", &significant(all.median), "");
    if let Some(found) = all.median_interval {
        let how = format!("holds the median with {}, whatever the distribution", percent(found.confidence));
        out += &interval(found.low, found.high, &how);
    }
    let mean = format!("{} ± {}", significant(all.mean), significant(all.deviation_sample));
    out += &line("mean ± deviation", &mean, "divisor n − 1");
    out += &line("fluctuation", &percent(all.variation), "deviation ÷ mean");
    let ends = format!("{}, {}", significant(all.min), significant(all.max));
    out += &line("smallest, largest", &ends, "");
    let apart = analysis::statistics::standing_apart(column);
    let apart = apart.iter().take(10);
    let named: Vec<_> =
        apart.map(|&index| format!("{} (line {})", significant(column[index]), index + 1)).collect();
    if !named.is_empty() {
        out += &line("standing apart", &named.join(", "), "robust z-score above 3.5");
    }
    Ok(out)
}

/// Whether two non-empty columns differ.
pub fn compare(before: &[f64], after: &[f64]) -> Result<String, String> {
    let found = analysis::statistics::difference(before, after, 1).ok_or("a column has no numbers")?;
    let medians = format!("{} → {}", significant(found.before), significant(found.after));
    let mut out = line("medians", &medians, &format!("{:+.2} %", found.change * 100.0));
    if let Some((low, high)) = found.interval {
        let interval = format!("{:+.2} % to {:+.2} %", low * 100.0, high * 100.0);
        out += &line("change", &interval, "99 % confidence, by ranks and by Student's t of the logarithms");
    }
    if let Some(p) = found.p_value {
        let how = "the larger of Mann–Whitney's and Welch's; at most 1 % is a difference";
        out += &line("by chance", &percent(p), how);
    }
    let word = match found.outcome {
        Contrast::Higher => "the second is larger",
        Contrast::Lower => "the second is smaller",
        Contrast::NotShown => "no difference was shown",
        Contrast::TooFew => "too few values to tell: five of each are needed",
    };
    let how = match (found.is_stated(), found.is_obvious()) {
        (true, false) => String::new(),
        (true, true) => {
            format!("obvious, unless there are two states this far apart: {} of each tell", found.to_show)
        }
        (false, _) => settled_by(before, after, 1)
            .map_or_else(String::new, |Settled { change, repetitions }| {
                format!("{repetitions} of each would tell {}", percent(change))
            }),
    };
    out += &line("outcome", word, &how);
    if let Some(spread) = compare_spread(before, after) {
        let word = match spread.steadier {
            Steadier::First => "the first is steadier",
            Steadier::Second => "the second is steadier",
            Steadier::NoDifference => "no difference beyond chance",
            Steadier::TooFew => "too few values to tell",
        };
        let how = format!("fluctuation {} and {}", percent(spread.first), percent(spread.second));
        out += &line("consistency", word, &how);
    }
    Ok(out)
}

/// A straight line through points, of which at least two have different x.
pub fn regression(points: &[(f64, f64)], at: &[f64]) -> Result<String, String> {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let found = Regression::of(&x, &y).ok_or("a line needs at least two points with different x")?;
    let unsure = |value: f64, half_width: Option<f64>| match half_width {
        Some(width) => format!("{} ± {}", significant(value), significant(width)),
        None => significant(value),
    };
    let by = found.uncertainty;
    let largest = found.residuals.iter().copied().fold(0.0_f64, |most, one| most.max(one.abs()));
    let mut out = line("slope", &unsure(found.slope, by.map(|one| one.slope_half_width)), "95 % confidence");
    out += &line("intercept", &unsure(found.intercept, by.map(|one| one.intercept_half_width)), "");
    out += &line("R²", &format!("{:.4}", found.r_squared), &format!("{} points", found.n));
    out += &line("largest residual", &significant(largest), "");
    for &place in at {
        let predicted = found.predict(place);
        let how = if predicted.extrapolated { "beyond the points, where nothing was measured" } else { "" };
        out += &line(&format!("at {place}"), &unsure(predicted.value, predicted.half_width), how);
    }
    Ok(out)
}

/// Peak, knee, plateau, sweet spot and dips of a curve of at least three points.
pub fn curve(points: &[(f64, f64)]) -> Result<String, String> {
    if points.len() < 3 {
        return Err(format!("{} points are too few for a curve: give at least three", points.len()));
    }
    let mut sorted = points.to_vec();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    let samples: Vec<Sample> = sorted.iter().map(|&(x, y)| Sample::once(x, y)).collect();
    let shape = analysis::sweeps::shape_once(&samples);
    let mut out = String::new();
    if let Some(&(x, y)) = shape.peak.and_then(|index| sorted.get(index)) {
        out += &line("peak", &format!("{} at {}", significant(y), significant(x)), "");
    }
    for (name, value, how) in [
        ("knee", shape.knee, "where the rise ends, by more than noise explains"),
        ("90 % of the peak from", shape.reaches_90, ""),
        ("95 % of the peak from", shape.reaches_95, ""),
        ("sweet spot", shape.sweet_spot, "higher than both ends by more than noise explains"),
    ] {
        out += &line(name, &value.map_or_else(|| "none".to_owned(), significant), how);
    }
    if let Some((from, to)) = shape.plateau {
        let value = format!("{} to {}", significant(from), significant(to));
        out += &line("plateau", &value, "within 10 % of the peak");
    }
    out += &match analysis::sweeps::dips(&sorted) {
        Some(dips) => line("dips every", &significant(dips.period), &format!("{} deep", percent(dips.depth))),
        None => "no regular dips\n".to_owned(),
    };
    Ok(out)
}

/// Six significant digits, in the shortest notation.
fn significant(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value}");
    }
    // The shortest form of a number that was rounded in decimal digits.
    format!("{value:.5e}").parse::<f64>().map_or_else(|_| value.to_string(), |rounded| rounded.to_string())
}
