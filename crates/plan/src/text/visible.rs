//! Makes foreign text safe to show: invisible characters are escaped.

use std::borrow::Cow;

/// Characters, in addition to control characters, that are invisible or change how the text around them
/// is shown: Unicode's `Default_Ignorable_Code_Point`, its other format characters without a shape of
/// their own, and spaces that look like the common one. Sorted.
const HIDDEN: [(char, char); 24] = [
    ('\u{a0}', '\u{a0}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{2000}', '\u{200f}'),
    ('\u{2028}', '\u{202f}'),
    ('\u{205f}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Whether `character` is invisible or changes how the text around it appears: control characters (C0,
/// C1, DEL), bidi marks, joiners, spaces other than the common one.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    let listed = || HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&character));
    // Most text is ASCII, of which only control characters are hidden.
    character.is_control() || (!character.is_ascii() && listed())
}

/// Whether `character` controls a terminal or reorders the text after it. Such characters do not occur in
/// names intentionally.
pub(crate) fn is_harmful(character: char) -> bool {
    let reorders = matches!(character, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || reorders
}

/// `text` as one line in which every character is visible: hidden ones are written as `\u{1b}`, the end
/// of a line as `\u{a}`.
///
/// ```
/// assert_eq!(plan::visible("a\x1b[2J\nb"), "a\\u{1b}[2J\\u{a}b");
/// assert_eq!(plan::visible("4 KiB, µ"), "4 KiB, µ");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    written_out(text, is_hidden)
}

/// The same as [`visible`], but line ends are kept: for a text of several lines whose parts are safe.
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    written_out(text, |character| character != '\n' && is_hidden(character))
}

/// `text` with words of more than `most` characters cut: their beginning, their length and their end remain. A word has
/// no blank in it. Longer words are mistakes, which a message should not repeat in full.
///
/// ```
/// assert_eq!(plan::cut_words("open abcdefghijklmnop no", 12), "open abcdef… (16 characters) …nop no");
/// ```
#[must_use]
pub fn cut_words(text: &str, most: usize) -> Cow<'_, str> {
    let is_long = |word: &str| word.len() > most && word.chars().count() > most;
    if !text.split_whitespace().any(is_long) {
        return Cow::Borrowed(text);
    }
    let cut = |word: &str| {
        let text = word.trim_end();
        if !is_long(text) {
            return word.to_owned();
        }
        let count = text.chars().count();
        let (head, tail) = (most / 2, most / 4);
        let first: String = text.chars().take(head).collect();
        let last: String = text.chars().skip(count - tail).collect();
        format!("{first}… ({count} characters) …{last}{}", &word[text.len()..])
    };
    Cow::Owned(text.split_inclusive(char::is_whitespace).map(cut).collect())
}

/// Limit on the length of user text quoted in a message.
const SHOWN_MAX: usize = 40;

/// `text` for a message, limited to one line.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}

fn written_out(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if hidden(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::{HIDDEN, is_harmful, is_hidden, visible, visible_lines};

    #[test]
    fn the_list_of_hidden_characters_is_in_order() {
        assert!(HIDDEN.iter().all(|(first, last)| first <= last));
        assert!(HIDDEN.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    #[test]
    fn what_acts_on_a_terminal_or_cannot_be_seen_is_written_out() {
        let text = "\x1b]0;x\x07 \r \u{7f} \u{9b}2J \u{202e}gnp \u{200b} \u{a0} \u{feff} \u{2028}";
        let shown =
            "\\u{1b}]0;x\\u{7} \\u{d} \\u{7f} \\u{9b}2J \\u{202e}gnp \\u{200b} \\u{a0} \\u{feff} \\u{2028}";
        assert_eq!(visible(text), shown);
        assert_eq!(visible_lines("a\nb\tc"), "a\nb\\u{9}c");
        assert_eq!(visible("Größe 10⁶ – 漢字 ─ ×"), "Größe 10⁶ – 漢字 ─ ×");
    }

    proptest! {
        #[test]
        fn nothing_hidden_remains_and_nothing_is_lost(text in any::<String>()) {
            let shown = visible(&text);
            prop_assert!(!shown.contains(is_hidden));
            prop_assert!(!visible_lines(&text).contains(|one| one != '\n' && is_hidden(one)));
            prop_assert_eq!(visible(&shown), shown.clone());
            let kept: String = text.chars().filter(|one| !is_hidden(*one)).collect();
            prop_assert!(shown.len() >= kept.len());
            prop_assert!(text.contains(is_hidden) || shown == text);
        }

        #[test]
        fn what_is_harmful_is_hidden(one in any::<char>()) {
            prop_assert!(!is_harmful(one) || is_hidden(one));
        }
    }
}
