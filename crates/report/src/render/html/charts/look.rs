//! Visual styles of series.
//!
//! The colour of a series encodes the kind of work: reads are blue, writes vermillion. Series of the same work differ
//! by shade and symbol, so that they can be distinguished in greyscale. A second run is dotted, published figures are
//! stars, and predicted values and bounds have the colour of text. Most colours are those of Okabe and Ito ("Color
//! Universal Design", 2008), which can be distinguished with any colour vision.

use plan::{Operation, Phase, PhaseSubject};

pub(super) const BLUE: &str = "#0072B2";
pub(super) const VERMILLION: &str = "#D55E00";
pub(super) const GREEN: &str = "#009E73";
pub(super) const ORANGE: &str = "#E69F00";
pub(super) const SKY: &str = "#56B4E9";
pub(super) const PURPLE: &str = "#CC79A7";
/// The colour of text.
pub(super) const TEXT_COLOUR: &str = "ink";

/// Colours of series that are not of one kind of work, used in turn.
const PALETTE: [&str; 6] = [GREEN, PURPLE, ORANGE, SKY, "#7570B3", "#A6761D"];
/// Dashes: plotly's name, and the value of SVG's `stroke-dasharray`.
const DASHES: [(&str, &str); 5] =
    [("solid", ""), ("dash", "6 4"), ("dot", "2 3"), ("dashdot", "7 3 2 3"), ("longdash", "10 4")];
/// Symbols: plotly's name, and the filled and open character for legends. Series use the first ones; stars and arrows
/// are for published figures, ticks for single repetitions.
const SYMBOLS: [(&str, &str, &str); 9] = [
    ("circle", "●", "○"),
    ("square", "■", "□"),
    ("diamond", "◆", "◇"),
    ("triangle-up", "▲", "△"),
    ("x", "✖", "✕"),
    ("star", "★", "☆"),
    ("triangle-right", "▶", "▷"),
    ("triangle-left", "◀", "◁"),
    ("line-ns", "❘", "❘"),
];
const SYMBOLS_OF_SERIES: usize = 5;
/// Patterns of bars: plotly's name, and the character for legends.
const PATTERNS: [(&str, &str); 6] = [("", "■"), ("/", "▨"), ("x", "▩"), (".", "▦"), ("-", "▤"), ("|", "▥")];

/// Style of a series: a line by its dash, marks by their symbol, bars by their pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) colour: &'static str,
    pub(super) dash: &'static str,
    pub(super) symbol: &'static str,
    pub(super) pattern: &'static str,
}

impl Look {
    /// The look of series number `index` of a chart whose series are not of one kind of work.
    pub(super) fn of(index: usize) -> Self {
        let shape = index + index / PALETTE.len();
        Self::shaped(PALETTE[index % PALETTE.len()], shape)
    }

    /// The look of series number `index` among those of the kind of work of `phase`.
    pub(super) fn of_work(phase: Phase, index: usize) -> Self {
        let (_, shades) = work(phase);
        // A single series of reads and one of writes differ in symbol and pattern.
        let shape = index + usize::from(phase.writes());
        Self::shaped(shades[index % shades.len()], shape)
    }

    fn shaped(colour: &'static str, shape: usize) -> Self {
        Self {
            colour,
            dash: "solid",
            symbol: SYMBOLS[shape % SYMBOLS_OF_SERIES].0,
            pattern: PATTERNS[shape % PATTERNS.len()].0,
        }
    }
}

impl From<&'static str> for Look {
    fn from(colour: &'static str) -> Self {
        Self::shaped(colour, 0)
    }
}

/// The name of a phase's kind of work, and its shades.
pub(crate) fn work(phase: Phase) -> (&'static str, &'static [&'static str]) {
    match (phase.operation(), phase.subject()) {
        (Some(Operation::Read), _) => ("read", &[BLUE, SKY, "#00395A", "#8DA9C4"]),
        (Some(Operation::Write), PhaseSubject::Data | PhaseSubject::Files) => {
            ("write", &[VERMILLION, "#F2A36B", "#7A3600", "#C08A6A"])
        }
        (None, PhaseSubject::Data) => ("reads and writes", &[GREEN, "#7CCBB4", "#00513B", "#5F8F80"]),
        (Some(Operation::Exchange), _) => ("exchange", &[GREEN, "#7CCBB4", "#00513B", "#5F8F80"]),
        (None, PhaseSubject::Objects) => ("round over objects", &[SKY, "#00395A", "#8DA9C4"]),
        (Some(Operation::Find), _) => ("search", &["#7570B3", "#B5B2D9", "#3F3A7A"]),
        (Some(Operation::Stat | Operation::List), _) => ("stat and list", &["#7570B3", "#B5B2D9", "#3F3A7A"]),
        (Some(Operation::Rename), _) => ("rename", &["#A6761D", "#D6B57A", "#5E420F"]),
        (Some(Operation::Remove), _) => ("remove", &[PURPLE, "#E6BBD2", "#7D3E60"]),
        (None, _) => ("jobs", &[SKY, "#00395A", "#8DA9C4"]),
        _ => ("create", &[ORANGE, "#F5CF80", "#8A5F00"]),
    }
}

/// The `stroke-dasharray` of a dash.
pub(super) fn dash_drawn(dash: &str) -> &'static str {
    DASHES.iter().find(|(known, _)| *known == dash).map_or("", |(_, drawn)| drawn)
}

/// The legend character of a symbol.
pub(super) fn symbol_drawn(symbol: &str) -> &'static str {
    let (filled, open) = (symbol.trim_end_matches("-open"), symbol.ends_with("-open"));
    let known = SYMBOLS.iter().find(|(known, ..)| *known == filled);
    known.map_or("●", |(_, whole, hollow)| if open { hollow } else { whole })
}

/// The legend character of a pattern.
pub(super) fn pattern_drawn(pattern: &str) -> &'static str {
    PATTERNS.iter().find(|(known, _)| *known == pattern).map_or("■", |(_, drawn)| drawn)
}
