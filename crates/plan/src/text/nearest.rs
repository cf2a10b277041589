//! Finds the name that was probably meant by a misspelt one.

/// Below this similarity (1 is equal) a suggestion would be a guess.
const SIMILARITY_MIN: f64 = 0.8;
/// Longer words are not names, and comparing them takes quadratic time.
const NAME_BYTES_MAX: usize = 64;

/// The most similar of `names`, if one is similar enough: by the Jaro-Winkler measure, which
/// favours a common beginning, or because one contains the other, as `iodepth` contains `depth`.
pub(crate) fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if word.len() > NAME_BYTES_MAX {
        return None;
    }
    let word = word.to_lowercase().replace('-', "_");
    let similarity = |name: &str| {
        let name = name.replace('-', "_");
        let held = name.len() >= 4 && word.contains(&name) || word.len() >= 4 && name.contains(&word);
        strsim::jaro_winkler(&word, &name).max(if held { SIMILARITY_MIN } else { 0.0 })
    };
    let rated = names.into_iter().map(|name| (similarity(name), name));
    let best = rated.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 >= SIMILARITY_MIN).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_find_the_word_that_was_meant() {
        let names = ["transfer", "block", "segments", "depth", "read_percent", "per-task"];
        for (word, meant) in [
            ("transfr", "transfer"),
            ("Transfer", "transfer"),
            ("transfer_size", "transfer"),
            ("iodepth", "depth"),
            ("read-percent", "read_percent"),
            ("per_task", "per-task"),
            ("segemnts", "segments"),
        ] {
            assert_eq!(nearest(word, names), Some(meant), "{word}");
        }
        for word in ["", "colour", "xyz", &"block".repeat(50)] {
            assert_eq!(nearest(word, names), None, "{word}");
        }
    }
}
