//! Tests columns against the library, row by row: every type of array, however it is cut.

mod arrays;
mod kernels;
mod shapes;
