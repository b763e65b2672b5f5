// Fork-join programs on oneTBB: the same as those of the other sides, a parallel_invoke for each join.
//
// Usage: fork_join WORKERS WARM_UP_MS fib N | tree balanced|skewed NODES ROUNDS | quicksort COUNT
//        | nqueens N | matmul SIZE
//
// Runs the program once, and again until the time is over; then says "ready". For each line with a
// number on the standard input it runs it so many times, and says how many nanoseconds that took and
// the sum of the digests of the results. Ends when its standard input does.
#include <tbb/global_control.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Clock = std::chrono::steady_clock;

// SplitMix64, as the other sides have it: the inputs are the same.
class Rng {
public:
    explicit Rng(uint64_t seed) : state(seed) {}

    uint64_t next() {
        uint64_t z = state += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    uint64_t below(uint64_t bound) {
        return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
    }

private:
    uint64_t state;
};

template <typename Numbers> uint64_t digest_of(const Numbers &numbers) {
    uint64_t digest = 0;
    for (auto number : numbers) {
        digest = digest * 0x100000001B3 + static_cast<uint64_t>(number);
    }
    return digest;
}

struct Program {
    virtual ~Program() = default;
    // Before each time; not timed.
    virtual void prepare() {}
    virtual void compute() = 0;
    // Of the result; not timed.
    virtual uint64_t digest() = 0;
};

struct Fib : Program {
    explicit Fib(uint32_t n) : n(n) {}

    void compute() override { found = fib(n); }
    uint64_t digest() override { return found; }

    static uint64_t fib(uint32_t n) {
        if (n < 2) {
            return n;
        }
        uint64_t a, b;
        tbb::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
        return a + b;
    }

    uint32_t n;
    uint64_t found = 0;
};

struct TreeSum : Program {
    struct Node {
        uint32_t value, left, right;
    };
    static constexpr uint32_t NONE = UINT32_MAX;

    TreeSum(bool skewed, uint32_t size, uint64_t rounds) : rounds(rounds) {
        Rng rng(size);
        nodes.reserve(size);
        grow(skewed, size, rng);
    }

    void compute() override {
        found = 0;
        for (uint64_t round = 0; round < rounds; ++round) {
            found += sum(0);
        }
    }
    uint64_t digest() override { return found; }

    uint32_t grow(bool skewed, uint32_t size, Rng &rng) {
        if (size == 0) {
            return NONE;
        }
        uint32_t below = size - 1, place = static_cast<uint32_t>(nodes.size());
        nodes.push_back({static_cast<uint32_t>(rng.below(1000)), NONE, NONE});
        uint32_t first = !skewed             ? below / 2
                         : rng.below(2) == 0 ? below / 16
                                             : below - below / 16;
        uint32_t left = grow(skewed, first, rng);
        uint32_t right = grow(skewed, below - first, rng);
        nodes[place].left = left;
        nodes[place].right = right;
        return place;
    }

    uint64_t sum(uint32_t place) const {
        Node node = nodes[place];
        if (node.left == NONE || node.right == NONE) {
            uint32_t only = std::min(node.left, node.right);
            return node.value + (only == NONE ? 0 : sum(only));
        }
        uint64_t left, right;
        tbb::parallel_invoke([&] { left = sum(node.left); }, [&] { right = sum(node.right); });
        return node.value + left + right;
    }

    std::vector<Node> nodes;
    uint64_t rounds, found = 0;
};

struct Quicksort : Program {
    static constexpr size_t SHORT = 128;

    explicit Quicksort(size_t count) : unsorted(count) {
        Rng rng(7);
        for (auto &number : unsorted) {
            number = static_cast<uint32_t>(rng.next());
        }
        numbers = unsorted;
    }

    void prepare() override { std::copy(unsorted.begin(), unsorted.end(), numbers.begin()); }
    void compute() override { sort(numbers.data(), numbers.size()); }
    uint64_t digest() override { return digest_of(numbers); }

    static void sort(uint32_t *numbers, size_t count) {
        if (count <= SHORT) {
            return std::sort(numbers, numbers + count);
        }
        size_t middle = partition(numbers, count);
        tbb::parallel_invoke([=] { sort(numbers, middle); },
                             [=] { sort(numbers + middle + 1, count - middle - 1); });
    }

    static size_t partition(uint32_t *numbers, size_t count) {
        size_t last = count - 1, middle = 0;
        size_t three[] = {0, last / 2, last};
        std::sort(three, three + 3, [=](size_t a, size_t b) { return numbers[a] < numbers[b]; });
        std::swap(numbers[three[1]], numbers[last]);
        uint32_t pivot = numbers[last];
        for (size_t place = 0; place < last; ++place) {
            uint32_t number = numbers[place];
            numbers[place] = numbers[middle];
            numbers[middle] = number;
            middle += number < pivot;
        }
        std::swap(numbers[middle], numbers[last]);
        return middle;
    }

    std::vector<uint32_t> unsorted, numbers;
};

struct Queens : Program {
    struct Board {
        uint32_t all, columns, rising, falling;
    };

    explicit Queens(uint32_t queens) : queens(queens) {}

    void compute() override { found = place({(1u << queens) - 1, 0, 0, 0}); }
    uint64_t digest() override { return found; }

    static uint64_t place(Board board) {
        if (board.columns == board.all) {
            return 1;
        }
        uint32_t free = board.all & ~(board.columns | board.rising | board.falling);
        return free == 0 ? 0 : place_at(board, free);
    }

    static uint64_t place_at(Board board, uint32_t free) {
        uint32_t bit = free & -free, others = free ^ bit;
        Board next = {board.all, board.columns | bit, (board.rising | bit) << 1,
                      (board.falling | bit) >> 1};
        if (others == 0) {
            return place(next);
        }
        uint64_t here, there;
        tbb::parallel_invoke([&] { here = place(next); }, [&] { there = place_at(board, others); });
        return here + there;
    }

    uint32_t queens;
    uint64_t found = 0;
};

// Matrices are stored by quarters, and these by quarters, down to blocks.
struct Matmul : Program {
    static constexpr size_t BLOCK = 32;

    explicit Matmul(size_t size) : product(size * size) {
        Rng rng(11);
        for (auto *matrix : {&a, &b}) {
            matrix->reserve(size * size);
            for (size_t at = 0; at < size * size; ++at) {
                matrix->push_back(static_cast<float>(rng.below(8)));
            }
        }
    }

    void prepare() override { std::fill(product.begin(), product.end(), 0.0f); }
    void compute() override { add(product.data(), a.data(), b.data(), product.size()); }
    uint64_t digest() override { return digest_of(product); }

    static void add(float *c, const float *a, const float *b, size_t count) {
        if (count == BLOCK * BLOCK) {
            return add_block(c, a, b);
        }
        size_t quarter = count / 4;
        auto part = [=](size_t row, size_t column) {
            size_t above = 2 * row * quarter, left = column * quarter;
            float *to = c + above + left;
            add(to, a + above, b + left, quarter);
            add(to, a + above + quarter, b + 2 * quarter + left, quarter);
        };
        tbb::parallel_invoke(
            [&] { tbb::parallel_invoke([&] { part(0, 0); }, [&] { part(0, 1); }); },
            [&] { tbb::parallel_invoke([&] { part(1, 0); }, [&] { part(1, 1); }); });
    }

    static void add_block(float *__restrict c, const float *__restrict a,
                          const float *__restrict b) {
        for (size_t row = 0; row < BLOCK; ++row) {
            for (size_t k = 0; k < BLOCK; ++k) {
                float factor = a[row * BLOCK + k];
                for (size_t column = 0; column < BLOCK; ++column) {
                    c[row * BLOCK + column] += factor * b[k * BLOCK + column];
                }
            }
        }
    }

    std::vector<float> a, b, product;
};

std::unique_ptr<Program> program(const std::vector<std::string> &words) {
    auto number = [&](size_t at) { return std::stoull(words.at(at)); };
    const std::string &name = words.at(0);
    if (name == "fib") {
        return std::make_unique<Fib>(number(1));
    } else if (name == "tree") {
        return std::make_unique<TreeSum>(words.at(1) == "skewed", number(2), number(3));
    } else if (name == "quicksort") {
        return std::make_unique<Quicksort>(number(1));
    } else if (name == "nqueens") {
        return std::make_unique<Queens>(number(1));
    } else if (name == "matmul") {
        return std::make_unique<Matmul>(number(1));
    }
    throw std::invalid_argument("no program " + name);
}

int main(int count, char **arguments) try {
    std::vector<std::string> words(arguments + 1, arguments + count);
    int workers = std::stoi(words.at(0));
    auto warm_up = std::chrono::milliseconds(std::stoll(words.at(1)));
    auto subject = program({words.begin() + 2, words.end()});

    // The thread that calls is one of them.
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, workers);
    tbb::task_arena arena(workers);
    auto once = [&] {
        subject->prepare();
        auto start = Clock::now();
        arena.execute([&] { subject->compute(); });
        return Clock::now() - start;
    };

    auto start = Clock::now();
    do {
        once();
    } while (Clock::now() - start < warm_up);
    std::cout << "ready" << std::endl;
    uint64_t iterations;
    while (std::cin >> iterations) {
        Clock::duration elapsed{};
        uint64_t digests = 0;
        for (uint64_t iteration = 0; iteration < iterations; ++iteration) {
            elapsed += once();
            digests += subject->digest();
        }
        auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed);
        std::cout << nanoseconds.count() << ' ' << digests << std::endl;
    }
} catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
    return 2;
}
