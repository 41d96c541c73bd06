//! The interface, called as a program in C calls it.

// What is tested is called through pointers. Those that are passed here point at what the test holds, or are NULL on purpose.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks)]

mod caller;
mod calls;
mod header;
mod programs;
mod random;
mod sets;
mod threads;
