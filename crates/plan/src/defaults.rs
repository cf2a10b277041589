//! Files of defaults: values of options that a site or a user gives once, `/etc/ioproof.toml` for example.
//!
//! The reader knows no option. Its caller says which keys there are and checks their values, because options are
//! defined with the command line. No file is accessed.
//!
//! ```
//! use plan::defaults::{Rules, read};
//! let rules = Rules { keys: &["records", "quiet"], refused: &["yes"], check: &|_, _| Ok(()) };
//! let written = read("ioproof.toml".as_ref(), "records = \"/scratch/runs\"\nquiet = true\n", &rules)?;
//! assert_eq!((written[1].key, written[1].value.as_str(), written[1].line), ("quiet", "true", 2));
//!
//! let misspelt = read("ioproof.toml".as_ref(), "record = \"/scratch/runs\"", &rules).unwrap_err();
//! assert_eq!(misspelt.errors()[0].help_text(), "did you mean `records`?");
//! # Ok::<(), plan::study::StudyErrors>(())
//! ```

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::limits::DEFAULTS_BYTES;
use crate::study::{StudyError, StudyErrors};
use crate::text::nearest::nearest;

/// What a file of defaults may contain.
pub struct Rules<'a> {
    /// The keys.
    pub keys: &'a [&'static str],
    /// Options that are never defaults: what agrees to something, and what signs.
    pub refused: &'a [&'static str],
    /// Checks the value of a key; the error says what is wrong with it.
    pub check: &'a dyn Fn(&str, &str) -> Result<(), String>,
}

/// A default in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The key.
    pub key: &'static str,
    /// Its value as text, as it would be written on the command line.
    pub value: String,
    /// The line, from 1.
    pub line: usize,
}

/// Reads the defaults in `text`, the contents of the file `path`, in the order of the file.
///
/// # Errors
/// All mistakes, in the order of the file: text that is not TOML, keys that are unknown or never defaults, and values
/// that are neither text, a whole number nor a flag, or that the check rejects.
pub fn read(path: &Path, text: &str, rules: &Rules<'_>) -> Result<Vec<Written>, StudyErrors> {
    let refused = |errors| StudyErrors::of_defaults(path, text, errors);
    if text.len() > DEFAULTS_BYTES {
        let message = format!("the file has {} bytes", text.len());
        let help = format!("a file of defaults has at most {DEFAULTS_BYTES} bytes; name the right file");
        return Err(refused(vec![StudyError::new(0..0, "too long", message, help)]));
    }
    let table = DeTable::parse(text).map_err(|error| {
        let help = "write one default on each line: records = \"/scratch/runs\"";
        let span = error.span().unwrap_or_default();
        refused(vec![StudyError::new(span, "not TOML", error.message(), help)])
    })?;
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for (name, value) in table.get_ref() {
        match default(name, value, rules) {
            Ok((key, value)) => found.push((name.span().start, key, value)),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(refused(errors));
    }
    found.sort_by_key(|(start, ..)| *start);
    let line = |start: usize| text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count() + 1;
    Ok(found.into_iter().map(|(start, key, value)| Written { key, value, line: line(start) }).collect())
}

fn default(
    name: &Spanned<std::borrow::Cow<'_, str>>,
    value: &Spanned<DeValue<'_>>,
    rules: &Rules<'_>,
) -> Result<(&'static str, String), StudyError> {
    let written: &str = name.get_ref();
    let shown = crate::text::visible::shown(written);
    let as_key = written.replace('-', "_");
    let Some(key) = rules.keys.iter().copied().find(|key| *key == as_key) else {
        if rules.refused.contains(&&*as_key) {
            let help = format!("remove the line, and give --{} to each run", as_key.replace('_', "-"));
            let message =
                format!("`{shown}` cannot be a default: consent and signatures are given run by run");
            return Err(StudyError::new(name.span(), "never a default", message, help));
        }
        let help = match nearest(written, rules.keys.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the keys are {}", rules.keys.join(", ")),
        };
        return Err(StudyError::new(
            name.span(),
            "unknown key",
            format!("there is no default `{shown}`"),
            help,
        ));
    };
    let text = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
        _ => {
            let help = format!("write `{key} = \"…\"`, as after the option on the command line");
            let message = format!("`{key}` takes one value");
            return Err(StudyError::new(value.span(), "not one value", message, help));
        }
    };
    if text.is_empty() || text.contains('\0') {
        let help = "give a value, or remove the line".to_owned();
        return Err(StudyError::new(value.span(), "empty", format!("`{key}` has no usable value"), help));
    }
    let next = "see the help of the option, or remove the line";
    (rules.check)(key, &text).map_err(|why| StudyError::new(value.span(), "this value", why, next))?;
    Ok((key, text))
}

#[cfg(test)]
mod tests {
    use super::{Rules, Written, read};

    const RULES: Rules<'_> = Rules {
        keys: &["records", "quiet", "mpi"],
        refused: &["yes", "destroy_data_on"],
        check: &|key, value| match (key, value) {
            ("quiet", "true" | "false") | ("records" | "mpi", _) => Ok(()),
            _ => Err(format!("`{value}` is neither true nor false")),
        },
    };

    fn mistakes(text: &str) -> Vec<String> {
        let errors = read("ioproof.toml".as_ref(), text, &RULES).expect_err(text);
        let told = |one: &crate::study::StudyError| format!("{}; {}", one.message(), one.help_text());
        errors.errors().iter().map(told).collect()
    }

    #[test]
    fn defaults_are_read_with_their_lines() {
        let text = "# of the site\nmpi = \"/opt/mpi.so\"\n\nquiet = true\n";
        let written = read("x".as_ref(), text, &RULES).expect("valid");
        let one = |key, value: &str, line| Written { key, value: value.to_owned(), line };
        assert_eq!(written, [one("mpi", "/opt/mpi.so", 2), one("quiet", "true", 4)]);
        assert!(read("x".as_ref(), "", &RULES).expect("valid").is_empty());
    }

    #[test]
    fn every_mistake_is_named_with_what_is_allowed() {
        for (text, told) in [
            ("quite = true", "there is no default `quite`; did you mean `quiet`?"),
            ("colour = 1", "there is no default `colour`; the keys are records, quiet, mpi"),
            ("yes = true", "`yes` cannot be a default: consent"),
            ("destroy-data-on = \"/dev/sda\"", "give --destroy-data-on to each run"),
            ("quiet = \"no\"", "`no` is neither true nor false"),
            ("records = [\"a\"]", "`records` takes one value"),
            ("records = \"\"", "`records` has no usable value"),
            ("[records]\nyes = true", "`records` takes one value"),
            ("records = ", "write one default on each line"),
        ] {
            let all = mistakes(text);
            assert!(all.len() == 1 && all[0].contains(told), "{text}: {all:?}");
        }
        assert_eq!(mistakes("a1 = 1\nb2 = 2\nyes = true").len(), 3);
        assert!(mistakes(&"#".repeat(crate::limits::DEFAULTS_BYTES + 1))[0].contains("at most"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z=\"\\[\\]\n #.\\-0-9]{0,80}") {
            let _ = read("x".as_ref(), &text, &RULES);
        }
    }
}
