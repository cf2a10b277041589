//! Words of other tools and of everyday speech that are not those of a study file, and what to write instead. The
//! nearest name is not enough for them: `bs` resembles no key, and `p99` is a number and not a statistic.

use super::table::definition::Table;

/// Keys that people write, by table, and what to write instead.
const KEYS: [(&str, &[&str], &str); 18] = [
    ("workload", &["bs", "blocksize", "block_size", "xfersize", "record_size"], "transfer = \"4KiB\""),
    ("workload", &["numjobs", "procs", "processes_per_node", "workers", "clients"], "tasks = 4"),
    ("workload", &["qd", "queuedepth", "in_flight"], "depth = 32"),
    ("workload", &["runtime", "run_time", "time", "seconds", "stonewall_time"], "duration = \"30s\""),
    (
        "workload",
        &["rw", "readwrite", "operation", "mode"],
        "phases = [\"write\", \"read\"] and order = \"random\"",
    ),
    ("workload", &["access"], "order = \"random\""),
    ("workload", &["rwmixread", "read_share", "mix"], "phases = [\"mixed\"] and read_percent = 70"),
    ("workload", &["filesize", "file_size", "blocks", "io_size"], "size = \"1GiB\", of each task"),
    ("workload", &["ioengine", "engine", "api"], "backend"),
    ("workload", &["rate_iops", "iops", "iops_limit"], "rate = 1000, in transfers per second"),
    ("workload", &["o_direct", "odirect", "buffered"], "direct = true"),
    ("workload", &["fsync_on_close", "end_fsync", "sync"], "fsync = \"close\""),
    ("workload", &["loops", "iterations", "repeats", "runs", "numruns"], "repetitions = 5"),
    ("workload", &["filename", "file", "dir", "directory"], "target = \"NAME\", and directory in [[target]]"),
    ("target", &["filename", "file", "dir", "mountpoint", "mount"], "directory = \"/mnt/x\""),
    ("protocol", &["loops", "iterations", "repeats", "runs", "numruns"], "repetitions = 5"),
    ("protocol", &["ramp_time", "warmup", "ramp"], "warm_up = 1, in passes that do not count"),
    ("commitment", &["iops", "min_iops"], "iops_at_least = 100_000"),
];

/// Values that people write, by key, and what to write instead.
const VALUES: [(&str, &[&str], &str); 7] = [
    ("statistic", &["avg", "average", "arithmetic-mean"], "statistic = \"mean\""),
    ("statistic", &["min", "minimum", "max", "maximum", "lowest"], "statistic = \"worst\" or \"best\""),
    ("statistic", &["p-value", "interval", "ci", "bound"], "statistic = \"confidence-bound\""),
    (
        "phases",
        &["randread", "randwrite", "rand_read", "rand_write"],
        "phases = [\"read\"] with order = \"random\"",
    ),
    ("phases", &["randrw", "rw", "readwrite"], "phases = [\"mixed\"] with read_percent = 50"),
    (
        "phase",
        &["randread", "randwrite", "randrw"],
        "phase = \"read\", of a workload with order = \"random\"",
    ),
    ("order", &["rand", "rnd", "randread", "randwrite", "randrw"], "order = \"random\""),
];

/// What to write instead of the key `name` of `table`.
pub(crate) fn instead_of_key(table: &Table, name: &str) -> Option<String> {
    let name = plain(name);
    if let Some(percent) = percentile(&name).filter(|_| table.find("percentile").is_some()) {
        return Some(format!("percentile = {percent}, with a limit such as latency_at_most = \"1ms\""));
    }
    let found = KEYS.iter().find(|(of, words, _)| *of == table.name && words.contains(&&*name));
    found.map(|(.., write)| (*write).to_owned())
}

/// What to write instead of `value` for the key `key`.
pub(crate) fn instead_of_value(key: &str, value: &str) -> Option<String> {
    let value = value.to_lowercase();
    if let Some(percent) = percentile(&value).filter(|_| key == "statistic") {
        return Some(format!(
            "percentile = {percent} beside the statistic, which says how repetitions are judged: statistic = \"median\""
        ));
    }
    let found = VALUES.iter().find(|(of, words, _)| *of == key && words.contains(&&*value));
    found.map(|(.., write)| (*write).to_owned())
}

fn plain(word: &str) -> String {
    word.to_lowercase().replace('-', "_")
}

/// The percentage of a percentile as people name it: `p99`, `p99.9`, `p999`, `99%`, `median` is none.
fn percentile(word: &str) -> Option<String> {
    let number =
        word.strip_prefix('p').or_else(|| word.strip_suffix('%')).or_else(|| word.strip_suffix("th"))?;
    let number = number.replace('_', ".");
    let value: f64 = number.parse().ok()?;
    let value = if value > 100.0 && !number.contains('.') && number.starts_with("99") {
        format!("99.{}", &number[2..]).parse().ok()?
    } else {
        value
    };
    (value > 0.0 && value < 100.0).then(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::{KEYS, VALUES, instead_of_key, instead_of_value};
    use crate::study::keys::TABLES;

    /// The keys that a text assigns to, as `tasks` in `tasks = 4`.
    fn keys(text: &str) -> Vec<&str> {
        let mut found: Vec<&str> = text
            .match_indices(" = ")
            .map(|(at, _)| text[..at].rsplit(' ').next().unwrap_or_default())
            .collect();
        if found.is_empty() {
            found.push(text);
        }
        found
    }

    #[test]
    fn what_is_advised_are_keys_that_there_are_and_what_is_replaced_is_none() {
        for (table, words, write) in KEYS {
            let table = TABLES.into_iter().find(|one| one.name == table).expect(table);
            for key in keys(write) {
                assert!(table.find(key).is_some(), "[{}] has no `{key}`: {write}", table.name);
            }
            for word in words {
                assert!(table.find(word).is_none(), "[{}] has `{word}` itself", table.name);
                assert_eq!(instead_of_key(table, word).as_deref(), Some(write));
            }
        }
        for (key, words, write) in VALUES {
            for advised in keys(write) {
                assert!(TABLES.into_iter().any(|table| table.find(advised).is_some()), "{write}");
            }
            assert!(words.iter().all(|word| instead_of_value(key, word).as_deref() == Some(write)), "{key}");
        }
    }

    #[test]
    fn percentiles_are_understood_as_they_are_named() {
        let commitment = TABLES.into_iter().find(|one| one.name == "commitment").expect("there");
        for (word, percent) in
            [("p99", "99"), ("p99.9", "99.9"), ("p999", "99.9"), ("99%", "99"), ("p50", "50")]
        {
            let start = format!("percentile = {percent}");
            assert!(instead_of_value("statistic", word).expect(word).starts_with(&start), "{word}");
            assert!(instead_of_key(commitment, word).expect(word).starts_with(&start), "{word}");
        }
        for word in ["p", "p0", "path", "p100", "p-1", "phase", "pNaN", "pinf"] {
            assert_eq!(instead_of_value("statistic", word), None, "{word}");
        }
    }
}
