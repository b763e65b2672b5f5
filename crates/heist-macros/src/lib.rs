//! The attributes `#[heist::main]` and `#[heist::test]`.
//!
//! Use them through the `heist` crate, which re-exports them. They take the arguments of Tokio's
//! attributes of the same names, with the same defaults.
#![warn(missing_docs)]

mod args;
mod expand;
mod function;
mod krate;

use proc_macro::TokenStream;

use crate::expand::Kind;

/// Runs an `async fn` on a runtime of its own.
///
/// ```ignore
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let answer = heist::spawn(async { 6 * 7 }).await?;
///     println!("{answer}");
///     Ok(())
/// }
/// ```
///
/// is the same as
///
/// ```ignore
/// fn main() -> std::io::Result<()> {
///     heist::runtime::Builder::new_multi_thread()
///         .enable_all()
///         .build()
///         .expect("failed to build the heist runtime")
///         .block_on(async {
///             let answer = heist::spawn(async { 6 * 7 }).await?;
///             println!("{answer}");
///             Ok(())
///         })
/// }
/// ```
///
/// The function itself runs on the thread that calls it, not on a worker: work that is to run in
/// parallel has to be spawned. Functions of other names may take arguments; each call builds a
/// runtime and shuts it down.
///
/// # Arguments
///
/// | argument | meaning | default |
/// |---|---|---|
/// | `flavor = "multi_thread"` | a pool of worker threads | `main` |
/// | `flavor = "current_thread"` | everything on the calling thread | `test` |
/// | `worker_threads = 4` | how many workers; `multi_thread` only | one per core |
/// | `name = "orders"` | the runtime's name | none |
/// | `start_paused = true` | whether the clock stands still; `current_thread` only, with the feature `test-util` | `false` |
/// | `crate = "path"` | where to find heist | its name in Cargo.toml |
///
/// ```ignore
/// #[heist::main(flavor = "multi_thread", worker_threads = 4)]
/// async fn main() {}
/// ```
///
/// # Under another name
///
/// The name comes from Cargo.toml, so with `tokio = { package = "heist", version = "0.1" }` it is
/// `#[tokio::main]`, and nothing else changes. A crate that is re-exported by another one is not
/// in Cargo.toml: say where it is.
///
/// ```ignore
/// #[framework::heist::main(crate = "framework::heist")]
/// async fn main() {}
/// ```
#[proc_macro_attribute]
pub fn main(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(Kind::Main, args.into(), item.into(), krate::default_path).into()
}

/// Makes an `async fn` a test that runs on a runtime of its own.
///
/// ```ignore
/// #[heist::test]
/// async fn tasks_return_their_results() {
///     assert_eq!(heist::spawn(async { 6 * 7 }).await.unwrap(), 42);
/// }
///
/// #[heist::test(flavor = "multi_thread", worker_threads = 2)]
/// async fn blocks_a_worker() -> std::io::Result<()> {
///     Ok(())
/// }
/// ```
///
/// The arguments are those of [`main`](macro@main); the default flavor is `current_thread`.
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(Kind::Test, args.into(), item.into(), krate::default_path).into()
}
