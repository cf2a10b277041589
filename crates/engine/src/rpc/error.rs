//! Errors between the endpoints of exchanges.

use std::net::SocketAddr;

use thiserror::Error;

use crate::Errno;

/// Why an exchange could not begin or continue. Each message ends with the next step.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// There is no such interface.
    #[error("there is no network interface {name} on {host}; it has {}", known.join(", "))]
    NoInterface {
        /// The requested name.
        name: String,
        /// The host that lacks it.
        host: String,
        /// The existing interfaces.
        known: Vec<String>,
    },
    /// An interface that sockets cannot be bound to.
    #[error(
        "network interface {name} of {host} has no address; give it one (`ip addr add`), or name another"
    )]
    NoAddress {
        /// The interface, or all interfaces.
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
    /// No address of a host is known to lead to the other host.
    #[error("no network interface of {host} leads to {peer}; name the one that does (--interface)")]
    NoWay {
        /// The source host.
        host: String,
        /// The destination host.
        peer: String,
    },
    /// No socket could be bound to an address.
    #[error(
        "cannot listen at {address}: {errno}; {}",
        if errno.0 == libc::EADDRINUSE {
            "the port is in use: name another, or omit it so that the kernel chooses a free one"
        } else {
            "check the address of the interface, or name another interface"
        }
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error reported by the kernel.
        errno: Errno,
    },
    /// There is no key to authenticate peers with.
    #[error(
        "the kernel of {host} does not provide random bits for the key of a phase: {errno}; allow the \
         system call getrandom"
    )]
    NoKey {
        /// The host.
        host: String,
        /// The error reported by the kernel.
        errno: Errno,
    },
    /// A connection could not be established.
    #[error(
        "cannot connect to {peer}: {errno}; check for a firewall in between, or name the network that leads \
         there (--interface)"
    )]
    Connect {
        /// Name and address of the peer.
        peer: String,
        /// The error reported by the kernel.
        errno: Errno,
    },
    /// The process at the peer's address does not know the key of this phase.
    #[error(
        "{peer} did not accept the key of this run: something else answers at that address; name another \
         interface (--interface) or port"
    )]
    NotOurs {
        /// Name and address of the peer.
        peer: String,
    },
    /// Some peers did not connect in time.
    #[error(
        "{missing} of {all} connections did not reach {host} within {seconds} s, the first of them from \
         {peer}; check for a firewall in between, or name the network that leads there (--interface)"
    )]
    Missing {
        /// Number of missing connections.
        missing: usize,
        /// Number of expected connections.
        all: usize,
        /// The server's host.
        host: String,
        /// The peer of the first missing connection.
        peer: String,
        /// How long they were waited for.
        seconds: u64,
    },
    /// A connection ended early.
    #[error(
        "{peer} closed a connection after {exchanges} exchanges; see its own message or log for the \
             reason"
    )]
    Closed {
        /// Name and address of the peer.
        peer: String,
        /// Number of exchanges completed on it.
        exchanges: u64,
    },
    /// A connection with outstanding bytes made no progress.
    #[error(
        "{peer} has stalled: no data was transferred on a connection for {seconds} s, after {exchanges} \
         exchanges; check its load and the links in between, or allow more time (--deadline)"
    )]
    Stalled {
        /// Name and address of the peer.
        peer: String,
        /// The time without progress.
        seconds: u64,
        /// Number of exchanges completed on it.
        exchanges: u64,
    },
    /// A call on a connection failed.
    #[error("{call} on the connection with {peer} failed: {errno}; {}", errno.advice())]
    Call {
        /// The call, for example `send`.
        call: &'static str,
        /// Name and address of the peer.
        peer: String,
        /// The error reported by the kernel.
        errno: Errno,
    },
    /// Threads cannot be bound as requested.
    #[error("threads cannot be bound to {asked} on {host}: {problem}")]
    Binding {
        /// The requested binding.
        asked: String,
        /// The host.
        host: String,
        /// The problem and its remedy.
        problem: String,
    },
}
