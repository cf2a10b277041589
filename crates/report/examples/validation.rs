//! The validation bench: `validation drawn|simulated [TRIALS] [FILE]` prints what is stated of records whose truth is
//! known, and fails where a limit does not hold. What was counted is kept in FILE, from which a later call goes on.
//! `validation percentiles [TRIALS]` does the same for promises of percentiles, `validation pages [TRIALS]` for pages of
//! comparisons and curves with noise of many kinds. With `UPDATE_DOCS=1` it writes its
//! table into `docs/VALIDATION.md`.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

#[path = "../tests/report/validation/mod.rs"]
mod validation;

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use validation::pages::{COMPARED, power};
use validation::{STATED_MIN, Source, Table};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/VALIDATION.md");
const END: &str = "<!-- End of the table. -->\n";
const TRIALS: usize = 10_000;
/// Repetitions on each side whose power is counted.
const POWER_REPETITIONS: [usize; 7] = [3, 5, 6, 8, 10, 20, 30];
const POWER_NOISES: [f64; 5] = [0.01, 0.02, 0.05, 0.1, 0.2];
/// Differences that are tried.
const EFFECTS: [f64; 8] = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 3.0, 9.0];
/// Pages of each noise, number of repetitions and number of comparisons.
const PAGES: usize = 2_000;
/// Trials between two times that the file is written.
const KEPT_EVERY: usize = 100;
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1).peekable();
    if words.next_if(|word| word == "percentiles").is_some() {
        let trials = words.next().map_or(Ok(TRIALS), |text| text.parse())?;
        let percentiles = validation::percentiles::percentiles(trials, SEED);
        return finish("percentiles", &percentiles.markdown(), &percentiles.broken_limits());
    }
    if words.next_if(|word| word == "pages").is_some() {
        let trials = words.next().map_or(Ok(PAGES), |text| text.parse())?;
        let pages = validation::pages::pages(trials, SEED);
        let text = format!("{}\n{}", pages.markdown(), power_table());
        return finish("pages", &text, &pages.broken_limits());
    }
    let (source, name) = match words.next().as_deref() {
        Some("drawn") | None => (Source::Drawn, "drawn"),
        Some("simulated") => (Source::Simulated, "simulated"),
        Some(other) => {
            return Err(
                format!("`{other}` is no source of records: drawn, simulated, percentiles or pages").into()
            );
        }
    };
    let trials = words.next().map_or(Ok(TRIALS), |text| text.parse())?;
    let file = words.next();
    let mut table = match &file {
        Some(file) if Path::new(file).exists() => serde_json::from_slice(&fs::read(file)?)?,
        _ => Table::new(source, SEED),
    };
    let Some(mut done) = table.trials_of(source, SEED) else {
        return Err("the file is of other trials: name another one".into());
    };
    while done < trials {
        done = trials.min(done + KEPT_EVERY);
        table.go_on(done);
        if let Some(file) = &file {
            // Whole or not at all.
            let new = format!("{file}.new");
            fs::write(&new, serde_json::to_vec(&table)?)?;
            fs::rename(new, file)?;
            println!("{done} trials");
        }
    }
    let mut text = table.markdown();
    let mut broken = table.broken_limits();
    if source == Source::Drawn {
        let rules = validation::rules::rules(trials, SEED);
        text = format!("{text}\n{}", rules.markdown());
        broken.extend(rules.broken_limits());
    }
    finish(name, &text, &broken)
}

/// Prints the table, writes it into the page if asked to, and fails if limits are broken.
fn finish(name: &str, text: &str, broken: &[String]) -> Result<(), Box<dyn Error>> {
    println!("{text}");
    if env::var_os("UPDATE_DOCS").is_some() {
        // The table stands between two lines of the page.
        let begin = format!("<!-- Written by UPDATE_DOCS=1 and the example `validation {name}`. -->\n");
        let page = fs::read_to_string(PAGE)?;
        let (before, rest) = page.split_once(&begin).ok_or("the page has lost the begin of the table")?;
        let (_, after) = rest.split_once(END).ok_or("the page has lost the end of the table")?;
        fs::write(PAGE, format!("{before}{begin}\n{text}\n{END}{after}"))?;
    }
    if broken.is_empty() { Ok(()) } else { Err(format!("these limits do not hold: {broken:#?}").into()) }
}

/// The smallest of [`EFFECTS`] that is told.
fn power_table() -> String {
    let heads = POWER_REPETITIONS.map(|repetitions| format!(" {repetitions} |")).concat();
    let mut text =
        format!("| comparisons | noise |{heads}\n|---:|---:|{}\n", "---:|".repeat(POWER_REPETITIONS.len()));
    for compared in COMPARED {
        for noise in POWER_NOISES {
            let cell = |repetitions| {
                let tells = |effect: &f64| power(noise, *effect, repetitions, compared, SEED) >= STATED_MIN;
                match EFFECTS.iter().copied().find(tells) {
                    None => " – |".to_owned(),
                    Some(effect) if effect < 1.0 => format!(" {:.0} % |", effect * 100.0),
                    Some(effect) => format!(" ×{:.0} |", effect + 1.0),
                }
            };
            let cells = POWER_REPETITIONS.map(cell).concat();
            text.push_str(&format!("| {compared} | {:.0} % |{cells}\n", noise * 100.0));
        }
    }
    text
}
