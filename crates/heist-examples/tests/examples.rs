//! Every example runs, and checks its own results.

#[path = "../examples/grpc/main.rs"]
mod grpc;
#[path = "../examples/http.rs"]
mod http;
#[path = "../examples/quic.rs"]
mod quic;
#[path = "../examples/reqwest_client.rs"]
mod reqwest_client;
#[path = "../examples/tls.rs"]
mod tls;
#[path = "../examples/websocket.rs"]
mod websocket;

#[test]
fn http_runs() {
    http::main().unwrap();
}

#[test]
fn tls_runs() {
    tls::main().unwrap();
}

#[test]
fn websocket_runs() {
    websocket::main().unwrap();
}

#[test]
fn quic_runs() {
    quic::main().unwrap();
}

#[test]
fn reqwest_client_runs() {
    reqwest_client::main().unwrap();
}

#[test]
fn grpc_runs() {
    grpc::main().unwrap();
}
