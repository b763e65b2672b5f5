//! Programs with the ecosystem's crates on heist: see the directory `examples`. Here is nothing but
//! what Cargo wants a package to have.
