//! One line of a chart: how it looks, and what a pointer is told at each of its points.
//!
//! `figures` in a trace names the figure of each point. The page has the conditions and repetitions
//! of each figure once and puts them in; `words` stands before them.

use analysis::{Curve, CurvePoint};
use plan::Phase;
use serde_json::{Value, json};

use super::axis::Axis;
use super::sweep::Unit;
use super::{DASHES, PALETTE, SHAPES, escaped};
use crate::format::percent;
use crate::section::signed;

/// Width that a legend has on a page or paper, in CSS pixels: the narrower of both.
const FULL_PX: usize = 940;
const HALF_PX: usize = 430;
/// Width of two letters of a legend, and of the sample beside it.
const LETTER_PX: usize = 13;
const SAMPLE_PX: usize = 48;

/// Colour and shape say which setting a line is of, dashes which phase.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    colour: &'static str,
    symbol: &'static str,
    dash: &'static str,
}

impl Look {
    pub(super) fn new(index: usize, phase: Phase) -> Self {
        let round = index / PALETTE.len();
        let dash = match phase {
            Phase::Write => DASHES[1],
            Phase::Mixed => DASHES[3],
            _ => DASHES[0],
        };
        Self { colour: PALETTE[index % PALETTE.len()], symbol: SHAPES[(index + round) % SHAPES.len()], dash }
    }
}

/// A curve as a trace of plotly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trace<'a> {
    pub(super) curve: &'a Curve,
    pub(super) axis: &'a Axis<'a>,
    /// What the legend calls it; not in the legend where none.
    pub(super) name: Option<&'a str>,
    /// What a pointer is told.
    pub(super) full_name: &'a str,
    pub(super) look: Look,
}

impl Trace<'_> {
    /// The line itself.
    pub(super) fn value(&self, unit: Unit, yaxis: &str) -> Value {
        let points = &self.curve.points;
        json!({
            "type": "scatter", "mode": "lines+markers",
            "name": escaped(self.name.unwrap_or(self.full_name)),
            "showlegend": self.name.is_some(),
            "x": points.iter().map(|point| self.axis.at(point.x)).collect::<Vec<_>>(),
            "y": points.iter().map(|point| unit.of(point)).collect::<Vec<_>>(),
            "yaxis": yaxis,
            "figures": points.iter().map(|point| point.figure + 1).collect::<Vec<_>>(),
            "words": self.words(),
            "line": { "color": self.look.colour, "dash": self.look.dash, "width": 2 },
            "marker": { "color": self.look.colour, "symbol": self.look.symbol, "size": self.marker() },
        })
    }

    /// The same in another unit on the right axis.
    pub(super) fn right(&self, unit: Unit) -> Value {
        let mut value = self.value(unit, "y2");
        let mebibytes = self.curve.points.iter().map(|point| point.bytes_per_second / f64::from(1 << 20));
        value["y"] = mebibytes.collect();
        value["name"] = format!("{}, MiB/s", escaped(self.full_name)).into();
        value["line"]["dash"] = "dash".into();
        value["marker"]["symbol"] = format!("{}-open", self.look.symbol).into();
        value
    }

    /// The same curve of another run, dotted.
    pub(super) fn second(&self, other: &Curve, unit: Unit) -> Value {
        let name = format!("{}, second run", self.full_name);
        let points = &other.points;
        let words = |point: &CurvePoint| {
            let first = self.curve.points.iter().find(|one| (one.x - point.x).abs() < f64::EPSILON);
            let change = first.map(|one| unit.of(point) / unit.of(one) - 1.0);
            let change =
                change.map(|change| format!(", {} of the first", signed(change))).unwrap_or_default();
            format!("<b>{}</b><br>{}{change}", escaped(&name), self.axis.words(point.x))
        };
        json!({
            "type": "scatter", "mode": "lines+markers", "name": escaped(&name), "showlegend": false,
            "x": points.iter().map(|point| self.axis.at(point.x)).collect::<Vec<_>>(),
            "y": points.iter().map(|point| unit.of(point)).collect::<Vec<_>>(),
            "text": points.iter().map(words).collect::<Vec<_>>(),
            "hovertemplate": "%{text}<extra></extra>",
            "line": { "color": self.look.colour, "dash": "dot", "width": 1.5 },
            "marker": { "color": self.look.colour, "symbol": format!("{}-open", self.look.symbol), "size": self.marker() },
        })
    }

    /// What stands before the conditions: the line, the place, and what limits it.
    fn words(&self) -> Vec<String> {
        let name = escaped(self.full_name);
        let points = self.curve.points.iter();
        points
            .map(|point| {
                let mut text = format!("<b>{name}</b>, {}", escaped(&self.axis.words(point.x)));
                if point.balance_bound < 1.0 {
                    text.push_str(&format!("<br>tasks allow {} of the sum", percent(point.balance_bound)));
                }
                if let Some(ratio) = point.little {
                    text.push_str(&format!(
                        "<br>Little's law: {} of the transfers under way",
                        percent(ratio)
                    ));
                }
                text
            })
            .collect()
    }

    fn marker(&self) -> usize {
        match self.curve.points.len() {
            0..=40 => 7,
            41..=100 => 4,
            _ => 2,
        }
    }
}

/// How many rows a legend of `names` takes. plotly gives all names of a row the width of the
/// widest.
pub(super) fn legend_rows(names: &[String], full: bool) -> usize {
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) * LETTER_PX / 2 + SAMPLE_PX;
    let columns = (if full { FULL_PX } else { HALF_PX } / widest.max(1)).max(1);
    names.len().div_ceil(columns)
}
