//! `heist doctor` on programs that it was not made with (M2): its thresholds were chosen by those
//! in `programs`.

mod healthy;
mod load;
mod sick;

use crate::programs::{
    SLOW_POLLS, SLOW_SPAWNS, SLOW_TINY, expect, expect_if_fast, expect_if_on_core, expect_nothing,
};

#[test]
fn a_dispatcher_that_prepares_everything() {
    // Where others take what it hands out at once it finds no reason to wait.
    expect(&sick::DISPATCHER, "imbalance-one-spawner", &["long-poll"]);
}

#[test]
fn a_reader_that_spawns_in_one_poll() {
    let burnt = sick::READS_IT_ALL_BURNS;
    expect_if_on_core(&sick::READS_IT_ALL, burnt, "imbalance-one-spawner", &["long-poll"]);
}

#[test]
fn an_actor_that_all_others_ask() {
    // It always finds a message, and the channel has no budget.
    expect(&sick::BOTTLENECK, "imbalance-one-task", &["long-poll"]);
}

#[test]
fn a_task_for_each_item() {
    expect_if_fast(&sick::TASK_PER_ITEM, &["tiny-tasks", SLOW_POLLS, SLOW_SPAWNS]);
}

#[test]
fn actors_that_are_pinned() {
    // The task that fills their mailboxes waits in the slot of their worker, behind a mailbox of
    // work.
    expect(&sick::PINNED_ACTORS, "imbalance-pinned", &["idle-beside-work"]);
}

#[test]
fn one_worker_accepts_all_connections() {
    expect(&sick::ONE_ACCEPTS, "imbalance-io-affinity", &[]);
}

#[test]
fn pictures_are_scaled_in_a_handler() {
    expect(&sick::SCALES_PICTURES, "long-poll", &[]);
}

#[test]
fn channels_sockets_and_programs_of_std() {
    expect(&sick::STD_CHANNEL, "blocking-call", &[]);
    expect(&sick::STD_SOCKET, "blocking-call", &[]);
    expect(&sick::STD_COMMAND, "blocking-call", &[]);
}

#[test]
fn no_thread_is_left_for_a_seat() {
    expect(&sick::POOL_IS_FULL, "spare-shortage", &["blocking-call"]);
}

#[test]
fn more_closures_than_threads() {
    expect(&sick::POOL_TOO_SMALL, "blocking-pool-exhausted", &[]);
}

#[test]
fn a_client_that_asks_an_actor_again_and_again() {
    // Without a core for each, thieves may pull the two apart again and again.
    expect_if_fast(&sick::ASKS_ACTOR, &["lifo-ping-pong", "imbalance-too-short"]);
}

#[test]
fn tiny_tasks_from_outside() {
    for program in [&sick::SPAWNS_IN_MAIN, &sick::SPAWNING_THREADS] {
        expect_if_fast(program, &["inject-pressure", SLOW_POLLS, SLOW_TINY]);
    }
}

#[test]
fn everybody_is_woken_for_one() {
    // The tasks that wake meet at a lock, whose holder may lose its core.
    expect(&sick::BROADCAST, "wake-storm", &["blocking-call"]);
    expect(&sick::WATCHED_COUNTER, "wake-storm", &["blocking-call"]);
}

#[test]
fn handed_over_and_not_let_go() {
    expect(&sick::HANDS_OVER_LATE, "idle-beside-work", &[]);
}

#[test]
fn there_is_always_one_more() {
    expect(&sick::BYTE_BY_BYTE, "budget-exhausted", &[]);
    expect(&sick::PUMPS, "budget-exhausted", &[]);
}

#[test]
fn the_other_end_is_kept_for_ever() {
    expect(&sick::KEPT_SENDERS, "task-leak", &[]);
}

#[test]
fn pinned_behind_a_lock() {
    expect(&sick::BEHIND_A_LOCK, "never-polled", &["blocking-call", "long-poll"]);
}

#[test]
fn a_runtime_that_nobody_drives() {
    expect(&sick::NOBODY_DRIVES, "never-polled", &[]);
}

/// One test each would run them at the same time, on cores that they do not have.
#[test]
fn healthy_programs_are_healthy() {
    healthy::all().for_each(expect_nothing);
}
