//! A reqwest client in tasks of heist's. reqwest calls Tokio's runtime by name; with the feature
//! `tokio-context` it finds one.

use axum::Router;
use axum::extract::Path;
use axum::routing::{get, post};
use heist::hyper::serve;
use heist::net::TcpListener;
use heist::task::JoinSet;
use std::error::Error;

#[heist::main]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let router = Router::new()
        .route("/square/{n}", get(|Path(n): Path<u64>| async move { (n * n).to_string() }))
        .route("/echo", post(|body: String| async move { body }));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}", listener.local_addr()?);
    heist::spawn(serve(listener, router).into_future());

    let client = reqwest::Client::new();
    let mut squares = JoinSet::new();
    for n in 1..=20_u64 {
        let request = client.get(format!("{base}/square/{n}"));
        squares.spawn(async move { request.send().await?.error_for_status()?.text().await });
    }
    let mut sum = 0;
    while let Some(square) = squares.join_next().await {
        sum += square??.parse::<u64>()?;
    }
    println!("the sum of twenty squares, asked for at once: {sum}");
    assert_eq!(sum, 2870);

    let echo = client.post(format!("{base}/echo")).body("what goes in").send().await?;
    assert_eq!(echo.text().await?, "what goes in");
    let missing = client.get(format!("{base}/nowhere")).send().await?;
    println!("what is not there: {}", missing.status());
    assert_eq!(missing.status(), 404);
    Ok(())
}
