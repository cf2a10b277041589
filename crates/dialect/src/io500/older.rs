//! Sections and options of IO500 of 2020 to 2024 that later releases do not have, and what each becomes.
//!
//! Source: the configurations in published results, and the listings of these releases among them.

use super::sections::{SECTIONS, Section};

/// What an option of an older release becomes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Became {
    /// A value of another option of its section.
    Option(&'static str, String),
    /// Direct I/O of the interface of its section.
    Direct,
    /// Nothing, for this reason.
    Skipped(&'static str),
}

/// Why the section with this name is skipped. `None` if no release had it.
pub(super) fn skipped_section(name: &str) -> Option<&'static str> {
    let family = name.strip_suffix("-write").or_else(|| name.strip_suffix("-read")).unwrap_or(name);
    let is_random = ["ior-rnd", "ior-rnd4K", "ior-rnd1MB"].iter().any(|one| one.eq_ignore_ascii_case(family));
    is_random.then_some("these random phases of the extended mode exist no longer")
}

/// What `key = value` of `section` becomes. `None` if no release had the option. The section has the option that takes
/// its place.
pub(super) fn option(section: &Section, key: &str, value: &str) -> Option<Became> {
    let has = |name: &str| section.options.iter().any(|option| option.name == name);
    let is_true = matches!(value.to_ascii_lowercase().as_str(), "true" | "1");
    let became = match key.to_ascii_lowercase().as_str() {
        "norun" if has("run") => match value {
            "" => Became::Skipped("it has no value"),
            _ => Became::Option("run", if is_true { "FALSE" } else { "TRUE" }.to_owned()),
        },
        "posix.odirect" if has("API") => match is_true {
            true => Became::Direct,
            false => Became::Skipped("without it, I/O is buffered"),
        },
        "hintsfilename" if section.name.starts_with("ior-") => Became::Skipped("hints are for MPI-IO"),
        "external-args" if has("external-extra-args") => {
            Became::Option("external-extra-args", value.to_owned())
        }
        "pfind-parallelize-single-dir-access-sequentially" if section.name.starts_with("find") => {
            Became::Skipped("each directory is read by one task")
        }
        _ => return None,
    };
    Some(became)
}

/// The section of options that a phase's section shares with others, such as `ior-easy` of `ior-easy-write`.
pub(super) fn family(section: &str) -> Option<&'static str> {
    let of = |name: &&Section| section.strip_prefix(name.name).is_some_and(|rest| rest.starts_with('-'));
    SECTIONS.iter().find(of).map(|section| section.name)
}

#[cfg(test)]
mod tests {
    use super::family;

    #[test]
    fn a_family_is_the_section_before_the_phase() {
        assert_eq!(family("ior-easy-write"), Some("ior-easy"));
        assert_eq!((family("ior-easy"), family("global")), (None, None));
    }
}
