// Goroutines hold all Ps of the Go runtime: how long do the others wait?
//
// Usage: stall WORKERS HOLD_MS block|burn
//
// While the Ps are held, a goroutine with a thread of its own sends another a tick, about every
// millisecond. The gap of a tick is the time from there until the other has it. Prints the
// longest gap and the p99, in milliseconds.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

const tick = time.Millisecond

func main() {
	workers, long, hold, err := arguments(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	runtime.GOMAXPROCS(workers)
	gaps := measure(int32(workers), long, hold)
	sort.Float64s(gaps)
	fmt.Printf("%f %f\n", percentile(gaps, 100), percentile(gaps, 99))
}

func arguments(args []string) (int, time.Duration, func(time.Duration), error) {
	holds := map[string]func(time.Duration){"block": block, "burn": burn}
	if len(args) == 3 {
		workers, bad := strconv.Atoi(args[0])
		ms, worse := strconv.Atoi(args[1])
		hold := holds[args[2]]
		if bad == nil && worse == nil && workers > 0 && ms > 0 && hold != nil {
			return workers, time.Duration(ms) * time.Millisecond, hold, nil
		}
	}
	return 0, 0, nil, fmt.Errorf("usage: stall WORKERS HOLD_MS block|burn, not %q", args)
}

// measure returns the gaps of all ticks, in milliseconds.
func measure(workers int32, long time.Duration, hold func(time.Duration)) []float64 {
	var came, ended atomic.Int32
	for i := int32(0); i < workers; i++ {
		go func() {
			came.Add(1)
			// Keeps its P until all have one.
			for came.Load() < workers {
			}
			hold(long)
			ended.Add(1)
		}()
	}
	held := func() bool { return came.Load() == workers }
	over := func() bool { return ended.Load() == workers }
	return receive(send(held, over, long))
}

// send sends when each tick was sent, from when all Ps are held until none is.
func send(held, over func() bool, hold time.Duration) <-chan time.Time {
	// Room for all ticks, and as many again: the sender is not to wait for the receiver.
	ticks := make(chan time.Time, 2*hold/tick+1)
	go func() {
		// Never unlocked: the thread serves nobody else, and ends with the goroutine.
		runtime.LockOSThread()
		for !held() {
			block(tick)
		}
		// One at least, however short the time.
		ticks <- time.Now()
		for !over() {
			block(tick)
			ticks <- time.Now()
		}
		close(ticks)
	}()
	return ticks
}

func receive(ticks <-chan time.Time) []float64 {
	var gaps []float64
	for sent := range ticks {
		gaps = append(gaps, time.Since(sent).Seconds()*1e3)
	}
	return gaps
}

// block keeps the thread in a system call. time.Sleep would only park the goroutine.
func block(hold time.Duration) {
	left := syscall.NsecToTimespec(hold.Nanoseconds())
	// The Go runtime preempts by signals, which end the call early.
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}

func burn(hold time.Duration) {
	start := time.Now()
	for time.Since(start) < hold {
	}
}

// percentile interpolates between the two nearest ranks, as for the other sides.
func percentile(sorted []float64, percent float64) float64 {
	rank := percent / 100 * float64(len(sorted)-1)
	below, above := sorted[int(math.Floor(rank))], sorted[int(math.Ceil(rank))]
	return below + (above-below)*(rank-math.Floor(rank))
}
