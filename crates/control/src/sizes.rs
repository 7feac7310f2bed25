//! The arrays of a system of n degrees of freedom and p inputs.

use nalgebra::allocator::Allocator;
use nalgebra::{Const, DefaultAllocator, Dim};

/// The size where none is said: any. Nothing can have any size without the standard library, so that none is a useful default there.
#[cfg(feature = "std")]
pub(crate) type DefaultDim = nalgebra::Dyn;
#[cfg(not(feature = "std"))]
pub(crate) type DefaultDim = Const<0>;

/// Whether nalgebra can store vectors and matrices with n and p rows and columns.
///
/// It always can, for `Const` and `Dyn` alike; nalgebra wants it said. `DefaultAllocator: Sizes<N, P>` says it in one bound.
pub trait Sizes<N: Dim, P: Dim>:
    Allocator<N>
    + Allocator<P>
    + Allocator<N, N>
    + Allocator<N, P>
    + Allocator<P, N>
    + Allocator<P, P>
    + Allocator<Const<6>, N>
{
}

impl<N: Dim, P: Dim> Sizes<N, P> for DefaultAllocator where
    DefaultAllocator: Allocator<N>
        + Allocator<P>
        + Allocator<N, N>
        + Allocator<N, P>
        + Allocator<P, N>
        + Allocator<P, P>
        + Allocator<Const<6>, N>
{
}
