//! Finds the word that was probably meant by an unknown one.

/// The one of `known` that is most similar to `word`, if any is similar; case is ignored.
pub(crate) fn nearest(word: &str, known: impl Iterator<Item = &'static &'static str>) -> Option<String> {
    let word = word.to_ascii_lowercase();
    // Two typing errors in a short word, or one per four letters of a long one.
    let near = (word.chars().count() / 4).max(2);
    known
        .map(|name| (distance(&word, &name.to_ascii_lowercase()), *name))
        .filter(|(distance, _)| *distance <= near)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.to_owned())
}

/// The Levenshtein distance: insertions, deletions and replacements between two words.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, from_letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, to_letter) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(from_letter != *to_letter);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn only_words_that_look_alike_are_near() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(nearest("kepFIle", ["keepFile", "fsync"].iter()).as_deref(), Some("keepFile"));
        assert_eq!(nearest("something", ["keepFile", "fsync"].iter()), None);
    }
}
