//! Guards whose drop does something.

use crate::futures::park_on;
use crate::world::At;
use heist::runtime::Handle;
use heist::sync::mpsc::UnboundedSender;

/// Its drop spawns a task, which sends a message.
pub struct Spawner {
    pub handle: Handle,
    pub sender: UnboundedSender<u64>,
    pub at: At,
}

impl Drop for Spawner {
    fn drop(&mut self) {
        let (sender, token) = (self.sender.clone(), self.at.token());
        drop(self.handle.spawn(async move {
            let _ = sender.send(1);
            drop(token);
        }));
    }
}

/// Its drop spawns a task, and waits for it.
pub struct Waits {
    pub handle: Handle,
    pub at: At,
}

impl Drop for Waits {
    fn drop(&mut self) {
        let token = self.at.token();
        let task = self.handle.spawn(async move {
            drop(token);
            7
        });
        match park_on(task) {
            Ok(output) => assert_eq!(output, 7),
            Err(error) => assert!(error.is_cancelled(), "{error:?}"),
        }
    }
}
