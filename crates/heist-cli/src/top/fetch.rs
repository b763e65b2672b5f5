//! The thread that sends requests to the program, so that keys need not wait for answers.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::Message;
use super::app::Wish;
use crate::live::Snapshot;

/// The pause between the first two snapshots: short, so that there are rates to show. Guessed.
const FIRST_INTERVAL: Duration = Duration::from_millis(250);
/// The shortest pause before a program that does not answer is asked again. Guessed.
const RETRY: Duration = Duration::from_millis(500);

/// The other end of that thread; dropped, the thread ends after its next answer.
#[derive(Debug)]
pub struct Fetcher {
    wishes: Sender<Wish>,
    last: Wish,
}

impl Fetcher {
    /// Starts to send requests to `source`; the results go to `messages`.
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

    /// Sets what to fetch. The thread is told only of changes.
    pub fn wish(&mut self, wish: &Wish) {
        if *wish != self.last {
            self.last = wish.clone();
            // If the thread has ended, it has reported that.
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
        // Only the last of several requests counts.
        while let Ok(next) = wishes.try_recv() {
            wish = next;
        }
    }
}

/// Starts a thread that reports its panic, because the main thread would draw over the message.
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
