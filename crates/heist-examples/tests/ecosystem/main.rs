//! The ecosystem's crates on heist, against real clients over loopback: also against bad ones.

mod bad_input;
mod crates;
mod graceful;
mod http;
mod https;
mod quic;
mod sqlite;
mod support;
mod tokio_context;
mod websocket;

#[path = "../../examples/quic.rs"]
#[allow(dead_code, reason = "its server is what is tested")]
mod quic_example;
#[path = "../../examples/websocket.rs"]
#[allow(dead_code, reason = "its server is what is tested")]
mod websocket_example;
