//! Warnings as events of the `tracing` crate.

pub(super) fn warn(message: &str) {
    tracing::warn!(target: "heist", "{message}");
}
