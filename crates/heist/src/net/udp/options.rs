//! Options of UDP sockets.

use super::UdpSocket;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

impl UdpSocket {
    /// Returns whether the socket may send to broadcast addresses (`SO_BROADCAST`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.io.broadcast()
    }

    /// Sets whether the socket may send to broadcast addresses (`SO_BROADCAST`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UdpSocket;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let socket = UdpSocket::bind("0.0.0.0:0").await?;
    /// socket.set_broadcast(true)?; // Sends to 255.255.255.255 are allowed now.
    /// assert!(socket.broadcast()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_broadcast(&self, on: bool) -> io::Result<()> {
        self.io.set_broadcast(on)
    }

    /// Returns whether datagrams to IPv4 groups come back to this machine (`IP_MULTICAST_LOOP`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.io.multicast_loop_v4()
    }

    /// Sets whether datagrams to IPv4 groups come back to this machine (`IP_MULTICAST_LOOP`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn set_multicast_loop_v4(&self, on: bool) -> io::Result<()> {
        self.io.set_multicast_loop_v4(on)
    }

    /// Returns the time-to-live of datagrams to IPv4 groups (`IP_MULTICAST_TTL`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.io.multicast_ttl_v4()
    }

    /// Sets the time-to-live of datagrams to IPv4 groups (`IP_MULTICAST_TTL`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn set_multicast_ttl_v4(&self, ttl: u32) -> io::Result<()> {
        self.io.set_multicast_ttl_v4(ttl)
    }

    /// Returns whether datagrams to IPv6 groups come back to this machine (`IPV6_MULTICAST_LOOP`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails, for example because this is not an IPv6 socket.
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.io.multicast_loop_v6()
    }

    /// Sets whether datagrams to IPv6 groups come back to this machine (`IPV6_MULTICAST_LOOP`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails, for example because this is not an IPv6 socket.
    pub fn set_multicast_loop_v6(&self, on: bool) -> io::Result<()> {
        self.io.set_multicast_loop_v6(on)
    }

    /// Joins an IPv4 multicast group (`IP_ADD_MEMBERSHIP`) on the interface with the given address,
    /// or with `0.0.0.0` on one that the system chooses.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use heist::net::UdpSocket;
    /// use std::net::Ipv4Addr;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let socket = UdpSocket::bind("0.0.0.0:5353").await?;
    /// socket.join_multicast_v4(Ipv4Addr::new(224, 0, 0, 251), Ipv4Addr::UNSPECIFIED)?;
    /// let mut buf = [0; 1500];
    /// let (count, from) = socket.recv_from(&mut buf).await?;
    /// println!("{count} bytes from {from}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn join_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.join_multicast_v4(&multiaddr, &interface)
    }

    /// Joins an IPv6 multicast group (`IPV6_ADD_MEMBERSHIP`) on the interface with the given index,
    /// or with 0 on any.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn join_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.io.join_multicast_v6(multiaddr, interface)
    }

    /// Leaves an IPv4 multicast group; the opposite of
    /// [`join_multicast_v4`](Self::join_multicast_v4).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn leave_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.leave_multicast_v4(&multiaddr, &interface)
    }

    /// Leaves an IPv6 multicast group; the opposite of
    /// [`join_multicast_v6`](Self::join_multicast_v6).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn leave_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.io.leave_multicast_v6(multiaddr, interface)
    }

    /// Returns the time-to-live of outgoing packets: the number of routers they may pass
    /// (`IP_TTL`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets the time-to-live of outgoing packets; see [`ttl`](Self::ttl).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }

    ip_options!();

    fn options(&self) -> socket2::SockRef<'_> {
        socket2::SockRef::from(&*self.io)
    }
}
