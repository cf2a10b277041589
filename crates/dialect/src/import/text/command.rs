//! Splits a printed command line into words.

/// The words, without the quotes that some tools print around them.
pub(crate) fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut quote, mut begun) = (None, false);
    for c in command.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => (quote, begun) = (Some(c), true),
            (None, _) if c.is_whitespace() => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                    begun = false;
                }
            }
            _ => word.push(c),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    words
}

/// The words of a command line of `tool`, beginning with the tool's name. For ioproof it is `ioproof TOOL
/// …`.
pub(crate) fn words_of(command: &str, tool: &str) -> Vec<String> {
    let mut words = words(command);
    let name = |word: &String| word.rsplit('/').next().unwrap_or(word).to_owned();
    let asked_ioproof = words.first().map(name).is_some_and(|name| name == "ioproof");
    if asked_ioproof && words.get(1).is_some_and(|word| word == tool) {
        words.remove(0);
    }
    words
}

/// The word after each `option`.
pub(crate) fn values(command: &str, option: &str) -> Vec<String> {
    let words = words(command);
    let pairs = words.iter().zip(words.iter().skip(1));
    let mut found = Vec::new();
    for (name, value) in pairs {
        if name == option {
            found.push(value.clone());
        }
    }
    // For options with one letter the value may be attached, as in `-i0`.
    let bundled = words.iter().filter(|word| option.len() == 2 && word.len() > 2 && word.starts_with(option));
    found.extend(
        bundled
            .map(|word| word[2..].to_owned())
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())),
    );
    found
}

/// The word after `option`.
pub(crate) fn value(command: &str, option: &str) -> Option<String> {
    values(command, option).into_iter().next()
}

/// Whether `option` is among the words.
pub(crate) fn has(command: &str, option: &str) -> bool {
    words(command).iter().any(|word| word == option)
}

#[cfg(test)]
mod tests {
    use super::{has, value, values, words, words_of};

    #[test]
    fn words_lose_their_quotes() {
        assert_eq!(words("mdtest '-n' \"5 0\" -F"), ["mdtest", "-n", "5 0", "-F"]);
        assert_eq!(values("iozone -i 0 -i1 -s 4g", "-i"), ["0", "1"]);
        assert_eq!(value("x -w 3901", "-w").as_deref(), Some("3901"));
        assert!(has("x -dio", "-dio"));
        assert_eq!(words_of("/opt/bin/ioproof ior -w", "ior"), ["ior", "-w"]);
        assert_eq!(words_of("/opt/bin/ior -w", "ior"), ["/opt/bin/ior", "-w"]);
    }
}
