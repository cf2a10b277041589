//! The x axis of a sweep: where values stand, and how they are named.

use analysis::Curve;
use plan::SettingValue;
use serde_json::{Value, json};

use crate::section::place;

/// Ticks that are named.
const TICKS_MAX: usize = 12;
/// Values whose ratio is at least this are on a logarithmic axis, if they grow by a factor; sizes
/// are thought of in powers of two, so less is enough for them.
const LOGARITHMIC_RATIO: f64 = 16.0;
const LOGARITHMIC_RATIO_OF_SIZES: f64 = 4.0;
/// Values grow by a factor where the largest step is this many times the smallest.
const UNEVEN_STEPS: f64 = 2.5;

/// All values of a swept key in a family of charts.
#[derive(Debug, Clone)]
pub(super) struct Span {
    key: String,
    unit: &'static str,
    /// Rising, each once.
    values: Vec<f64>,
}

/// The unit of values on an axis, as [`place`] takes it.
pub(super) const fn unit_of(value: &SettingValue) -> &'static str {
    match value {
        SettingValue::Bytes(_) => "bytes",
        SettingValue::Time(_) => "ns",
        _ => "",
    }
}

impl Span {
    pub(super) fn of(key: &str, curves: &[&Curve]) -> Self {
        let points = curves.iter().flat_map(|curve| &curve.points);
        let unit = points.clone().next().map_or("", |point| unit_of(&point.at));
        Self::new(key, unit, points.map(|point| point.x).collect())
    }

    pub(super) fn new(key: &str, unit: &'static str, mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        values.dedup();
        Self { key: key.to_owned(), unit, values }
    }

    /// The key in words.
    pub(super) fn name(&self) -> &str {
        match self.key.as_str() {
            "read_percent" => "the share of writes",
            "transfer" => "transfer size",
            "size" => "file size",
            key => key,
        }
    }

    /// A value as people read it.
    pub(super) fn words(&self, value: f64) -> String {
        if self.is_mix() {
            format!("{:.0} % writes", 100.0 - value)
        } else {
            format!("{} {}", self.key, place(value, self.unit))
        }
    }

    fn is_mix(&self) -> bool {
        self.key == "read_percent"
    }

    /// Whether the values grow by a factor rather than by steps.
    fn is_logarithmic(&self) -> bool {
        let (Some(&first), Some(&last)) = (self.values.first(), self.values.last()) else { return false };
        let steps: Vec<f64> = self.values.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let largest = steps.iter().copied().fold(0.0, f64::max);
        let smallest = steps.iter().copied().fold(f64::INFINITY, f64::min);
        let ratio = if self.unit == "bytes" { LOGARITHMIC_RATIO_OF_SIZES } else { LOGARITHMIC_RATIO };
        first > 0.0 && last / first >= ratio && largest > smallest * UNEVEN_STEPS
    }
}

/// The axis of one chart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis<'a> {
    span: &'a Span,
    logarithmic: bool,
}

impl<'a> Axis<'a> {
    pub(super) fn new(span: &'a Span) -> Self {
        Self { span, logarithmic: span.is_logarithmic() }
    }

    /// Where a value stands. A mix is drawn against its share of writes.
    pub(super) fn at(&self, value: f64) -> f64 {
        if self.span.is_mix() { 100.0 - value } else { value }
    }

    pub(super) fn words(&self, value: f64) -> String {
        self.span.words(value)
    }

    /// The ends, for lines across the chart.
    pub(super) fn ends(&self) -> Option<[f64; 2]> {
        let (first, last) = (*self.span.values.first()?, *self.span.values.last()?);
        let (a, b) = (self.at(first), self.at(last));
        Some([a.min(b), a.max(b)])
    }

    pub(super) fn layout(&self) -> Value {
        let ticks = self.ticks();
        let title = if self.span.is_mix() { "share of writes" } else { self.span.name() };
        let mut layout = json!({
            "title": { "text": title },
            "tickmode": "array",
            "tickvals": ticks.iter().map(|&tick| self.at(tick)).collect::<Vec<_>>(),
            "ticktext": ticks.iter().map(|&tick| self.tick(tick)).collect::<Vec<_>>(),
        });
        if let Some([low, high]) = self.ends() {
            if self.logarithmic {
                let (low, high) = (low.log10(), high.log10());
                let rim = (high - low) * 0.04;
                layout["type"] = json!("log");
                layout["range"] = json!([low - rim, high + rim]);
            } else {
                let rim = (high - low) * 0.04;
                layout["range"] = json!([low - rim, high + rim]);
            }
        }
        layout
    }

    fn tick(&self, value: f64) -> String {
        if self.span.is_mix() { format!("{:.0} %", 100.0 - value) } else { place(value, self.span.unit) }
    }

    /// Values that are named: all where there is room, else evenly among them, ends included.
    fn ticks(&self) -> Vec<f64> {
        let values = &self.span.values;
        if values.len() <= TICKS_MAX {
            return self.apart(values);
        }
        let step = values.len().div_ceil(TICKS_MAX);
        let mut ticks: Vec<f64> = values.iter().rev().step_by(step).copied().collect();
        ticks.reverse();
        self.apart(&ticks)
    }

    /// Without values that would stand on their neighbours' names.
    fn apart(&self, values: &[f64]) -> Vec<f64> {
        let scale = |value: f64| if self.logarithmic { value.ln() } else { value };
        let (Some(&first), Some(&last)) = (values.first(), values.last()) else { return Vec::new() };
        let least = (scale(last) - scale(first)) * 0.05;
        let mut kept: Vec<f64> = Vec::new();
        for &value in values.iter().rev() {
            if kept.last().is_none_or(|&later| scale(later) - scale(value) >= least) {
                kept.push(value);
            }
        }
        kept.reverse();
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, Span};

    fn log(values: &[f64]) -> bool {
        Axis::new(&Span::new("transfer", "bytes", values.to_vec())).layout()["type"] == "log"
    }

    #[test]
    fn powers_of_two_are_logarithmic_and_even_steps_are_not() {
        let powers: Vec<f64> = (12..25).map(|power| f64::from(1 << power)).collect();
        let steps: Vec<f64> = (1..257).map(|step| f64::from(step * 4096)).collect();
        assert!(log(&powers));
        assert!(!log(&steps));
        assert!(log(&[1.0, 4.0, 8.0, 16.0]));
        assert!(!log(&[0.0, 1.0, 100.0]));
    }

    #[test]
    fn names_of_ticks_do_not_stand_on_each_other() {
        let span = Span::new("tasks", "", vec![33.0, 66.0, 99.0, 132.0, 264.0]);
        assert_eq!(Axis::new(&span).layout()["ticktext"].as_array().map(Vec::len), Some(5));
        let many = Span::new("tasks", "", (1..=200).map(f64::from).collect());
        assert!(Axis::new(&many).layout()["ticktext"].as_array().map_or(0, Vec::len) <= 13);
    }

    #[test]
    fn a_mix_is_drawn_against_its_writes() {
        let span = Span::new("read_percent", "", vec![0.0, 30.0, 100.0]);
        assert!((Axis::new(&span).at(30.0) - 70.0).abs() < f64::EPSILON);
        assert_eq!(Axis::new(&span).layout()["ticktext"][0], "100 %");
    }
}
