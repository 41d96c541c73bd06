//! The questions about a block, written once for all backends with vectors.
//!
//! A backend brings `load`, the tests `equal`, `or`, `in_range` and `outside` of its vectors, and a macro `mask!`,
//! which makes one bit per byte of such a test. These are macros since closures and traits with many call sites are not
//! always inlined, and then compiled without the features of the backend.

/// The method [`classify`](super::Isa::classify) of [`Isa`](super::Isa), or a function of the same name: attributes,
/// visibility, and the receiver in parentheses.
macro_rules! block_classes {
    ($(#[$attribute:meta])* $visibility:vis ($($receiver:tt)*)) => {
        $(#[$attribute])*
        $visibility fn classify($($receiver)* block: &[u8; BLOCK]) -> Masks {
            let v = load(block);
            [
                mask!(v, |x| equal(x, b'/')),
                mask!(v, |x| or(equal(x, b':'), equal(x, b'@'))),
                mask!(v, |x| equal(x, b'?')),
                mask!(v, |x| equal(x, b'#')),
                mask!(v, |x| equal(x, b'%')),
                mask!(v, |x| in_range(x, b'A', 26)),
                mask!(v, |x| equal(x, b'.')),
                mask!(v, |x| outside(x, &PLAIN_NIBBLES)),
            ]
        }
    };
}

/// The methods [`letters`](super::Isa::letters), [`members`](super::Isa::members) and
/// [`hex_digits`](super::Isa::hex_digits) of [`Isa`](super::Isa), or functions of the same names, as in
/// `block_classes`.
macro_rules! block_tests {
    ($(#[$attribute:meta])* $visibility:vis ($($receiver:tt)*)) => {
        $(#[$attribute])*
        $visibility fn letters($($receiver)* block: &[u8; BLOCK]) -> u64 {
            mask!(load(block), |x| or(in_range(x, b'A', 26), in_range(x, b'a', 26)))
        }

        $(#[$attribute])*
        $visibility fn members($($receiver)* block: &[u8; BLOCK], tables: &NibbleTables) -> u64 {
            !mask!(load(block), |x| outside(x, tables))
        }

        $(#[$attribute])*
        $visibility fn hex_digits($($receiver)* block: &[u8; BLOCK]) -> (u64, u64) {
            let v = load(block);
            let upper = mask!(v, |x| or(in_range(x, b'0', 10), in_range(x, b'A', 6)));
            (upper, mask!(v, |x| in_range(x, b'a', 6)))
        }
    };
}

/// The method [`sketch`](super::Isa::sketch) of [`Isa`](super::Isa).
macro_rules! block_sketch {
    () => {
        #[inline(always)]
        fn sketch(self, block: &[u8; BLOCK], record_end: u8) -> Sketch {
            let v = load(block);
            Sketch {
                summary: Summary {
                    look: mask!(v, |x| outside(x, &SIMPLE_NIBBLES)),
                    slash: mask!(v, |x| equal(x, b'/')),
                    question: mask!(v, |x| equal(x, b'?')),
                    // `@` directly precedes `A`.
                    head: mask!(v, |x| or(equal(x, b':'), in_range(x, b'@', 27))),
                },
                dot: mask!(v, |x| equal(x, b'.')),
                record_end: mask!(v, |x| equal(x, record_end)),
            }
        }
    };
}

pub(super) use {block_classes, block_sketch, block_tests};
