//! Explains the meaning of an option for the run, with its values.

use super::options::{Key, OPTIONS};
use super::settings::{Settings, Target};
use super::words;

/// One sentence for `--explain`.
pub(super) fn explain(key: Key, settings: &Settings) -> String {
    let time = words::time;
    match key {
        Key::Write => match settings.target {
            Target::Directory => "writes to a file of the run, which is filled before".to_owned(),
            Target::File | Target::Device => {
                format!(
                    "overwrites the first {} of {}",
                    words::size(settings.work_size),
                    settings.path.display()
                )
            }
        },
        Key::Rapid => format!(
            "no pause between requests, for {}, within {}",
            settings.work_time_ns.map_or_else(|| format!("{} requests", settings.count), time),
            words::size(settings.work_size)
        ),
        Key::Linear => format!("ascending offsets, {} each", words::size(settings.size)),
        Key::Keep => format!("{} is kept and reused", settings.path.join("ioping.tmp").display()),
        Key::Warmup => format!("the first {} requests are excluded from the statistics", settings.warmup),
        Key::Count => match settings.requests() {
            None | Some(0) => "runs until interrupted".to_owned(),
            Some(requests) => format!("ends after {requests} requests"),
        },
        Key::Entropy => format!("random offsets with seed {}", settings.seed),
        Key::Interval | Key::SpeedLimit | Key::RateLimit => match settings.interval_ns {
            0 => "each request starts as soon as the previous one has ended".to_owned(),
            nanos => format!("a request every {}", time(nanos)),
        },
        Key::Size => format!("requests of {}", words::size(settings.size)),
        Key::WorkSize => format!("spread over {}", words::size(settings.work_size)),
        Key::WorkTime => match (settings.work_time_ns, settings.requests()) {
            (Some(_), Some(requests)) => {
                format!("ends after {requests} requests: the count or the time, whichever comes first")
            }
            (Some(nanos), None) => format!("ends after {}", time(nanos)),
            (None, _) => "runs until interrupted".to_owned(),
        },
        Key::MinTime => {
            format!("requests below {} are excluded from the statistics", time(settings.min_time_ns))
        }
        Key::MaxTime => match settings.max_time_ns {
            Some(nanos) => format!("requests above {} are excluded from the statistics", time(nanos)),
            None => "no request is excluded as too slow".to_owned(),
        },
        Key::Time => {
            format!("each line begins with the time as {}", settings.time.as_deref().unwrap_or_default())
        }
        _ => OPTIONS.about(key).to_owned(),
    }
}
