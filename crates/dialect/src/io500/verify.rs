//! Checks a `result.txt` by its hashes, as the benchmark's verifier does.

use super::config::{Config, Line};
use super::hash::Hash;
use super::phases::{Group, Phase};

/// The first release whose configurations have the options of [`super::sections::SECTIONS`]. That of 193 published
/// results since 2020 agree with this: hashes of configurations fit from `isc25` on, and of none before.
const OPTIONS_SINCE: (u32, bool) = (25, false);

/// Releases whose hashes of scores fit none of their published results.
const OTHER_SCORE_HASHES: [&str; 1] = ["io500-isc21_v1-12"];

/// The lines of a result that its hashes are about.
#[derive(Default)]
struct Printed<'a> {
    version: Option<&'a str>,
    config_hash: Option<&'a str>,
    score_hash: Option<&'a str>,
    /// The year of its start.
    year: Option<u32>,
    /// The hash of the version, the results and the scores.
    scores: Hash,
}

impl<'a> Printed<'a> {
    fn of(result: &'a str) -> Self {
        let mut printed = Self::default();
        let mut section = "";
        for line in result.lines() {
            let started = line.strip_prefix("; START ").and_then(|moment| moment.get(..4)?.parse().ok());
            printed.year = printed.year.or(started);
            match Line::of(line) {
                Some(Line::Section(name)) => section = name,
                // A release that was built without its history has no version, and hashes the empty text.
                Some(Line::Pair("version", value)) => {
                    printed.scores.pair("version", value);
                    printed.version = Some(value);
                }
                Some(Line::Pair(_, "")) => {}
                Some(Line::Pair("config-hash", value)) => printed.config_hash = Some(value),
                Some(Line::Pair(key, value)) if section == "SCORE" => match key {
                    "hash" => printed.score_hash = Some(value),
                    // The mark of an invalid run may follow the value.
                    "SCORE" => printed.scores.pair(key, value.split(' ').next().unwrap_or(value)),
                    _ => printed.scores.pair(key, value),
                },
                Some(Line::Pair("score", value)) if counts(section) => printed.scores.pair(section, value),
                Some(Line::Pair(..) | Line::Empty) | None => {}
            }
        }
        printed
    }

    /// Whether the release has other options, so that the hash of its configuration cannot be computed. If its name is
    /// no release, the year decides.
    fn has_other_options(&self) -> bool {
        match self.version.and_then(release) {
            Some(release) => release < OPTIONS_SINCE,
            None => self.year.is_some_and(|year| year < 2000 + OPTIONS_SINCE.0),
        }
    }

    fn has_other_score_hash(&self) -> bool {
        let version = self.version.unwrap_or_default();
        version.is_empty() || OTHER_SCORE_HASHES.contains(&version)
    }
}

/// The year of a release and whether it is that of November: `io500-sc24_v1` is `(24, true)`, `io500-isc25` `(25, false)`.
fn release(version: &str) -> Option<(u32, bool)> {
    let name = version.strip_prefix("io500-")?;
    let (rest, is_november) = match name.strip_prefix("isc") {
        Some(rest) => (rest, false),
        None => (name.strip_prefix("sc")?, true),
    };
    Some((rest.get(..2)?.parse().ok()?, is_november))
}

/// Checks the hashes of `result`, the text of a `result.txt`. Returns the lines that the verifier prints, and
/// whether the scores have the hash of a valid run, and the configuration that of `config`. The hash of a configuration of
/// an older release cannot be computed: it is said to be one. The same holds for scores, but then nothing is verified.
#[must_use]
pub fn verify(config: &Config, result: &str) -> (String, bool) {
    let printed = Printed::of(result);
    let or_none = |text: Option<&str>| text.filter(|text| !text.is_empty()).unwrap_or("none").to_owned();
    let version = or_none(printed.version);
    let older = |what: &str| {
        format!("the hash of the {what} is of an older release ({version}): it is not checked\n")
    };
    let mut out = format!(
        "version         = {version}\n[run]\nconfig-hash     = {}\nscore-hash      = {}\n",
        or_none(printed.config_hash),
        or_none(printed.score_hash)
    );
    let own = config.hash();
    let is_config = printed.config_hash == Some(own.as_str());
    let is_older_config = !is_config && printed.config_hash.is_some() && printed.has_other_options();
    if is_older_config {
        out.push_str(&older("configuration"));
    } else if !is_config {
        let found = or_none(printed.config_hash);
        out.push_str(&format!("ERROR: the configuration has the hash {own}, not {found}\n"));
    }
    let expected = printed.scores.to_string();
    let mut invalid = printed.scores;
    invalid.pair("valid", "NO");
    match printed.score_hash {
        Some(read) if read == expected => {
            out.push_str(match (is_config, is_older_config) {
                (true, _) => "\n[OK]\n",
                (_, true) => "\n[OK] The scores are those that were hashed.\n",
                _ => "",
            });
            return (out, is_config || is_older_config);
        }
        Some(read) if read == invalid.to_string() => out.push_str("\n[OK] But this is an invalid run!\n"),
        Some(_) if printed.has_other_score_hash() => {
            out.push_str(&format!("\n[NOT VERIFIED] {}", older("scores")));
        }
        read => {
            let found = or_none(read);
            out.push_str(&format!("\nERROR: the scores have the hash {expected}, not {found}\n"));
        }
    }
    (out, false)
}

/// Whether the result of this section is part of the hash of the score.
fn counts(section: &str) -> bool {
    // Random phases were those of the extended mode in 2021.
    !section.starts_with("ior-rnd")
        && Phase::named(section).is_none_or(|phase| phase.group() != Group::None && !phase.is_extended())
}
