# What scripts/tsan, scripts/asan and scripts/leaks have in common; they source this file from the
# root of the repository.

me=scripts/$(basename "$0")
build_root=${CARGO_TARGET_DIR:-target}
export CARGO_TARGET_DIR=$build_root/$(basename "$0") # what they build differs in its flags
log=$CARGO_TARGET_DIR/last-run.txt
mkdir -p "$CARGO_TARGET_DIR"

fail() { # message
    echo "$me: $1" >&2
    exit 1
}

# Runs a program of scripts/canaries and expects the detector to report its fault.
reports() { # text of the report, command...
    local expected=$1 status=0
    shift
    "$@" >"$log" 2>&1 || status=$?
    [[ $status -ne 0 ]] && grep -q "$expected" "$log"
}

# As `reports`, and ends the script if there is no report.
must_report() { # text of the report, command...
    if ! reports "$@"; then
        echo "$me: the detector did not report the fault of scripts/canaries:" >&2
        sed 's/^/    /' "$log" >&2
        exit 1
    fi
}

# Prints the crates that have the test suite.
crates_with() { # suite
    local crate
    for crate in heist-deque heist; do
        if [[ -f crates/$crate/tests/$1.rs || -f crates/$crate/tests/$1/main.rs ]]; then
            echo "$crate"
        fi
    done
}

# Whether the output of a test program says that a test ran.
some_test_ran() { # file
    grep -q "^test result: ok\. [1-9]" "$1"
}

# Builds the canaries with a sanitizer, one way after the other until one works. A way names a
# toolchain and a standard library: "nightly whole" builds the library with the sanitizer, "nightly
# mixed" takes it as it comes. Sets `way`, and `cargo` for `run_suites`. What kept a way from
# working is in the file `tried`.
choose_toolchain() { # sanitizer, way...
    local sanitizer=$1 user_flags=${RUSTFLAGS:-} try
    shift
    export CARGO_INCREMENTAL=0
    export RUSTUP_AUTO_INSTALL=0 # a toolchain that is not there is not fetched for this
    host=$(rustc -vV | sed -n 's/^host: //p')
    programs=$CARGO_TARGET_DIR/canaries/$host/debug
    tried=$CARGO_TARGET_DIR/toolchains.txt
    way=
    : >"$tried"
    for try in "$@"; do
        echo "== $try" >>"$tried"
        # shellcheck disable=SC2086 # two words
        if use_toolchain $try && build_canaries 2>>"$tried"; then
            way=$try
            return
        fi
    done
    echo "$me: SKIPPED. No toolchain here can build with the $sanitizer sanitizer:"
    sed 's/^/    /' "$tried"
    echo "    to run it: rustup toolchain install nightly --component rust-src"
    exit 0
}

use_toolchain() { # nightly|default|debian, whole|mixed
    cargo=(cargo)
    build_std=()
    unset RUSTC RUSTDOC RUSTC_BOOTSTRAP
    RUSTFLAGS="$user_flags -Zsanitizer=$sanitizer"
    case $1 in
    nightly) cargo+=(+nightly) ;;
    default) export RUSTC_BOOTSTRAP=1 ;;
    debian) use_debian 2>>"$tried" || return ;;
    esac
    if [[ $2 == mixed ]]; then
        # Without share-generics=no, code of generic functions would come from the library where it
        # has the same ones, and would not be instrumented.
        RUSTFLAGS+=" -Cunsafe-allow-abi-mismatch=sanitizer -Zshare-generics=no"
    else
        local sysroot
        sysroot=$("${RUSTC:-rustc}" "${cargo[@]:1}" --print sysroot 2>>"$tried") || return
        if [[ ! -f $sysroot/lib/rustlib/src/rust/library/Cargo.lock ]]; then
            echo "no rust-src" >>"$tried"
            return 1
        fi
        build_std=(-Zbuild-std)
    fi
    export RUSTFLAGS
}

# Debian's packages have no runtimes of sanitizers. Those of rustup's toolchain fit.
use_debian() {
    local dir runtimes runtime
    runtimes=$(rustc --print sysroot)/lib/rustlib/$host/lib
    dir=$(CARGO_TARGET_DIR=$build_root scripts/debian-rust) || return
    for runtime in "$runtimes"/librustc-*_rt.*san.a; do
        cp "$runtime" "$dir/usr/lib/rustlib/$host/lib/librustc-stable_rt.${runtime##*_rt.}" || return
    done
    export RUSTC=$dir/bin/rustc RUSTDOC=$dir/bin/rustdoc RUSTC_BOOTSTRAP=1
}

# In a directory of their own: two workspaces take turns in building a library that lies within one of
# them, as Debian's does.
build_canaries() {
    "${cargo[@]}" build "${build_std[@]}" --locked --quiet --target "$host" --bins \
        --manifest-path scripts/canaries/Cargo.toml --target-dir "$CARGO_TARGET_DIR/canaries"
}

# Runs all suites, one test at a time: each has threads of its own, and libtest's are not what we
# look at. Fails in the end if one failed.
run_suites() { # suite[/part of the tests' names]...
    local suite crate packages failed=()
    for suite in "$@"; do
        packages=()
        for crate in $(crates_with "${suite%%/*}"); do
            packages+=(-p "$crate")
        done
        if [[ ${#packages[@]} -eq 0 ]]; then
            fail "no crate has the suite \"${suite%%/*}\""
        fi
        log=$CARGO_TARGET_DIR/${suite//\//-}.txt
        local filter=()
        if [[ $suite == */* ]]; then filter=("${suite#*/}"); fi
        if ! "${cargo[@]}" test "${build_std[@]}" --locked --profile sanitized --target "$host" \
            "${packages[@]}" --test "${suite%%/*}" -- --test-threads=1 "${filter[@]}" 2>&1 | tee "$log"; then
            failed+=("$suite")
        elif ! some_test_ran "$log"; then
            echo "$me: no test of $suite ran; that is a failure" >&2
            failed+=("$suite")
        fi
    done
    if [[ ${#failed[@]} -ne 0 ]]; then
        fail "failed: ${failed[*]}; the output is in $CARGO_TARGET_DIR"
    fi
}
