//! Words for a shell.

/// `word` as one word of a POSIX shell: as it is, or in single quotes, in which only their own character is
/// special (POSIX.1-2017, Shell Command Language, 2.2.2). Whatever comes from a study, a file name or an
/// option reaches a shell, and the screen that commands are copied from, through here. A word has no NUL,
/// as no argument of a program has one.
///
/// ```
/// assert_eq!(plan::shell_word("/dev/sda"), "/dev/sda");
/// assert_eq!(plan::shell_word("a $(b)'s"), r"'a $(b)'\''s'");
/// ```
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:,=@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::shell_word;

    /// What `sh -c` prints of a word; some tests are about what a shell does with it.
    fn printed(shell: &str, word: &str) -> String {
        let script = format!("printf %s {word}");
        let output = Command::new(shell).args(["-c", &script]).env("LC_ALL", "C.UTF-8").output().unwrap();
        assert!(output.stderr.is_empty(), "{word}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    proptest! {
        #[test]
        fn a_shell_gives_back_every_word(text in "[^\u{0}]{0,40}", shape in "[-$(){}`'\"\\\\;&|<>*?!~#=%\n\r\t a-c]{0,20}") {
            for word in [text, shape] {
                for shell in ["sh", "bash"] {
                    prop_assert_eq!(printed(shell, &shell_word(&word)), word.as_str());
                }
            }
        }
    }
}
