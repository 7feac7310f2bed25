//! Array sizes of a system with n degrees of freedom and p inputs.

use nalgebra::allocator::Allocator;
use nalgebra::{Const, DefaultAllocator, Dim};

/// The default size: dynamic. Without the standard library nothing can have a dynamic size, and the default is useless.
#[cfg(feature = "std")]
pub(crate) type DefaultDim = nalgebra::Dyn;
#[cfg(not(feature = "std"))]
pub(crate) type DefaultDim = Const<0>;

/// Whether nalgebra can store vectors and matrices with n and p rows and columns.
///
/// It always can, for `Const` and `Dyn` alike, but nalgebra requires the bound to be stated. `DefaultAllocator: Sizes<N, P>`
/// states it once.
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
