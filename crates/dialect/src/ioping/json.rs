//! The objects of ioping's JSON output, with the same order and number of digits.

use std::fmt::Write as _;

use super::stat::{IntervalStat, Request, per_second, whole};

/// The target of the requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Target {
    pub path: String,
    pub kind: String,
    pub device: String,
    pub bytes: u64,
}

/// One object, whose parts are written one after another.
#[derive(Debug)]
pub(super) struct Sample(String);

impl Sample {
    /// Begins an object for the time `unix_ns`, whose local time is `local`.
    pub(super) fn new(unix_ns: i64, local: &str, target: &Target) -> Self {
        let micros = unix_ns.div_euclid(1_000);
        let (seconds, micros) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
        let mut text = format!(
            "{{\n  \"timestamp\": {seconds}.{micros:06},\n  \"localtime\": {},\n  \"target\": {{\n",
            quoted(local)
        );
        let Target { path, kind, device, bytes } = target;
        let words = [("path", path), ("fstype", kind), ("device", device)];
        for (name, word) in words {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "    \"{name}\": {},", quoted(word));
        }
        let _ = write!(text, "    \"device_size\": {bytes}\n  }}");
        Self(text)
    }

    /// Adds request number `number`. `ignored` says that the statistics leave it out, `notice` what is
    /// unusual about it.
    pub(super) fn io(self, number: u64, request: Request, ignored: bool, notice: &str) -> Self {
        let operation = if request.write { "\"write\"" } else { "\"read\"" };
        self.part(
            "io",
            &[
                ("request", number.to_string()),
                ("operation", operation.to_owned()),
                ("offset", request.offset.to_string()),
                ("size", request.bytes.to_string()),
                ("time", request.latency_ns.to_string()),
                ("ignored", ignored.to_string()),
                ("notice", quoted(notice)),
            ],
        )
    }

    /// Adds the statistics of requests that took `took_ns` in total.
    pub(super) fn statistics(self, part: &IntervalStat, took_ns: u64) -> Self {
        let IntervalStat { stat, made, made_bytes, .. } = part;
        let stat = [
            ("count", stat.count.to_string()),
            ("size", stat.bytes.to_string()),
            ("time", stat.sum_ns.to_string()),
            ("iops", format!("{:.6}", stat.rate())),
            ("bps", whole(stat.speed()).to_string()),
            ("min", stat.min_ns.to_string()),
            ("avg", stat.mean_ns().to_string()),
            ("max", stat.max_ns.to_string()),
            ("mdev", stat.deviation_ns().to_string()),
        ];
        let load = [
            ("count", made.to_string()),
            ("failed", "0".to_owned()),
            ("size", made_bytes.to_string()),
            ("time", took_ns.to_string()),
            ("iops", format!("{:.6}", per_second(*made, took_ns))),
            ("bps", whole(per_second(*made_bytes, took_ns)).to_string()),
        ];
        self.part("stat", &stat).part("load", &load)
    }

    fn part(mut self, name: &str, values: &[(&str, String)]) -> Self {
        let lines: Vec<String> =
            values.iter().map(|(name, value)| format!("    \"{name}\": {value}")).collect();
        let _ = write!(self.0, ",\n  \"{name}\": {{\n{}\n  }}", lines.join(",\n"));
        self
    }

    /// Completes the object.
    pub(super) fn text(self) -> String {
        self.0 + "\n}"
    }
}

/// A text in JSON syntax. Characters that would affect a terminal are escaped.
fn quoted(text: &str) -> String {
    serde_json::Value::from(plan::visible(text)).to_string()
}
