//! Limits of changes, as in `read.rate drops by more than 5 %`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::nearest::nearest;
use crate::work::find::fits;
use crate::{Operation, Phase};

/// A value of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureQuantity {
    /// The rate by which the figure is summarised.
    Rate,
    /// The mean latency of each kind of operation.
    Latency,
    /// This percentile of their latencies.
    Percentile(f64),
}

impl FigureQuantity {
    /// Whether less of it is better.
    #[must_use]
    pub const fn is_of_latency(self) -> bool {
        !matches!(self, Self::Rate)
    }
}

/// `rate`, `latency` or `p99`.
impl fmt::Display for FigureQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate => f.write_str("rate"),
            Self::Latency => f.write_str("latency"),
            Self::Percentile(percent) => write!(f, "p{percent}"),
        }
    }
}

impl FromStr for FigureQuantity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percentile = || text.strip_prefix('p')?.parse().ok().filter(|one| (0.0..=100.0).contains(one));
        match text {
            "rate" => Ok(Self::Rate),
            "latency" => Ok(Self::Latency),
            _ => percentile()
                .map(Self::Percentile)
                .ok_or_else(|| format!("{text:?} is no quantity; the quantities are rate, latency (the mean) and percentiles such as p99")),
        }
    }
}

/// A value of some figures: `[CASE ]PHASE.QUANTITY`, as in `read.rate`, `write.p99.9`, `*.latency` or
/// `small tasks=4 read.rate`. `*` stands for every phase, and for any characters in the name of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureName {
    /// The pattern of the names of cases, with a space in place of each colon; all if `None`.
    pub case: Option<String>,
    /// The phase; all if `None`.
    pub phase: Option<Phase>,
    /// Which of its values.
    pub quantity: FigureQuantity,
}

impl FigureName {
    /// Whether figures of `phase` of this case are meant.
    #[must_use]
    pub fn is_of(&self, case: &str, phase: Phase) -> bool {
        let is_named = |pattern: &String| fits(pattern.as_bytes(), spaced(case).as_bytes());
        self.phase.is_none_or(|one| one == phase) && self.case.as_ref().is_none_or(is_named)
    }

    fn of(words: &[Word<'_>], end: usize) -> Result<Self, LimitError> {
        let Some((last, case)) = words.split_last() else {
            return Err(LimitError::new(end, "a figure is missing, such as read.rate or *.p99"));
        };
        let Some((phase, quantity)) = last.text.split_once('.') else {
            let problem =
                format!("{:?} is no figure; write PHASE.QUANTITY, such as read.rate or *.p99", last.text);
            return Err(LimitError::new(last.at, problem));
        };
        let phase = match phase {
            "*" => None,
            name => Some(Phase::named(name).ok_or_else(|| {
                let meant = nearest(name, Phase::ALL.iter().map(|one| one.name()));
                let hint = meant.map_or_else(
                    || {
                        "phases are named as in tables, such as read, write or file-create; * stands for all"
                            .to_owned()
                    },
                    |meant| format!("did you mean {meant}?"),
                );
                LimitError::new(last.at, format!("{name:?} is no phase; {hint}"))
            })?),
        };
        let after_dot = last.at + last.text.chars().count() - quantity.chars().count();
        let quantity = quantity.parse().map_err(|problem: String| LimitError::new(after_dot, problem))?;
        let case: Vec<&str> = case.iter().map(|word| word.text).collect();
        Ok(Self { case: Some(spaced(&case.join(" "))).filter(|case| !case.is_empty()), phase, quantity })
    }
}

impl FromStr for FigureName {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        Self::of(&words(text), text.chars().count() + 1)
    }
}

/// As it is written.
impl fmt::Display for FigureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(case) = &self.case {
            write!(f, "{case} ")?;
        }
        write!(f, "{}.{}", self.phase.map_or("*", Phase::name), self.quantity)
    }
}

/// The name of a value of one figure, in the same words: `small:tasks=4 read.p99`. If the phase has several kinds of
/// operations, the kind follows.
#[must_use]
pub fn figure_name(
    case: &str,
    phase: Phase,
    quantity: FigureQuantity,
    operation: Option<Operation>,
) -> String {
    let kind =
        operation.filter(|one| phase == Phase::Mixed && quantity.is_of_latency() && !one.name().is_empty());
    let kind = kind.map(|one| format!(" of {}s", one.name())).unwrap_or_default();
    format!("{} {phase}.{quantity}{kind}", spaced(case))
}

/// A direction of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It becomes less.
    Drops,
    /// It becomes more.
    Rises,
}

/// By how much some figures may change: `FIGURE drops|rises by more than N %` is what must not happen.
///
/// ```
/// let limit: plan::Limit = "read.rate drops by more than 5 %".parse()?;
/// assert_eq!((limit.percent, limit.factor()), (5.0, 0.95));
/// assert!("read.rate drops by more then 5 %".parse::<plan::Limit>().is_err());
/// # Ok::<(), plan::LimitError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The figures.
    pub figure: FigureName,
    /// The direction that is limited.
    pub direction: Direction,
    /// By how much, in percent of the first value; below 100 for [`Direction::Drops`].
    pub percent: f64,
}

impl Limit {
    /// Every figure may become worse by so many percent: rates may drop, and mean latencies may rise.
    #[must_use]
    pub fn of_all(percent: f64) -> [Self; 2] {
        [(FigureQuantity::Rate, Direction::Drops), (FigureQuantity::Latency, Direction::Rises)].map(
            |(quantity, direction)| Self {
                figure: FigureName { case: None, phase: None, quantity },
                direction,
                percent,
            },
        )
    }

    /// The change that is allowed: −0.05 for a drop by 5 %.
    #[must_use]
    pub const fn change(&self) -> f64 {
        match self.direction {
            Direction::Drops => -self.percent / 100.0,
            Direction::Rises => self.percent / 100.0,
        }
    }

    /// The limit ÷ the first value.
    #[must_use]
    pub const fn factor(&self) -> f64 {
        1.0 + self.change()
    }
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let (words, end) = (words(text), text.chars().count() + 1);
        let verb_of = |word: &Word<'_>| match word.text {
            "drops" => Some(Direction::Drops),
            "rises" => Some(Direction::Rises),
            _ => None,
        };
        let found = words.iter().enumerate().find_map(|(place, word)| Some((place, verb_of(word)?)));
        let Some((place, direction)) = found else {
            // A figure ends with the word that has a dot.
            let figure = words.iter().position(|word| word.text.contains('.'));
            let at = words.get(figure.map_or(0, |place| place + 1)).map_or(end, |word| word.at);
            let problem = "\"drops\" or \"rises\" is missing, as in \"read.rate drops by more than 5 %\"";
            return Err(LimitError::new(at, problem));
        };
        let figure = FigureName::of(&words[..place], words[place].at)?;
        let mut rest = words[place + 1..].iter();
        for wanted in ["by", "more", "than"] {
            match rest.next() {
                Some(word) if word.text == wanted => {}
                other => {
                    let at = other.map_or(end, |word| word.at);
                    return Err(LimitError::new(
                        at,
                        format!("{wanted:?} is missing, as in \"by more than 5 %\""),
                    ));
                }
            }
        }
        let percent = percent(&rest.collect::<Vec<_>>(), end)?;
        if direction == Direction::Drops && percent >= 100.0 {
            return Err(LimitError::new(end, "nothing drops by 100 % or more"));
        }
        Ok(Self { figure, direction, percent })
    }
}

/// As it is written.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.direction {
            Direction::Drops => "drops",
            Direction::Rises => "rises",
        };
        write!(f, "{} {verb} by more than {} %", self.figure, self.percent)
    }
}

/// The last part of a limit: `5 %` or `5%`.
fn percent(rest: &[&Word<'_>], end: usize) -> Result<f64, LimitError> {
    let Some(first) = rest.first() else {
        return Err(LimitError::new(end, "a percentage is missing, such as 5 %"));
    };
    let (number, after) = match (first.text.strip_suffix('%'), rest.get(1)) {
        (Some(number), _) => (number, &rest[1..]),
        (None, Some(word)) if word.text == "%" => (first.text, &rest[2..]),
        (None, other) => {
            let at = other.map_or(end, |word| word.at);
            return Err(LimitError::new(at, "the % sign is missing: a limit is a share of the first value"));
        }
    };
    if let Some(word) = after.first() {
        let problem = format!("{:?} follows a limit that is complete; give each limit on its own", word.text);
        return Err(LimitError::new(word.at, problem));
    }
    let percent: Option<f64> = number.parse().ok().filter(|one| PERCENTS.contains(one));
    let problem =
        || LimitError::new(first.at, format!("{number:?} is no number from 0.001 to 100000, such as 5"));
    percent.ok_or_else(problem)
}

/// The percentages of limits: no clock resolves less, and more is no change by a part.
const PERCENTS: std::ops::RangeInclusive<f64> = 0.001..=100_000.0;

/// What is wrong in a limit, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {problem}")]
pub struct LimitError {
    /// The character at which the mistake is, starting at 1.
    pub at: usize,
    problem: String,
}

impl LimitError {
    fn new(at: usize, problem: impl Into<String>) -> Self {
        Self { at, problem: problem.into() }
    }
}

/// A word and the number of its first character, starting at 1.
struct Word<'a> {
    text: &'a str,
    at: usize,
}

fn words(text: &str) -> Vec<Word<'_>> {
    let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace()
        .map(|word| Word { text: word, at: text[..place(word)].chars().count() + 1 })
        .collect()
}

/// The name of a case as tables show it: with spaces between the settings of a point.
fn spaced(case: &str) -> String {
    case.replace(':', " ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{Direction, FigureName, FigureQuantity, Limit};
    use crate::Phase;

    fn limit(text: &str) -> Limit {
        text.parse().expect("a limit")
    }

    #[test]
    fn limits_are_read_and_written_alike() {
        for text in [
            "read.rate drops by more than 5 %",
            "*.latency rises by more than 12.5 %",
            "small tasks=4 mixed.p99.9 rises by more than 300 %",
            "* write.p50 drops by more than 0.1 %",
        ] {
            assert_eq!(limit(text).to_string(), text);
        }
        assert_eq!(limit("  read.rate   drops by more than 7%"), limit("read.rate drops by more than 7 %"));
        let small = limit("small:tasks=* read.rate drops by more than 5 %").figure;
        assert!(small.is_of("small:tasks=16", Phase::Read));
        assert!(!small.is_of("small:tasks=16", Phase::Write) && !small.is_of("large:tasks=16", Phase::Read));
        let [rates, latencies] = Limit::of_all(5.0);
        assert_eq!((rates.factor(), latencies.factor()), (0.95, 1.05));
        assert!(rates.figure.is_of("any", Phase::FileCreate));
        let tail: FigureName = "read.p99.99".parse().expect("a figure");
        assert_eq!(tail.quantity, FigureQuantity::Percentile(99.99));
    }

    #[test]
    fn a_mistake_is_named_with_its_place() {
        for (text, at, word) in [
            ("", 1, "drops"),
            ("drops by more than 5 %", 1, "figure is missing"),
            ("read.rate", 10, "drops"),
            ("read.rate falls by more than 5 %", 11, "drops"),
            ("read drops by more than 5 %", 1, "PHASE.QUANTITY"),
            ("raed.rate drops by more than 5 %", 1, "did you mean read?"),
            ("small raed.rate drops by more than 5 %", 7, "did you mean read?"),
            ("read.speed drops by more than 5 %", 6, "rate, latency"),
            ("read.p101 rises by more than 5 %", 6, "rate, latency"),
            ("read.rate drops by more then 5 %", 25, "\"than\""),
            ("read.rate drops by more than", 29, "percentage"),
            ("read.rate drops by more than 5", 31, "% sign"),
            ("read.rate drops by more than 5 MB/s", 32, "% sign"),
            ("read.rate drops by more than five %", 30, "no number"),
            ("read.rate drops by more than -5 %", 30, "no number"),
            ("read.rate drops by more than 100 %", 35, "nothing drops"),
            ("läse.rate drops by more then 5 %", 1, "no phase"),
            ("read.rate drops by more than 5 % and write.rate", 34, "on its own"),
        ] {
            let error = text.parse::<Limit>().expect_err(text);
            assert_eq!(error.at, at, "{text}: {error}");
            assert!(error.to_string().contains(word), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_within_it(text in "[a-zé.*%0-9 ]{0,40}") {
            if let Err(error) = text.parse::<Limit>() {
                assert!((1..=text.chars().count() + 1).contains(&error.at));
            }
        }

        #[test]
        fn every_limit_is_read_as_written(
            phase in proptest::sample::select(&Phase::ALL[..]),
            quantity in proptest::sample::select(vec![
                FigureQuantity::Rate, FigureQuantity::Latency, FigureQuantity::Percentile(99.9),
            ]),
            thousandths in 1_100_u32..100_000,
            drops in proptest::bool::ANY,
        ) {
            let direction = if drops { Direction::Drops } else { Direction::Rises };
            let percent = f64::from(thousandths) / if drops { 1_001.0 } else { 300.0 };
            let figure = FigureName { case: None, phase: Some(phase), quantity };
            let one = Limit { figure, direction, percent };
            assert_eq!(one.to_string().parse::<Limit>(), Ok(one));
        }
    }
}
