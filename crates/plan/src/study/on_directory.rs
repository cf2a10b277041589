//! Runs a study of named storage on a directory of the user.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::overrides::Override;

/// Name of the only target of such a study.
const TARGET: &str = "storage";

/// Keys that locate a target without a directory.
const OTHER_PLACES: [&str; 3] = ["device", "disks", "layout"];

/// Keys of a target that describe its hardware.
const HARDWARE: [&str; 6] = ["title", "devices", "rack_units", "ports", "slots", "capacity"];

/// The study in `text` on `directory` alone: one target called `storage` replaces all of its targets, and is added to a
/// study that has none.
/// Hardware descriptions are dropped: expectations, layouts and the nodes; if it compares several targets,
/// published figures and claims about one of them are dropped as well.
///
/// ```
/// let text = "[[target]]\nname = \"ssd\"\ndirectory = \"/scratch\"\ntitle = \"P3700\"\n\
///             [[workload]]\nname = \"w\"\ntarget = \"ssd\"\ntransfer = \"4KiB\"\nsize = \"1MiB\"\n";
/// let own = plan::study::on_directory(text, "/mnt/own")?;
/// let plan = plan::study::read("own.toml".as_ref(), &own).expect("a study");
/// assert_eq!(plan.criteria.targets[0].name, "storage");
/// assert!(!own.contains("P3700"));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Errors if the study compares parts or layers of its storage, or has only targets that are no directory. A text that is not
/// a study is returned unchanged, so that the reader reports its mistakes.
pub fn on_directory(text: &str, directory: &str) -> Result<String, String> {
    let Ok(mut study) = text.parse::<DocumentMut>() else { return Ok(text.to_owned()) };
    let targets: Vec<&Table> = tables(&study, "target").collect();
    let is_elsewhere = |target: &&Table| OTHER_PLACES.iter().any(|key| target.contains_key(key));
    if !targets.is_empty() && targets.iter().all(is_elsewhere) {
        return Err("the study measures devices or layouts, not a directory".to_owned());
    }
    if targets.iter().any(|target| target.contains_key("above")) {
        return Err(
            "the study compares layers of one storage, and a directory is only one of them".to_owned()
        );
    }
    if tables(&study, "workload").any(|one| one.contains_key("member") || one.contains_key("members")) {
        return Err("the study compares the members of its targets, but a directory has none".to_owned());
    }
    let one_alone = targets.len() == 1;
    replace_targets(&mut study, directory);
    for gone in ["layout", "expectation"] {
        let _ = study.remove(gone);
    }
    if let Some(circumstances) = study.get_mut("study").and_then(Item::as_table_mut) {
        for key in ["node_cores", "node_threads", "node_memory"] {
            let _ = circumstances.remove(key);
        }
    }
    for table in ["workload", "commitment", "published", "claim"] {
        let Some(all) = study.get_mut(table).and_then(Item::as_array_of_tables_mut) else { continue };
        if matches!(table, "published" | "claim") && !one_alone {
            all.retain(|one| !names_target(one));
        }
        for one in all.iter_mut() {
            forget_target(one);
        }
    }
    Ok(study.to_string())
}

/// The study in `text`, written for its authors' hardware, with some targets moved by `overrides`: their
/// hardware descriptions are dropped (title, devices, space and capacity), and their expectations are no
/// ceiling. `None` if no target is moved.
///
/// ```
/// use plan::study::{Override, placed_elsewhere};
/// let text = "[[target]]\nname = \"ssd\"\ndirectory = \"/scratch\"\ntitle = \"P3700\"\n";
/// let own = Override::parse("target.*.directory=/mnt/own")?;
/// assert!(!placed_elsewhere(text, &[own]).is_some_and(|text| text.contains("P3700")));
/// # Ok::<(), plan::study::OverrideError>(())
/// ```
#[must_use]
pub fn placed_elsewhere(text: &str, overrides: &[Override]) -> Option<String> {
    let mut study: DocumentMut = text.parse().ok()?;
    let is_moved = |table: &Table, key: &str| {
        let name = table.get(key).and_then(Item::as_str).unwrap_or_default();
        let places = ["directory", "paths", "path"].into_iter().chain(OTHER_PLACES);
        places.into_iter().any(|place| overrides.iter().any(|one| one.sets("target", name, place)))
    };
    let mut moved = false;
    for target in tables_mut(&mut study, "target").filter(|target| is_moved(target, "name")) {
        moved = true;
        HARDWARE.iter().for_each(|key| drop(target.remove(key)));
    }
    for expected in tables_mut(&mut study, "expectation").filter(|table| is_moved(table, "target")) {
        let _ = expected.remove("ceiling");
    }
    moved.then(|| study.to_string())
}

fn tables_mut<'s>(study: &'s mut DocumentMut, name: &str) -> impl Iterator<Item = &'s mut Table> {
    study.get_mut(name).and_then(Item::as_array_of_tables_mut).into_iter().flat_map(|all| all.iter_mut())
}

fn tables<'s>(study: &'s DocumentMut, name: &str) -> impl Iterator<Item = &'s Table> {
    study.get(name).and_then(Item::as_array_of_tables).into_iter().flatten()
}

/// The first table keeps its position in the text, with only the location as its content. If there is none, it is added.
fn replace_targets(study: &mut DocumentMut, directory: &str) {
    let all = study.entry("target").or_insert_with(|| ArrayOfTables::new().into());
    let Some(all) = all.as_array_of_tables_mut() else { return };
    if all.is_empty() {
        all.push(Table::new());
    }
    while all.len() > 1 {
        all.remove(all.len() - 1);
    }
    let Some(only) = all.get_mut(0) else { return };
    only.clear();
    let _ = only.insert("name", value(TARGET));
    let _ = only.insert("directory", value(directory));
}

/// Whether a published figure or a claim is about a specific target; a claim has two sides.
fn names_target(table: &Table) -> bool {
    table.contains_key("target") || sides(table).any(|side| side.contains_key("target"))
}

fn sides(table: &Table) -> impl Iterator<Item = &toml_edit::InlineTable> {
    table.iter().filter_map(|(_, item)| item.as_inline_table())
}

/// Makes statements about any target refer to the only one.
fn forget_target(table: &mut Table) {
    let _ = table.remove("target");
    for (_, item) in table.iter_mut() {
        let side = item.as_inline_table_mut();
        let _ = side.and_then(|side| side.remove("target"));
    }
}

#[cfg(test)]
mod tests {
    use super::{on_directory, placed_elsewhere};
    use crate::study::Override;

    const TWO: &str = "# What does it cost?\n[study]\nnode_cores = 4\n\
        [[target]]\nname = \"a\"\ndirectory = \"/a\"\nserver_memory = \"1TiB\"\n\
        [[target]]\nname = \"b\"\ndevice = \"/dev/b\"\n\
        [[workload]]\nname = \"w\"\ntarget = [\"a\", \"b\"]\ntransfer = \"4KiB\"\nsize = \"1MiB\"\n\
        [[published]]\nfigure = \"x\"\nworkload = \"w\"\ntarget = \"a\"\n\
        [[claim]]\nid = \"y\"\nleft = { workload = \"w\", target = \"a\" }\nright = { target = \"b\" }\n\
        [[claim]]\nid = \"z\"\nleft = { workload = \"w\" }\nright = \"1us\"\n";

    #[test]
    fn one_target_takes_the_place_of_all() {
        let own = on_directory(TWO, "/own \"dir\"").expect("a study");
        for gone in ["/dev/b", "server_memory", "node_cores", "\"x\"", "\"y\"", "target = "] {
            assert!(!own.contains(gone), "{gone} in {own}");
        }
        for kept in ["# What does it cost?", "storage", "\"z\""] {
            assert!(own.contains(kept), "no {kept} in {own}");
        }
    }

    #[test]
    fn a_study_without_a_target_gets_one() {
        let none = "[[workload]]\nname = \"w\"\ntransfer = \"4KiB\"\nsize = \"1MiB\"\n";
        let own = on_directory(none, "/own").expect("a study");
        let plan = crate::study::read("own.toml".as_ref(), &own).expect("it can be read");
        assert_eq!(plan.criteria.targets[0].name, "storage");
        let files = format!("{:?}", plan.cases[0].workload.files);
        assert!(files.contains("/own/"), "{files}");
    }

    #[test]
    fn of_one_target_the_published_figures_stay() {
        let one =
            "[[target]]\nname = \"a\"\ndirectory = \"/a\"\n[[published]]\nfigure = \"x\"\ntarget = \"a\"\n";
        let own = on_directory(one, "/own").expect("a study");
        assert!(own.contains("\"x\"") && !own.contains("target = "), "{own}");
    }

    #[test]
    fn a_target_that_is_placed_elsewhere_keeps_nothing_of_its_hardware() {
        let text = "[[target]]\nname = \"a\"\ntitle = \"P3700\"\nlayout = \"md\"\nslots = 5\ncapacity = \"8TB\"\n\
                    [[target]]\nname = \"b\"\ntitle = \"192 disks\"\nclient = \"remote\"\ndirectory = \"/b\"\n\
                    [[expectation]]\ntarget = \"a\"\nphase = \"read\"\nceiling = true\n\
                    [[expectation]]\ntarget = \"b\"\nphase = \"read\"\nceiling = true\n";
        let placed = |set: &str| placed_elsewhere(text, &[Override::parse(set).expect("an override")]);
        let own = placed("target.a.directory=/own").expect("moved");
        for gone in ["P3700", "slots", "capacity"] {
            assert!(!own.contains(gone), "{gone} in {own}");
        }
        assert!(own.contains("192 disks") && own.contains("remote"), "{own}");
        assert_eq!(own.matches("ceiling").count(), 1, "{own}");
        assert!(!placed("target.*.paths=[\"/x\"]").expect("moved").contains("192 disks"));
        assert_eq!(placed("target.a.slots=7"), None);
    }

    #[test]
    fn what_compares_parts_of_storage_is_refused() {
        let of = |target: &str, workload: &str| {
            on_directory(&format!("[[target]]\n{target}\n[[workload]]\nname = \"w\"\n{workload}"), "/own")
        };
        assert!(of("device = \"/dev/b\"", "").is_err());
        assert!(of("path = \"/x\"\nabove = \"y\"", "").is_err());
        assert!(of("paths = [\"/x\"]", "member = [0, 1]").is_err());
        assert_eq!(on_directory("no study", "/own").as_deref(), Ok("no study"));
    }
}
