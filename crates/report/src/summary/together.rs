//! Workloads that ran at the same time: what each got and lost, and what all of them got together.

use std::collections::{BTreeSet, HashMap};

use analysis::figures::RateOf;
use analysis::gate::{Because, Stated};
use analysis::statistics::{Contrast, Summary};
use analysis::together::{AllTogether, Beside};

use crate::format::table::Table;
use crate::format::{BYTES_PER_SECOND, compact, compact_rate, counted, duration};
use crate::report::Report;
use crate::report::figure::Figure;
use crate::report::statements::reasons;
use crate::section::{Block, only};

/// Maximum number of workloads with a line each; of more, each set of workloads has one line.
const EACH_MAX: usize = 9;
/// Maximum number of sets with a line.
const SETS_MAX: usize = 16;

/// What is told on the card; `marks` are those of the doubts about each figure, by its number.
struct Told<'a> {
    report: &'a Report,
    marks: &'a HashMap<usize, String>,
}

/// A line for each workload and one for all of them, or one for each set of many; empty if none ran at the same time.
/// `marks` are those of the doubts about each figure, by its number.
pub(crate) fn blocks(report: &Report, marks: &HashMap<usize, String>) -> Vec<Block> {
    let told = Told { report, marks };
    let each = &report.found.beside_others;
    let mut lines: Vec<(String, String)> = Vec::new();
    for all in &report.found.all_together {
        let own: Vec<&Stated<Beside>> =
            each.iter().filter(|one| all.inputs.contains(&one.figure())).collect();
        let name = told.case_of(all).split(':').next().unwrap_or_default().to_owned();
        if each.len() > EACH_MAX {
            lines.push((name, told.set(all, &own)));
        } else {
            lines.extend(own.iter().map(|one| (told.beside_what(one), told.beside(one))));
            lines.push((name, told.all(all)));
        }
    }
    if each.len() > EACH_MAX && lines.len() > SETS_MAX + 1 {
        let more = lines.split_off(SETS_MAX).len();
        lines.push((counted(more as u64, "more set"), "in the full report".to_owned()));
    }
    let table =
        Table::of(lines).left("", |(about, _)| about.clone()).left("", |(_, says)| says.clone()).done();
    only("At the same time", table)
}

impl Told<'_> {
    /// The case of the figure that a statement is about.
    fn case_of<T>(&self, stated: &Stated<T>) -> &str {
        self.report.figures.get(stated.figure()).map_or("", |own| &own.source.case)
    }

    /// `restart beside checkpoint`.
    fn beside_what(&self, stated: &Stated<Beside>) -> String {
        let name = |case: &str| case.split_once(':').map_or(case, |(_, own)| own).to_owned();
        let case = self.case_of(stated);
        let set = self.report.found.all_together.iter().find(|all| all.inputs.contains(&stated.figure()));
        let cases = set.into_iter().flat_map(|all| &all.inputs).filter_map(|&at| self.report.figures.get(at));
        let others: Vec<String> = cases
            .map(|own| &own.source.case)
            .filter(|other| *other != case)
            .map(|other| name(other))
            .collect();
        format!("{} beside {}", name(case), others.join(", "))
    }

    /// `412 MB/s, 31.0 % less than alone (28.1 to 33.9 %)`.
    fn beside(&self, stated: &Stated<Beside>) -> String {
        let Some(one) = stated.says() else { return withheld(stated) };
        let rate = one.rates.map(|rates| self.rate(stated.figure(), one.counts, rates.median));
        let parts = [rate, against_alone(one)];
        let words = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        words + &self.why(stated)
    }

    /// `1.21 GB/s together (1.19–1.22), while all ran for 19.8 s`.
    fn all(&self, stated: &Stated<AllTogether>) -> String {
        let Some(all) = stated.says() else { return withheld(stated) };
        let ran = all.windows.map_or_else(String::new, |all| duration(all.median));
        let words = match &all.rates {
            Some(rates) => format!("{}, while all ran for {ran}", sum(rates)),
            None => format!("all ran for {ran}"),
        };
        words + &self.why(stated)
    }

    /// `5 workloads: 1.21 GB/s together; most is lost by job-3, 31.0 % less than alone (28.1 to 33.9 %)`.
    fn set(&self, stated: &Stated<AllTogether>, own: &[&Stated<Beside>]) -> String {
        let Some(all) = stated.says() else { return withheld(stated) };
        let rates = all.rates.as_ref().map(sum);
        // One that at times completed nothing has lost more than any other, but no number is told of that.
        let lost = |one: &&Beside| (one.without, one.loss().unwrap_or_default());
        let most = own.iter().filter_map(|one| one.says());
        let most = most.filter(|one| one.starved().is_some() || lost(one).1 > 0.0);
        let most = most.max_by(|one, other| {
            let (one, other) = (lost(one), lost(other));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        });
        let most =
            most.and_then(|one| Some(format!("most is lost by {}, {}", one.workload, against_alone(one)?)));
        let untold = own.iter().filter(|one| one.says().is_none()).count();
        let untold = (untold > 0).then(|| format!("{untold} withheld"));
        let least = most.or_else(|| Some("no loss told".to_owned()));
        let told = [rates, least, untold].into_iter().flatten().collect::<Vec<_>>().join("; ");
        format!("{}: {told}{}", counted(own.len() as u64, "workload"), self.why(stated))
    }

    /// A rate of the figure at `place`, in the unit of its other rates.
    fn rate(&self, place: usize, counts: RateOf, value: f64) -> String {
        let own = self.report.figures.get(place);
        let unit = own.map_or(counts.unit(), Figure::shown_unit);
        let transfer = own.and_then(|own| own.transfer_bytes).filter(|bytes| *bytes > 0);
        match (counts, transfer) {
            (RateOf::Bytes, Some(bytes)) if unit != BYTES_PER_SECOND => {
                compact_rate(value / bytes as f64, unit)
            }
            (RateOf::Bytes, _) => compact_rate(value, BYTES_PER_SECOND),
            (RateOf::Operations, _) => compact_rate(value, unit),
        }
    }

    /// Why it is marked, other than by doubts, and the letters of the doubts about its figures.
    fn why<T>(&self, stated: &Stated<T>) -> String {
        let own = stated.reasons.iter().map(|one| one.because);
        let own = own.filter(|because| !matches!(because, Because::Doubted(check) if check.is_doubt()));
        let own: String = own.map(|because| format!("; {}", because.name())).collect();
        let marks = stated.inputs.iter().filter_map(|place| self.marks.get(&(place + 1)));
        let marks: BTreeSet<&str> = marks.flat_map(|marks| marks.split(' ')).collect();
        match marks.is_empty() {
            true => own,
            false => format!("{own}  ! {}", marks.into_iter().collect::<Vec<_>>().join(" ")),
        }
    }
}

/// `1.21 GB/s together (1.19–1.22)`.
fn sum(rates: &Summary) -> String {
    let of = |value: f64| compact(value, rates.median, true);
    let range = rates.median_interval.map(|ends| (ends.low, ends.high)).or(Some((rates.min, rates.max)));
    let range = range.filter(|_| rates.n > 1).map(|(low, high)| format!(" ({}–{})", of(low), of(high)));
    format!("{} together{}", compact_rate(rates.median, BYTES_PER_SECOND), range.unwrap_or_default())
}

/// What it lost or won, if anything is told of that.
fn against_alone(one: &Beside) -> Option<String> {
    if let Some(starved) = one.starved() {
        return Some(starved);
    }
    let (difference, percent) = (one.difference?, |share: f64| format!("{:.1}", share * 100.0));
    let ends = |sign: f64| {
        let (low, high) = one.loss_interval()?;
        let (low, high) = if sign < 0.0 { (-high, -low) } else { (low, high) };
        Some(format!(" ({} to {} %)", percent(low), percent(high)))
    };
    let change = percent(difference.change.abs());
    Some(match difference.outcome {
        Contrast::Lower => format!("{change} % less than alone{}", ends(1.0).unwrap_or_default()),
        Contrast::Higher => format!("{change} % more than alone{}", ends(-1.0).unwrap_or_default()),
        Contrast::NotShown => {
            format!("no difference from alone shown{}", ends(-1.0).unwrap_or_default())
        }
        Contrast::TooFew => return None,
    })
}

fn withheld<T>(stated: &Stated<T>) -> String {
    format!("withheld: {}", reasons(&stated.reasons))
}
