//! Programs with the ecosystem's crates on heist: see the directory `examples`.

/// What the repository's README shows is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
