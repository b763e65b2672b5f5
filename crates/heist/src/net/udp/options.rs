//! Options of UDP sockets.

use super::UdpSocket;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

impl UdpSocket {
    /// Whether it may send to broadcast addresses (`SO_BROADCAST`).
    ///
    /// # Errors
    /// Those of the system.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.io.broadcast()
    }

    /// Sets [`broadcast`](Self::broadcast).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_broadcast(&self, on: bool) -> io::Result<()> {
        self.io.set_broadcast(on)
    }

    /// Whether what it sends to IPv4 groups comes back to this machine (`IP_MULTICAST_LOOP`).
    ///
    /// # Errors
    /// Those of the system.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.io.multicast_loop_v4()
    }

    /// Sets [`multicast_loop_v4`](Self::multicast_loop_v4).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_multicast_loop_v4(&self, on: bool) -> io::Result<()> {
        self.io.set_multicast_loop_v4(on)
    }

    /// How many routers a datagram to an IPv4 group may pass (`IP_MULTICAST_TTL`).
    ///
    /// # Errors
    /// Those of the system.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.io.multicast_ttl_v4()
    }

    /// Sets [`multicast_ttl_v4`](Self::multicast_ttl_v4).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_multicast_ttl_v4(&self, ttl: u32) -> io::Result<()> {
        self.io.set_multicast_ttl_v4(ttl)
    }

    /// Whether what it sends to IPv6 groups comes back to this machine (`IPV6_MULTICAST_LOOP`).
    ///
    /// # Errors
    /// Those of the system, and if it is no IPv6 socket.
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.io.multicast_loop_v6()
    }

    /// Sets [`multicast_loop_v6`](Self::multicast_loop_v6).
    ///
    /// # Errors
    /// Those of the system, and if it is no IPv6 socket.
    pub fn set_multicast_loop_v6(&self, on: bool) -> io::Result<()> {
        self.io.set_multicast_loop_v6(on)
    }

    /// Receives what is sent to this IPv4 group (`IP_ADD_MEMBERSHIP`), on the interface with this
    /// address; with `0.0.0.0`, on one that the system chooses.
    ///
    /// # Errors
    /// Those of the system.
    pub fn join_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.join_multicast_v4(&multiaddr, &interface)
    }

    /// Receives what is sent to this IPv6 group (`IPV6_ADD_MEMBERSHIP`), on the interface with this
    /// number; with 0, on any.
    ///
    /// # Errors
    /// Those of the system.
    pub fn join_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.io.join_multicast_v6(multiaddr, interface)
    }

    /// Undoes [`join_multicast_v4`](Self::join_multicast_v4).
    ///
    /// # Errors
    /// Those of the system.
    pub fn leave_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.leave_multicast_v4(&multiaddr, &interface)
    }

    /// Undoes [`join_multicast_v6`](Self::join_multicast_v6).
    ///
    /// # Errors
    /// Those of the system.
    pub fn leave_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.io.leave_multicast_v6(multiaddr, interface)
    }

    /// How many routers a datagram may pass (`IP_TTL`).
    ///
    /// # Errors
    /// Those of the system.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets [`ttl`](Self::ttl).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }

    ip_options!();

    fn options(&self) -> socket2::SockRef<'_> {
        socket2::SockRef::from(&*self.io)
    }
}
