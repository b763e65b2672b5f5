// Fork-join programs on the Go runtime: the same as those of the other sides, a goroutine for each
// join.
//
// Usage: fork_join WORKERS WARM_UP_MS fib N | tree balanced|skewed NODES ROUNDS | quicksort COUNT
//        | nqueens N | matmul SIZE
//
// Runs the program once, and again until the time is over; then says "ready". For each line with a
// number on the standard input it runs it so many times, and says how many nanoseconds that took and
// the sum of the digests of the results. Ends when its standard input does.
package main

import (
	"bufio"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"
)

// program is a computation with one right result. prepare and digest are not timed.
type program interface {
	prepare()
	compute()
	digest() uint64
}

func main() {
	workers, warmUp, subject, err := arguments(os.Args[1:])
	if err != nil {
		fail(err)
	}
	runtime.GOMAXPROCS(workers)
	for start := time.Now(); ; {
		once(subject)
		if time.Since(start) >= warmUp {
			break
		}
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		iterations, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			fail(err)
		}
		elapsed, digests := time.Duration(0), uint64(0)
		for ; iterations > 0; iterations-- {
			elapsed += once(subject)
			digests += subject.digest()
		}
		fmt.Println(elapsed.Nanoseconds(), digests)
	}
}

func once(subject program) time.Duration {
	subject.prepare()
	start := time.Now()
	subject.compute()
	return time.Since(start)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

func arguments(args []string) (int, time.Duration, program, error) {
	wrong := fmt.Errorf("usage: fork_join WORKERS WARM_UP_MS PROGRAM SIZE…, not %q", args)
	if len(args) < 4 {
		return 0, 0, nil, wrong
	}
	var numbers [3]int
	words := []string{args[0], args[1], args[len(args)-1]}
	for at, word := range words {
		number, err := strconv.Atoi(word)
		if err != nil {
			return 0, 0, nil, wrong
		}
		numbers[at] = number
	}
	workers, warmUp, size := numbers[0], time.Duration(numbers[1])*time.Millisecond, numbers[2]
	switch args[2] {
	case "fib":
		return workers, warmUp, &fibonacci{n: uint32(size)}, nil
	case "tree":
		if nodes, err := strconv.Atoi(args[len(args)-2]); err == nil && len(args) == 6 {
			return workers, warmUp, newTree(args[3] == "skewed", uint32(nodes), size), nil
		}
	case "quicksort":
		return workers, warmUp, newQuicksort(size), nil
	case "nqueens":
		return workers, warmUp, &queens{queens: uint32(size)}, nil
	case "matmul":
		return workers, warmUp, newMatmul(size), nil
	}
	return 0, 0, nil, wrong
}

func join(a, b func()) {
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		b()
		done.Done()
	}()
	a()
	done.Wait()
}

// random is SplitMix64, as the other sides have it: the inputs are the same.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9E3779B97F4A7C15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (r *random) below(bound uint64) uint64 {
	high, _ := bits.Mul64(r.next(), bound)
	return high
}

func digestOf[N uint32 | float32](numbers []N) uint64 {
	digest := uint64(0)
	for _, number := range numbers {
		digest = digest*0x100000001B3 + uint64(number)
	}
	return digest
}

type fibonacci struct {
	n     uint32
	found uint64
}

func (f *fibonacci) prepare()       {}
func (f *fibonacci) compute()       { f.found = fib(f.n) }
func (f *fibonacci) digest() uint64 { return f.found }

func fib(n uint32) uint64 {
	if n < 2 {
		return uint64(n)
	}
	var a, b uint64
	join(func() { a = fib(n - 1) }, func() { b = fib(n - 2) })
	return a + b
}

type node struct{ value, left, right uint32 }

const none = ^uint32(0)

type tree struct {
	nodes  []node
	rounds int
	found  uint64
}

func newTree(skewed bool, size uint32, rounds int) *tree {
	rng := random(size)
	made := &tree{nodes: make([]node, 0, size), rounds: rounds}
	made.grow(skewed, size, &rng)
	return made
}

func (t *tree) grow(skewed bool, size uint32, rng *random) uint32 {
	if size == 0 {
		return none
	}
	below, place := size-1, uint32(len(t.nodes))
	t.nodes = append(t.nodes, node{uint32(rng.below(1000)), none, none})
	first := below / 2
	if skewed {
		first = below / 16
		if rng.below(2) != 0 {
			first = below - below/16
		}
	}
	t.nodes[place].left = t.grow(skewed, first, rng)
	t.nodes[place].right = t.grow(skewed, below-first, rng)
	return place
}

func (t *tree) prepare() {}

func (t *tree) compute() {
	t.found = 0
	for round := 0; round < t.rounds; round++ {
		t.found += sum(t.nodes, 0)
	}
}

func (t *tree) digest() uint64 { return t.found }

func sum(nodes []node, place uint32) uint64 {
	here := nodes[place]
	value := uint64(here.value)
	if here.left == none || here.right == none {
		only := min(here.left, here.right)
		if only == none {
			return value
		}
		return value + sum(nodes, only)
	}
	var left, right uint64
	join(func() { left = sum(nodes, here.left) }, func() { right = sum(nodes, here.right) })
	return value + left + right
}

// Shorter ones are left to the standard library.
const short = 128

type quicksort struct{ unsorted, numbers []uint32 }

func newQuicksort(count int) *quicksort {
	rng := random(7)
	unsorted := make([]uint32, count)
	for at := range unsorted {
		unsorted[at] = uint32(rng.next())
	}
	return &quicksort{unsorted, make([]uint32, count)}
}

func (q *quicksort) prepare()       { copy(q.numbers, q.unsorted) }
func (q *quicksort) compute()       { sort(q.numbers) }
func (q *quicksort) digest() uint64 { return digestOf(q.numbers) }

func sort(numbers []uint32) {
	if len(numbers) <= short {
		slices.Sort(numbers)
		return
	}
	middle := partition(numbers)
	join(func() { sort(numbers[:middle]) }, func() { sort(numbers[middle+1:]) })
}

func partition(numbers []uint32) int {
	last, middle := len(numbers)-1, 0
	three := []int{0, last / 2, last}
	slices.SortFunc(three, func(a, b int) int { return int(numbers[a]) - int(numbers[b]) })
	numbers[three[1]], numbers[last] = numbers[last], numbers[three[1]]
	pivot := numbers[last]
	for place := 0; place < last; place++ {
		number := numbers[place]
		numbers[place] = numbers[middle]
		numbers[middle] = number
		less := 0
		if number < pivot {
			less = 1
		}
		middle += less
	}
	numbers[middle], numbers[last] = numbers[last], numbers[middle]
	return middle
}

type queens struct {
	queens uint32
	found  uint64
}

type board struct{ all, columns, rising, falling uint32 }

func (q *queens) prepare()       {}
func (q *queens) compute()       { q.found = place(board{all: 1<<q.queens - 1}) }
func (q *queens) digest() uint64 { return q.found }

func place(b board) uint64 {
	if b.columns == b.all {
		return 1
	}
	free := b.all &^ (b.columns | b.rising | b.falling)
	if free == 0 {
		return 0
	}
	return placeAt(b, free)
}

func placeAt(b board, free uint32) uint64 {
	bit := free & -free
	next := board{b.all, b.columns | bit, (b.rising | bit) << 1, (b.falling | bit) >> 1}
	others := free ^ bit
	if others == 0 {
		return place(next)
	}
	var here, there uint64
	join(func() { here = place(next) }, func() { there = placeAt(b, others) })
	return here + there
}

// matmul has its matrices by quarters, and these by quarters, down to blocks.
type matmul struct{ a, b, product []float32 }

const block = 32

func newMatmul(size int) *matmul {
	rng := random(11)
	matrix := func() []float32 {
		matrix := make([]float32, size*size)
		for at := range matrix {
			matrix[at] = float32(rng.below(8))
		}
		return matrix
	}
	a := matrix()
	return &matmul{a, matrix(), make([]float32, size*size)}
}

func (m *matmul) prepare()       { clear(m.product) }
func (m *matmul) compute()       { addProduct(m.product, m.a, m.b) }
func (m *matmul) digest() uint64 { return digestOf(m.product) }

func quarter(matrix []float32, row, column int) []float32 {
	length := len(matrix) / 4
	return matrix[(2*row+column)*length:][:length]
}

func addProduct(c, a, b []float32) {
	if len(c) == block*block {
		addBlock(c, a, b)
		return
	}
	part := func(row, column int) {
		to := quarter(c, row, column)
		addProduct(to, quarter(a, row, 0), quarter(b, 0, column))
		addProduct(to, quarter(a, row, 1), quarter(b, 1, column))
	}
	join(
		func() { join(func() { part(0, 0) }, func() { part(0, 1) }) },
		func() { join(func() { part(1, 0) }, func() { part(1, 1) }) },
	)
}

func addBlock(c, a, b []float32) {
	for row := 0; row < block; row++ {
		to := c[row*block:][:block]
		for k, factor := range a[row*block:][:block] {
			for column, value := range b[k*block:][:block] {
				to[column] += factor * value
			}
		}
	}
}
