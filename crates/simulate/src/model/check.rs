//! Checks whether a model is valid: names exist, amounts are above zero, layouts fit their devices.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::Range;

use toml_edit::{Document, Item};

use crate::model::mistake::{Mistake, line_of};
use crate::model::parts::{Device, Distribution, Layout, Limits, Model, Service};
use crate::model::trouble::{Trouble, TroubleKind};
use crate::model::units::Time;

/// Maximum number of devices, servers or nodes of a model.
const MEMBERS_MAX: u32 = 1 << 20;
/// Maximum number of parts through which requests or messages pass. Real paths have a few. The index of a part
/// on the way out and back, which is up to twice this number plus two adapters, must fit into a byte.
const THROUGH_MAX: usize = 64;
/// Maximum number of quantiles at equal steps of a time with a tail: the first quantile of that is beyond the others.
const STEPS_MOST: usize = 1000;
/// Maximum number of quantiles of a tail; the last of them is exceeded by one time in 10^14.
const TAIL_MOST: usize = 12;
/// Minimum time between stalls; more frequent stalls can be described as a lower rate.
const STALL_EVERY_LEAST_NS: u64 = 1_000_000;
/// Maximum processor time of a request.
const REQUEST_TIME_MOST_NS: u64 = 60_000_000_000;
/// Maximum length of a model's name in bytes.
const NAME_BYTES_MAX: usize = 200;
/// Maximum number of pairs of a node and a device of one layout, because bounds are computed over all
/// pairs.
const PAIRS_MAX: u64 = 1 << 20;
/// Minimum chunk of a layout. No file system has smaller ones, and each transfer would consist of thousands of parts.
const CHUNK_LEAST: u64 = 512;
/// Maximum share of reads that a cache in front of the devices can serve; other reads still wait for a
/// device.
const WARMING_MOST: f64 = 0.95;
/// Maximum number of requests that a part can serve at once.
const SLOTS_MAX: u32 = 1 << 16;

/// The mistakes in `model`, whose file contains this `text`.
pub(super) fn check(model: &Model, text: &str) -> Vec<Mistake> {
    let document = Document::parse(text).ok();
    let mut check = Check { text, document, mistakes: Vec::new() };
    check.whole(model);
    for (index, device) in model.devices.iter().enumerate() {
        check.device(index, device);
    }
    for (index, link) in model.links.iter().enumerate() {
        check.count("link", index, link.count, MEMBERS_MAX, "count");
    }
    for (index, server) in model.servers.iter().enumerate() {
        let at = ("server", index);
        check.count(at.0, index, server.count, MEMBERS_MAX, "count");
        check.count(at.0, index, server.slots, SLOTS_MAX, "slots");
        check.limits(at, &server.limits);
        for (key, service) in [("read", &server.read), ("write", &server.write)] {
            for service in service.iter() {
                check.service(at, key, service);
                check.takes_time(at, key, service, false);
            }
        }
    }
    for (index, service) in model.metadata.iter().enumerate() {
        let at = ("metadata", index);
        check.count(at.0, index, service.count, MEMBERS_MAX, "count");
        check.count(at.0, index, service.slots, SLOTS_MAX, "slots");
        let all = [
            ("create", Some(&service.create)),
            ("stat", Some(&service.stat)),
            ("open", service.open.as_ref()),
            ("remove", Some(&service.remove)),
            ("rename", service.rename.as_ref()),
            ("list", service.list.as_ref()),
        ];
        for (key, one) in all {
            for one in one.iter() {
                check.service(at, key, one);
                check.takes_time(at, key, one, false);
            }
        }
    }
    for (index, layout) in model.layouts.iter().enumerate() {
        check.layout(model, index, layout);
    }
    for (index, trouble) in model.troubles.iter().enumerate() {
        check.trouble(model, index, trouble);
    }
    check.mistakes.sort();
    check.mistakes
}

struct Check<'a> {
    text: &'a str,
    document: Option<Document<&'a str>>,
    mistakes: Vec<Mistake>,
}

impl Check<'_> {
    /// Adds a mistake in table number `index` of this kind, at `key` if that is present in the text.
    fn at(&mut self, (table, index): (&str, usize), key: &str, message: impl Display) {
        let span = self.document.as_ref().and_then(|document| span(document.as_item(), table, index, key));
        let line = span.map_or(1, |span| line_of(self.text, span.start));
        self.mistakes.push(Mistake { line, message: message.to_string() });
    }

    fn whole(&mut self, model: &Model) {
        if model.model.name.trim().is_empty() || model.model.name.len() > NAME_BYTES_MAX {
            let message = format!("reports show the name: it must have 1 to {NAME_BYTES_MAX} bytes");
            self.at(("model", 0), "name", message);
        }
        if !(0.0..=1.0).contains(&model.model.noise) {
            self.at(("model", 0), "noise", "noise is a share of the rate: use a number from 0 to 1");
        }
        if model.model.percentile.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
            self.at(("model", 0), "percentile", "it is a percentile: use a number from 0 to 100");
        }
        self.count("node", 0, model.node.count, MEMBERS_MAX, "count");
        self.count("node", 0, model.node.processors, SLOTS_MAX, "processors");
        if model.node.iops.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
            self.at(("node", 0), "iops", "a node must be able to send requests: use a number above 0");
        }
        if model.node.request_time.is_some_and(|time| time.0 > REQUEST_TIME_MOST_NS) {
            let message = "it is the processor time of one transfer: use at most one minute";
            self.at(("node", 0), "request_time", message);
        }
        if model.node.clock_drift.is_some_and(|drift| !(-0.1..=0.1).contains(&drift)) {
            self.at(("node", 0), "clock_drift", "it is a share of the time: use a number from -0.1 to 0.1");
        }
        for (key, rate) in [
            ("rows_per_second", model.node.rows_per_second),
            ("operations_per_second", model.node.operations_per_second),
        ] {
            if rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
                self.at(
                    ("node", 0),
                    key,
                    "a processor must be able to finish its work: use a number above 0",
                );
            }
        }
        self.through(("node", 0), &model.node.through);
        let mut seen = BTreeSet::new();
        for name in &model.node.through {
            if !model.links.iter().any(|link| link.name == *name) {
                let links = model.links.iter().map(|link| link.name.as_str());
                self.unknown(("node", 0), "through", name, "link", links);
            } else if !seen.insert(name) {
                let message = format!("messages would pass `{name}` twice: name each link once");
                self.at(("node", 0), "through", message);
            }
        }
        if let Some(cache) = &model.node.cache
            && cache.dirty.is_some_and(|dirty| dirty.0 > cache.size.0)
        {
            self.at(("node", 0), "cache", "`dirty` exceeds the size of the cache: lower it");
        }
        if model.devices.is_empty() {
            self.at(("model", 0), "", "the model has no device: add a [[device]]");
        }
        if model.layouts.is_empty() {
            self.at(("model", 0), "", "the model has no layout: add a [[layout]] that names its devices");
        }
        let mut names = BTreeSet::new();
        let links = model.links.iter().map(|link| ("link", &link.name));
        let servers = model.servers.iter().map(|server| ("server", &server.name));
        let devices = model.devices.iter().map(|device| ("device", &device.name));
        let metadata = model.metadata.iter().map(|service| ("metadata", &service.name));
        let layouts = model.layouts.iter().map(|layout| ("layout", &layout.name));
        let all = links.chain(servers).chain(devices).chain(metadata).chain(layouts);
        let mut layout_names = BTreeSet::new();
        let mut indices: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
        for (table, name) in all {
            let index = indices.entry(table).or_default();
            let here = *index;
            *index += 1;
            let names = if table == "layout" { &mut layout_names } else { &mut names };
            if name.trim().is_empty() {
                self.at((table, here), "name", "the name is empty: give one");
            } else if !names.insert(name) {
                self.at(
                    (table, here),
                    "name",
                    format!("another part is also named `{name}`: give each part its own name"),
                );
            }
        }
    }

    fn count(&mut self, table: &str, index: usize, count: u32, most: u32, key: &str) {
        if !(1..=most).contains(&count) {
            self.at((table, index), key, format!("{key} is {count}: use a whole number from 1 to {most}"));
        }
    }

    fn through(&mut self, at: (&str, usize), names: &[String]) {
        if names.len() > THROUGH_MAX {
            let message = format!("the path has {} parts: name at most {THROUGH_MAX}", names.len());
            self.at(at, "through", message);
        }
    }

    fn limits(&mut self, at: (&str, usize), limits: &Limits) {
        let rates = [limits.read_iops, limits.write_iops];
        if rates.into_iter().flatten().any(|rate| !(rate > 0.0 && rate.is_finite())) {
            self.at(
                at,
                "limits",
                "no operation can be served with a limit of 0 operations per second: use a number above 0",
            );
        }
    }

    fn service(&mut self, at: (&str, usize), key: &str, service: &Service) {
        let Service { distribution, deviation, quantiles, .. } = service;
        let empirical = *distribution == Distribution::Empirical;
        if (*distribution == Distribution::LogNormal) != deviation.is_some() {
            self.at(at, key, "`deviation` and the distribution `log-normal` require each other: give both");
        }
        if deviation.is_some_and(|deviation| !(0.0..=10.0).contains(&deviation)) {
            self.at(at, key, "`deviation` is a share of the mean: use a number from 0 to 10");
        }
        if empirical == quantiles.is_empty() || quantiles.len() == 1 {
            self.at(
                at,
                key,
                "`quantiles` and the distribution `empirical` require each other: give at least two \
                 quantiles",
            );
        }
        if quantiles.windows(2).any(|pair| pair[0] > pair[1]) {
            self.at(
                at,
                key,
                "`quantiles` are not in ascending order: list them from the smallest to the \
                              largest time",
            );
        }
        self.tail(at, key, service);
    }

    /// The quantiles of a tail are between the last two at equal steps.
    fn tail(&mut self, at: (&str, usize), key: &str, Service { quantiles, tail, .. }: &Service) {
        let [.., before, last] = quantiles.as_slice() else {
            if !tail.is_empty() {
                self.at(at, key, "`tail` refines the last step of `quantiles`: give those, too");
            }
            return;
        };
        if !tail.is_empty() && quantiles.len() > STEPS_MOST {
            let message = format!(
                "with a `tail`, `quantiles` have at most {STEPS_MOST} values, so that it is beyond them"
            );
            self.at(at, key, message);
        }
        if tail.len() > TAIL_MOST {
            self.at(at, key, format!("`tail` has at most {TAIL_MOST} values: leave out the last ones"));
        }
        let all: Vec<&Time> = [before].into_iter().chain(tail).chain([last]).collect();
        if all.windows(2).any(|pair| pair[0] > pair[1]) {
            self.at(at, key, "`tail` is not in ascending order between the last two of `quantiles`");
        }
    }

    fn takes_time(&mut self, at: (&str, usize), key: &str, service: &Service, is_limited: bool) {
        let longest = service.quantiles.last().copied().unwrap_or(Time(0));
        if service.time == Time(0) && service.rate.is_none() && longest == Time(0) && !is_limited {
            self.at(at, key, "it takes no time: give a `time`, a `rate` or both");
        }
    }

    fn device(&mut self, index: usize, device: &Device) {
        let at = ("device", index);
        self.count(at.0, index, device.count, MEMBERS_MAX, "count");
        self.count(at.0, index, device.slots, SLOTS_MAX, "slots");
        let Limits { read_iops, write_iops, read_bandwidth, write_bandwidth } = device.limits;
        let limited = [
            read_iops.is_some() || read_bandwidth.is_some(),
            write_iops.is_some() || write_bandwidth.is_some(),
        ];
        for ((key, service), limited) in
            [("read", &device.read), ("write", &device.write)].into_iter().zip(limited)
        {
            self.service(at, key, service);
            self.takes_time(at, key, service, limited);
        }
        self.limits(at, &device.limits);
        if device.write_cache.as_ref().is_some_and(|cache| cache.time == Time(0))
            && device.write.rate.is_none()
            && !limited[1]
        {
            let message = "writes that fit in it take no time: give its `time`, or a `rate` of `write`";
            self.at(at, "write_cache", message);
        }
        if device.size.is_some_and(|size| size.0 == 0) {
            self.at(at, "size", "a device of 0 bytes can store nothing: give a size, or omit it");
        }
    }

    fn layout(&mut self, model: &Model, index: usize, layout: &Layout) {
        let at = ("layout", index);
        let Some(group) = model.group(&layout.devices) else {
            let names = model.devices.iter().map(|device| device.name.as_str());
            return self.unknown(at, "devices", &layout.devices, "device", names);
        };
        self.through(at, &layout.through);
        let mut seen = BTreeSet::new();
        for name in &layout.through {
            let names = model.links.iter().map(|link| link.name.as_str());
            let names = names.chain(model.servers.iter().map(|server| server.name.as_str()));
            if !names.clone().any(|known| known == name) {
                self.unknown(at, "through", name, "link or server", names);
            } else if !seen.insert(name) {
                self.at(at, "through", format!("requests would pass `{name}` twice: name each part once"));
            }
        }
        if let Some(name) = &layout.metadata
            && model.metadata_of(layout).is_none()
        {
            let names = model.metadata.iter().map(|service| service.name.as_str());
            self.unknown(at, "metadata", name, "metadata service", names);
        }
        let stripe = layout.stripe.unwrap_or(group.count);
        if stripe == 0 || stripe > group.count {
            let (name, count) = (&group.name, group.count);
            let message = format!(
                "a stripe over {stripe} devices does not fit `{name}`, which has {count}: use a number from \
                 1 to {count}"
            );
            return self.at(at, "stripe", message);
        }
        if layout.copies == 0 || layout.copies > group.count {
            let message = format!(
                "{} copies need as many devices, but `{}` has {}",
                layout.copies, group.name, group.count
            );
            self.at(at, "copies", message);
        }
        if layout.parity >= stripe {
            let message =
                format!("{} chunks of parity leave no space for data on {stripe} devices", layout.parity);
            self.at(at, "parity", message);
        }
        if layout.parity > 0 && layout.copies > 1 {
            self.at(at, "copies", "a layout has either copies or parity: omit one of them");
        }
        if layout.chunk.is_some_and(|chunk| chunk.0 < CHUNK_LEAST) {
            let message =
                format!("a chunk has at least {CHUNK_LEAST} bytes: give a size, for example \"1MiB\"");
            self.at(at, "chunk", message);
        }
        if u64::from(model.node.count) * u64::from(group.count) > PAIRS_MAX {
            let message = format!(
                "{} nodes with {} devices are too many: their product may be at most {PAIRS_MAX}",
                model.node.count, group.count
            );
            self.at(at, "devices", message);
        }
    }

    fn trouble(&mut self, model: &Model, index: usize, trouble: &Trouble) {
        let at = ("trouble", index);
        let Some(group) = model.group(&trouble.devices) else {
            let names = model.devices.iter().map(|device| device.name.as_str());
            return self.unknown(at, "devices", &trouble.devices, "device", names);
        };
        if let Some(member) = trouble.members.iter().find(|member| **member >= group.count) {
            let message =
                format!("`{}` has no member {member}: its members are 0 to {}", group.name, group.count - 1);
            self.at(at, "members", message);
        }
        let Trouble { share, at: begin, length, every, size, rate, .. } = trouble;
        let in_share = |least: f64, most: f64| share.is_some_and(|share| (least..=most).contains(&share));
        let needed = match trouble.kind {
            TroubleKind::Slow => (!in_share(1e-6, 1.0)).then_some("`share`, the remaining rate, above 0"),
            TroubleKind::Load => {
                (!in_share(0.0, 0.95)).then_some("`share`, the time used by others, up to 0.95")
            }
            TroubleKind::Warming => {
                (!in_share(0.0, WARMING_MOST)).then_some("`share`, the reads that it serves, up to 0.95")
            }
            TroubleKind::Drift => (!in_share(-1.0, 100.0)).then_some("`share`, the change per hour"),
            TroubleKind::Stall => {
                (begin.is_none() || length.is_none()).then_some("`at` and `length`, when and how long")
            }
            TroubleKind::Burst => (size.is_none() || rate.is_none())
                .then_some("`size` and `rate`, which apply before the throttle"),
        };
        if let Some(needed) = needed {
            self.at(at, "kind", format!("this kind of trouble needs {needed}"));
        }
        if every.is_some_and(|every| every.0 < STALL_EVERY_LEAST_NS) {
            self.at(at, "every", "stalls occur at most a thousand times per second: use \"1ms\" or more");
        }
        if every.zip(*length).is_some_and(|(every, length)| every <= length) {
            self.at(
                at,
                "every",
                "the stalls would follow one another without a gap: make `every` longer than `length`",
            );
        }
    }

    fn unknown<'n>(
        &mut self,
        at: (&str, usize),
        key: &str,
        name: &str,
        what: &str,
        names: impl Iterator<Item = &'n str>,
    ) {
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        self.at(at, key, format!("`{name}` is not a {what} of this model; known: {known}"));
    }
}

/// The position of `key` in a table, or otherwise the position of the table.
fn span(document: &Item, table: &str, index: usize, key: &str) -> Option<Range<usize>> {
    let item = document.get(table)?;
    let entry = match item.as_array_of_tables() {
        Some(tables) => {
            tables.get(index)?.get(key).and_then(Item::span).or_else(|| tables.get(index)?.span())
        }
        None => item.get(key).and_then(Item::span),
    };
    entry.or_else(|| item.span())
}
