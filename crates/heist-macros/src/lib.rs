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
/// ```
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let answer = heist::spawn(async { 6 * 7 }).await?;
///     assert_eq!(answer, 42);
///     Ok(())
/// }
/// ```
///
/// is equivalent to
///
/// ```
/// fn main() -> std::io::Result<()> {
///     heist::runtime::Builder::new_multi_thread()
///         .enable_all()
///         .build()
///         .expect("failed to build the heist runtime")
///         .block_on(async {
///             let answer = heist::spawn(async { 6 * 7 }).await?;
///             assert_eq!(answer, 42);
///             Ok(())
///         })
/// }
/// ```
///
/// The function itself runs on the calling thread, not on a worker: spawn tasks for work that
/// should run in parallel. Functions of other names may have arguments; each call builds a runtime
/// and shuts it down.
///
/// # Arguments
///
/// | argument | meaning | default |
/// |---|---|---|
/// | `flavor = "multi_thread"` | a pool of worker threads | `main` |
/// | `flavor = "current_thread"` | everything on the calling thread | `test` |
/// | `worker_threads = 4` | the number of workers; `multi_thread` only | one per core |
/// | `name = "orders"` | the runtime's name | none |
/// | `start_paused = true` | whether the clock starts paused; `current_thread` only, with the feature `test-util` | `false` |
/// | `crate = "path"` | the path of the heist crate | its name in Cargo.toml |
///
/// ```
/// #[heist::main(flavor = "multi_thread", worker_threads = 4)]
/// async fn main() {
///     assert_eq!(heist::runtime::Handle::current().metrics().num_workers(), 4);
/// }
/// ```
///
/// # Under another name
///
/// The name of the crate is taken from Cargo.toml. With `tokio = { package = "heist", version =
/// "0.1" }` the attribute is `#[tokio::main]`, and nothing else changes. If another crate
/// re-exports heist, give the path:
///
/// ```
/// # mod framework {
/// #     pub use heist;
/// # }
/// #[framework::heist::main(crate = "framework::heist")]
/// async fn main() {
///     assert_eq!(framework::heist::spawn(async { 6 * 7 }).await.unwrap(), 42);
/// }
/// ```
#[proc_macro_attribute]
pub fn main(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(Kind::Main, args.into(), item.into(), krate::default_path).into()
}

/// Runs an `async fn` as a test on a runtime of its own.
///
/// ```
/// #[heist::test]
/// async fn tasks_return_their_results() {
///     assert_eq!(heist::spawn(async { 6 * 7 }).await.unwrap(), 42);
/// }
///
/// #[heist::test(flavor = "multi_thread", worker_threads = 2)]
/// async fn runs_on_two_workers() -> std::io::Result<()> {
///     assert_eq!(heist::runtime::Handle::current().metrics().num_workers(), 2);
///     Ok(())
/// }
/// # fn main() {}
/// ```
///
/// The arguments are those of [`main`](macro@main). The default flavor is `current_thread`.
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(Kind::Test, args.into(), item.into(), krate::default_path).into()
}
