//! The topology of a site: servers with the cards of each socket, storage with controllers and drives, and
//! the cells that they form.
//!
//! ```
//! let text = r#"
//! title = "One cell"
//!
//! [[server]]
//! name = "oss"
//! sockets = 2
//!
//! [[server.card]]
//! title = "SAS3"
//! per_socket = 2
//! to = "storage"
//! rate = "2.4 GB/s"
//!
//! [[storage]]
//! name = "array"
//! controllers = 2
//! ports = 2
//! drives = 20
//!
//! [[cell]]
//! title = "OSS cell"
//! server = "oss"
//! servers = 2
//! storage = "array"
//! "#;
//! let topology = plan::topology::read("site.toml".as_ref(), text)?;
//! assert_eq!(topology.storage_links(&topology.cells[0]), 8);
//! # Ok::<(), Box<plan::topology::TopologyError>>(())
//! ```

use std::ops::Range;
use std::path::Path;

use miette::{Diagnostic, LabeledSpan, NamedSource};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::Spanned;

use crate::Amount;
use crate::limits::TOPOLOGY_BYTES;

/// Limit on counts in a drawing.
const COUNT_MAX: u32 = 4096;

/// The components of a site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Topology {
    /// Its title.
    pub title: String,
    /// Kinds of servers.
    pub servers: Vec<Server>,
    /// Kinds of storage.
    pub storages: Vec<Storage>,
    /// Kinds of cells.
    pub cells: Vec<Cell>,
}

/// A kind of server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Name used in cells.
    pub name: String,
    /// Display name.
    #[serde(default)]
    pub title: String,
    /// Number of processors.
    #[serde(default = "one")]
    pub sockets: u32,
    /// Processor model.
    #[serde(default)]
    pub processor: String,
    /// A description of the memory.
    #[serde(default)]
    pub memory: String,
    /// The cards of each socket.
    #[serde(default, rename = "card")]
    pub cards: Vec<Card>,
}

/// Cards of one kind in each socket of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Its name, as in `IB FDR`.
    pub title: String,
    /// Number of cards per socket.
    #[serde(default = "one")]
    pub per_socket: u32,
    /// The other end of its link.
    pub to: LinkEnd,
    /// Bytes per second of one card, as in `2.4 GB/s`; empty if unknown.
    #[serde(default)]
    pub rate: String,
}

/// The other end of links of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkEnd {
    /// The clients.
    Network,
    /// The storage of the cell.
    Storage,
}

/// A kind of storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    /// Name used in cells.
    pub name: String,
    /// Display name.
    #[serde(default)]
    pub title: String,
    /// Number of controllers; 0 if the drives are attached to the servers.
    #[serde(default)]
    pub controllers: u32,
    /// Number of ports per controller.
    #[serde(default)]
    pub ports: u32,
    /// A description of the memory of each controller.
    #[serde(default)]
    pub memory: String,
    /// Number of drives.
    pub drives: u32,
    /// Drive model.
    #[serde(default)]
    pub drive: String,
}

/// A kind of cell: servers that share storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Its title.
    pub title: String,
    /// Number of cells of this kind.
    pub count: u32,
    /// Index of its kind of server in [`Topology::servers`].
    pub server: usize,
    /// Number of these servers in one cell.
    pub servers: u32,
    /// Index of its kind of storage in [`Topology::storages`].
    pub storage: usize,
}

impl Topology {
    /// Number of links of one cell between servers and storage.
    #[must_use]
    pub fn storage_links(&self, cell: &Cell) -> u32 {
        let server = &self.servers[cell.server];
        let cards = server.cards.iter().filter(|card| card.to == LinkEnd::Storage);
        let per_socket = cards.fold(0_u32, |sum, card| sum.saturating_add(card.per_socket));
        per_socket.saturating_mul(server.sockets).saturating_mul(cell.servers)
    }

    /// Number of ports of one cell's storage.
    #[must_use]
    pub fn storage_ports(&self, cell: &Cell) -> u32 {
        let storage = &self.storages[cell.storage];
        storage.controllers.saturating_mul(storage.ports)
    }

    /// Bytes per second over all links of one cell in one direction. Returns `None` if a card has no rate,
    /// or no card leads there.
    #[must_use]
    pub fn rate(&self, cell: &Cell, to: LinkEnd) -> Option<f64> {
        let server = &self.servers[cell.server];
        let sockets = f64::from(server.sockets) * f64::from(cell.servers);
        server.rate_of_socket(to).map(|rate| rate * sockets)
    }
}

impl Server {
    /// Bytes per second over all links of one socket in one direction. Returns `None` if a card has no rate,
    /// or no card leads there.
    #[must_use]
    pub fn rate_of_socket(&self, to: LinkEnd) -> Option<f64> {
        let mut cards = self.cards.iter().filter(|card| card.to == to).peekable();
        cards.peek()?;
        cards.try_fold(0.0, |sum, card| Some(sum + card.bytes_per_second()? * f64::from(card.per_socket)))
    }
}

impl Card {
    /// Bytes per second of one card. Returns `None` if unknown.
    #[must_use]
    pub fn bytes_per_second(&self) -> Option<f64> {
        match Amount::parse_rate(&self.rate) {
            Ok(Amount::BytesPerSecond(rate)) => Some(rate),
            _ => None,
        }
    }
}

fn one() -> u32 {
    1
}

/// A mistake in a description, with its place.
#[derive(Debug, Error, Diagnostic)]
#[error("{path} cannot be used as a topology: {message}")]
pub struct TopologyError {
    path: String,
    message: String,
    #[source_code]
    source_code: NamedSource<String>,
    #[label(collection)]
    labels: Vec<LabeledSpan>,
    #[help]
    help: String,
}

/// The file as written, with the positions of names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    title: String,
    #[serde(default)]
    server: Vec<Spanned<Server>>,
    #[serde(default)]
    storage: Vec<Spanned<Storage>>,
    #[serde(default)]
    cell: Vec<Spanned<FileCell>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileCell {
    title: String,
    #[serde(default = "one")]
    count: u32,
    server: Spanned<String>,
    #[serde(default = "one")]
    servers: u32,
    storage: Spanned<String>,
}

/// A mistake and its position, not yet attached to its file.
struct Mistake {
    span: Range<usize>,
    message: String,
    help: String,
}

impl Mistake {
    fn new(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: help.into() }
    }
}

/// Reads a description.
///
/// # Errors
/// The first mistake, with its place.
pub fn read(path: &Path, text: &str) -> Result<Topology, Box<TopologyError>> {
    parse(text).map_err(|mistake| {
        let shown = if text.len() > TOPOLOGY_BYTES { String::new() } else { text.to_owned() };
        let path = path.display().to_string();
        let place = mistake.span.start.min(shown.len())..mistake.span.end.min(shown.len());
        Box::new(TopologyError {
            source_code: NamedSource::new(&path, shown),
            path,
            labels: vec![LabeledSpan::underline(place)],
            message: mistake.message,
            help: mistake.help,
        })
    })
}

fn parse(text: &str) -> Result<Topology, Mistake> {
    if text.len() > TOPOLOGY_BYTES {
        let help = "name the file that describes the site; 1 MiB is far more than such a file needs";
        return Err(Mistake::new(0..0, format!("it has {} bytes", text.len()), help));
    }
    let file: File = toml::from_str(text).map_err(|error| {
        let help = "tables are [[server]] with [[server.card]], [[storage]] and [[cell]]; docs/HOST.md lists their keys";
        Mistake::new(error.span().unwrap_or_default(), error.message(), help)
    })?;
    if file.cell.is_empty() {
        return Err(Mistake::new(0..0, "it has no [[cell]]", "add a [[cell]] with server and storage"));
    }
    let servers = file.server.iter().map(|one| (one.get_ref().name.as_str(), one.span()));
    let servers = unique("server", servers)?;
    let storages = file.storage.iter().map(|one| (one.get_ref().name.as_str(), one.span()));
    let storages = unique("storage", storages)?;
    for server in &file.server {
        check_server(server)?;
    }
    for storage in &file.storage {
        let (span, one) = (storage.span(), storage.get_ref());
        for (key, count) in [("controllers", one.controllers), ("ports", one.ports), ("drives", one.drives)] {
            limited(&span, key, count, 0)?;
        }
    }
    let mut cells = Vec::new();
    for cell in &file.cell {
        let (span, one) = (cell.span(), cell.get_ref());
        limited(&span, "count", one.count, 1)?;
        limited(&span, "servers", one.servers, 1)?;
        cells.push(Cell {
            title: one.title.clone(),
            count: one.count,
            server: place("server", &one.server, &servers)?,
            servers: one.servers,
            storage: place("storage", &one.storage, &storages)?,
        });
    }
    Ok(Topology {
        title: file.title,
        servers: file.server.into_iter().map(Spanned::into_inner).collect(),
        storages: file.storage.into_iter().map(Spanned::into_inner).collect(),
        cells,
    })
}

fn check_server(server: &Spanned<Server>) -> Result<(), Mistake> {
    let (span, one) = (server.span(), server.get_ref());
    limited(&span, "sockets", one.sockets, 1)?;
    for card in &one.cards {
        limited(&span, "per_socket", card.per_socket, 1)?;
        if !card.rate.is_empty() && card.bytes_per_second().is_none() {
            let message = format!("`{}` of the card {} is not a rate", card.rate, card.title);
            return Err(Mistake::new(span, message, "write bytes per second, for example 2.4 GB/s or 6GB/s"));
        }
    }
    Ok(())
}

fn limited(span: &Range<usize>, key: &str, count: u32, least: u32) -> Result<(), Mistake> {
    if (least..=COUNT_MAX).contains(&count) {
        return Ok(());
    }
    let help = format!("write a whole number from {least} to {COUNT_MAX}");
    Err(Mistake::new(span.clone(), format!("{key} is {count}"), help))
}

/// The names, if they are unique.
fn unique<'a>(
    what: &str,
    names: impl Iterator<Item = (&'a str, Range<usize>)>,
) -> Result<Vec<&'a str>, Mistake> {
    let mut known = Vec::new();
    for (name, span) in names {
        if known.contains(&name) {
            let message = format!("the {what} `{name}` is defined twice");
            return Err(Mistake::new(span, message, "give each a name of its own"));
        }
        known.push(name);
    }
    Ok(known)
}

/// Index of `wanted` in `names`.
fn place(what: &str, wanted: &Spanned<String>, names: &[&str]) -> Result<usize, Mistake> {
    let name = wanted.get_ref().as_str();
    names.iter().position(|known| *known == name).ok_or_else(|| {
        let likely = names.iter().map(|known| (strsim::jaro_winkler(name, known), *known));
        let nearest =
            likely.max_by(|one, other| one.0.total_cmp(&other.0)).filter(|(likeness, _)| *likeness > 0.7);
        let help = match (nearest, names) {
            (Some((_, nearest)), _) => format!("did you mean `{nearest}`?"),
            (None, []) => format!("add a [[{what}]] with this name"),
            (None, names) => format!("the names are {}", names.join(", ")),
        };
        Mistake::new(wanted.span(), format!("no [[{what}]] is called `{name}`"), help)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{LinkEnd, read};
    const SITE: &str = r#"
title = "Site"
[[server]]
name = "oss"
sockets = 2
[[server.card]]
title = "IB FDR"
to = "network"
rate = "6 GB/s"
[[server.card]]
title = "SAS3"
per_socket = 2
to = "storage"
rate = "2.4 GB/s"
[[storage]]
name = "ef560"
controllers = 2
ports = 4
drives = 20
[[cell]]
title = "OSS"
count = 3
server = "oss"
servers = 2
storage = "ef560"
"#;

    fn refused(text: &str) -> String {
        use miette::Diagnostic;
        let error = read(Path::new("site.toml"), text).expect_err("a mistake");
        let place =
            error.labels().into_iter().flatten().map(|one| text[one.offset()..][..one.len()].to_owned());
        let place = place.collect::<Vec<_>>().join("|").lines().next().unwrap_or_default().to_owned();
        format!("{} @ {place} @ {}", error.message, error.help)
    }

    #[test]
    fn links_and_rates_of_a_cell_are_added_up() {
        let site = read(Path::new("site.toml"), SITE).expect("a site");
        let cell = &site.cells[0];
        assert_eq!((site.storage_links(cell), site.storage_ports(cell)), (8, 8));
        assert_eq!(site.servers[0].rate_of_socket(LinkEnd::Storage), Some(4.8e9));
        assert_eq!(site.rate(cell, LinkEnd::Network), Some(24e9));
        assert_eq!(site.rate(cell, LinkEnd::Storage), Some(19.2e9));
    }

    #[test]
    fn mistakes_are_told_with_their_place_and_the_next_step() {
        assert!(
            refused(&SITE.replace("\"oss\"\nservers", "\"os\"\nservers"))
                .contains("`os` @ \"os\" @ did you mean `oss`?")
        );
        assert!(refused(&SITE.replace("per_socket", "per_sockt")).contains("unknown field `per_sockt`"));
        assert!(refused(&SITE.replace("2.4 GB/s", "fast")).contains("`fast` of the card SAS3 is not a rate"));
        assert!(refused(&SITE.replace("sockets = 2", "sockets = 0")).contains("sockets is 0"));
        assert!(refused(&SITE.replace("count = 3", "count = 99999")).contains("count is 99999"));
        assert!(refused("title = 3").contains("@ 3 @"));
        assert!(refused("").contains("no [[cell]]"));
        let twice = format!("{SITE}\n[[server]]\nname = \"oss\"\n");
        assert!(refused(&twice).contains("the server `oss` is defined twice"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_stops_the_reader(text in "(?s)[\\[\\]a-z=\" \n0-9.é]{0,200}") {
            let _ = read(Path::new("x"), &text);
        }
    }
}
