//! Checks a `result.txt` by its hashes, as the benchmark's verifier does.

use super::config::{Config, Line};
use super::hash::Hash;
use super::phases::{Group, Phase};

/// Checks the hashes of `result`, the text of a `result.txt`. Returns the lines that the verifier prints, and
/// whether both hashes are those of a valid run of `config`.
#[must_use]
pub fn verify(config: &Config, result: &str) -> (String, bool) {
    let (mut score, mut config_read, mut score_read, mut version) = (Hash::default(), None, None, None);
    let mut section = "";
    for line in result.lines() {
        match Line::of(line) {
            Some(Line::Section(name)) => section = name,
            Some(Line::Pair(_, "")) => {}
            Some(Line::Pair("version", value)) => {
                score.pair("version", value);
                version = Some(value);
            }
            Some(Line::Pair("config-hash", value)) => config_read = Some(value),
            Some(Line::Pair(key, value)) if section == "SCORE" => match key {
                "hash" => score_read = Some(value),
                // The mark of an invalid run may follow the value.
                "SCORE" => score.pair(key, value.split(' ').next().unwrap_or(value)),
                _ => score.pair(key, value),
            },
            Some(Line::Pair("score", value)) if counts(section) => score.pair(section, value),
            Some(Line::Pair(..) | Line::Empty) | None => {}
        }
    }
    let (expected, invalid) = (score.to_string(), {
        let mut hash = score;
        hash.pair("valid", "NO");
        hash.to_string()
    });
    let own = config.hash();
    let mut out = format!(
        "version         = {}\n[run]\nconfig-hash     = {}\nscore-hash      = {}\n",
        version.unwrap_or("none"),
        config_read.unwrap_or("none"),
        score_read.unwrap_or("none")
    );
    let is_config = config_read == Some(own.as_str());
    if !is_config {
        out.push_str(&format!(
            "ERROR: the configuration has the hash {own}, not {}\n",
            config_read.unwrap_or("none")
        ));
    }
    match score_read {
        Some(read) if read == expected => {
            out.push_str(if is_config { "\n[OK]\n" } else { "" });
            (out, is_config)
        }
        Some(read) if read == invalid => {
            out.push_str("\n[OK] But this is an invalid run!\n");
            (out, false)
        }
        read => {
            out.push_str(&format!(
                "\nERROR: the scores have the hash {expected}, not {}\n",
                read.unwrap_or("none")
            ));
            (out, false)
        }
    }
}

/// Whether the result of this section is part of the hash of the score.
fn counts(section: &str) -> bool {
    Phase::named(section).is_none_or(|phase| phase.group() != Group::None && !phase.is_extended())
}
