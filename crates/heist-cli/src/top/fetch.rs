//! The thread that asks the program: it may have to wait, and keys must not.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::Message;
use super::app::Wish;
use crate::live::Snapshot;

/// The first two snapshots follow each other soon, so that there are rates to show. Guessed.
const FIRST_INTERVAL: Duration = Duration::from_millis(250);
/// Not more often is somebody asked who does not answer. Guessed.
const RETRY: Duration = Duration::from_millis(500);

/// The other end of that thread; dropped, the thread ends after its next answer.
#[derive(Debug)]
pub struct Fetcher {
    wishes: Sender<Wish>,
    last: Wish,
}

impl Fetcher {
    /// Starts to ask `source`; all that comes of it goes to `messages`.
    pub fn start(
        source: impl FnMut(&Wish) -> Result<Snapshot, String> + Send + 'static,
        wish: Wish,
        messages: Sender<Message>,
    ) -> io::Result<Fetcher> {
        let (wishes, receiver) = mpsc::channel();
        let last = wish.clone();
        spawn("heist-top-fetch", messages, move |messages| {
            fetch(source, wish, &receiver, &messages)
        })?;
        Ok(Fetcher { wishes, last })
    }

    /// From now on, this. Said to the thread only if it is something new.
    pub fn wish(&mut self, wish: &Wish) {
        if *wish != self.last {
            self.last = wish.clone();
            // If the thread is gone it has said so.
            let _ = self.wishes.send(wish.clone());
        }
    }
}

fn fetch(
    mut source: impl FnMut(&Wish) -> Result<Snapshot, String>,
    mut wish: Wish,
    wishes: &Receiver<Wish>,
    messages: &Sender<Message>,
) {
    let mut is_first = true;
    loop {
        let (message, pause) = match source(&wish) {
            Ok(snapshot) => {
                let pause = if is_first { FIRST_INTERVAL } else { wish.interval };
                is_first = false;
                (Message::Read(Box::new(snapshot)), pause.min(wish.interval))
            }
            Err(reason) => (Message::Lost(reason), wish.interval.max(RETRY)),
        };
        if messages.send(message).is_err() {
            return;
        }
        match wishes.recv_timeout(pause) {
            Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) => return,
            Ok(next) => wish = next,
        }
        while wish.is_paused {
            match wishes.recv() {
                Ok(next) => wish = next,
                Err(_) => return,
            }
        }
        // Only the last of several counts.
        while let Ok(next) = wishes.try_recv() {
            wish = next;
        }
    }
}

/// Starts a thread that tells if it panics: the main thread would draw on over the message.
pub fn spawn(
    name: &str,
    messages: Sender<Message>,
    work: impl FnOnce(Sender<Message>) + Send + 'static,
) -> io::Result<()> {
    struct Telltale(Sender<Message>);

    impl Drop for Telltale {
        fn drop(&mut self) {
            if thread::panicking() {
                let _ = self.0.send(Message::Broken);
            }
        }
    }

    thread::Builder::new().name(name.to_owned()).spawn(move || {
        let telltale = Telltale(messages.clone());
        work(messages);
        drop(telltale);
    })?;
    Ok(())
}
