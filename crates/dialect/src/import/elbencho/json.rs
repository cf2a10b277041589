//! elbencho's JSON results: a sequence of objects, one for each phase.
//!
//! Every value is a text. The buckets of histograms are named by a range in µs, about 19 % wide.

use plan::Operation;
use plan::limits::PRINTED_PHASES;

use super::{Conditions, TOOL};
use crate::import::draft::{Bucket, Draft, Pass, Printed};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::json::{Json, Object};
use crate::import::text::lines::{nanos_at, number, whole};
use crate::import::text::times;

/// Parses elbencho's `--jsonfile`.
pub(crate) const IMPORTER: Importer = Importer {
    name: "elbencho-json",
    tool: TOOL,
    newest: Some((3, 1)),
    form: Form::Json { member: "phase_type", several: true, read: parse },
};

fn parse(file: &str, text: &str) -> Result<Draft, ImportError> {
    let json = Json::new(file, TOOL, text);
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    for root in json.roots(PRINTED_PHASES)? {
        phase(&json, &json.object(root)?, &mut draft)?;
    }
    match draft.tests.is_empty() {
        true => Err(json.ended("the result of a phase")),
        false => Ok(draft),
    }
}

fn phase<'a>(json: &Json<'a>, object: &Object<'a>, draft: &mut Draft) -> Result<(), ImportError> {
    let part = |object: &Object<'a>, name: &str| {
        let raw = object.get(name).ok_or_else(|| json.ended(&format!("`{name}` of a phase")))?;
        json.object(raw)
    };
    let config = part(object, "config")?;
    let count = |name: &str| config.number(name).map(whole);
    let flag = |name: &str| config.text(name).map(|text| text == "true");
    let last = part(object, "last_done")?;
    // Of files that a time limit cut short, no entries are printed: then it is a phase of transfers.
    let in_directories = config.text("path_type").as_deref() == Some("dir") && last.get("entries").is_some();
    let conditions = Conditions {
        path: "unknown".to_owned(),
        hosts: count("hosts"),
        threads: count("threads"),
        file_bytes: count("file_size"),
        block_bytes: count("block_size"),
        direct: flag("direct_io"),
        random: flag("random_offsets"),
        depth: count("io_depth"),
        in_directories,
    };
    draft.version = config.text("version").or(draft.version.take());
    draft.command = config.text("command").map(|text| text.trim().to_owned()).or(draft.command.take());
    let began = object.text("iso_start_date").and_then(|text| times::moment(&text));
    (draft.started, draft.zoned) = (draft.started.or(began), true);
    let operation = object.text("phase_type").unwrap_or_default();
    let Some(phase) = super::phase(&operation, in_directories) else {
        draft.doubts.push(format!("elbencho's phase {operation} is not a known measurement; it was skipped"));
        return Ok(());
    };
    let mut pass = Pass::new(phase, 0);
    pass.began(began);
    derive(json, &mut pass, &last, &conditions)?;
    if let Some(raw) = object.get("first_done") {
        let first = json.object(raw)?;
        print(json, &mut pass, &first, "first done")?;
        pass.row.first_done_bytes = first.number("bytes").map_or(0, whole);
        let rate = first.number("bytes/s").unwrap_or(0.0);
        pass.row.first_done_ns =
            nanos_at(first.number("bytes").unwrap_or(0.0), rate).unwrap_or(0).min(pass.row.wall_ns);
    }
    print(json, &mut pass, &last, "last done")?;
    if let Some(raw) = last.get("latency") {
        for (name, raw) in json.object(raw)?.members() {
            latency(json, &mut pass, name, &json.object(raw)?)?;
        }
    }
    super::add(draft, conditions, pass, false);
    Ok(())
}

fn derive<'a>(
    json: &Json<'a>,
    pass: &mut Pass,
    last: &Object<'a>,
    conditions: &Conditions,
) -> Result<(), ImportError> {
    let value = |name: &str| last.number(name).unwrap_or(0.0);
    let (bytes, entries) = (value("bytes"), value("entries"));
    let by_rate = nanos_at(bytes, value("bytes/s")).or_else(|| nanos_at(entries, value("entries/s")));
    let wall = by_rate.unwrap_or_else(|| whole(value("elapsed_time_ms") * 1e6));
    if wall == 0 {
        return Err(json.ended("a rate or `elapsed_time_ms` above 0 of a phase"));
    }
    pass.took(wall);
    let block = conditions.block_bytes.filter(|&block| block > 0 && bytes > 0.0);
    let operations = match (conditions.in_directories, block) {
        (true, _) => entries,
        (false, Some(block)) => bytes / block as f64,
        (false, None) if entries > 0.0 => entries,
        (false, None) => value("iops") * wall as f64 / 1e9,
    };
    pass.moved(whole(operations), whole(bytes));
    Ok(())
}

fn print<'a>(
    json: &Json<'a>,
    pass: &mut Pass,
    object: &Object<'a>,
    statistic: &str,
) -> Result<(), ImportError> {
    let names = [
        ("elapsed_time_ms", "ms"),
        ("iops", "ops/s"),
        ("entries/s", "ops/s"),
        ("bytes/s", "bytes/s"),
        ("bytes", "bytes"),
        ("entries", ""),
        ("cpu%", "%"),
    ];
    for (name, unit) in names {
        if let Some(raw) = object.get(name) {
            let _ = json.number(raw)?;
            pass.printed.push(Printed::new(
                json.line(raw),
                name,
                raw.get().trim_matches('"'),
                unit,
                statistic,
            ));
        }
    }
    Ok(())
}

fn latency<'a>(json: &Json<'a>, pass: &mut Pass, name: &str, object: &Object<'a>) -> Result<(), ImportError> {
    let label = format!("{name} latency");
    for (member, statistic) in [("min_us", "min"), ("avg_us", "mean"), ("max_us", "max")] {
        if let Some(raw) = object.get(member) {
            pass.printed.push(Printed::new(
                json.line(raw),
                &label,
                raw.get().trim_matches('"'),
                "us",
                statistic,
            ));
        }
    }
    let Some(histogram) = object.get("histogram") else { return Ok(()) };
    let Some(buckets) = json.object(histogram)?.get("buckets") else { return Ok(()) };
    let operation = match pass.row.key.phase {
        plan::Phase::Read => Operation::Read,
        plan::Phase::Write => Operation::Write,
        phase => super::item_operation(phase),
    };
    for bucket in json.objects(buckets)? {
        let range = bucket.get("range").ok_or_else(|| json.malformed(buckets, "a `range` in each bucket"))?;
        let count = bucket.get("count").ok_or_else(|| json.malformed(buckets, "a `count` in each bucket"))?;
        let text = crate::import::text::json::text(range);
        let (low, high) = text
            .trim_end_matches("us")
            .split_once('-')
            .and_then(|(low, high)| Some((number(low)?, number(high)?)))
            .ok_or_else(|| json.malformed(range, "a range such as `23-27us`"))?;
        let count = whole(json.number(count)?);
        pass.latency.push(Bucket { operation, low_ns: whole(low * 1e3), high_ns: whole(high * 1e3), count });
    }
    let moments = ["min_us", "max_us", "avg_us"];
    pass.printed_latency(operation, moments.map(|name| object.number(name).unwrap_or(0.0) * 1e3));
    pass.note("the buckets of its histogram are up to 19 % wide");
    Ok(())
}
