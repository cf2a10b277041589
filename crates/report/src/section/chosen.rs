//! Selection of the figures shown in full if a study has too many.

use analysis::{audit::AuditIssue, gate::Kind};

use crate::report::Report;
use crate::report::figure::Figure;

/// Maximum number of swept figures shown in full.
const SWEPT_MAX: usize = 40;
/// Maximum number of figures outside sweeps shown in full.
const SINGLE_MAX: usize = 100;

/// Some of a report's figures, by their numbers.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    /// In ascending order.
    pub(crate) numbers: Vec<usize>,
    /// The number of all figures.
    pub(crate) of: usize,
}

impl Chosen {
    /// All figures if they are few. Otherwise those outside sweeps, and swept ones that decided a verdict, are the best
    /// of their sweep, or are doubtful.
    pub(crate) fn of(report: &Report) -> Self {
        let of = report.figures.len();
        let single = report.figures.iter().filter(|figure| figure.settings.is_empty());
        let mut numbers: Vec<usize> = single.map(|figure| figure.number).take(SINGLE_MAX).collect();
        let found = &report.found;
        let all = report.figures.iter().map(|figure| figure.number);
        let number = |one: &AuditIssue| one.figure.map(|place| place + 1);
        let few = of <= SWEPT_MAX;
        let stated = |kind| report.statements.stated(kind).filter_map(|row| row.figures.first());
        let swept = stated(Kind::Commitment)
            .map(|place| place + 1)
            .chain(report.statements.stated(Kind::Best).map(|row| row.figures[0] + 1))
            .chain(found.audit.iter().filter(|one| one.disqualifies()).filter_map(number))
            .chain(found.audit.iter().filter(|one| one.check.is_doubt()).filter_map(number))
            .chain(all.filter(|_| few));
        let mut left = SWEPT_MAX;
        for number in swept {
            if left > 0 && (1..=of).contains(&number) && !numbers.contains(&number) {
                numbers.push(number);
                left -= 1;
            }
        }
        numbers.sort_unstable();
        Self { numbers, of }
    }

    /// The figures themselves.
    pub(crate) fn figures<'a>(&self, report: &'a Report) -> Vec<&'a Figure> {
        self.numbers.iter().filter_map(|number| report.figures.get(number - 1)).collect()
    }

    /// A note on what is omitted and where to find it; none if everything is shown.
    pub(crate) fn left_out(&self) -> Option<String> {
        (self.numbers.len() < self.of).then(|| {
            format!(
                "{} of {} figures: those that decided a verdict, the best of each sweep, doubtful ones and those \
                 outside of sweeps. The tables of the sweeps have every point, the CSV form has every figure.",
                crate::format::grouped(self.numbers.len() as u64),
                crate::format::grouped(self.of as u64)
            )
        })
    }
}
