//! A side of a bench of the runtimes: a story, told by a runtime.

use super::{AsyncRuntime, Story};
use crate::bench::{Fault, Sample, Setup};
use crate::benches::driver::{self, Driver};

/// Sets the side up on a thread of its own.
pub fn subject<R, S, M>(
    setup: &Setup,
    make: M,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<R, S, M>, Fault>
where
    R: AsyncRuntime,
    S: Story,
    M: Fn(&Setup) -> S + Send + 'static,
{
    let setup = *setup;
    let mut driver = Driver::start(move || begin::<R, S>(setup, make), driver::GIVE_UP)?;
    Ok(move |iterations| driver.sample(iterations))
}

fn begin<R: AsyncRuntime, S: Story>(
    setup: Setup,
    make: impl Fn(&Setup) -> S,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault>, Fault> {
    let mut story = make(&setup);
    let first = start::<R>(&setup)?;
    story.ready(&first)?;
    let mut runtime = Some(first);
    Ok(move |iterations| iterate(&mut story, &mut runtime, &setup, iterations))
}

fn start<R: AsyncRuntime>(setup: &Setup) -> Result<R, Fault> {
    R::start(setup.workers).map_err(Fault::Setup)
}

/// One sample.
fn iterate<R: AsyncRuntime, S: Story>(
    story: &mut S,
    runtime: &mut Option<R>,
    setup: &Setup,
    iterations: u64,
) -> Result<Sample, Fault> {
    let mut total = None;
    for _ in 0..iterations {
        if S::FRESH {
            // The old one first: two at a time would share the cores.
            *runtime = None;
        }
        let runtime = match &mut *runtime {
            Some(runtime) => runtime,
            none => none.insert(start(setup)?),
        };
        total = Some(Sample::sum(total, story.sample(runtime)?));
    }
    Ok(total.expect("a sample has iterations"))
}

#[cfg(test)]
mod tests {
    use super::super::sides::Nio;
    use super::*;

    struct Nothing;

    impl Story for Nothing {
        fn sample<R: AsyncRuntime>(&mut self, _: &R) -> Result<Sample, Fault> {
            Ok(Sample::Value(0.0))
        }
    }

    #[test]
    fn a_runtime_that_cannot_start_is_a_fault() {
        let setup = Setup { workers: 1000, quick: true };
        let subject = subject::<Nio, Nothing, _>(&setup, |_| Nothing);
        let message = subject.err().expect("nio has no 1000 workers").to_string();
        assert!(message.contains("at most 255"), "{message}");
    }
}
