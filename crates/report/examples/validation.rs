//! The validation bench: `validation [TRIALS]` prints what is stated of records whose truth is known,
//! and fails where a limit does not hold. With `UPDATE_DOCS=1` it writes the table into `docs/VALIDATION.md`.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

#[path = "../tests/report/validation/mod.rs"]
mod validation;

use std::error::Error;
use std::{env, fs};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/VALIDATION.md");
/// The table stands below this line, to the end of the page.
const MARK: &str = "<!-- Below: written by UPDATE_DOCS=1 and the example `validation`. -->\n";
const TRIALS: usize = 10_000;
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let trials = env::args().nth(1).map_or(Ok(TRIALS), |text| text.parse())?;
    let table = validation::table(trials, SEED);
    let rules = validation::rules::rules(trials, SEED);
    let text = format!("{}\n{}", table.markdown(), rules.markdown());
    println!("{text}");
    if env::var_os("UPDATE_DOCS").is_some() {
        let page = fs::read_to_string(PAGE)?;
        let (before, _) = page.split_once(MARK).ok_or("the page has lost its mark")?;
        fs::write(PAGE, format!("{before}{MARK}\n{text}"))?;
    }
    let mut broken = table.broken_limits();
    broken.extend(rules.broken_limits());
    if broken.is_empty() { Ok(()) } else { Err(format!("these limits do not hold: {broken:#?}").into()) }
}
