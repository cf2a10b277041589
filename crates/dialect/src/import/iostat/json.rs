//! `iostat -x -o JSON`.

use super::{Report, TOOL, Value};
use crate::import::draft::Draft;
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::json::Json;
use crate::import::text::times;

/// Parses `iostat -x -o JSON`.
pub(crate) const IMPORTER: Importer = Importer {
    name: "iostat-json",
    tool: TOOL,
    newest: Some((12, 7)),
    form: Form::Json { member: "sysstat", several: false, read: parse },
};

fn parse(file: &str, text: &str) -> Result<Draft, ImportError> {
    let json = Json::new(file, TOOL, text);
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let root = json.object(json.root()?)?;
    let sysstat = json.object(root.get("sysstat").ok_or_else(|| json.ended("`sysstat`"))?)?;
    let hosts = json.objects(sysstat.get("hosts").ok_or_else(|| json.ended("`hosts`"))?)?;
    for host in &hosts {
        draft.node = host.text("nodename");
        let mut reports = Vec::new();
        let statistics = host.get("statistics").ok_or_else(|| json.ended("`statistics` of a host"))?;
        for one in json.objects(statistics)? {
            let mut report = Report {
                at: one.text("timestamp").and_then(|text| times::moment(&text)),
                devices: Vec::new(),
            };
            let disks = one.get("disk").ok_or_else(|| json.ended("`disk` of a report"))?;
            for disk in json.objects(disks)? {
                let device = disk
                    .text("disk_device")
                    .ok_or_else(|| json.malformed(disks, "`disk_device` of each disk"))?;
                if disk.get("r/s").is_none() {
                    return Err(json.malformed(disks, "`r/s` of each disk, as `iostat -x` writes it"));
                }
                let mut values = Vec::new();
                for (name, raw) in disk.members().filter(|(name, _)| *name != "disk_device") {
                    let (line, number) = (json.line(raw), json.number(raw)?);
                    values.push(Value { name: name.to_owned(), line, text: line.text, number });
                }
                report.add((device, values));
            }
            reports.push(report);
        }
        super::build(&mut draft, reports);
    }
    match draft.tests.is_empty() {
        true => Err(json.ended("the numbers of a device")),
        false => Ok(draft),
    }
}
