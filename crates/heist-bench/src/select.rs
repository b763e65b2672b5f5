//! Which benches, and which of their sides, a command line means.

use crate::bench::{Bench, Fault, Row, Runtime};
use crate::error::Error;
use crate::unit::Unit;

/// The benches that any of the filters means, in their own order; all if there is no filter.
///
/// A filter that is the name of a bench's row means that bench alone, even if others contain it;
/// any other filter means all benches with a row whose name contains it. A bench is run, and
/// reported, as a whole.
pub fn by_filters(benches: Vec<Bench>, filters: &[String]) -> Result<Vec<Bench>, Error> {
    if filters.is_empty() {
        return Ok(benches);
    }
    let mut selected = vec![false; benches.len()];
    for filter in filters {
        let matching = matching(&benches, filter);
        if !matching.contains(&true) {
            return Err(Error::NoMatch { filter: filter.clone() });
        }
        for (selected, matches) in selected.iter_mut().zip(matching) {
            *selected |= matches;
        }
    }
    Ok(benches.into_iter().zip(selected).filter_map(|(bench, it)| it.then_some(bench)).collect())
}

fn matching(benches: &[Bench], filter: &str) -> Vec<bool> {
    let has_row = |bench: &Bench, matches: &dyn Fn(&str) -> bool| {
        bench.rows.iter().any(|row| matches(row.name))
    };
    let exact = benches.iter().any(|bench| has_row(bench, &|name| name == filter));
    let matches = |bench: &Bench| {
        has_row(bench, &|name| if exact { name == filter } else { name.contains(filter) })
    };
    benches.iter().map(matches).collect()
}

/// Keeps heist and the peers that are named; if none is, all but those on demand.
pub fn by_peers(benches: &mut [Bench], peers: &[Runtime]) {
    let named = |peer: Runtime| match peers {
        [] => !peer.is_on_demand(),
        _ => peers.contains(&peer),
    };
    for bench in benches {
        bench.sides.retain(|side| side.runtime == Runtime::Heist || named(side.runtime));
        if named(Runtime::HeistAgain) {
            bench.repeat_heist();
        }
    }
}

/// Leaves out peers that need what is not there; `check` says what that is, and is asked once for
/// each runtime. Returns the peers that were left out, with the reasons.
pub fn by_what_is_there(
    benches: &mut [Bench],
    check: impl Fn(Runtime) -> Result<(), Fault>,
) -> Vec<(Runtime, Fault)> {
    let mut runtimes: Vec<_> = benches.iter().flat_map(Bench::runtimes).collect();
    runtimes.sort_unstable();
    runtimes.dedup();
    let missing = |runtime| check(runtime).err().map(|fault| (runtime, fault));
    let missing: Vec<_> = runtimes.into_iter().filter_map(missing).collect();
    let is_there = |runtime| missing.iter().all(|(missing, _)| *missing != runtime);
    for bench in benches {
        bench.sides.retain(|side| is_there(side.runtime));
    }
    missing
}

/// Leaves out rows that count system calls if `check` says that nothing can; it is asked only if
/// there are such rows. Returns the reason.
pub fn by_what_counts(
    benches: &mut [Bench],
    check: impl FnOnce() -> Result<(), Fault>,
) -> Result<(), Fault> {
    let is_counted = |row: &Row| row.unit == Unit::Calls;
    if !benches.iter().flat_map(|bench| &bench.rows).any(is_counted) {
        return Ok(());
    }
    check().inspect_err(|_| {
        benches.iter_mut().for_each(|bench| bench.rows.retain(|row| !is_counted(row)));
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Pace, Sample};

    fn bench(name: &'static str) -> Bench {
        let side = |_: &_| Ok(|_| Ok(Sample::Value(1.0)));
        Bench::new(name, "", Unit::Ns, Pace::Once)
            .side(Runtime::Heist, side)
            .side(Runtime::Crossbeam, side)
            .side(Runtime::St3, side)
            .side(Runtime::HeistUnwatched, side)
    }

    fn names(filters: &[&str]) -> Result<Vec<&'static str>, Error> {
        let benches = ["ring", "ring_full", "deque_full"].map(bench).into();
        let filters: Vec<_> = filters.iter().map(|&filter| filter.to_owned()).collect();
        Ok(by_filters(benches, &filters)?.iter().map(Bench::name).collect())
    }

    #[test]
    fn no_filter_means_all() {
        assert_eq!(names(&[]).unwrap(), ["ring", "ring_full", "deque_full"]);
    }

    #[test]
    fn an_exact_name_means_that_one_alone() {
        assert_eq!(names(&["ring"]).unwrap(), ["ring"]);
    }

    #[test]
    fn a_part_of_a_name_means_all_that_contain_it() {
        assert_eq!(names(&["full"]).unwrap(), ["ring_full", "deque_full"]);
        assert_eq!(names(&["rin"]).unwrap(), ["ring", "ring_full"]);
    }

    #[test]
    fn several_filters_mean_what_any_of_them_means_once() {
        assert_eq!(names(&["deque_full", "ring"]).unwrap(), ["ring", "deque_full"]);
        assert_eq!(names(&["full", "deque"]).unwrap(), ["ring_full", "deque_full"]);
        assert!(names(&["ring", "queue"]).unwrap_err().to_string().contains("'queue'"));
    }

    #[test]
    fn a_row_stands_for_its_bench() {
        let benches = || vec![bench("ring").row("ring_p99", "", Unit::Ns), bench("ring_full")];
        for (filter, expected) in
            [("ring", &["ring"][..]), ("ring_p99", &["ring"]), ("p99", &["ring"])]
        {
            let selected = by_filters(benches(), &[filter.to_owned()]).unwrap();
            assert_eq!(selected.iter().map(Bench::name).collect::<Vec<_>>(), expected, "{filter}");
        }
    }

    #[test]
    fn a_filter_without_a_match_is_an_error_that_points_to_the_list() {
        let error = names(&["queue"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let message = error.to_string();
        assert!(message.contains("'queue'") && message.contains("--list"), "{message}");
    }

    fn kept(peers: &[Runtime]) -> Vec<Runtime> {
        let mut benches = vec![bench("ring")];
        by_peers(&mut benches, peers);
        benches[0].runtimes().collect()
    }

    #[test]
    fn sides_on_demand_have_to_be_named() {
        use Runtime::{Heist, HeistAgain, HeistUnwatched, St3};
        assert!(!kept(&[]).contains(&HeistUnwatched) && !kept(&[]).contains(&HeistAgain));
        assert_eq!(kept(&[HeistAgain, St3]), [Heist, St3, HeistAgain]);
        assert_eq!(kept(&[HeistUnwatched]), [Heist, HeistUnwatched]);
        assert_eq!(kept(&[HeistUnwatched, St3]), [Heist, St3, HeistUnwatched]);
    }

    #[test]
    fn a_missing_peer_is_left_out_and_checked_once() {
        let mut benches = vec![bench("ring"), bench("deque")];
        let asked = std::cell::RefCell::new(Vec::new());
        let missing = by_what_is_there(&mut benches, |runtime| {
            asked.borrow_mut().push(runtime);
            let fault = Fault::Missing { what: "compiler", install: "one" };
            if runtime == Runtime::St3 { Err(fault) } else { Ok(()) }
        });
        let [(Runtime::St3, Fault::Missing { .. })] = missing[..] else { panic!("{missing:?}") };
        use Runtime::{Crossbeam, Heist, HeistUnwatched, St3};
        assert_eq!(*asked.borrow(), [Heist, Crossbeam, St3, HeistUnwatched]);
        for bench in benches {
            assert!(bench.runtimes().eq([Heist, Crossbeam, HeistUnwatched]));
        }
    }

    #[test]
    fn rows_that_nothing_counts_are_left_out() {
        let benches = || vec![bench("echo").row("echo_sys", "", Unit::Calls), bench("ring")];
        let names = |benches: &[Bench]| -> Vec<_> {
            benches.iter().flat_map(|bench| &bench.rows).map(|row| row.name).collect()
        };
        let missing = || Err(Fault::Missing { what: "tool", install: "one" });

        let mut all = benches();
        by_what_counts(&mut all, || Ok(())).unwrap();
        assert_eq!(names(&all), ["echo", "echo_sys", "ring"]);
        by_what_counts(&mut all, missing).unwrap_err();
        assert_eq!(names(&all), ["echo", "ring"]);
        by_what_counts(&mut all, || panic!("there is nothing to count")).unwrap();
    }

    #[test]
    fn heist_stays_whatever_the_peers() {
        assert_eq!(kept(&[]), [Runtime::Heist, Runtime::Crossbeam, Runtime::St3]);
        assert_eq!(kept(&[Runtime::St3]), [Runtime::Heist, Runtime::St3]);
        assert_eq!(kept(&[Runtime::Heist]), [Runtime::Heist]);
    }
}
