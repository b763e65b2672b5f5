//! What one waits for, and what there is. Tokio's `io::Interest` and `io::Ready`, with all their methods.

/// What one waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest(u8);

impl Interest {
    /// Reading.
    pub const READABLE: Interest = Interest(1);
    /// Writing.
    pub const WRITABLE: Interest = Interest(2);
}

/// What a source is ready for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready(u8);
