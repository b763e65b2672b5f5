//! The runtimes, one file each.

mod heist;
mod nio;
mod smol;
mod tokio;

pub use heist::{
    Bound, Build, Default, Heist, HeistAlone, HeistBuilt, HeistShortLived, HeistTraced,
    HeistUnwatched,
};
pub use nio::Nio;
pub use smol::{Smol, SmolWithReactor};
pub use tokio::{Tokio, TokioAlone};

#[cfg(test)]
mod tests {
    use super::super::{AsyncRuntime, on_worker};
    use super::*;
    use futures_lite::future::block_on;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    /// What the stories rely on, whatever the runtime.
    fn behaves<R: AsyncRuntime>() {
        let runtime = R::start(2).unwrap();

        let nested = runtime.block_on(async { R::join(R::spawn(async { 1 })).await + 1 });
        assert_eq!(nested, 2);

        let task = R::spawn_from_outside(&runtime.handle(), async {
            R::yield_now().await;
            thread::current().id()
        });
        assert_ne!(block_on(R::join(task)), thread::current().id());

        // Detached tasks run on, whether spawned from inside or outside.
        let (sender, receiver) = mpsc::channel();
        let outside = sender.clone();
        R::detach(R::spawn_from_outside(&runtime.handle(), async move {
            R::yield_now().await;
            outside.send(1).unwrap();
        }));
        on_worker(&runtime, async move {
            R::detach(R::spawn(async move {
                R::yield_now().await;
                sender.send(2).unwrap();
            }));
        });
        let mut numbers = [(); 2].map(|()| receiver.recv_timeout(Duration::from_secs(10)).unwrap());
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2]);
    }

    #[test]
    fn heist_behaves() {
        behaves::<Heist>();
    }

    #[test]
    fn heist_behaves_however_it_is_built() {
        behaves::<HeistUnwatched>();
        behaves::<HeistTraced>();
        behaves::<HeistShortLived>();
    }

    #[test]
    fn tokio_behaves() {
        behaves::<Tokio>();
    }

    #[test]
    fn smol_behaves() {
        behaves::<Smol>();
        behaves::<SmolWithReactor>();
    }

    #[test]
    fn nio_behaves() {
        behaves::<Nio>();
    }
}
