//! Programs with the ecosystem's crates on heist: see the directory `examples`.

/// What the repository's README shows is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// axum's own server takes Tokio's listeners, and not heist's: the README says what to use instead.
///
/// ```compile_fail,E0277
/// # async fn serve() -> std::io::Result<()> {
/// let listener = heist::net::TcpListener::bind("127.0.0.1:0").await?;
/// axum::serve(listener, axum::Router::new()).await
/// # }
/// ```
///
/// ```no_run
/// # async fn serve() -> std::io::Result<()> {
/// let listener = heist::net::TcpListener::bind("127.0.0.1:0").await?;
/// heist::hyper::serve(listener, axum::Router::new()).await;
/// # Ok(())
/// # }
/// ```
#[cfg(doctest)]
struct Axum;
