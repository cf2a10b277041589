//! The bill of materials that `scripts/sbom.py` writes for a release.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::root;

fn texts<'a>(list: &'a Value, key: &'a str) -> impl Iterator<Item = &'a str> {
    list.as_array().into_iter().flatten().filter_map(move |one| one[key].as_str())
}

#[test]
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn the_bill_of_materials_has_what_the_program_is_built_from() {
    let reads_toml = Command::new("python3").args(["-c", "import tomllib"]).output();
    if !reads_toml.is_ok_and(|output| output.status.success()) {
        return println!("skipped: the bill of materials needs python3 of 3.11 or later");
    }
    let mut script = Command::new("python3");
    script.arg(root().join("scripts/sbom.py")).env("CARGO", env!("CARGO"));
    // If the tests run as root, the user's compiler may not be on the path.
    if let Some(rustc) =
        Path::new(env!("CARGO")).parent().map(|bin| bin.join("rustc")).filter(|one| one.exists())
    {
        script.env("RUSTC", rustc);
    }
    let output = script.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bill: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((bill["bomFormat"].as_str(), bill["specVersion"].as_str()), (Some("CycloneDX"), Some("1.5")));
    let program = &bill["metadata"]["component"];
    assert_eq!(program["name"], "ioproof");

    let components = bill["components"].as_array().expect("components");
    for one in components {
        let is_own = one["name"].as_str().is_some_and(|name| name.starts_with("ioproof-"));
        assert!(one["purl"].as_str().is_some_and(|purl| purl.starts_with("pkg:")), "{one}");
        assert!(one["licenses"].as_array().is_some_and(|licences| !licences.is_empty()), "{one}");
        let hash = one["hashes"][0]["content"].as_str();
        assert!(is_own || hash.is_some_and(|hash| hash.len() == 64), "{one}");
    }
    let names: HashSet<&str> = texts(&bill["components"], "name").collect();
    for name in ["ioproof-engine", "clap", "parquet", "plotly.js-cartesian-dist-min"] {
        assert!(names.contains(name), "{name} is missing");
    }
    for name in ["proptest", "insta", "ioproof-testbed", "ioproof-fuzz", "libfuzzer-sys"] {
        assert!(!names.contains(name), "{name} is not part of the program");
    }

    let known: HashSet<&str> =
        texts(&bill["components"], "bom-ref").chain(program["bom-ref"].as_str()).collect();
    assert_eq!(known.len(), components.len() + 1, "references are not unique");
    let graph = bill["dependencies"].as_array().expect("a graph");
    assert_eq!(texts(&bill["dependencies"], "ref").collect::<HashSet<_>>(), known);
    let ends = graph.iter().flat_map(|one| one["dependsOn"].as_array().into_iter().flatten());
    assert!(ends.filter_map(Value::as_str).all(|end| known.contains(end)), "an edge leads nowhere");
}
