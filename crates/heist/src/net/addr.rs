//! Addresses, and lookups of host names.

use crate::runtime::Handle;
use crate::task::JoinHandle;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::vec;

/// Types that can be converted to socket addresses, for `bind` and `connect`.
///
/// These are addresses, pairs of an IP address and a port, slices of addresses, and host names such
/// as `"localhost:80"` or `("localhost", 80)`. A host name is looked up on a blocking thread;
/// strings that contain an IP address need no lookup.
///
/// The trait is sealed: it has no methods that can be called, and cannot be implemented for other
/// types.
///
/// # Examples
///
/// ```
/// # #[heist::main]
/// # async fn main() -> std::io::Result<()> {
/// use heist::net::TcpListener;
/// use std::net::Ipv4Addr;
///
/// let text = TcpListener::bind("127.0.0.1:0").await?;
/// let pair = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
/// let name = TcpListener::bind(("localhost", 0)).await?;
/// for listener in [text, pair, name] {
///     assert!(listener.local_addr()?.ip().is_loopback());
/// }
/// # Ok(())
/// # }
/// ```
pub trait ToSocketAddrs: sealed::Resolve {}

/// Returns the addresses of a host name, or of anything else that implements [`ToSocketAddrs`].
///
/// # Examples
///
/// ```
/// # #[heist::main]
/// # async fn main() -> std::io::Result<()> {
/// for addr in heist::net::lookup_host("localhost:80").await? {
///     assert!(addr.ip().is_loopback());
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the name is unknown or cannot be looked up.
///
/// # Panics
///
/// Panics if a name has to be looked up and the calling thread is in no runtime.
///
/// # Cancel safety
///
/// This function is cancel safe. A lookup in progress continues on a blocking thread.
pub async fn lookup_host<T: ToSocketAddrs>(
    host: T,
) -> io::Result<impl Iterator<Item = SocketAddr>> {
    resolve(host).addresses().await
}

/// Starts to look up `host`, on a blocking thread if necessary.
pub(super) fn resolve<T: ToSocketAddrs>(host: T) -> Lookup {
    host.resolve(sealed::Internal)
}

/// The first success of `attempt` with one of the addresses, or the last error.
pub(super) async fn first_success<T, F: Future<Output = io::Result<T>>>(
    lookup: Lookup,
    mut attempt: impl FnMut(SocketAddr) -> F,
) -> io::Result<T> {
    let mut last = None;
    for address in lookup.addresses().await? {
        match attempt(address).await {
            Ok(success) => return Ok(success),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(no_address))
}

#[cold]
pub(super) fn no_address() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "there is no address to try: the list is empty")
}

/// An iterator over addresses.
#[derive(Debug)]
pub enum Addresses {
    /// One address, which needs no allocation.
    One(Option<SocketAddr>),
    /// Any number of addresses.
    Many(vec::IntoIter<SocketAddr>),
}

impl Iterator for Addresses {
    type Item = SocketAddr;

    fn next(&mut self) -> Option<SocketAddr> {
        match self {
            Addresses::One(address) => address.take(),
            Addresses::Many(addresses) => addresses.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Addresses::One(address) => (address.iter().len(), Some(address.iter().len())),
            Addresses::Many(addresses) => addresses.size_hint(),
        }
    }
}

/// Addresses, or a lookup in progress.
#[derive(Debug)]
pub enum Lookup {
    /// There was nothing to look up.
    Known(Addresses),
    /// A blocking thread waits for the system's answer.
    Asked(JoinHandle<io::Result<vec::IntoIter<SocketAddr>>>),
}

impl Lookup {
    fn one(address: impl Into<SocketAddr>) -> Lookup {
        Lookup::Known(Addresses::One(Some(address.into())))
    }

    fn ask<N>(name: N) -> Lookup
    where
        N: std::net::ToSocketAddrs<Iter = vec::IntoIter<SocketAddr>> + Send + 'static,
    {
        let handle = Handle::current_for("the lookup of a host's name");
        Lookup::Asked(handle.spawn_blocking(move || name.to_socket_addrs()))
    }

    pub(super) async fn addresses(self) -> io::Result<Addresses> {
        match self {
            Lookup::Known(addresses) => Ok(addresses),
            Lookup::Asked(answer) => Ok(Addresses::Many(answer.await??)),
        }
    }
}

mod sealed {
    /// The method of [`ToSocketAddrs`](super::ToSocketAddrs).
    pub trait Resolve {
        fn resolve(&self, _: Internal) -> super::Lookup;
    }

    /// Prevents calls of `resolve` from outside, where generic code can see it.
    #[derive(Debug)]
    pub struct Internal;
}

use sealed::{Internal, Resolve};

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {}

impl<T: Resolve + ?Sized> Resolve for &T {
    fn resolve(&self, internal: Internal) -> Lookup {
        (**self).resolve(internal)
    }
}

/// Types that convert into an address with `into`.
macro_rules! one_address {
    ($($address:ty),*) => {
        $(
            impl ToSocketAddrs for $address {}

            impl Resolve for $address {
                fn resolve(&self, _: Internal) -> Lookup {
                    Lookup::one(*self)
                }
            }
        )*
    };
}

one_address!(SocketAddr, SocketAddrV4, SocketAddrV6);
one_address!((IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16));

impl ToSocketAddrs for &[SocketAddr] {}

impl Resolve for &[SocketAddr] {
    fn resolve(&self, _: Internal) -> Lookup {
        let addresses = Vec::from(&**self);
        Lookup::Known(Addresses::Many(addresses.into_iter()))
    }
}

impl ToSocketAddrs for str {}

impl Resolve for str {
    fn resolve(&self, _: Internal) -> Lookup {
        match self.parse::<SocketAddr>() {
            Ok(address) => Lookup::one(address),
            Err(_) => Lookup::ask(self.to_owned()),
        }
    }
}

impl ToSocketAddrs for String {}

impl Resolve for String {
    fn resolve(&self, internal: Internal) -> Lookup {
        self.as_str().resolve(internal)
    }
}

impl ToSocketAddrs for (&str, u16) {}

impl Resolve for (&str, u16) {
    fn resolve(&self, _: Internal) -> Lookup {
        let (host, port) = *self;
        match host.parse::<IpAddr>() {
            Ok(ip) => Lookup::one((ip, port)),
            Err(_) => Lookup::ask((host.to_owned(), port)),
        }
    }
}

impl ToSocketAddrs for (String, u16) {}

impl Resolve for (String, u16) {
    fn resolve(&self, internal: Internal) -> Lookup {
        (self.0.as_str(), self.1).resolve(internal)
    }
}
