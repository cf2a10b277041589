//! Exchanges addresses and keys between all endpoints. This uses the rendezvous of the run, never the
//! network that is measured.
//!
//! 1. Each endpoint publishes its host and the addresses at which it can be reached.
//! 2. Each server listens at the addresses that lead to its clients, and publishes them with a key
//!    generated for this phase.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Mutex;

use plan::Rpc;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, listen, socket_with, sockopt};

use super::error::NetworkError;
use super::interface::Host;
use crate::{EngineError, Errno, Rendezvous};

/// Backlog of connections to be accepted; the kernel's maximum (`net.core.somaxconn`).
const BACKLOG: i32 = 4096;

/// 128 random bits.
pub(super) type Key = [u8; 16];

/// A description of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Card {
    pub(super) end: u32,
    pub(super) name: String,
    pub(super) identity: String,
    pub(super) addresses: Vec<IpAddr>,
}

/// The addresses and keys of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Offer {
    /// The key that the client presents.
    pub(super) key: Key,
    /// The key that the server presents.
    pub(super) answer: Key,
    /// Each address, with the endpoints that connect to it.
    pub(super) ways: Vec<(SocketAddr, Vec<u32>)>,
}

/// What an endpoint knows about the others, and its listening sockets.
#[derive(Debug)]
pub(super) struct Meeting {
    pub(super) end: u32,
    pub(super) host: Host,
    cards: BTreeMap<u32, Card>,
    offers: BTreeMap<u32, Offer>,
    /// Kept open until all connections are established.
    pub(super) listeners: Mutex<Vec<OwnedFd>>,
    /// Source address of this endpoint's connections, if an interface was named.
    pub(super) from: Option<IpAddr>,
    /// An address that this endpoint uses.
    pub(super) address: Option<IpAddr>,
}

impl Meeting {
    /// Exchanges the descriptions of all endpoints. Returns an error on all processes if one failed.
    ///
    /// # Errors
    /// Errors if an interface or address of this endpoint cannot be used, or if another endpoint failed.
    pub(super) fn hold(rpc: &Rpc, end: u32, rendezvous: &dyn Rendezvous) -> Result<Self, EngineError> {
        let host = Host::look();
        let from = rpc.interface.as_deref().map(|name| host.address_of(name)).transpose();
        let card = from.as_ref().map(|from| Card {
            end,
            name: host.name.clone(),
            identity: host.identity.clone(),
            addresses: match from {
                Some(address) => vec![*address],
                None => host.addresses().into_iter().map(|(address, _)| address).collect(),
            },
        });
        let told = card.map_or_else(|_| Vec::new(), Card::write);
        let all = rendezvous.share(told).map_err(EngineError::Rendezvous)?;
        let from = from?;
        let cards: Option<BTreeMap<u32, Card>> =
            all.iter().map(|bytes| Card::read(bytes).map(|card| (card.end, card))).collect();
        // All processes see that one has failed, and none continues.
        let cards = cards.ok_or(EngineError::Peer)?;
        let mut listeners = Vec::new();
        let place = EndpointContext { rpc, end, host: &host, from, cards: &cards };
        let offer = place.offer(&mut listeners);
        let told = offer.as_ref().map_or_else(|_| Vec::new(), |offer| offer.write(end));
        let all = rendezvous.share(told).map_err(EngineError::Rendezvous)?;
        offer?;
        let offers: Option<BTreeMap<u32, Offer>> = all.iter().map(|bytes| Offer::read(bytes)).collect();
        let offers = offers.ok_or(EngineError::Peer)?;
        let listeners = Mutex::new(listeners);
        let mut meeting = Self { end, host, cards, offers, listeners, from, address: from };
        if meeting.address.is_none() {
            meeting.address = meeting.used();
        }
        Ok(meeting)
    }

    /// Tells the others that this endpoint does not take part.
    ///
    /// # Errors
    /// Errors if a peer is gone.
    pub(super) fn decline(rendezvous: &dyn Rendezvous) -> Result<(), EngineError> {
        rendezvous.share(Vec::new()).map(drop).map_err(EngineError::Rendezvous)
    }

    /// The address that this endpoint uses, if it may have several.
    fn used(&self) -> Option<IpAddr> {
        let own = self.offers.get(&self.end).and_then(|offer| offer.ways.first());
        own.map(|(address, _)| address.ip()).or_else(|| {
            let mut ways = self.offers.values().flat_map(|offer| &offer.ways);
            let (there, _) = ways.find(|(_, clients)| clients.contains(&self.end))?;
            match there.ip().is_loopback() {
                true => Some(there.ip()),
                false => self.host.address_to(&[there.ip()]),
            }
        })
    }

    /// The address at which `server` listens for this endpoint.
    pub(super) fn way_to(&self, server: u32) -> Option<SocketAddr> {
        let ways = &self.offers.get(&server)?.ways;
        ways.iter().find(|(_, clients)| clients.contains(&self.end)).map(|(address, _)| *address)
    }

    /// The key to present to `server`, and the key that `server` presents.
    pub(super) fn keys_of(&self, server: u32) -> Option<(Key, Key)> {
        self.offers.get(&server).map(|offer| (offer.key, offer.answer))
    }

    /// The host name of an endpoint.
    pub(super) fn name_of(&self, end: u32) -> &str {
        self.cards.get(&end).map_or("", |card| card.name.as_str())
    }
}

/// What an endpoint bases its decisions on, once it knows the others.
struct EndpointContext<'a> {
    rpc: &'a Rpc,
    end: u32,
    host: &'a Host,
    from: Option<IpAddr>,
    cards: &'a BTreeMap<u32, Card>,
}

impl EndpointContext<'_> {
    /// Listens for all clients of this endpoint.
    fn offer(&self, listeners: &mut Vec<OwnedFd>) -> Result<Offer, NetworkError> {
        let mut clients: BTreeMap<IpAddr, Vec<u32>> = BTreeMap::new();
        for (client, server) in self.rpc.pairs() {
            if server == self.end {
                clients.entry(self.address_for(client)?).or_default().push(client);
            }
        }
        let key = || random().map_err(|errno| NetworkError::NoKey { host: self.host.name.clone(), errno });
        let mut offer = Offer { key: key()?, answer: key()?, ways: Vec::new() };
        for (address, clients) in clients {
            let wanted = SocketAddr::new(address, self.port());
            let (listener, bound) =
                listener(wanted).map_err(|errno| NetworkError::Listen { address: wanted, errno })?;
            listeners.push(listener);
            offer.ways.push((bound, clients));
        }
        Ok(offer)
    }

    /// Returns the local address that leads to `client`.
    fn address_for(&self, client: u32) -> Result<IpAddr, NetworkError> {
        if let Some(named) = self.from {
            return Ok(named);
        }
        let no_way = |peer: String| NetworkError::NoWay { host: self.host.name.clone(), peer };
        let Some(card) = self.cards.get(&client) else { return Err(no_way(format!("process {client}"))) };
        if card.identity == self.host.identity {
            return Ok(Ipv4Addr::LOCALHOST.into());
        }
        self.host.address_to(&card.addresses).ok_or_else(|| no_way(card.name.clone()))
    }

    /// The configured port, plus this server's index among those on this host.
    fn port(&self) -> u16 {
        let Some(first) = self.rpc.port else { return 0 };
        let before = self.cards.values().filter(|card| {
            card.end < self.end && card.identity == self.host.identity && self.rpc.answers(card.end)
        });
        first.saturating_add(u16::try_from(before.count()).unwrap_or(u16::MAX))
    }
}

/// Creates a socket that listens only at `address`. Also returns its actual address.
fn listener(address: SocketAddr) -> Result<(OwnedFd, SocketAddr), Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    // Connections of an earlier phase in TIME_WAIT do not block the configured port.
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &address)?;
    listen(&socket, BACKLOG)?;
    let bound = SocketAddr::try_from(getsockname(&socket)?)?;
    Ok((socket, bound))
}

/// Returns random bits from the kernel.
///
/// # Errors
/// Errors if the kernel returns none because it is older than 3.17 or forbids the call.
pub(super) fn random() -> Result<Key, Errno> {
    let mut key = Key::default();
    let mut have = 0;
    while have < key.len() {
        match rustix::rand::getrandom(&mut key[have..], rustix::rand::GetRandomFlags::empty()) {
            Ok(more) => have += more,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(key)
}

impl Card {
    pub(super) fn write(self) -> Vec<u8> {
        let addresses: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
        format!("{}\n{}\n{}\n{}", self.end, self.name, self.identity, addresses.join(" ")).into_bytes()
    }

    /// Returns `None` if the other endpoint failed.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(bytes).ok()?.split('\n');
        let mut line = || lines.next();
        Some(Self {
            end: line()?.parse().ok()?,
            name: line()?.to_owned(),
            identity: line()?.to_owned(),
            addresses: line()?.split_whitespace().map(|text| text.parse().ok()).collect::<Option<_>>()?,
        })
    }
}

impl Offer {
    pub(super) fn write(&self, end: u32) -> Vec<u8> {
        let mut text = format!("{end} {} {}", plan::hex(&self.key), plan::hex(&self.answer));
        for (address, clients) in &self.ways {
            let clients: Vec<String> = clients.iter().map(ToString::to_string).collect();
            text += &format!("\n{address} {}", clients.join(" "));
        }
        text.into_bytes()
    }

    /// Returns the endpoint and its offer, or `None` if it failed.
    pub(super) fn read(bytes: &[u8]) -> Option<(u32, Self)> {
        let key = |text: &str| -> Option<Key> {
            let bytes: Option<Vec<u8>> =
                (0..16).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()).collect();
            bytes?.try_into().ok()
        };
        let mut lines = std::str::from_utf8(bytes).ok()?.split('\n');
        let mut first = lines.next()?.split(' ');
        let end = first.next()?.parse().ok()?;
        let (key, answer) = (key(first.next()?)?, key(first.next()?)?);
        let way = |line: &str| {
            let (address, clients) = line.split_once(' ')?;
            let clients = clients.split(' ').map(|text| text.parse().ok()).collect::<Option<_>>()?;
            Some((address.parse().ok()?, clients))
        };
        Some((end, Self { key, answer, ways: lines.map(way).collect::<Option<_>>()? }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{Card, Offer};

    fn random() -> super::Key {
        super::random().expect("the kernel gives random bits")
    }

    #[test]
    fn what_is_told_is_what_is_heard() {
        let card = Card {
            end: 3,
            name: "node1".into(),
            identity: "boot net:[1]".into(),
            addresses: vec![[10, 0, 0, 1].into(), [0xfd00, 0, 0, 0, 0, 0, 0, 1].into()],
        };
        assert_eq!(Card::read(&card.clone().write()), Some(card));
        let ways = vec![(([10, 0, 0, 1], 4000).into(), vec![0, 2]), (([127, 0, 0, 1], 1).into(), vec![1])];
        let offer = Offer { key: random(), answer: random(), ways };
        assert_eq!(Offer::read(&offer.write(7)), Some((7, offer)));
        let silent = Offer { key: random(), ..Offer::default() };
        assert_eq!(Offer::read(&silent.write(0)), Some((0, silent)));
        assert_eq!((Card::read(b""), Offer::read(b"")), (None, None));
        assert_ne!(random(), random());
    }

    proptest! {
        #[test]
        fn whatever_is_told_is_read_without_a_panic(bytes in any::<Vec<u8>>(), text in "[0-9a-f\\n :.+é]{0,200}") {
            for told in [&bytes[..], text.as_bytes()] {
                if let Some(card) = Card::read(told) {
                    prop_assert_eq!(Card::read(&card.clone().write()), Some(card));
                }
                if let Some((end, offer)) = Offer::read(told) {
                    prop_assert_eq!(Offer::read(&offer.write(end)), Some((end, offer)));
                }
            }
        }
    }
}
