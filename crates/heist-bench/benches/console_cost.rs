//! What a console costs: memory of a million tasks that wait, CPU time of a snapshot a second, and
//! the time that a poll takes longer.
//!
//! ```sh
//! cargo bench -p heist-bench --bench console_cost
//! ```

use heist::console::{Address, Config};
use heist::runtime::{Builder, Runtime};
use heist::task::yield_now;
use std::future::pending;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

const TASKS: usize = 1_000_000;
const SNAPSHOTS: u32 = 5;
const YIELDS: u64 = 2_000_000;

fn main() -> io::Result<()> {
    println!("| console | tracked | bytes a task | snapshot: CPU | answer | bytes | yield |");
    println!("|---|---|---|---|---|---|---|");
    measure("off", None)?;
    measure("on", Some(65_536))?;
    measure("on", Some(TASKS))
}

fn measure(name: &str, tracked: Option<usize>) -> io::Result<()> {
    let path = env::temp_dir().join(format!("console-cost-{}", process::id()));
    let before = resident()?;
    let rt = build(tracked, path)?;
    for _ in 0..TASKS {
        rt.spawn(pending::<()>());
    }
    while rt.metrics().worker_poll_count(0) < TASKS as u64 {
        thread::sleep(Duration::from_millis(1));
    }
    let bytes = resident()?.saturating_sub(before) / TASKS as u64;
    let yields = yields(&rt);
    let tracked = tracked.unwrap_or(0);
    print!("| {name} | {tracked} | {bytes} |");
    match rt.handle().console_address() {
        None => print!(" | | |"),
        Some(address) => snapshots(address)?,
    }
    println!(" {yields:.1} ns |");
    Ok(())
}

/// One worker, and nobody in its place: its polls are all there are.
fn build(tracked: Option<usize>, path: PathBuf) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).stall_threshold(None);
    if let Some(tracked) = tracked {
        builder.console(Config::unix(path).max_tasks(tracked + 1));
    }
    builder.build()
}

/// One a second, as `heist top` does.
fn snapshots(address: &Address) -> io::Result<()> {
    let Address::Unix(path) = address else { unreachable!("asked for") };
    let (mut took, mut bytes) = (Duration::ZERO, 0);
    let before = console_cpu()?;
    for _ in 0..SNAPSHOTS {
        let begun = Instant::now();
        let mut stream = UnixStream::connect(path)?;
        stream.write_all(b"GET /v1/snapshot?tasks=100 HTTP/1.1\r\n\r\n")?;
        bytes = io::copy(&mut stream, &mut io::sink())?;
        took += begun.elapsed();
        thread::sleep(Duration::from_secs(1).saturating_sub(begun.elapsed()));
    }
    let cpu = (console_cpu()? - before) / SNAPSHOTS;
    print!(" {cpu:.1?} | {:.1?} | {bytes} |", took / SNAPSHOTS);
    Ok(())
}

/// A task that yields, nanoseconds a round.
fn yields(rt: &Runtime) -> f64 {
    let task = rt.spawn(async {
        let begun = Instant::now();
        for _ in 0..YIELDS {
            yield_now().await;
        }
        begun.elapsed()
    });
    let took = rt.block_on(task).expect("it does not panic");
    took.as_nanos() as f64 / YIELDS as f64
}

fn resident() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kib = line.trim().trim_end_matches(" kB").parse::<u64>().map_err(io::Error::other)?;
    Ok(kib * 1024)
}

/// How long the console's thread has been on a core.
fn console_cpu() -> io::Result<Duration> {
    for thread in fs::read_dir("/proc/self/task")? {
        let thread = thread?.path();
        if fs::read_to_string(thread.join("comm"))?.trim() == "heist-console" {
            let mut times = String::new();
            fs::File::open(thread.join("schedstat"))?.read_to_string(&mut times)?;
            let nanos = times.split(' ').next().unwrap_or_default().parse();
            return Ok(Duration::from_nanos(nanos.map_err(io::Error::other)?));
        }
    }
    Err(io::ErrorKind::NotFound.into())
}
