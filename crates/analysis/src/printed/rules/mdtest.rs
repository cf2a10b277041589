//! mdtest: rates and times of its phases, and what they have in common with its banner.

use plan::Phase;
use record::PrintedRow;

use super::iozone::average_between;
use super::printout::{Found, Printout, Values};
use crate::printed::{Printed, PrintedCheck, Reconciled, short};

/// The clock times are in whole seconds.
const CLOCK_SECONDS: f64 = 1.0;

/// Highest rate × shortest time, and lowest rate × longest time, are the operations of a phase.
pub(super) fn rates_and_times(printout: &Printout<'_>) -> Vec<Found> {
    printout.of_passes(|values| match values.row.key.phase {
        Phase::TreeCreate | Phase::TreeRemove => trees(values).into_iter().collect(),
        _ => operations(values, printout).unwrap_or_default(),
    })
}

/// The label of the rates of a phase.
fn label<'a>(values: &'a Values<'_>) -> Option<&'a str> {
    values.rows.iter().find(|row| row.unit == "ops/s" && row.statistic == "max").map(|row| &*row.label)
}

/// Highest rate × shortest time, and lowest rate × longest time.
fn products(values: &Values<'_>) -> Option<[Printed; 2]> {
    let label = label(values)?;
    let time = format!("{label} time");
    let of = |rate, seconds| Some(values.value(label, rate)?.by(values.value(&time, seconds)?));
    Some([of("max", "min")?, of("min", "max")?])
}

/// The operations of a phase of files or directories, if they are printed. With a status file of a deadline (`-x`), only
/// creations are known: the others do as many as that file says.
fn known_operations(values: &Values<'_>, printout: &Printout<'_>) -> Option<Printed> {
    match (values.row.key.phase, printout.value("items at the deadline", "max")) {
        (Phase::FileCreate, Some(each)) => Some(each.times(printout.case.tasks()?.into())),
        (_, Some(_)) => None,
        (phase, None) => {
            let items = printout.value("items", "stated")?;
            (phase == Phase::FileCreate || values.row.items as f64 == items.value).then_some(items)
        }
    }
    .map(|items| Printed::exact(items.value))
}

fn operations(values: &Values<'_>, printout: &Printout<'_>) -> Option<Vec<PrintedCheck>> {
    const RULE: &str = "rate × time = operations";
    let [most, least] = products(values)?;
    let known = known_operations(values, printout);
    // Another iteration has another number at its deadline.
    let same = values.iterations == Some(1) || printout.value("items at the deadline", "max").is_none();
    let of = |product: Printed, known: Printed| {
        let evidence = format!("{} by rate and time, printed {}", short(product.value), short(known.value));
        PrintedCheck::of(RULE, product, known, 0.0, evidence)
    };
    match known {
        Some(known) => same.then(|| vec![of(most, known), of(least, known)]),
        None if values.iterations != Some(1) => None,
        None => {
            let evidence = format!(
                "{} by the highest rate and the shortest time, {} by the lowest and the longest",
                short(most.value),
                short(least.value)
            );
            let items = printout.value("items", "stated").map(|items| Printed::exact(items.value));
            let more = items.filter(|items| most.value - most.half_digit > items.value);
            let alike = PrintedCheck::of(RULE, most, least, 0.0, evidence);
            Some(std::iter::once(alike).chain(more.map(|items| of(most, items))).collect())
        }
    }
}

/// The rate of a tree counts whole directories.
fn trees(values: &Values<'_>) -> Option<PrintedCheck> {
    let [directories, _] = products(values)?;
    // With longer rounding errors, any number is near a whole one.
    let whole = Printed::exact(directories.value.round().max(1.0));
    let evidence = format!("{} directories by rate and time", short(directories.value));
    let name = "rate × time = whole directories";
    (directories.half_digit < 0.25).then(|| PrintedCheck::of(name, directories, whole, 0.0, evidence))
}

/// The items that were created until the deadline.
pub(super) fn deadline(printout: &Printout<'_>) -> Vec<Found> {
    let average = printout.value("items at the deadline", "mean");
    let (Some(average), Some(tasks)) = (average, printout.case.tasks()) else { return Vec::new() };
    printout.of_passes(|values| {
        const STONEWALL: &str = "File create (stonewall)";
        let rate_and_time =
            values.value(STONEWALL, "mean").zip(values.value(&format!("{STONEWALL} time"), "mean"));
        let of_all = rate_and_time.filter(|_| values.iterations == Some(1)).map(|(rate, seconds)| {
            let (moved, by_average) = (rate.by(seconds), average.times(tasks.into()));
            let evidence = format!(
                "{} by rate and time, {} by the average",
                short(moved.value),
                short(by_average.value)
            );
            PrintedCheck::of("rate × time = tasks × items at the deadline", moved, by_average, 0.0, evidence)
        });
        let hit = |statistic| values.value("items at the deadline", statistic);
        let order = hit("min").zip(hit("max")).map(|(min, max)| average_between(min, average, max));
        of_all.into_iter().chain(order).collect()
    })
}

/// One iteration has one rate and one time for each phase.
pub(super) fn one_value(printout: &Printout<'_>) -> Vec<Found> {
    printout.of_passes(|values| {
        let means = values.rows.iter().filter(|row| row.statistic == "mean" && !row.unit.is_empty());
        let differs = |row: &&&PrintedRow| {
            let [min, max] = ["min", "max"].map(|statistic| values.find(&row.label, statistic));
            values.iterations == Some(1)
                && [min, max].into_iter().flatten().any(|other| other.value != row.value)
        };
        let check = |row: &&PrintedRow| {
            let evidence = format!("{}: a mean of {} of one value that differs", row.label, row.value);
            PrintedCheck::new("one iteration has one value", false, evidence, None)
        };
        means.filter(differs).map(check).collect()
    })
}

/// The times of all phases of one iteration and its delay are not longer than the time from start to end.
pub(super) fn reconciled(printout: &Printout<'_>) -> Vec<Found> {
    times(printout).map(|time| (None, time.check())).into_iter().collect()
}

fn times(printout: &Printout<'_>) -> Option<Reconciled> {
    let moment = |label: &str| printout.printed.iter().find(|row| row.label == label)?.number;
    let (started, finished) = moment("started").zip(moment("finished"))?;
    let passes: Vec<Values<'_>> = printout.passes().collect();
    if finished < started || passes.iter().any(|values| values.iterations != Some(1)) {
        return None;
    }
    let is_tree =
        |values: &&Values<'_>| matches!(values.row.key.phase, Phase::TreeCreate | Phase::TreeRemove);
    let seconds = |values: &Values<'_>| {
        let printed = label(values).and_then(|label| values.value(&format!("{label} time"), "mean"));
        let known = printed.map(|seconds| seconds.value);
        let counted = match is_tree(&values) {
            // How many directories a task's own tree counts differs between releases.
            true => !printout.case.workload.work.tree().is_some_and(|tree| tree.own_trees),
            false => known_operations(values, printout).is_some(),
        };
        known.or_else(|| counted.then_some(values.row.wall_ns as f64 / 1e9))
    };
    let (trees, others): (Vec<&Values<'_>>, Vec<&Values<'_>>) = passes.iter().partition(is_tree);
    let sum = |all: &[&Values<'_>]| all.iter().filter_map(|values| seconds(values)).sum::<f64>();
    let delay = printout.case.delay.as_secs_f64();
    let phases = [("files and directories", sum(&others)), ("tree", sum(&trees))];
    if phases.iter().all(|(_, seconds)| *seconds == 0.0) {
        return None;
    }
    let parts = phases.into_iter().chain([("delay", delay)]);
    let parts = parts.filter(|(_, seconds)| *seconds > 0.0).collect();
    Some(Reconciled::new(parts, finished - started, CLOCK_SECONDS))
}
