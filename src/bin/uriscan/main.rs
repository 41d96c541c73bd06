//! The `uriscan` program.

fn main() {}
