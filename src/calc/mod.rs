//! `ioproof calc`: applies the formulas of the analysis to numbers from the command line, such as a published
//! figure, a value from a data sheet, or a column of numbers.

mod arguments;
mod columns;

pub(crate) use arguments::Calculation;
use report::calc;

use crate::console::exit::{Exit, Failure};
use crate::console::print;

/// Runs a calculation and prints the result.
pub(crate) fn run(calculation: &Calculation) -> Result<Exit, Failure> {
    let text = match calculation {
        Calculation::Scalability { measured, baseline, devices, tasks } => {
            calc::scalability(*measured, *baseline, *devices, *tasks)
        }
        Calculation::Tax { reference, other } => calc::tax(*reference, *other),
        Calculation::Balance { tasks, targets } => Ok(calc::balance(*tasks, *targets)),
        Calculation::Units { rate, transfer } => calc::units(*rate, *transfer),
        Calculation::Drives { goal, per_drive, data, parity } => {
            calc::drives(*goal, per_drive, *data, *parity)
        }
        Calculation::Bound { limits, measured } => calc::bound(limits, *measured),
        Calculation::Job { tasks, operations, seconds } => calc::job(*tasks, *operations, *seconds),
        Calculation::Little { rate, latency, in_flight } => calc::little(*rate, *latency, *in_flight),
        Calculation::Margin { promised, measured } => calc::margin(*promised, *measured),
        Calculation::Crossover { slope, plateau } => calc::crossover(*slope, *plateau),
        Calculation::Difference { before, after } => Ok(calc::difference(*before, *after)),
        Calculation::Statistics(given) => Ok(calc::statistics(&given.printed())),
        Calculation::Values { file } => calc::values(&columns::one(file.as_deref())?),
        Calculation::Compare { before, after } => {
            calc::compare(&columns::one(Some(before))?, &columns::one(Some(after))?)
        }
        Calculation::Regression { file, at } => calc::regression(&columns::two(file.as_deref())?, at),
        Calculation::Curve { file } => calc::curve(&columns::two(file.as_deref())?),
    };
    print(&text.map_err(Failure::usage)?)?;
    Ok(Exit::Success)
}
