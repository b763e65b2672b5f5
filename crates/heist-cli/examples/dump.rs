use heist::trace::Trace;
fn main() {
    let t = Trace::open(std::env::args().nth(1).unwrap()).unwrap();
    for e in t.events().unwrap() {
        let e = e.unwrap();
        println!(
            "{:>12.3} {} {:?} {:?}",
            e.at.as_nanos() as f64 / 1e3,
            if e.is_exact { "x" } else { "~" },
            e.lane,
            e.kind
        );
    }
}
