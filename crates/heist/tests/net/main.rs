//! Sockets, pipes, names, and descriptors of one's own.

mod async_fd;
mod faults;
mod lookup;
mod pipe;
#[path = "../support/mod.rs"]
mod support;
mod tcp;
mod tcp_faults;
mod tcp_halves;
mod tcp_socket;
mod udp;
mod unix;
mod unix_datagram;
