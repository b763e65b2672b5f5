//! Names and addresses.

use crate::support::net::on_both;
use heist::net::{ToSocketAddrs, lookup_host};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

async fn lookup(host: impl ToSocketAddrs) -> Vec<SocketAddr> {
    let addresses = lookup_host(host).await.unwrap();
    let hint = addresses.size_hint();
    let all: Vec<_> = addresses.collect();
    assert_eq!(hint, (all.len(), Some(all.len())));
    all
}

/// Also without a runtime, as nobody has to be asked.
#[test]
fn what_is_an_address_is_not_looked_up() {
    let rt = crate::support::runtime(1);
    rt.block_on(async {
        let four: SocketAddr = "127.0.0.1:80".parse().unwrap();
        let six: SocketAddr = "[::1]:80".parse().unwrap();
        let v4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 80);
        let v6 = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 0, 0);
        assert_eq!(lookup(four).await, [four]);
        assert_eq!(lookup(&four).await, [four]);
        assert_eq!(lookup(v4).await, [four]);
        assert_eq!(lookup(v6).await, [six]);
        assert_eq!(lookup((Ipv4Addr::LOCALHOST, 80)).await, [four]);
        assert_eq!(lookup((Ipv6Addr::LOCALHOST, 80)).await, [six]);
        assert_eq!(lookup((IpAddr::from(Ipv6Addr::LOCALHOST), 80)).await, [six]);
        assert_eq!(lookup(&[four, six][..]).await, [four, six]);
        assert_eq!(lookup(&[][..]).await, []);
        assert_eq!(lookup("127.0.0.1:80").await, [four]);
        assert_eq!(lookup(&"[::1]:80").await, [six]);
        assert_eq!(lookup("[::1]:80".to_owned()).await, [six]);
        assert_eq!(lookup(("127.0.0.1", 80)).await, [four]);
        assert_eq!(lookup(("::1", 80)).await, [six]);
        assert_eq!(lookup(("127.0.0.1".to_owned(), 80)).await, [four]);
        assert_eq!(lookup(&("::1".to_owned(), 80)).await, [six]);
    });
    assert_eq!(rt.metrics().num_blocking_threads(), 0);
}

#[test]
fn a_name_is_looked_up_on_a_blocking_thread() {
    on_both(|| async {
        for addresses in [
            lookup("localhost:80").await,
            lookup("localhost:80".to_owned()).await,
            lookup(("localhost", 80)).await,
            lookup(("localhost".to_owned(), 80)).await,
        ] {
            assert!(!addresses.is_empty());
            assert!(addresses.iter().all(|addr| addr.ip().is_loopback() && addr.port() == 80));
        }
        assert!(heist::runtime::Handle::current().metrics().num_blocking_threads() > 0);
    });
}

#[test]
fn nonsense_is_an_error() {
    on_both(|| async {
        for nonsense in ["", "localhost", "localhost:", "localhost:http", "localhost:65536"] {
            let error = lookup_host(nonsense).await.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{nonsense}");
        }
        assert!(lookup_host("no such name.invalid:80").await.is_err());
        assert!(lookup_host(("heist.invalid", 80)).await.is_err());
        assert!(lookup_host(("a\0b", 80)).await.is_err());
        assert!(heist::net::TcpStream::connect("heist.invalid:80").await.is_err());
    });
}
