//! Read caches of Lustre servers, which were off in study D.

use super::super::context::TuningContext;
use super::super::step::{Compliance, Scope, SettingState, Severity, Step};

/// The command as intended; the slide prints `pdsh -w oss[21-26] Ictl get param
/// obdfilter.*_read_cache_enable`.
pub const LUSTRE_COMMAND: &str = "pdsh -w oss[21-26] lctl get_param obdfilter.*.read_cache_enable";
const PRINTED: &str = "pdsh -w oss[21-26] Ictl get param obdfilter.*_read_cache_enable";
const PARAMETER: &str = "read_cache_enable";

pub(super) const SERVER_CACHES: Step = Step {
    name: "lustre-server-caches",
    title: "disable the read caches of Lustre servers",
    scope: Scope::Look,
    severity: Severity::Warning,
    reason: "reads that a server answers from its memory do not measure its storage",
    source: "1.32 million IOPS with randomops (Atos, study D), slide \"Measurement Setup\"",
    published: Some(PRINTED),
    note: Some(
        "the slide misprints the command (\"Ictl get param\", \"*_read\"); the intended command is: pdsh -w \
         oss[21-26] lctl get_param obdfilter.*.read_cache_enable; each target should print =0",
    ),
    check: server_caches,
};

/// The read cache of one object storage target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadCache {
    /// The server, if the line names one.
    pub server: Option<String>,
    /// The parameter, for example `obdfilter.highiops-OST0009.read_cache_enable`.
    pub parameter: String,
    /// Whether the cache is on, or `None` if the value is neither 0 nor 1.
    pub on: Option<bool>,
}

/// Parses lines such as `oss26: obdfilter.highiops-OST0009.read_cache_enable=0`, with or without the
/// server name that `pdsh` prepends. Other lines are ignored.
#[must_use]
pub fn read_caches(text: &str) -> Vec<ReadCache> {
    let read = |line: &str| {
        let (name, value) = line.trim().rsplit_once('=')?;
        let (server, parameter) = match name.split_once(':') {
            Some((server, parameter)) => (Some(server.trim().to_owned()), parameter.trim()),
            None => (None, name.trim()),
        };
        if parameter.rsplit('.').next() != Some(PARAMETER) {
            return None;
        }
        let on = match value.trim() {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        };
        Some(ReadCache { server, parameter: parameter.to_owned(), on })
    };
    text.lines().filter_map(read).collect()
}

fn server_caches(context: &TuningContext<'_>) -> Vec<SettingState> {
    let what = "read caches of Lustre servers";
    let (text, origin) = match &context.lustre {
        Some((text, origin)) => (text.clone(), origin.clone()),
        // A check reads a tree, and starts no program of it: it may come from somebody else.
        None if !context.root.is_system() || context.programs.find("lctl").is_none() => {
            let missing = if context.root.is_system() { "no lctl" } else { "not asked below --root" };
            let why = format!(
                "{missing}: run `{LUSTRE_COMMAND} > FILE` on a node that reaches the servers, and give \
                 --lustre-params FILE"
            );
            return vec![SettingState::not_here(what, why)];
        }
        None => {
            // Newer servers have the parameter below osd-*, older ones below obdfilter.
            let names = ["obdfilter.*.read_cache_enable", "osd-*.*.read_cache_enable"];
            let tried = names.map(|name| context.programs.run("lctl", &["get_param", name]));
            let said = tried.iter().flatten().fold(String::new(), |all, text| all + text);
            (said, "lctl get_param".to_owned())
        }
    };
    let caches = read_caches(&text);
    if caches.is_empty() {
        let why = format!(
            "no {PARAMETER} from {origin}: this is not an object storage server; see \
                     {LUSTRE_COMMAND}"
        );
        return vec![SettingState::not_here(what, why)];
    }
    caches.into_iter().map(cache).collect()
}

fn cache(cache: ReadCache) -> SettingState {
    let what = match &cache.server {
        Some(server) => format!("{server}: {}", cache.parameter),
        None => cache.parameter.clone(),
    };
    let mut state = match cache.on {
        Some(false) => SettingState::said(what, Some("0".to_owned()), Compliance::AsAdvised),
        Some(true) => SettingState::by_hand(
            what,
            Some("1".to_owned()),
            format!("lctl set_param {}=0 on its server, then measure", cache.parameter),
        ),
        None => SettingState::by_hand(what, None, "its value is neither 0 nor 1: check the server"),
    };
    state.advised = Some("0".to_owned());
    state
}

#[cfg(test)]
mod tests {
    use super::read_caches;

    #[test]
    fn lines_with_and_without_a_server_are_read_and_others_are_not() {
        let text = "oss21: obdfilter.highiops-OST0000.read_cache_enable=1\n\
                    obdfilter.highiops-OST0009.read_cache_enable=0\n\
                    oss26: osd-ldiskfs.highiops-OST000a.read_cache_enable=0\r\n\
                    oss22: obdfilter.highiops-OST0001.writethrough_cache_enable=1\n\
                    error: get_param: param_path 'obdfilter'\n";
        let caches = read_caches(text);
        assert_eq!(
            caches.iter().map(|cache| cache.on).collect::<Vec<_>>(),
            [Some(true), Some(false), Some(false)]
        );
        assert_eq!(caches[0].server.as_deref(), Some("oss21"));
        assert_eq!(caches[1].server, None);
    }
}
