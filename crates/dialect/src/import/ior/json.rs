//! IOR's JSON, releases 3.2 to 4.1.

use super::text::TOOL;
use super::{AGGREGATE, Options, Row};
use crate::import::draft::{Draft, Printed};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::json::{Json, Object};
use crate::import::text::lines::{narrow, whole};
use crate::import::text::{times, units};

/// Parses IOR's `summaryFormat=JSON`.
pub(crate) const IMPORTER: Importer = Importer {
    name: "ior-json",
    tool: TOOL,
    newest: Some((4, 1)),
    form: Form::Json { member: "Command line", several: false, read: parse },
};

/// The members of a result: IOR's name, and the label, unit and statistic of its value.
const RESULT: [(&str, &str, &str); 7] = [
    ("bwMiB", "bw", "MiB/s"),
    ("iops", "IOPS", "ops/s"),
    ("latency", "Latency", "s"),
    ("openTime", "open", "s"),
    ("wrRdTime", "wr/rd", "s"),
    ("closeTime", "close", "s"),
    ("totalTime", "total", "s"),
];
/// The members of a summary.
const SUMMARY: [(&str, &str, &str, &str); 10] = [
    ("bwMaxMIB", "bw", "MiB/s", "max"),
    ("bwMinMIB", "bw", "MiB/s", "min"),
    ("bwMeanMIB", "bw", "MiB/s", "mean"),
    ("bwStdMIB", "bw", "MiB/s", "standard deviation"),
    ("OPsMax", "IOPS", "ops/s", "max"),
    ("OPsMin", "IOPS", "ops/s", "min"),
    ("OPsMean", "IOPS", "ops/s", "mean"),
    ("OPsSD", "IOPS", "ops/s", "standard deviation"),
    ("MeanTime", "time", "s", "mean"),
    ("xsizeMiB", AGGREGATE, "MiB", "total"),
];
fn parse(file: &str, text: &str) -> Result<Draft, ImportError> {
    let json = Json::new(file, TOOL, text);
    let root = json.object(json.root()?)?;
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    draft.version = root.text("Version").map(|text| text.trim_start_matches("IOR-").to_owned());
    draft.command = root.text("Command line");
    draft.node = root.text("Machine").and_then(|text| text.split_whitespace().last().map(str::to_owned));
    draft.started = root.text("Began").and_then(|text| times::moment(&text));
    draft.finished = root.text("Finished").and_then(|text| times::moment(&text));
    let tests = root.get("tests").ok_or_else(|| json.ended("`tests`"))?;
    for (index, test) in json.objects(tests)?.iter().enumerate() {
        let options = options(&json, test)?;
        let mut stated = stated(&json, test)?;
        let results = test.get("Results").ok_or_else(|| json.ended("`Results` of a test"))?;
        let mut iterations = [0_u32; 2];
        for result in json.objects(results)? {
            let Some(phase) = result.text("access").as_deref().and_then(super::phase) else { continue };
            let count = &mut iterations[usize::from(phase == plan::Phase::Read)];
            let mut row = Row::default();
            let mut printed = Vec::new();
            for (name, label, unit) in RESULT {
                let Some(raw) = result.get(name) else { continue };
                let value = json.number(raw)?;
                match name {
                    "bwMiB" => row.mib_per_second = value,
                    "openTime" => row.open_s = Some(value),
                    "wrRdTime" => row.io_s = Some(value),
                    "closeTime" => row.close_s = Some(value),
                    "totalTime" => row.total_s = Some(value),
                    _ => {}
                }
                printed.push(Printed::new(json.line(raw), label, raw.get(), unit, "single"));
            }
            if printed.is_empty() || result.get("bwMiB").is_none() {
                return Err(json.ended("`bwMiB` of a result"));
            }
            let started = draft.started.filter(|_| *count == 0);
            let pass = super::test_mut(&mut draft, &options, index).pass_mut(phase, *count);
            *count += 1;
            super::derive(pass, &row, &options);
            pass.printed.extend(stated.drain(..).chain(printed));
            pass.began(started);
        }
    }
    summary(&json, &root, &mut draft)?;
    draft.tests.retain(|test| !test.passes.is_empty());
    match draft.tests.is_empty() {
        true => Err(json.ended("a result")),
        false => Ok(draft),
    }
}

/// Adds the statistics of each test to its first pass.
fn summary(json: &Json<'_>, root: &Object<'_>, draft: &mut Draft) -> Result<(), ImportError> {
    let Some(summary) = root.get("summary") else { return Ok(()) };
    for one in json.objects(summary)? {
        let index = one.number("TestID").map_or(0, |id| narrow(whole(id))) as usize;
        let phase = one.text("operation").as_deref().and_then(super::phase);
        let Some((test, phase)) = draft.tests.get_mut(index).zip(phase) else { continue };
        let pass = test.pass_mut(phase, 0);
        for (name, label, unit, statistic) in SUMMARY {
            if let Some(raw) = one.get(name) {
                let _ = json.number(raw)?;
                pass.printed.push(Printed::new(json.line(raw), label, raw.get(), unit, statistic));
            }
        }
    }
    Ok(())
}

/// What the options say about the amount.
fn stated(json: &Json<'_>, test: &Object<'_>) -> Result<Vec<Printed>, ImportError> {
    let Some(options) = test.get("Options") else { return Ok(Vec::new()) };
    let options = json.object(options)?;
    let of = |label: &&'static str| {
        let raw = options.get(label)?;
        Some(super::stated(json.line(raw), label, raw.get().trim_matches('"')))
    };
    Ok(super::AMOUNT.iter().filter_map(of).collect())
}

fn options(json: &Json<'_>, test: &Object<'_>) -> Result<Options, ImportError> {
    let mut options = Options::default();
    if let Some(printed_options) = test.get("Options") {
        let printed_options = json.object(printed_options)?;
        let count = |name: &str| printed_options.number(name).map(whole);
        options = Options {
            api: printed_options.text("api"),
            file: printed_options.text("test filename"),
            access: printed_options.text("access"),
            segments: count("segments"),
            order: printed_options.text("ordering in a file"),
            nodes: count("nodes"),
            tasks: count("tasks").map(|tasks| tasks.max(1)),
            transfer: printed_options.text("xfersize").and_then(|text| units::size(&text, false)).map(whole),
            block: printed_options.text("blocksize").and_then(|text| units::size(&text, false)).map(whole),
            repetitions: count("repetitions"),
            aggregate: printed_options.text("aggregate filesize").and_then(|text| units::size(&text, false)),
        };
    }
    // These values are not rounded.
    if let Some(parameters) = test.get("Parameters") {
        let parameters = json.object(parameters)?;
        options.transfer = parameters.number("transferSize").map(whole).or(options.transfer);
        options.block = parameters.number("blockSize").map(whole).or(options.block);
        options.segments = parameters.number("segmentCount").map(whole).or(options.segments);
    }
    Ok(options)
}
