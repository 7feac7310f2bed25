//! Products of coordinates.

use nalgebra::{DMatrix, DVector, RealField};

use super::{Coordinates, CoordinatesError, Symbols};

/// Two factors: `x = [x_1; x_2]`, `ξ = [ξ_1; ξ_2]`.
impl<A: Coordinates, B: Coordinates> Coordinates for (A, B) {
    fn config_dim(&self) -> usize {
        self.0.config_dim() + self.1.config_dim()
    }

    fn dof(&self) -> usize {
        self.0.dof() + self.1.dof()
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        let (a, b) = halves(x, self.0.config_dim());
        stack([self.0.constraint(&a), self.1.constraint(&b)].iter())
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let (a, b) = halves(x, self.0.config_dim());
        blocks(&[self.0.kinematic_matrix(&a), self.1.kinematic_matrix(&b)])
    }

    fn kinematic_inverse<T: RealField + Copy>(
        &self,
        x: &DVector<T>,
    ) -> Result<DMatrix<T>, CoordinatesError> {
        let (a, b) = halves(x, self.0.config_dim());
        Ok(blocks(&[
            self.0.kinematic_inverse(&a)?,
            self.1.kinematic_inverse(&b)?,
        ]))
    }

    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        Some(symbols(&[
            self.0.constant_commutation_coefficients()?,
            self.1.constant_commutation_coefficients()?,
        ]))
    }
}

/// Any number of factors of one type, known at run time.
impl<C: Coordinates> Coordinates for Vec<C> {
    fn config_dim(&self) -> usize {
        self.iter().map(Coordinates::config_dim).sum()
    }

    fn dof(&self) -> usize {
        self.iter().map(Coordinates::dof).sum()
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        let each: Vec<_> = parts(self, x).map(|(c, x)| c.constraint(&x)).collect();
        stack(each.iter())
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let each: Vec<_> = parts(self, x)
            .map(|(c, x)| c.kinematic_matrix(&x))
            .collect();
        blocks(&each)
    }

    fn kinematic_inverse<T: RealField + Copy>(
        &self,
        x: &DVector<T>,
    ) -> Result<DMatrix<T>, CoordinatesError> {
        let each: Result<Vec<_>, _> = parts(self, x)
            .map(|(c, x)| c.kinematic_inverse(&x))
            .collect();
        Ok(blocks(&each?))
    }

    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        let each = self
            .iter()
            .map(Coordinates::constant_commutation_coefficients);
        Some(symbols(&each.collect::<Option<Vec<_>>>()?))
    }
}

fn halves<T: RealField + Copy>(x: &DVector<T>, first: usize) -> (DVector<T>, DVector<T>) {
    let rest = x.len() - first;
    (
        x.rows(0, first).into_owned(),
        x.rows(first, rest).into_owned(),
    )
}

fn parts<'a, T: RealField + Copy, C: Coordinates>(
    list: &'a [C],
    x: &'a DVector<T>,
) -> impl Iterator<Item = (&'a C, DVector<T>)> {
    list.iter().scan(0, |start, coordinates| {
        let own = x.rows(*start, coordinates.config_dim()).into_owned();
        *start += coordinates.config_dim();
        Some((coordinates, own))
    })
}

fn stack<'a, T: RealField + Copy>(parts: impl Iterator<Item = &'a DVector<T>>) -> DVector<T> {
    DVector::from_vec(parts.flat_map(|part| part.iter().copied()).collect())
}

/// The block-diagonal matrix.
fn blocks<T: RealField + Copy>(parts: &[DMatrix<T>]) -> DMatrix<T> {
    let rows = parts.iter().map(DMatrix::nrows).sum();
    let columns = parts.iter().map(DMatrix::ncols).sum();
    let mut whole = DMatrix::zeros(rows, columns);
    let (mut row, mut column) = (0, 0);
    for part in parts {
        whole.view_mut((row, column), part.shape()).copy_from(part);
        row += part.nrows();
        column += part.ncols();
    }
    whole
}

/// Zero across blocks: velocities of different factors commute.
pub(super) fn symbols(parts: &[Symbols<f64>]) -> Symbols<f64> {
    // The factor of an index, and its position in it.
    let places: Vec<(usize, usize)> = (parts.iter().enumerate())
        .flat_map(|(part, symbols)| (0..symbols.dof()).map(move |place| (part, place)))
        .collect();
    Symbols::from_fn(places.len(), |k, i, j| {
        let [(part, k), (of_i, i), (of_j, j)] = [places[k], places[i], places[j]];
        let together = part == of_i && part == of_j;
        if together {
            parts[part][k][(i, j)]
        } else {
            0.0
        }
    })
}
