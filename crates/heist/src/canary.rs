//! Deliberate mistakes in this crate's protocols that loom must find. The code that each one breaks
//! refers to it by name.

use heist_sync::Canary;

/// Wake-ups and polls do not publish what was done before them.
pub(crate) const TASK_UPDATE_RELAXED: Canary = Canary::new("task update relaxed");
/// The output is announced before it is visible.
pub(crate) const TASK_COMPLETE_RELAXED: Canary = Canary::new("task complete relaxed");
/// The last owner of a task does not see what earlier owners did.
pub(crate) const TASK_ALONE_RELAXED: Canary = Canary::new("task alone relaxed");
/// A wake-up during a poll is forgotten.
pub(crate) const TASK_WAKE_IN_POLL_LOST: Canary = Canary::new("task wake in poll lost");
/// An owner does not order emptying the slot before its look for thieves.
pub(crate) const SLOT_NO_LIGHT_BARRIER: Canary = Canary::new("slot no light barrier");
/// A thief does not order its mark before its look into the slot.
pub(crate) const SLOT_NO_HEAVY_BARRIER: Canary = Canary::new("slot no heavy barrier");
/// An owner keeps what it took though a thief wants it too.
pub(crate) const SLOT_NO_CONTEST: Canary = Canary::new("slot no contest");
/// A task is in the slot before what was written to it is visible.
pub(crate) const SLOT_PUT_RELAXED: Canary = Canary::new("slot put relaxed");
/// A task that another thread has woken reaches its set, but what polls the set is not woken.
pub(crate) const LOCAL_PUSH_SILENT: Canary = Canary::new("local push silent");
/// State that belongs to the thread of a set is lent to other threads.
pub(crate) const LOCAL_LENT_TO_ALL: Canary = Canary::new("local lent to all");
/// The end of a set does not wait for tasks that are being handed over.
pub(crate) const LOCAL_END_IMPATIENT: Canary = Canary::new("local end impatient");
/// The end of a set waits for tasks that are being handed over, and is not notified when they
/// arrive.
pub(crate) const LOCAL_END_SILENT: Canary = Canary::new("local end silent");
/// The end of a job is announced before its outcome is visible.
pub(crate) const LATCH_SET_RELAXED: Canary = Canary::new("latch set relaxed");
/// The thread that ends a job does not wake the one that sleeps until then.
pub(crate) const LATCH_SLEEPER_FORGOTTEN: Canary = Canary::new("latch sleeper forgotten");
/// A waiter goes to sleep without saying so first.
pub(crate) const LATCH_SLEEP_SILENT: Canary = Canary::new("latch sleep silent");
/// The last job of a scope that others end is not seen by the owner with what it did.
pub(crate) const COUNT_DONE_RELAXED: Canary = Canary::new("count done relaxed");
/// The owner of a scope adds its part, and does not look whether that was the last.
pub(crate) const COUNT_MERGE_BLIND: Canary = Canary::new("count merge blind");
/// A scope's count starts at zero: others come to zero though the owner has not added its part.
pub(crate) const COUNT_UNBIASED: Canary = Canary::new("count unbiased");
/// Jobs that a worker spawns from its count cache were not counted ahead.
pub(crate) const COUNT_AHEAD_FORGOTTEN: Canary = Canary::new("count ahead forgotten");
/// A block counts as back before its job has left it.
pub(crate) const BLOCKS_BACK_RELAXED: Canary = Canary::new("blocks back relaxed");
/// The thread that leaves a chunk to others looks how many blocks they have, and says so
/// afterwards.
pub(crate) const BLOCKS_ABANDON_LOOKS: Canary = Canary::new("blocks abandon looks");
/// A thief overwrites what the waiter has stored when it stores its own number.
pub(crate) const LATCH_THIEF_STORES: Canary = Canary::new("latch thief stores");
/// A thief stores its number, and leaves in the same word where the job was.
pub(crate) const LATCH_MARK_STAYS: Canary = Canary::new("latch mark stays");
/// A worker goes to sleep without looking once more.
pub(crate) const IDLE_NO_RECHECK: Canary = Canary::new("idle no recheck");
/// The last searcher to find something does not order that before its look for more.
pub(crate) const IDLE_LAST_NO_BARRIER: Canary = Canary::new("idle last no barrier");
/// The last searcher to find something does not look for more.
pub(crate) const IDLE_LAST_NO_LOOK: Canary = Canary::new("idle last no look");
/// A submitter does not order its push before its check of the idle counts.
pub(crate) const IDLE_NO_LIGHT_BARRIER: Canary = Canary::new("idle no light barrier");
/// A worker that goes to sleep does not order that before its last look.
pub(crate) const IDLE_NO_HEAVY_BARRIER: Canary = Canary::new("idle no heavy barrier");
/// A worker that goes to sleep does not have owners that push jobs look for it.
pub(crate) const IDLE_BELL_NOT_RUNG: Canary = Canary::new("idle bell not rung");
/// A worker that goes to sleep does not order that before its look at a bell.
pub(crate) const IDLE_BELL_NO_FENCE: Canary = Canary::new("idle bell no fence");
/// The thread that silences a bell does not check the idle counts once more.
pub(crate) const IDLE_BELL_NO_SECOND_LOOK: Canary = Canary::new("idle bell no second look");
/// The thread that puts another's seat to sleep does not look whether the runtime goes down.
pub(crate) const IDLE_DOWN_UNSEEN: Canary = Canary::new("idle down unseen");
/// The thread that submits to one worker does not order that before its check whether that worker
/// sleeps.
pub(crate) const IDLE_NO_TARGET_BARRIER: Canary = Canary::new("idle no target barrier");
/// A worker that goes to sleep does not look at its own pinned inbox once more.
pub(crate) const IDLE_NO_LOOK_FOR_ONESELF: Canary = Canary::new("idle no look for oneself");
/// A worker that goes to sleep does not look at the pinned inboxes of others that sleep.
pub(crate) const IDLE_NO_LOOK_FOR_OTHERS: Canary = Canary::new("idle no look for others");
/// A worker that ends does not wait for a pinned task that is on its way to the pinned inbox.
pub(crate) const LANE_END_DOES_NOT_WAIT: Canary = Canary::new("lane end does not wait");
/// A worker that finds its pinned inbox empty says so after it has given the lock back.
pub(crate) const LANE_CLEARED_UNLOCKED: Canary = Canary::new("lane cleared unlocked");
/// The length of a list of the inject queue is written after its lock was given back.
pub(crate) const INJECT_LENGTH_UNLOCKED: Canary = Canary::new("inject length unlocked");
/// A batch is taken from the inject queue task by task.
pub(crate) const INJECT_LOCK_PER_TASK: Canary = Canary::new("inject lock per task");
/// A task is put into an inject queue that is closed.
pub(crate) const INJECT_CLOSE_UNSEEN: Canary = Canary::new("inject close unseen");
/// A blocking thread runs what it took and calls no thread for what is left.
pub(crate) const BLOCKING_NO_CHAIN: Canary = Canary::new("blocking no chain");
/// A blocking thread that slept too long ends though it has been called for.
pub(crate) const BLOCKING_EXPIRE_UNCHECKED: Canary = Canary::new("blocking expire unchecked");
/// A blocking thread that ends does not look at what came meanwhile.
pub(crate) const BLOCKING_END_FORGETS: Canary = Canary::new("blocking end forgets");
/// A blocking thread goes to sleep and does not say that it can be called.
pub(crate) const BLOCKING_SLEEP_UNSETTLED: Canary = Canary::new("blocking sleep unsettled");
/// When a blocking thread cannot be started, no other is called in its place.
pub(crate) const BLOCKING_FAILURE_FORGETS: Canary = Canary::new("blocking failure forgets");
/// Blocking threads that sleep are not told that the runtime goes down.
pub(crate) const BLOCKING_CLOSE_SILENT: Canary = Canary::new("blocking close silent");
/// What has a blocking thread that is on its way is cancelled when the runtime goes down.
pub(crate) const BLOCKING_CLOSE_TAKES_ALL: Canary = Canary::new("blocking close takes all");
/// A mandatory closure whose thread has not been called is left to the thread that spawned it.
pub(crate) const BLOCKING_CLOSE_DESERTS: Canary = Canary::new("blocking close deserts");
/// A closure is put into the queue of blocking threads that is closed.
pub(crate) const BLOCKING_CLOSE_UNSEEN: Canary = Canary::new("blocking close unseen");
/// Whether the queue of blocking threads is empty is looked up while closures move to its front.
pub(crate) const BLOCKING_LOOK_UNLOCKED: Canary = Canary::new("blocking look unlocked");
/// The length of a shard of closures is written after its lock was given back.
pub(crate) const BLOCKING_LENGTH_UNLOCKED: Canary = Canary::new("blocking length unlocked");
/// A thread that could not be started for a spare leaves what waited meanwhile.
pub(crate) const BLOCKING_CALL_FAILURE_FORGETS: Canary =
    Canary::new("blocking call failure forgets");
/// The thread that spawns a closure does not order that before its look whether a thread can be
/// called.
pub(crate) const BLOCKING_NO_SUBMIT_FENCE: Canary = Canary::new("blocking no submit fence");
/// The thread that says that a blocking thread can be called does not order that before its look at
/// the queue.
pub(crate) const BLOCKING_NO_SETTLE_FENCE: Canary = Canary::new("blocking no settle fence");
/// A wake-up does not pass on what was done before it.
pub(crate) const PARKER_UNPARK_RELAXED: Canary = Canary::new("parker unpark relaxed");
/// An interruption is not kept for a thread that is about to sleep.
pub(crate) const PARKER_INTERRUPT_LOST: Canary = Canary::new("parker interrupt lost");
/// An interruption does not pass on what was done before it.
pub(crate) const PARKER_INTERRUPT_RELAXED: Canary = Canary::new("parker interrupt relaxed");
/// An interruption takes away a wake-up.
pub(crate) const PARKER_INTERRUPT_FOR_WAKE_UP: Canary = Canary::new("parker interrupt for wake-up");
/// A wake-up of a wait does not pass on what was done before it.
pub(crate) const WAKEUP_RELAXED: Canary = Canary::new("wakeup relaxed");
/// A sleeper that sleeps elsewhere is not interrupted there.
pub(crate) const PARKER_NOT_INTERRUPTED: Canary = Canary::new("parker not interrupted");
/// A thread that adds something to a reactor does not order that before its check whether the seat
/// is vacant.
pub(crate) const GUARD_NO_LIGHT_BARRIER: Canary = Canary::new("guard no light barrier");
/// The guard does not order the announcement of its sleep before its check of the timers.
pub(crate) const GUARD_NO_HEAVY_BARRIER: Canary = Canary::new("guard no heavy barrier");
/// A thread that has marked a seat as taken does not check whether it was lost meanwhile.
pub(crate) const GUARD_NO_SECOND_LOOK: Canary = Canary::new("guard no second look");
/// A worker that sleeps outside of its reactor does not order that before its check for sources.
pub(crate) const PARKER_SLEEP_NO_SLEEPER_FENCE: Canary =
    Canary::new("parker sleep no sleeper fence");
/// A worker that sleeps outside of its reactor does not check for sources once more.
pub(crate) const PARKER_SLEEP_NO_SECOND_LOOK: Canary = Canary::new("parker sleep no second look");
/// A thread that adds a source does not order that before its check whether a worker sleeps outside
/// of the reactor.
pub(crate) const PARKER_SLEEP_NO_SOURCE_FENCE: Canary = Canary::new("parker sleep no source fence");
/// A worker does not order its tick before its look whether it still has its seat.
pub(crate) const SEAT_NO_LIGHT_BARRIER: Canary = Canary::new("seat no light barrier");
/// Sysmon does not order its claim to a seat before its look at the worker's tick.
pub(crate) const SEAT_NO_HEAVY_BARRIER: Canary = Canary::new("seat no heavy barrier");
/// A worker goes on though sysmon wants its seat.
pub(crate) const SEAT_NO_CONTEST: Canary = Canary::new("seat no contest");
/// The thread that wakes a seat does not order that before its look whether sysmon sleeps.
pub(crate) const ALARM_NO_LIGHT_BARRIER: Canary = Canary::new("alarm no light barrier");
/// Sysmon does not order going to sleep before its look whether all seats are idle.
pub(crate) const ALARM_NO_HEAVY_BARRIER: Canary = Canary::new("alarm no heavy barrier");
/// A base worker that waits for its seat is not told that it has it.
pub(crate) const SEAT_HAND_OVER_SILENT: Canary = Canary::new("seat hand-over silent");
/// A worker that came back to its seat before the seat was put to sleep is not looked for.
pub(crate) const SEAT_GETTING_UP_UNSEEN: Canary = Canary::new("seat getting up unseen");
/// A base worker that waits for its seat is not told that the runtime goes down.
pub(crate) const SEAT_CLOSE_SILENT: Canary = Canary::new("seat close silent");
/// A worker without a seat leaves what it put into its slot there.
pub(crate) const SEAT_SLOT_FORGOTTEN: Canary = Canary::new("seat slot forgotten");
/// A spare that gives a borrowed seat back does not look for what came meanwhile.
pub(crate) const SEAT_RETURN_UNCHECKED: Canary = Canary::new("seat return unchecked");
/// The thread that has lent its seat goes on after its job as if it had not.
pub(crate) const SEAT_LENDER_GOES_ON: Canary = Canary::new("seat lender goes on");
/// A spare that has lent its seat ends, and the borrower is not told.
pub(crate) const SEAT_LENDER_GONE: Canary = Canary::new("seat lender gone");
/// An owner does not check again whether its timer waits when it has the lock of the wheel.
pub(crate) const TIMER_OWNER_UNCHECKED: Canary = Canary::new("timer owner unchecked");
/// A timer has ended before the wheel has let go of it.
pub(crate) const TIMER_END_RELAXED: Canary = Canary::new("timer end relaxed");
/// A timer is added to a wheel that is closed or being closed.
pub(crate) const TIMERS_CLOSE_UNSEEN: Canary = Canary::new("timers close unseen");
/// A thread that goes to sleep releases the timers' lock before it announces until when it sleeps.
pub(crate) const TIMERS_SLEEP_UNLOCKED: Canary = Canary::new("timers sleep unlocked");
/// An event is reported before its cause is visible.
pub(crate) const READINESS_RELAXED: Canary = Canary::new("readiness relaxed");
/// Clearing an older readiness also clears a newer event.
pub(crate) const READINESS_STALE_CLEAR: Canary = Canary::new("readiness stale clear");
/// A task that waits for a source does not check once more after it has stored its waker.
pub(crate) const SOURCE_NO_SECOND_LOOK: Canary = Canary::new("source no second look");
/// Tasks that wait for datagrams do not learn of a lone error.
pub(crate) const SOURCE_ERROR_UNTOLD: Canary = Canary::new("source error untold");
/// Tasks that wait for a source do not learn that its runtime was shut down.
pub(crate) const SOURCE_SHUT_DOWN_SILENT: Canary = Canary::new("source shut down silent");
/// An event reaches a later source with the same index.
pub(crate) const SOURCES_ANY_GENERATION: Canary = Canary::new("sources any generation");
/// A source is registered with a closed reactor.
pub(crate) const SOURCES_CLOSE_UNSEEN: Canary = Canary::new("sources close unseen");
/// A source counts as registered before a reactor watches it.
pub(crate) const REGISTRATION_EARLY: Canary = Canary::new("registration early");
/// A record is overwritten before the new position is visible.
pub(crate) const TRACE_WORD_RELAXED: Canary = Canary::new("trace word relaxed");
/// A record counts as written before it is visible.
pub(crate) const TRACE_POSITION_RELAXED: Canary = Canary::new("trace position relaxed");
/// A copy of records is used without a check for overwritten ones.
pub(crate) const TRACE_COPY_UNCHECKED: Canary = Canary::new("trace copy unchecked");
/// A word of a draft is written before the replacement is visible.
pub(crate) const TRACE_DRAFT_WORD_RELAXED: Canary = Canary::new("trace draft word relaxed");
/// A draft counts as whole before its words are visible.
pub(crate) const TRACE_DRAFT_VERSION_RELAXED: Canary = Canary::new("trace draft version relaxed");
/// A draft is used without a check whether it was replaced meanwhile.
pub(crate) const TRACE_DRAFT_UNCHECKED: Canary = Canary::new("trace draft unchecked");
/// A copy keeps a record that may be half-overwritten.
pub(crate) const TRACE_COPY_TOO_LONG: Canary = Canary::new("trace copy too long");
