//! The console: what it says, where it listens, and that nobody can disturb it.

mod client;
mod hostile;
mod places;
mod served;
mod text_format;
