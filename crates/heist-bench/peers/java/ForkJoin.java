// Fork-join programs on Java's ForkJoinPool: the same as those of the other sides, a fork and a join
// for each join.
//
// Usage: ForkJoin WORKERS WARM_UP_MS fib N | tree balanced|skewed NODES ROUNDS | quicksort COUNT
//        | nqueens N | matmul SIZE
//
// Runs the program once, and again until the time is over, so that it is compiled; then says "ready".
// For each line with a number on the standard input it runs it so many times, and says how many
// nanoseconds that took and the sum of the digests of the results. Ends when its standard input does.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;

public final class ForkJoin {
    public static void main(String[] args) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(Integer.parseInt(args[0]));
        long warmUp = Long.parseLong(args[1]) * 1_000_000;
        Program program = program(Arrays.copyOfRange(args, 2, args.length));
        long start = System.nanoTime();
        do {
            once(pool, program);
            program.digest();
        } while (System.nanoTime() - start < warmUp);
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            long elapsed = 0, digests = 0;
            for (long iterations = Long.parseLong(line); iterations > 0; iterations--) {
                elapsed += once(pool, program);
                digests += program.digest();
            }
            System.out.println(elapsed + " " + Long.toUnsignedString(digests));
        }
    }

    /** The thread that calls waits, and takes no part. */
    static long once(ForkJoinPool pool, Program program) {
        program.prepare();
        RecursiveAction work = new RecursiveAction() {
            protected void compute() {
                program.compute();
            }
        };
        long start = System.nanoTime();
        pool.invoke(work);
        return System.nanoTime() - start;
    }

    static Program program(String[] words) {
        int size = Integer.parseInt(words[words.length - 1]);
        switch (words[0]) {
            case "fib":
                return new Fib(size);
            case "tree":
                return new TreeSum(words[1].equals("skewed"), Integer.parseInt(words[2]), size);
            case "quicksort":
                return new Quicksort(size);
            case "nqueens":
                return new Queens(size);
            case "matmul":
                return new Matmul(size);
            default:
                throw new IllegalArgumentException("no program " + words[0]);
        }
    }

    /** A computation with one right result. */
    interface Program {
        /** Before each time; not timed. */
        default void prepare() {}

        /** Called by a worker. */
        void compute();

        /** Of the result; not timed. */
        long digest();
    }

    /** SplitMix64, as the other sides have it: the inputs are the same. */
    static final class Rng {
        private long state;

        Rng(long seed) {
            state = seed;
        }

        long next() {
            state += 0x9E3779B97F4A7C15L;
            long z = state;
            z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
            z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
            return z ^ (z >>> 31);
        }

        /** The upper half of a product without signs. */
        int below(long bound) {
            long number = next();
            return (int) (Math.multiplyHigh(number, bound) + ((number >> 63) & bound));
        }
    }

    static long digested(long digest, long number) {
        return digest * 0x100000001B3L + number;
    }

    static final class Fib implements Program {
        private final int n;
        private long found;

        Fib(int n) {
            this.n = n;
        }

        public void compute() {
            found = fib(n);
        }

        public long digest() {
            return found;
        }

        static long fib(int n) {
            if (n < 2) {
                return n;
            }
            Other other = new Other(n - 2);
            other.fork();
            long a = fib(n - 1);
            other.join();
            return a + other.found;
        }

        static final class Other extends RecursiveAction {
            final int n;
            long found;

            Other(int n) {
                this.n = n;
            }

            protected void compute() {
                found = fib(n);
            }
        }
    }

    static final class TreeSum implements Program {
        static final int NONE = -1;
        /** Value, left and right of each. */
        private final int[] nodes;
        private final int rounds;
        private int count;
        private long found;

        TreeSum(boolean skewed, int size, int rounds) {
            nodes = new int[3 * size];
            this.rounds = rounds;
            grow(skewed, size, new Rng(size));
        }

        int grow(boolean skewed, int size, Rng rng) {
            if (size == 0) {
                return NONE;
            }
            int below = size - 1, place = 3 * count++;
            nodes[place] = rng.below(1000);
            int first =
                    !skewed ? below / 2 : rng.below(2) == 0 ? below / 16 : below - below / 16;
            nodes[place + 1] = grow(skewed, first, rng);
            nodes[place + 2] = grow(skewed, below - first, rng);
            return place;
        }

        public void compute() {
            found = 0;
            for (int round = 0; round < rounds; round++) {
                found += sum(nodes, 0);
            }
        }

        public long digest() {
            return found;
        }

        static long sum(int[] nodes, int place) {
            int value = nodes[place], left = nodes[place + 1], right = nodes[place + 2];
            if (left == NONE || right == NONE) {
                int only = Math.max(left, right);
                return only == NONE ? value : value + sum(nodes, only);
            }
            Other other = new Other(nodes, right);
            other.fork();
            long found = sum(nodes, left);
            other.join();
            return value + found + other.found;
        }

        static final class Other extends RecursiveAction {
            final int[] nodes;
            final int place;
            long found;

            Other(int[] nodes, int place) {
                this.nodes = nodes;
                this.place = place;
            }

            protected void compute() {
                found = sum(nodes, place);
            }
        }
    }

    /** Numbers have their highest bit turned, as all comparisons are of numbers with signs. */
    static final class Quicksort implements Program {
        static final int SHORT = 128;
        private final int[] unsorted;
        private final int[] numbers;

        Quicksort(int count) {
            Rng rng = new Rng(7);
            unsorted = new int[count];
            for (int at = 0; at < count; at++) {
                unsorted[at] = (int) rng.next() ^ Integer.MIN_VALUE;
            }
            numbers = new int[count];
        }

        public void prepare() {
            System.arraycopy(unsorted, 0, numbers, 0, numbers.length);
        }

        public void compute() {
            sort(numbers, 0, numbers.length);
        }

        public long digest() {
            long digest = 0;
            for (int number : numbers) {
                digest = digested(digest, Integer.toUnsignedLong(number ^ Integer.MIN_VALUE));
            }
            return digest;
        }

        static void sort(int[] numbers, int begin, int end) {
            if (end - begin <= SHORT) {
                Arrays.sort(numbers, begin, end);
                return;
            }
            int middle = partition(numbers, begin, end);
            Other other = new Other(numbers, middle + 1, end);
            other.fork();
            sort(numbers, begin, middle);
            other.join();
        }

        static int partition(int[] numbers, int begin, int end) {
            int last = end - 1, middle = begin;
            swap(numbers, ofThree(numbers, begin, begin + (last - begin) / 2, last), last);
            int pivot = numbers[last];
            for (int place = begin; place < last; place++) {
                int number = numbers[place];
                numbers[place] = numbers[middle];
                numbers[middle] = number;
                middle += number < pivot ? 1 : 0;
            }
            swap(numbers, middle, last);
            return middle;
        }

        static int ofThree(int[] numbers, int a, int b, int c) {
            int low = numbers[a] <= numbers[b] ? a : b, high = low == a ? b : a;
            return numbers[c] < numbers[low] ? low : numbers[c] < numbers[high] ? c : high;
        }

        static void swap(int[] numbers, int a, int b) {
            int number = numbers[a];
            numbers[a] = numbers[b];
            numbers[b] = number;
        }

        static final class Other extends RecursiveAction {
            final int[] numbers;
            final int begin, end;

            Other(int[] numbers, int begin, int end) {
                this.numbers = numbers;
                this.begin = begin;
                this.end = end;
            }

            protected void compute() {
                sort(numbers, begin, end);
            }
        }
    }

    static final class Queens implements Program {
        private final int all;
        private long found;

        Queens(int queens) {
            all = (1 << queens) - 1;
        }

        public void compute() {
            found = place(all, 0, 0, 0);
        }

        public long digest() {
            return found;
        }

        static long place(int all, int columns, int rising, int falling) {
            if (columns == all) {
                return 1;
            }
            int free = all & ~(columns | rising | falling);
            return free == 0 ? 0 : placeAt(all, columns, rising, falling, free);
        }

        static long placeAt(int all, int columns, int rising, int falling, int free) {
            int bit = free & -free, others = free ^ bit;
            Other other = null;
            if (others != 0) {
                other = new Other(all, columns, rising, falling, others);
                other.fork();
            }
            long found = place(all, columns | bit, (rising | bit) << 1, (falling | bit) >>> 1);
            if (other == null) {
                return found;
            }
            other.join();
            return found + other.found;
        }

        static final class Other extends RecursiveAction {
            final int all, columns, rising, falling, free;
            long found;

            Other(int all, int columns, int rising, int falling, int free) {
                this.all = all;
                this.columns = columns;
                this.rising = rising;
                this.falling = falling;
                this.free = free;
            }

            protected void compute() {
                found = placeAt(all, columns, rising, falling, free);
            }
        }
    }

    /** Matrices are stored by quarters, and these by quarters, down to blocks. */
    static final class Matmul implements Program {
        static final int BLOCK = 32;
        private final float[] a, b, product;

        Matmul(int size) {
            Rng rng = new Rng(11);
            a = matrix(size, rng);
            b = matrix(size, rng);
            product = new float[size * size];
        }

        static float[] matrix(int size, Rng rng) {
            float[] matrix = new float[size * size];
            for (int at = 0; at < matrix.length; at++) {
                matrix[at] = rng.below(8);
            }
            return matrix;
        }

        public void prepare() {
            Arrays.fill(product, 0);
        }

        public void compute() {
            new Part(this, product.length, 0, 0, 0).add();
        }

        public long digest() {
            long digest = 0;
            for (float number : product) {
                digest = digested(digest, (long) number);
            }
            return digest;
        }

        /** Adds the product of a part of `a` and one of `b`, each of so many numbers, to one of `c`. */
        static final class Part extends RecursiveAction {
            final Matmul all;
            final int count, atC, atA, atB;

            Part(Matmul all, int count, int atC, int atA, int atB) {
                this.all = all;
                this.count = count;
                this.atC = atC;
                this.atA = atA;
                this.atB = atB;
            }

            protected void compute() {
                add();
            }

            void add() {
                if (count == BLOCK * BLOCK) {
                    addBlock();
                    return;
                }
                Half lower = new Half(this, 1);
                lower.fork();
                new Half(this, 0).add();
                lower.join();
            }

            void addBlock() {
                float[] a = all.a, b = all.b, c = all.product;
                for (int row = 0; row < BLOCK; row++) {
                    for (int k = 0; k < BLOCK; k++) {
                        float factor = a[atA + row * BLOCK + k];
                        int from = atB + k * BLOCK, to = atC + row * BLOCK;
                        for (int column = 0; column < BLOCK; column++) {
                            c[to + column] += factor * b[from + column];
                        }
                    }
                }
            }
        }

        /** The upper or the lower half of a part. */
        static final class Half extends RecursiveAction {
            final Part part;
            final int row;

            Half(Part part, int row) {
                this.part = part;
                this.row = row;
            }

            protected void compute() {
                add();
            }

            void add() {
                Quarter right = new Quarter(this, 1);
                right.fork();
                new Quarter(this, 0).add();
                right.join();
            }
        }

        static final class Quarter extends RecursiveAction {
            final Half half;
            final int column;

            Quarter(Half half, int column) {
                this.half = half;
                this.column = column;
            }

            protected void compute() {
                add();
            }

            /** One after the other, as both are added to the same. */
            void add() {
                Part part = half.part;
                int quarter = part.count / 4, above = 2 * half.row * quarter;
                for (int k = 0; k < 2; k++) {
                    int c = part.atC + above + column * quarter;
                    int a = part.atA + above + k * quarter;
                    int b = part.atB + 2 * k * quarter + column * quarter;
                    new Part(part.all, quarter, c, a, b).add();
                }
            }
        }
    }
}
