//! The x axis of a sweep: positions and names of values.

use analysis::sweeps::Curve;
use plan::{Phase, SettingValue};
use serde_json::{Value, json};

use crate::section::place;

/// Maximum number of labelled ticks.
const TICKS_MAX: usize = 12;
/// Room for all labels in CSS pixels, as in a chart of half the page's width, and what a character and the space between
/// two labels take.
const LABELS_PX: usize = 440;
const CHARACTER_PX: usize = 7;
const SPACE_PX: usize = 12;
/// Values that grow by a factor have a logarithmic axis if last ÷ first is at least this. For sizes, which
/// are usually powers of two, a smaller ratio is enough.
const LOGARITHMIC_RATIO: f64 = 16.0;
const LOGARITHMIC_RATIO_OF_SIZES: f64 = 4.0;
/// Values are taken to grow by a factor if the largest step between neighbours is this many times the smallest.
const UNEVEN_STEPS: f64 = 2.5;
/// Points of a smooth line between two measured points.
const STEPS: usize = 12;

/// Positions of a smooth line from `low` to `high` through `points` measured points, spaced by a constant factor.
pub(super) fn geometric_steps(low: f64, high: f64, points: usize) -> impl Iterator<Item = f64> + Clone {
    let count = STEPS * points;
    (0..=count).map(move |step| low * (high / low).powf(step as f64 / count as f64))
}

/// The unit of values on an axis, as [`place`] takes it.
pub(super) const fn unit_of(value: &SettingValue) -> &'static str {
    match value {
        SettingValue::Bytes(_) => "bytes",
        SettingValue::Time(_) => "ns",
        _ => "",
    }
}

/// The key of mixes of reads and writes.
const MIX: &str = "read_percent";

/// Whether each of at least three values is about twice the one before.
fn double(values: &[f64]) -> bool {
    /// Sizes such as 1 GB and 2 GiB count as well.
    const TWICE: std::ops::RangeInclusive<f64> = 1.8..=2.2;
    values.len() > 2 && values.windows(2).all(|pair| TWICE.contains(&(pair[1] / pair[0])))
}

/// The values of a swept key in charts that share an x axis, and their positions.
#[derive(Debug)]
pub(super) struct Axis {
    key: String,
    unit: &'static str,
    /// Sorted, each once.
    values: Vec<f64>,
    logarithmic: bool,
}

impl Axis {
    /// The axis of `curves`, all over the same key, and of `more` values.
    pub(super) fn of(curves: &[&Curve], more: impl IntoIterator<Item = f64>) -> Self {
        let points = curves.iter().flat_map(|curve| &curve.points);
        let unit = points.clone().next().map_or("", |point| unit_of(&point.at));
        let key = match (curves[0].axis.as_str(), curves[0].phase) {
            ("size", Phase::Exchange) => "message size",
            (key, _) => key,
        };
        Self::new(key, unit, points.map(|point| point.x).chain(more).collect())
    }

    pub(super) fn new(key: &str, unit: &'static str, mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        values.dedup();
        let ratio = if unit == "bytes" { LOGARITHMIC_RATIO_OF_SIZES } else { LOGARITHMIC_RATIO };
        let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let largest = steps.iter().copied().fold(0.0, f64::max);
        let smallest = steps.iter().copied().fold(f64::INFINITY, f64::min);
        let logarithmic = values.first().zip(values.last()).is_some_and(|(&first, &last)| {
            let grows = last / first >= ratio && largest > smallest * UNEVEN_STEPS;
            // A mix is drawn against its share of writes, which may be 0.
            key != MIX && first > 0.0 && (grows || double(&values))
        });
        Self { key: key.to_owned(), unit, values, logarithmic }
    }

    /// The name of the key for titles.
    pub(super) fn name(&self) -> &str {
        match self.key.as_str() {
            MIX => "the share of writes",
            "transfer" => "transfer size",
            "size" => "file size",
            key => key,
        }
    }

    /// A value with its key, for hover texts.
    pub(super) fn words(&self, value: f64) -> String {
        if self.is_mix() {
            format!("{:.0} % writes", 100.0 - value)
        } else {
            format!("{} {}", self.key, place(value, self.unit))
        }
    }

    /// A value as a label.
    pub(super) fn name_of(&self, value: f64) -> String {
        match self.is_mix() {
            true => format!("{:.0} %", 100.0 - value),
            false => place(value, self.unit),
        }
    }

    fn is_mix(&self) -> bool {
        self.key == MIX
    }

    /// Position of a value. A mix of reads and writes is drawn against its share of writes.
    pub(super) fn at(&self, value: f64) -> f64 {
        if self.is_mix() { 100.0 - value } else { value }
    }

    /// Whether `value` is in the right half.
    pub(super) fn is_right(&self, value: f64) -> bool {
        let scale = |value: f64| if self.logarithmic { value.ln() } else { value };
        let [low, high] = self.ends().map(scale);
        scale(self.at(value)) > f64::midpoint(low, high)
    }

    /// The positions of the smallest and the largest value.
    pub(super) fn ends(&self) -> [f64; 2] {
        let ends = [self.values.first(), self.values.last()].map(|end| self.at(end.copied().unwrap_or(0.0)));
        [ends[0].min(ends[1]), ends[0].max(ends[1])]
    }

    pub(super) fn layout(&self) -> Value {
        let ticks = self.ticks();
        let tick = |&value: &f64| self.name_of(value);
        let [low, high] = self.ends().map(|end| if self.logarithmic { end.log10() } else { end });
        let margin = (high - low) * 0.04;
        json!({
            "title": { "text": if self.is_mix() { "share of writes" } else { self.name() } },
            "type": if self.logarithmic { "log" } else { "linear" },
            "range": [low - margin, high + margin],
            "tickmode": "array", "tickangle": 0,
            "tickvals": ticks.iter().map(|&tick| self.at(tick)).collect::<Vec<_>>(),
            "ticktext": ticks.iter().map(tick).collect::<Vec<_>>(),
        })
    }

    /// Labelled values: all if there is room, else every nth up to the last, without labels that would overlap.
    fn ticks(&self) -> Vec<f64> {
        let scale = |value: f64| if self.logarithmic { value.ln() } else { value };
        let [low, high] = self.ends().map(scale);
        let mut kept: Vec<f64> = Vec::new();
        let longest = self.values.iter().map(|&value| self.name_of(value).chars().count()).max().unwrap_or(0);
        let most = TICKS_MAX.min(LABELS_PX / (longest * CHARACTER_PX + SPACE_PX)).max(2);
        for &value in self.values.iter().rev().step_by(self.values.len().div_ceil(most).max(1)) {
            if kept.last().is_none_or(|&later| scale(later) - scale(value) >= (high - low) * 0.05) {
                kept.push(value);
            }
        }
        kept.reverse();
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::Axis;

    fn log(values: &[f64]) -> bool {
        Axis::new("transfer", "bytes", values.to_vec()).layout()["type"] == "log"
    }

    #[test]
    fn powers_of_two_are_logarithmic_and_even_steps_are_not() {
        let powers: Vec<f64> = (12..25).map(|power| f64::from(1 << power)).collect();
        let steps: Vec<f64> = (1..257).map(|step| f64::from(step * 4096)).collect();
        assert!(log(&powers));
        assert!(!log(&steps));
        assert!(log(&[1.0, 4.0, 8.0, 16.0]));
        assert_eq!(Axis::new("nodes", "", vec![1.0, 2.0, 4.0]).layout()["type"], "log");
        assert_eq!(Axis::new("nodes", "", vec![1.0, 2.0, 3.0]).layout()["type"], "linear");
        assert!(!log(&[0.0, 1.0, 100.0]));
    }

    #[test]
    fn names_of_ticks_do_not_stand_on_each_other() {
        let axis = Axis::new("tasks", "", vec![33.0, 66.0, 99.0, 132.0, 264.0]);
        assert_eq!(axis.layout()["ticktext"].as_array().map(Vec::len), Some(5));
        let many = Axis::new("tasks", "", (1..=200).map(f64::from).collect());
        assert!(many.layout()["ticktext"].as_array().map_or(0, Vec::len) <= 13);
    }

    #[test]
    fn a_mix_is_drawn_against_its_writes() {
        assert_eq!(Axis::new("read_percent", "", vec![25.0, 50.0, 100.0]).layout()["type"], "linear");
        let axis = Axis::new("read_percent", "", vec![0.0, 30.0, 100.0]);
        assert!((axis.at(30.0) - 70.0).abs() < f64::EPSILON);
        assert_eq!(axis.layout()["ticktext"][0], "100 %");
    }
}
