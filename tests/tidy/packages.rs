//! The lists of names in the scripts that make packages.

use std::collections::BTreeSet;
use std::fs;

use super::root;

/// The words between `start` and `end` in a file, without quotes and commas.
fn names(file: &str, start: &str, end: char) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(file)).expect("the script");
    let list = text.split_once(start).unwrap_or_else(|| panic!("{file} has no {start}")).1;
    let list = list.split(end).next().unwrap_or_default();
    list.split([' ', ',', '"']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[test]
fn packages_have_the_names_of_all_tools() {
    let own = [dialect::ior::TOOL, dialect::io500::TOOL];
    let called = dialect::TOOLS.iter().flat_map(|tool| tool.called).copied().chain(own);
    let called: BTreeSet<String> = called.map(str::to_owned).collect();
    assert!(called.len() > 6, "{called:?}");
    assert_eq!(names("scripts/package.sh", "\nTOOLS='", '\''), called, "scripts/package.sh: TOOLS");
    assert_eq!(
        names("integrations/spack/package.py", "tools = (", ')'),
        called,
        "the recipe for Spack: tools"
    );
}
