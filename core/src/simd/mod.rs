//! The only module with `unsafe` code: one algorithm, one small file per instruction set.
//!
//! A [`Kernels`] value names a backend that this CPU supports; holding one is the proof that its
//! instructions may run. [`Kernels::run`] enters a function compiled for that backend and passes
//! the [`Task`] a token, an [`Isa`], whose methods are safe to call. Everything that the task
//! inlines is compiled with the instructions of the backend too, so floors above get vector code
//! without `unsafe`.
//!
//! Rules for a [`Task`]: `run` and everything hot below it is `#[inline(always)]`; otherwise it is
//! compiled for the baseline CPU (slower, never wrong).
//!
//! | backend | needs | bytes per step |
//! | --- | --- | --- |
//! | `avx512vbmi` | AVX-512 F, BW, DQ, VL, VBMI; VPCLMULQDQ, PCLMULQDQ, BMI1/2, LZCNT, POPCNT | 64 |
//! | `avx2` | AVX2, PCLMULQDQ, BMI1/2, LZCNT, POPCNT | 32 |
//! | `ssse3` | SSSE3, PCLMULQDQ | 16 |
//! | `neon` | AArch64 | 16 |
//! | `scalar` | nothing | 8, by table |

#![allow(unsafe_code)]

pub(crate) mod field;
pub mod lanes;
pub mod scalar;
pub mod table;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512vbmi;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod block;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod ssse3;
#[cfg(test)]
mod tests;

/// Bytes in a block: one bit each in a `u64` mask.
pub const BLOCK: usize = 64;

/// The classes of bytes that the scanner distinguishes, as indexes into [`Masks`].
///
/// `:` and `@` share a mask: only their presence inside an authority matters, and the byte itself
/// distinguishes them. Brackets are `ODD`, since they are legal only around an IP literal, which
/// the reference path checks.
pub mod class {
    /// `/`
    pub const SLASH: usize = 0;
    /// `:` or `@`
    pub const COLON_AT: usize = 1;
    /// `?`
    pub const QUESTION: usize = 2;
    /// `#`
    pub const HASH: usize = 3;
    /// `%`
    pub const PERCENT: usize = 4;
    /// `A` to `Z`
    pub const UPPER: usize = 5;
    /// `.`
    pub const DOT: usize = 6;
    /// `[`, `]`, and every byte that no URI may hold (controls, space, non-ASCII, `"<>\^`{|}`)
    pub const ODD: usize = 7;
    /// Number of classes.
    pub const COUNT: usize = 8;
}

/// One word per [`class`]; bit `i` is for byte `i` of the block.
pub type Masks = [u64; class::COUNT];

/// The index entry of a block: four words, in which bit `i` is for byte `i`.
///
/// Just enough to handle a plain record; the others are classified again from their own first byte
/// on. Aligned so that the four words are one wide load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(32))]
pub struct Summary {
    /// Bytes that require a closer look: odd ones, `%`, `#`, and dots that follow a slash.
    pub look: u64,
    /// `/`
    pub slash: u64,
    /// `?`
    pub question: u64,
    /// Bytes that require work in a scheme or an authority: `:`, `@`, `A` to `Z`.
    pub head: u64,
}

/// A [`Summary`] before dots are combined with the slashes before them, which may be in the
/// previous block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sketch {
    /// The summary, without dots in `look`.
    pub summary: Summary,
    /// `.`
    pub dot: u64,
    /// The bytes at which a record ends.
    pub record_end: u64,
}

/// The primitives of one instruction set, its vectors of words included. A value of the
/// implementing type is proof that the CPU supports it, so every method is safe to call.
///
/// Provided methods are the scalar definition; a backend overrides those that it can do better.
///
/// Sealed by [`Words32`](lanes::Words32): an implementation elsewhere could name, as its `BACKEND`,
/// one that the CPU lacks.
///
/// ```compile_fail,E0277
/// use uriscan_core::simd::lanes::{MAX_LANES, Words32};
/// #[derive(Clone, Copy)]
/// struct Forged;
/// impl Words32 for Forged {
///     const LANES: usize = 1;
///     type Words = u32;
///     fn splat(self, _: u32) -> u32 { loop {} }
///     fn gather(self, _: &[u32; MAX_LANES]) -> u32 { loop {} }
///     fn add(self, _: u32, _: u32) -> u32 { loop {} }
///     fn xor(self, _: u32, _: u32) -> u32 { loop {} }
///     fn rotate_16(self, _: u32) -> u32 { loop {} }
///     fn rotate_12(self, _: u32) -> u32 { loop {} }
///     fn rotate_8(self, _: u32) -> u32 { loop {} }
///     fn rotate_7(self, _: u32) -> u32 { loop {} }
/// }
/// ```
pub trait Isa: lanes::Lanes32 {
    /// The backend that the methods belong to.
    const BACKEND: Backend;

    /// Runs `task` with these instructions in a function of its own, compiled once for all its
    /// callers: for tasks that are too large to be inlined into each of them.
    #[inline(always)]
    fn call<T: Task>(self, task: T) -> T::Output {
        Kernels { backend: Self::BACKEND }.run(task)
    }

    /// The class masks of `block`.
    fn classify(self, block: &[u8; BLOCK]) -> Masks;

    /// The sketch of `block` for the index.
    fn sketch(self, block: &[u8; BLOCK], record_end: u8) -> Sketch;

    /// The mask of bytes of `block` equal to `byte`.
    fn equal(self, block: &[u8; BLOCK], byte: u8) -> u64;

    /// The mask of bytes of `block` that are `ALPHA`.
    fn letters(self, block: &[u8; BLOCK]) -> u64;

    /// The mask of bytes of `block` in the class of `tables`.
    fn members(self, block: &[u8; BLOCK], tables: &table::NibbleTables) -> u64;

    /// Masks of bytes of `block` that are hexadecimal digits in
    /// `(upper case or decimal, lower case)`; the union is `HEXDIG`.
    fn hex_digits(self, block: &[u8; BLOCK]) -> (u64, u64);

    /// A sum of products in GF(2^128) (`field`) that differs for different texts, except for one
    /// key in 2^128.
    ///
    /// The input is eight words, the first byte the lowest: the first `len` bytes of `text` (at
    /// most 128; the bytes after them do not matter), padded with zeros, with `len` in the last
    /// byte unless it is 128. Each word is added to its word of `key`, and word `i` is multiplied
    /// by word `i + 4`; the result is the sum of the four products.
    #[inline(always)]
    fn product_sum(self, text: &[u8; field::PIECE], len: usize, key: &field::PieceKey) -> u128 {
        field::product_sum(text, len, key)
    }

    /// The product of `a` and `b` in GF(2^128) (`field`).
    #[inline(always)]
    fn multiply(self, a: u128, b: u128) -> u128 {
        field::multiply(a, b)
    }

    /// The summary of the 64 bytes that start `shift` (0 to 63) bytes into the block
    /// described by `low`, whose successor is described by `high`.
    #[inline(always)]
    fn window(self, low: &Summary, high: &Summary, shift: u32) -> Summary {
        // Two shifts on the right side, as a shift by 64 (for `shift == 0`) has no effect.
        let join = |low: u64, high: u64| (low >> shift) | ((high << 1) << (63 - shift));
        Summary {
            look: join(low.look, high.look),
            slash: join(low.slash, high.slash),
            question: join(low.question, high.question),
            head: join(low.head, high.head),
        }
    }
}

/// Restricts implementations of [`Isa`] and of what it consists of.
mod sealed {
    pub trait Sealed {}
    impl Sealed for super::scalar::Scalar {}
    #[cfg(target_arch = "x86_64")]
    impl Sealed for super::ssse3::Ssse3 {}
    #[cfg(target_arch = "x86_64")]
    impl Sealed for super::avx2::Avx2 {}
    #[cfg(target_arch = "x86_64")]
    impl Sealed for super::avx512vbmi::Avx512Vbmi {}
    #[cfg(target_arch = "aarch64")]
    impl Sealed for super::neon::Neon {}
}

/// Work that is compiled once per backend; see the rules in the module documentation.
pub trait Task {
    /// The result.
    type Output;
    /// Runs the work with the instructions of `isa`.
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}

/// The backends, from slowest to fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Plain Rust; runs everywhere and is the reference for the others.
    Scalar,
    /// AArch64 Advanced SIMD.
    Neon,
    /// x86-64 with SSSE3.
    Ssse3,
    /// x86-64 with AVX2 and BMI.
    Avx2,
    /// x86-64 with AVX-512 VBMI. CPUs that have AVX-512 without it use [`Backend::Avx2`].
    Avx512Vbmi,
}

impl Backend {
    /// All backends, from slowest to fastest, whether this build or CPU supports them or not.
    pub const ALL: [Backend; 5] =
        [Backend::Scalar, Backend::Neon, Backend::Ssse3, Backend::Avx2, Backend::Avx512Vbmi];

    /// The name for `--backend`.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Scalar => "scalar",
            Backend::Neon => "neon",
            Backend::Ssse3 => "ssse3",
            Backend::Avx2 => "avx2",
            Backend::Avx512Vbmi => "avx512vbmi",
        }
    }

    /// The backend with this `name`, or `None`.
    pub fn from_name(name: &str) -> Option<Backend> {
        Backend::ALL.into_iter().find(|backend| backend.name() == name)
    }

    /// Whether this build and this CPU can run the backend.
    pub fn is_available(self) -> bool {
        match self {
            Backend::Scalar => true,
            Backend::Neon => cfg!(target_arch = "aarch64"),
            #[cfg(target_arch = "x86_64")]
            Backend::Ssse3 => ssse3::is_available(),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => avx2::is_available(),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512Vbmi => avx512vbmi::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

/// A backend that this CPU is known to support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernels {
    backend: Backend,
}

impl Kernels {
    /// Returns the best backend of this CPU.
    pub fn detect() -> Kernels {
        let best = Backend::ALL.into_iter().rev().find(|backend| backend.is_available());
        Kernels { backend: best.unwrap_or(Backend::Scalar) }
    }

    /// Returns the given backend, or `None` if this build or CPU lacks it.
    ///
    /// ```
    /// use uriscan::{Backend, Kernels};
    /// assert_eq!(Kernels::with(Backend::Scalar).unwrap().backend(), Backend::Scalar);
    /// ```
    pub fn with(backend: Backend) -> Option<Kernels> {
        backend.is_available().then_some(Kernels { backend })
    }

    /// Every backend that this CPU supports, from slowest to fastest.
    pub fn available() -> impl Iterator<Item = Kernels> {
        Backend::ALL.into_iter().filter_map(Kernels::with)
    }

    /// The backend.
    pub fn backend(self) -> Backend {
        self.backend
    }

    /// Runs `task` compiled for this backend.
    #[inline]
    pub fn run<T: Task>(self, task: T) -> T::Output {
        match self.backend {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Kernels` is made by `detect` or `with` only, after `is_available`
            // saw every feature of the backend it names. The same holds for the arms below.
            Backend::Ssse3 => unsafe { ssse3::run(task) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Backend::Avx2 => unsafe { avx2::run(task) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Backend::Avx512Vbmi => unsafe { avx512vbmi::run(task) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: as above.
            Backend::Neon => unsafe { neon::run(task) },
            _ => scalar::run(task),
        }
    }
}

/// Returns `mask`, hidden from the optimizer.
///
/// LLVM treats a mask gathered from bytes as a vector of bits. Where it is combined with other
/// words, LLVM moves the combination into vectors, and splits those words bit by bit: hundreds of
/// instructions for one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn opaque(mask: u64) -> u64 {
    let mut mask = mask;
    if !cfg!(miri) {
        // SAFETY: no instruction at all, which touches neither memory nor flags.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags));
        }
    }
    mask
}

/// Prefetches the cache line of `slice[index]`; does nothing if out of bounds.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = slice.get(index) {
        // SAFETY: SSE is part of x86-64; a prefetch reads nothing and cannot fault,
        // and the address is that of a live item anyway.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(item).cast::<i8>());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
