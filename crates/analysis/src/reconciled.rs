//! Whether the times of all phases and delays explain the time from start to finish.

use std::fmt;

use crate::printed_checks::{PrintedCheck, PrintedOutcome, PrintedRule};

/// One part of a run's time.
#[derive(Debug, Clone, PartialEq)]
pub struct TimePart {
    /// What took it: a phase, a delay.
    pub name: String,
    /// How long, in seconds.
    pub seconds: f64,
}

impl TimePart {
    /// A part of known length.
    #[must_use]
    pub fn new(name: impl Into<String>, seconds: f64) -> Self {
        Self { name: name.into(), seconds }
    }

    /// A phase that did `operations` at `per_second`; none where the rate is not above 0.
    #[must_use]
    pub fn of_rate(name: impl Into<String>, operations: f64, per_second: f64) -> Option<Self> {
        (per_second > 0.0).then(|| Self::new(name, operations / per_second))
    }
}

/// The parts of a run's time, and the run's time.
///
/// ```
/// use analysis::{Reconciled, TimePart};
/// let parts = [("files", 13.86), ("tree", 4.18), ("delay", 8.0)].map(|(name, s)| TimePart::new(name, s));
/// let time = Reconciled::new(parts.to_vec(), 26.0, 1.0);
/// assert_eq!(time.to_string(), "13.86 + 4.18 + 8 = 26.04 s of 26 s");
/// assert!(time.agrees());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Reconciled {
    /// What took time, in order.
    pub parts: Vec<TimePart>,
    /// From start to finish, in seconds.
    pub wall_seconds: f64,
    /// How exactly that is known: a clock that shows whole seconds leaves one open.
    pub resolution_seconds: f64,
}

impl Reconciled {
    /// `parts` of a run that took `wall_seconds`, known to `resolution_seconds`.
    #[must_use]
    pub const fn new(parts: Vec<TimePart>, wall_seconds: f64, resolution_seconds: f64) -> Self {
        Self { parts, wall_seconds, resolution_seconds }
    }

    /// All parts together.
    #[must_use]
    pub fn explained_seconds(&self) -> f64 {
        self.parts.iter().map(|part| part.seconds).sum()
    }

    /// Wall time that no part explains; negative where the parts are more.
    #[must_use]
    pub fn unexplained_seconds(&self) -> f64 {
        self.wall_seconds - self.explained_seconds()
    }

    /// Whether the parts are all of the wall time, as exactly as that is known.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.unexplained_seconds().abs() <= self.resolution_seconds
    }

    /// As a check of printed values.
    #[must_use]
    pub fn check(&self) -> PrintedCheck {
        let off = self.explained_seconds() / self.wall_seconds - 1.0;
        PrintedCheck {
            rule: PrintedRule::WallTime,
            outcome: if self.agrees() { PrintedOutcome::Agrees } else { PrintedOutcome::Differs },
            evidence: self.to_string(),
            off: off.is_finite().then_some(off),
        }
    }
}

/// `13.86 + 4.18 + 8 = 26.04 s of 26 s`.
impl fmt::Display for Reconciled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms: Vec<String> = self.parts.iter().map(|part| seconds(part.seconds)).collect();
        let terms = if terms.is_empty() { "nothing".to_owned() } else { terms.join(" + ") };
        write!(f, "{terms} = {} s of {} s", seconds(self.explained_seconds()), seconds(self.wall_seconds))
    }
}

/// To hundredths, and to two digits below one: a phase may take milliseconds.
fn seconds(seconds: f64) -> String {
    let text = if seconds.abs() < 0.095 { format!("{seconds:.4}") } else { format!("{seconds:.2}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
