//! The console: what it says, where it listens, and that nobody can disturb it.

#[path = "console/client.rs"]
mod client;
#[path = "console/hostile.rs"]
mod hostile;
#[path = "console/places.rs"]
mod places;
#[path = "console/served.rs"]
mod served;
#[path = "console/text_format.rs"]
mod text_format;
