//! A picture, row by row: the rows take very different times.

use std::sync::Arc;

use super::shared::Shared;
use super::{Pool, Work, expect};
use crate::bench::{Bench, Fault};
use crate::unit::Unit;

const LIMIT: u16 = 256;

pub fn bench() -> Bench {
    let shared = Shared::new();
    super::bench(
        "mandelbrot",
        "the Mandelbrot set, 512 rows of 512, by halves down to rows; per picture",
        Unit::Ms,
        move |setup| {
            let size = if setup.quick { 16 } else { 512 };
            let expected = shared.get(|| (0..size * size).map(|n| pixel(n, size)).collect());
            Mandelbrot { size, expected, picture: vec![0; size * size] }
        },
    )
}

struct Mandelbrot {
    /// The length of a side in pixels.
    size: usize,
    expected: Arc<Vec<u16>>,
    picture: Vec<u16>,
}

impl Work for Mandelbrot {
    fn prepare(&mut self) {
        self.picture.fill(0);
    }

    fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>) {
        draw::<P>(context, &mut self.picture, 0, self.size);
    }

    fn check(&mut self) -> Result<(), Fault> {
        let right = self.picture.iter().zip(&*self.expected).filter(|(a, b)| a == b).count();
        expect("right pixels", self.expected.len() as u64, right as u64)
    }
}

/// The rows in `rows`, the first of which is that with this number.
fn draw<P: Pool>(context: &mut P::Context<'_>, rows: &mut [u16], first: usize, size: usize) {
    let count = rows.len() / size;
    if count == 1 {
        return draw_row(rows, first, size);
    }
    let (upper, lower) = rows.split_at_mut(count / 2 * size);
    P::join(
        context,
        |c| draw::<P>(c, upper, first, size),
        |c| draw::<P>(c, lower, first + count / 2, size),
    );
}

#[inline(never)]
fn draw_row(row: &mut [u16], number: usize, size: usize) {
    let start = number * size;
    row.iter_mut().zip(start..).for_each(|(place, number)| *place = pixel(number, size));
}

/// How many steps it takes until it is clear that a point is not in the set.
fn pixel(number: usize, size: usize) -> u16 {
    let scale = 3.0 / size as f64;
    let re = (number % size) as f64 * scale - 2.25;
    let im = (number / size) as f64 * scale - 1.5;
    let (mut x, mut y, mut steps) = (0.0, 0.0, 0);
    while steps < LIMIT && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + re, 2.0 * x * y + im);
        steps += 1;
    }
    steps
}
