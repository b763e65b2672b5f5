//! The tuning constants of this crate. `docs/tuning.md` lists all of them.

use std::time::Duration;

/// Number of bytes of a file that a task reads from the system's cache with one system call, and
/// for one unit of its budget. Benchmark: reads of 64 KiB, which take 1.3 times the CPU time with a
/// quarter of it, and 0.85 times with four times as much; but then a task reads for 0.55 ms instead
/// of 0.16 before it has used up its budget.
pub(crate) const READ_PER_UNIT: usize = 16 * 1024;

/// How often a thread rechecks what cannot wake it: whether a paused clock may advance, whether
/// threads have ended during a shutdown, a worker that may be stuck, and the reactors of vacant
/// seats where the process-wide barrier is not available. Does not matter within a factor of four.
pub(crate) const RECHECK: Duration = Duration::from_millis(1);

/// Interval of rare checks, in tasks: of the inject queue (at first), of the jobs, of a worker's
/// pinned inbox, of the future of a `block_on` that runs tasks itself, and of the tasks outside a
/// local set. Tokio's number, for which Tokio gives no benchmark; does not matter within a factor
/// of four.
pub(crate) const TICK_INTERVAL: u32 = 61;

/// Number of entries that are handled in one go, where others must wait meanwhile: with a lock held
/// or before a sleep. It takes about a microsecond. Does not matter within a factor of four.
pub(crate) const SHORT_WORK: usize = 64;

/// Number of parts of a table that many threads use, each part with a lock of its own. Does not
/// matter within a factor of four.
pub(crate) const SHARDS: usize = 16;

/// Number of bytes that a cache of the process keeps at most: free memory for tasks of one size,
/// names of ended tasks. Does not matter within a factor of four.
pub(crate) const KEPT_BYTES: usize = 1 << 20;

/// Number of units that a thread takes from a shared counter at a time: task ids, and jobs of a
/// scope. Does not matter within a factor of four.
pub(crate) const COUNTER_BLOCK: u64 = 1024;

/// When a thread takes memory for a task, or a task from its ring, it prefetches the memory that it
/// will use this many tasks later. Benchmark: `spawn`, which prefetching speeds up by a factor of
/// 1.2 to 1.8; the number itself does not matter within a factor of four.
pub(crate) const PREFETCH_AHEAD: usize = 4;

/// A source moves to another reactor after this many consecutive waits from that reactor's seat.
/// Then its task has moved for good, and two system calls are few. Does not matter within a factor
/// of four.
pub(crate) const MOVE_AFTER: u8 = 128;

/// Shortest time between two dumps for stalls, or for panics. Does not matter within a factor of
/// four.
pub(crate) const DUMP_INTERVAL: Duration = Duration::from_secs(1);

/// How long a thread spins before it sleeps: about as long as a sleep and a wake-up take.
/// Benchmark: `block_on` of a spawned task, which takes 0.4 times as long as without spinning, with
/// 20 µs as well.
pub(crate) const SPIN_TIME: Duration = Duration::from_micros(10);

/// Maximum number of consecutive waits without spinning, after spinning was in vain. Does not
/// matter within a factor of four.
pub(crate) const SPINS_SKIPPED: u32 = 63;

/// Turns of a spin loop between two looks at what other threads write, which take the cache lines
/// from them. Benchmark: `ping_pong`, which takes 1.3 times as long with a third of it.
pub(crate) const SPINS_PER_LOOK: u32 = 32;

/// How long a worker that waits for a job sleeps on its seat before it gives the seat away. A
/// worker that takes the seat begins something else, and may not be done with it when the wait is
/// over: then more threads than cores run. Longer than jobs mostly run between two joins. Does not
/// matter within a factor of four.
pub(crate) const SLEEP_ON_SEAT: Duration = Duration::from_micros(200);

/// How long what waits for a worker is left to it before others help: tasks in its ring, by the
/// time that they are expected to take or have waited, and a reactor that it has not polled.
/// Benchmark: `echo_tcp_64x64`, which takes 1.08 times the CPU time if a worker is called for each
/// task, and whose p99 is 1.9 instead of 1.1 ms if reactors wait for 1 ms; 50 and 150 µs are as
/// good.
pub(crate) const PATIENCE: Duration = Duration::from_micros(100);

/// Number of polls that decide how long a task is expected to take. Does not matter within a factor
/// of four.
pub(crate) const POLLS_REMEMBERED: u64 = 8;

/// What it costs to pass the job of a join to another worker and its result back: a dozen cache
/// lines, one after the other. A theft that keeps the thief at work for less does not pay.
/// Benchmark: `list_*`; a join of two equal closures takes longer in parallel than serially with
/// 0.8 µs each, and 0.6 times as long with 4 µs.
pub(crate) const THEFT_COST: Duration = Duration::from_nanos(1250);

/// The longest pause before a theft, in yields, of which one takes a third of a microsecond if no
/// other thread wants the core: a new job of the victim waits no longer for the thief than it would
/// for a worker that has to be woken. Benchmark: `list_*`; does not matter within a factor of four.
pub(crate) const LONGEST_PAUSE: u32 = 64;

/// Where sleeping is cheap, the bell is silenced after this many pushes that find no worker free:
/// together they cost about as much as the kernel call that rings it again. Does not matter within
/// a factor of four.
pub(crate) const FALSE_ALARMS: u32 = 512;

/// After a look at the inject queue that has left something behind, the next look comes after this
/// many ticks. Does not matter within a factor of four.
pub(crate) const BACKLOG_INTERVAL: u32 = 8;

/// A worker that burns CPU in a job keeps its seat for this many times as long as one in a task:
/// one more thread would not make its jobs faster, but a job that does not end must not keep others
/// from running forever. Does not matter within a factor of four.
pub(crate) const JOB_PATIENCE: u32 = 10;

/// Tasks that are spawned too late are dropped inside of each other's drops up to this depth. It
/// leaves most of a small stack to what the drops do. Does not matter within a factor of four.
pub(crate) const NESTED_DROPS: usize = 16;

/// Number of pieces for each worker into which `par` divides work before any is stolen. Stolen
/// pieces are divided again, so `for_each` hardly depends on this. Benchmark:
/// `par::sort_unstable` of a million numbers takes 1.1 times the CPU time with 8, and 1.3 times
/// with 16. With 2 it takes 0.9 times, but the last piece is a quarter of the work.
pub(crate) const PIECES_PER_WORKER: usize = 4;

/// `par` leaves slices up to this length to the standard library's sort. Benchmark:
/// `par::sort_unstable` of 4096 numbers; to divide them once takes 1.4 times the CPU time, so two
/// workers would gain nothing.
pub(crate) const SEQUENTIAL_SORT: usize = 1 << 12;
