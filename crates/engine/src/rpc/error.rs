//! What can fail between the ends of exchanges.

use std::net::SocketAddr;

use thiserror::Error;

use crate::Errno;

/// Why an exchange could not begin or go on. Each message ends with the next step.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// There is no such interface.
    #[error("there is no network interface {name} on {host}; it has {}", known.join(", "))]
    NoInterface {
        /// As it was named.
        name: String,
        /// The host that lacks it.
        host: String,
        /// Those that are there.
        known: Vec<String>,
    },
    /// An interface that sockets cannot be bound to.
    #[error(
        "network interface {name} of {host} has no address; give it one (`ip addr add`), or name another"
    )]
    NoAddress {
        /// The interface, or all of them.
        name: String,
        /// Its host.
        host: String,
    },
    /// An interface that is switched off.
    #[error("network interface {name} of {host} is down; `ip link set {name} up` as root, or name another")]
    Down {
        /// The interface.
        name: String,
        /// Its host.
        host: String,
    },
    /// No address of a host is known to lead to another.
    #[error("no network interface of {host} leads to {peer}; name the one that does (--interface)")]
    NoWay {
        /// From here.
        host: String,
        /// To there.
        peer: String,
    },
    /// No socket could be bound to an address.
    #[error(
        "cannot listen at {address}: {errno}; {}",
        if errno.0 == libc::EADDRINUSE {
            "the port is in use: name another, or none so that the kernel chooses a free one"
        } else {
            "look at the interface's address, or name another interface"
        }
    )]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the kernel said.
        errno: Errno,
    },
    /// No connection could be made.
    #[error(
        "cannot connect to {peer}: {errno}; see whether a firewall is between, or name the network that \
         leads there (--interface)"
    )]
    Connect {
        /// Name and address of the peer.
        peer: String,
        /// What the kernel said.
        errno: Errno,
    },
    /// Whoever answers at the peer's address does not know the key of this phase.
    #[error(
        "{peer} did not take the key of this run: something else answers at that address; name another \
         interface (--interface) or port"
    )]
    NotOurs {
        /// Name and address of the peer.
        peer: String,
    },
    /// Peers did not connect in time.
    #[error(
        "{missing} of {all} connections did not come to {host} within {seconds} s, the first from {peer}; see \
         whether a firewall is between, or name the network that leads there (--interface)"
    )]
    Missing {
        /// Connections that did not come.
        missing: usize,
        /// Connections that were expected.
        all: usize,
        /// Where they should have come to.
        host: String,
        /// From where the first should have come.
        peer: String,
        /// How long it was waited for them.
        seconds: u64,
    },
    /// A connection ended before its time.
    #[error("{peer} closed a connection after {exchanges} exchanges; its own message or log says why")]
    Closed {
        /// Name and address of the peer.
        peer: String,
        /// Exchanges that had been completed on it.
        exchanges: u64,
    },
    /// Nothing moved on a connection although something should.
    #[error(
        "{peer} has stalled: nothing has moved on a connection for {seconds} s, after {exchanges} exchanges; look \
         at its load and at the links between, or allow more time (--deadline)"
    )]
    Stalled {
        /// Name and address of the peer.
        peer: String,
        /// For how long.
        seconds: u64,
        /// Exchanges that had been completed on it.
        exchanges: u64,
    },
    /// A call on a connection failed.
    #[error("{call} on the connection with {peer} failed: {errno}; {}", errno.advice())]
    Call {
        /// The call, as in `send`.
        call: &'static str,
        /// Name and address of the peer.
        peer: String,
        /// What the kernel said.
        errno: Errno,
    },
    /// Threads cannot be bound as asked.
    #[error("threads cannot be bound to {asked} on {host}: {problem}")]
    Binding {
        /// As it was asked for.
        asked: String,
        /// Where.
        host: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}
