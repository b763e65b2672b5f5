use super::procfs::{parse_state, parse_system_call, parse_times};
use super::*;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

fn usage(state: ThreadState, on_cpu: u64, waiting: u64) -> Usage {
    let millis = Duration::from_millis;
    Usage { state, times: Some(Times { on_cpu: millis(on_cpu), waiting: millis(waiting) }) }
}

#[test]
fn the_state_stands_behind_the_name_whatever_that_is() {
    for name in ["heist-worker", "", ")", "a) R 1", ") S 1 (", "(((", "two\nlines", "\u{fffd}"] {
        for (letter, state) in [
            ("R", ThreadState::Runnable),
            ("S", ThreadState::Asleep),
            ("D", ThreadState::Asleep),
            ("T", ThreadState::Other),
            ("Z", ThreadState::Other),
        ] {
            let stat = format!("71 ({name}) {letter} 1 71 1 0 -1 4194304 85\n");
            assert_eq!(parse_state(&stat), Some(state), "{stat}");
        }
    }
}

#[test]
fn half_a_line_has_no_state() {
    let stat = "71 (heist-worker) S 1 71";
    let enough = stat.find("1 71").unwrap();
    for end in 0..enough {
        assert_eq!(parse_state(&stat[..end]), None, "{:?}", &stat[..end]);
    }
    for stat in ["71 (a)S 1", "71 (a)  S 1", "71 (a) SS 1", "71 (a) 7 1", "71 (a) ß 1", "\0\0\0"] {
        assert_eq!(parse_state(stat), None, "{stat:?}");
    }
}

#[test]
fn times_are_nanoseconds_and_all_zeros_are_none() {
    let times = |on_cpu, waiting| Times {
        on_cpu: Duration::from_nanos(on_cpu),
        waiting: Duration::from_nanos(waiting),
    };
    assert_eq!(parse_times("37522 12598 2\n"), Some(times(37_522, 12_598)));
    assert_eq!(parse_times("0 12598 1\n"), Some(times(0, 12_598)));
    assert_eq!(parse_times("18446744073709551615 0 1"), Some(times(u64::MAX, 0)));
    for schedstat in ["0 0 0\n", "", "37522", "37522 12598", "-1 0 1", "1.5 0 1", "x y z", "\0"] {
        assert_eq!(parse_times(schedstat), None, "{schedstat:?}");
    }
    assert_eq!(parse_times("18446744073709551616 0 1"), None);
}

#[test]
fn a_system_call_is_the_number_before_the_registers() {
    let number = |text| parse_system_call(text).map(|call| call.number());
    assert_eq!(number("202 0x3 0x7fa5771e3000 0x20000 0x7ffc81cb13f8 0x7fa57735f2ad\n"), Some(202));
    assert_eq!(number("4294967295 0x0"), Some(u32::MAX));
    for syscall in ["running\n", "-1 0x7ffc81cb13f8 0x7fa57735f2ad\n", "", "2", "20\n", "x 0x1"] {
        assert_eq!(number(syscall), None, "{syscall:?}");
    }
    assert_eq!(number("4294967296 0x0"), None);
}

#[test]
fn half_of_the_time_on_or_for_a_cpu_is_burning() {
    let elapsed = Duration::from_millis(10);
    let before = usage(ThreadState::Asleep, 100, 50);
    for (on_cpu, waiting, activity) in [
        (100, 50, Activity::Blocked),
        (104, 50, Activity::Blocked),
        (105, 50, Activity::Burning),
        (100, 55, Activity::Burning),
        (102, 53, Activity::Burning),
        (110, 50, Activity::Burning),
        // Nothing goes backwards; if it seems so, nothing is known of it.
        (0, 0, Activity::Blocked),
    ] {
        let now = usage(ThreadState::Asleep, on_cpu, waiting);
        assert_eq!(now.since(&before, elapsed), activity, "{now:?}");
    }
    let now = usage(ThreadState::Other, 100, 50);
    assert_eq!(now.since(&before, elapsed), Activity::Unknown);
    let now = usage(ThreadState::Other, 110, 50);
    assert_eq!(now.since(&before, elapsed), Activity::Burning);
}

/// Of a preempted thread no time is counted: that it is runnable is all there is to be seen.
#[test]
fn a_runnable_thread_burns_though_it_got_no_cpu() {
    let before = usage(ThreadState::Runnable, 100, 50);
    assert_eq!(before.since(&before, Duration::from_secs(1)), Activity::Burning);
}

#[test]
fn without_times_or_time_the_state_alone_tells() {
    for (state, activity) in [
        (ThreadState::Runnable, Activity::Burning),
        (ThreadState::Asleep, Activity::Blocked),
        (ThreadState::Other, Activity::Unknown),
    ] {
        let (full, bare) = (usage(state, 100, 50), Usage { state, times: None });
        assert_eq!(full.activity(), activity);
        assert_eq!(bare.activity(), activity);
        assert_eq!(bare.since(&bare, Duration::from_millis(10)), activity);
        assert_eq!(full.since(&bare, Duration::from_millis(10)), activity);
        assert_eq!(bare.since(&full, Duration::from_millis(10)), activity);
        assert_eq!(full.since(&full, Duration::ZERO), activity);
    }
}

/// Numbers of the kernel's tables, written down once more.
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn calls_have_the_names_of_the_kernels_tables() {
    let known = if cfg!(target_arch = "x86_64") {
        [(0, "read"), (35, "nanosleep"), (202, "futex"), (230, "clock_nanosleep"), (7, "poll")]
    } else {
        [(63, "read"), (101, "nanosleep"), (98, "futex"), (115, "clock_nanosleep"), (73, "ppoll")]
    };
    for (number, name) in known {
        assert_eq!(SystemCall::new(number).name(), Some(name));
        assert_eq!(SystemCall::new(number).to_string(), name);
    }
}

#[test]
fn a_call_without_a_name_keeps_its_number() {
    let call = SystemCall::new(999_999);
    assert_eq!((call.number(), call.name()), (999_999, None));
    assert_eq!(call.to_string(), "system call 999999");
}

/// Starts a thread that does `work`, and returns once it is about to.
fn probed(name: &str, work: impl FnOnce() + Send + 'static) -> (Probe, thread::JoinHandle<()>) {
    let (tell, told) = mpsc::channel();
    let thread = thread::Builder::new().name(name.into()).spawn(move || {
        tell.send(Probe::of_this_thread()).unwrap();
        work();
    });
    (told.recv().unwrap(), thread.unwrap())
}

/// Whether this system tells about threads. A thread that reads its own file is in a system call.
fn is_told() -> bool {
    let this = Probe::of_this_thread();
    this.sample().is_some() && this.system_call().is_some()
}

/// Samples until the thread has been seen to do this from one sample to the next.
fn wait_for(probe: &Probe, activity: Activity) {
    let sample = || probe.sample().expect("the thread lives");
    let mut earlier = (sample(), std::time::Instant::now());
    loop {
        thread::sleep(Duration::from_millis(1));
        let now = sample();
        let elapsed = earlier.1.elapsed();
        if now.since(&earlier.0, elapsed) == activity && now.activity() == activity {
            return;
        }
        earlier = (now, std::time::Instant::now());
    }
}

#[test]
fn a_thread_in_a_read_is_blocked() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    // The kernel keeps 15 bytes of a name: this one's last character is cut in two.
    let (probe, thread) = probed("(reads) R 1 1 ü", move || {
        assert_eq!(ours.read(&mut [0]).unwrap(), 0);
    });
    assert_eq!(&**probe.name(), "(reads) R 1 1 ü");
    if is_told() {
        wait_for(&probe, Activity::Blocked);
        let is_reading = |call: SystemCall| matches!(call.name(), Some("read" | "recvfrom"));
        while !probe.system_call().is_some_and(is_reading) {
            thread::yield_now();
        }
    }
    drop(theirs);
    thread.join().unwrap();
}

#[test]
fn a_thread_that_sleeps_is_blocked() {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    let (probe, thread) = probed("sleeps", || {
        while !IS_OVER.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(10));
        }
    });
    if is_told() {
        wait_for(&probe, Activity::Blocked);
        let is_sleeping =
            |call: SystemCall| matches!(call.name(), Some("nanosleep" | "clock_nanosleep"));
        while !probe.system_call().is_some_and(is_sleeping) {
            thread::yield_now();
        }
    }
    IS_OVER.store(true, Ordering::Relaxed);
    thread.join().unwrap();
}

#[test]
fn a_thread_that_computes_burns_and_is_in_no_call() {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    let (probe, thread) = probed("computes", || {
        while !IS_OVER.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    if is_told() {
        wait_for(&probe, Activity::Burning);
        while probe.system_call().is_some() {
            thread::yield_now();
        }
    }
    IS_OVER.store(true, Ordering::Relaxed);
    thread.join().unwrap();
}

/// Also what a system without these files looks like.
#[test]
fn of_a_thread_that_has_ended_nothing_is_known() {
    let (probe, thread) = probed("ends", || ());
    thread.join().unwrap();
    // Joined is not gone: the kernel takes its files away a moment later.
    while probe.sample().is_some() || probe.system_call().is_some() {
        thread::yield_now();
    }
    assert_eq!(&**probe.name(), "ends");
}
