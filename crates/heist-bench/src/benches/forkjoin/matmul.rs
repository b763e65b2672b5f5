//! The product of two matrices: few joins, much to do, and caches that like it divided.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heist_testing::Rng;

use super::abroad::{self, Abroad, Problem};
use super::shared::Shared;
use super::sides::Sequential;
use super::{Pool, Work, expect};
use crate::bench::{Bench, Fault};
use crate::unit::Unit;

/// Rows and columns of what is multiplied without further division. Guessed.
const BLOCK: usize = 32;

pub fn bench() -> Bench {
    let shared = Shared::new();
    abroad::bench(
        "matmul",
        "matrices of 1024 times 1024 f32, by quarters; per product",
        Unit::Ms,
        move |setup| {
            let size = if setup.quick { 2 * BLOCK } else { 1024 };
            Matmul(shared.get(|| Matrices::new(size)))
        },
    )
}

struct Matmul(Arc<Matrices>);

impl Work for Matmul {
    fn prepare(&mut self) {
        self.0.product().fill(0.0);
    }

    fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>) {
        add_product::<P>(context, &mut self.0.product(), &self.0.a, &self.0.b);
    }

    fn check(&mut self) -> Result<(), Fault> {
        let found = by_vector(&self.0.product(), &self.0.vector);
        let right = found.iter().zip(&self.0.image).filter(|(a, b)| a == b).count();
        expect("right rows of the product", self.0.image.len() as u64, right as u64)
    }
}

impl Abroad for Matmul {
    fn problem(&self) -> Problem {
        let Matrices { a, b, image, .. } = &*self.0;
        let mut product = vec![0.0; a.len()];
        add_product::<Sequential>(&mut (), &mut product, a, b);
        let digest = abroad::digest(product.iter().map(|number| *number as u64));
        Problem { words: format!("matmul {}", image.len()), digest }
    }
}

/// Each quarter of a matrix is contiguous, recursively, down to blocks that are stored by rows.
/// Parallel writes therefore go to slices that do not overlap.
///
/// All numbers are small integers: there is no rounding, and one right result.
struct Matrices {
    a: Vec<f32>,
    b: Vec<f32>,
    product: Mutex<Vec<f32>>,
    vector: Vec<f64>,
    /// The vector times `b`, times `a`: the same as times the product.
    image: Vec<f64>,
}

impl Matrices {
    fn new(size: usize) -> Self {
        let mut rng = Rng::new(11);
        let mut matrix = || (0..size * size).map(|_| rng.below(8) as f32).collect::<Vec<_>>();
        let (a, b) = (matrix(), matrix());
        let vector: Vec<f64> = (0..size).map(|_| rng.below(1000) as f64).collect();
        let image = by_vector(&a, &by_vector(&b, &vector));
        Matrices { a, b, product: Mutex::new(vec![0.0; size * size]), vector, image }
    }

    fn product(&self) -> MutexGuard<'_, Vec<f32>> {
        self.product.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Upper left, upper right, lower left, lower right.
fn quarters(matrix: &[f32]) -> [&[f32]; 4] {
    let quarter = matrix.len() / 4;
    [0, 1, 2, 3].map(|part| &matrix[part * quarter..][..quarter])
}

fn add_product<P: Pool>(context: &mut P::Context<'_>, c: &mut [f32], a: &[f32], b: &[f32]) {
    if c.len() == BLOCK * BLOCK {
        return add_block(c, a, b);
    }
    let ([a11, a12, a21, a22], [b11, b12, b21, b22]) = (quarters(a), quarters(b));
    let (upper, lower) = c.split_at_mut(c.len() / 2);
    let (c11, c12) = upper.split_at_mut(upper.len() / 2);
    let (c21, c22) = lower.split_at_mut(lower.len() / 2);
    P::join(
        context,
        |c| {
            P::join(
                c,
                |c| add_products::<P>(c, c11, [(a11, b11), (a12, b21)]),
                |c| add_products::<P>(c, c12, [(a11, b12), (a12, b22)]),
            )
        },
        |c| {
            P::join(
                c,
                |c| add_products::<P>(c, c21, [(a21, b11), (a22, b21)]),
                |c| add_products::<P>(c, c22, [(a21, b12), (a22, b22)]),
            )
        },
    );
}

/// One after the other, as both are added to the same.
fn add_products<P: Pool>(
    context: &mut P::Context<'_>,
    c: &mut [f32],
    factors: [(&[f32], &[f32]); 2],
) {
    factors.iter().for_each(|(a, b)| add_product::<P>(context, c, a, b));
}

#[inline(never)]
fn add_block(c: &mut [f32], a: &[f32], b: &[f32]) {
    for (c, a) in c.chunks_exact_mut(BLOCK).zip(a.chunks_exact(BLOCK)) {
        for (a, b) in a.iter().zip(b.chunks_exact(BLOCK)) {
            c.iter_mut().zip(b).for_each(|(c, b)| *c += a * b);
        }
    }
}

/// The matrix times a vector.
fn by_vector(matrix: &[f32], vector: &[f64]) -> Vec<f64> {
    let mut image = vec![0.0; vector.len()];
    add_by_vector(matrix, vector, &mut image);
    image
}

fn add_by_vector(matrix: &[f32], vector: &[f64], image: &mut [f64]) {
    if vector.len() == BLOCK {
        for (row, image) in matrix.chunks_exact(BLOCK).zip(image) {
            *image += row.iter().zip(vector).map(|(a, b)| f64::from(*a) * b).sum::<f64>();
        }
        return;
    }
    let half = vector.len() / 2;
    for (part, quarter) in quarters(matrix).into_iter().enumerate() {
        let (row, column) = (part / 2 * half, part % 2 * half);
        add_by_vector(quarter, &vector[column..][..half], &mut image[row..][..half]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sides::Rayon;
    use super::super::tests::outcome;
    use super::*;

    #[test]
    fn the_product_is_right_and_a_wrong_one_is_a_fault() {
        let matrices = Arc::new(Matrices::new(4 * BLOCK));
        outcome::<Rayon, _>(Matmul(Arc::clone(&matrices))).unwrap();
        matrices.product()[77] += 1.0;
        let message = Matmul(matrices).check().unwrap_err().to_string();
        assert_eq!(message, "right rows of the product: expected 128, found 127");
    }

    /// What the check stands on.
    #[test]
    fn quarters_are_where_they_belong() {
        let mut matrix = vec![0.0; 4 * BLOCK * BLOCK];
        // Third row, first column of the upper right block.
        matrix[BLOCK * BLOCK + 2 * BLOCK] = 5.0;
        let mut vector = vec![0.0; 2 * BLOCK];
        vector[BLOCK] = 3.0;
        let mut image = vec![0.0; 2 * BLOCK];
        image[2] = 15.0;
        assert_eq!(by_vector(&matrix, &vector), image);
    }
}
