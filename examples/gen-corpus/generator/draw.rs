//! The source of randomness: SplitMix64, seeded, the same on every machine.
//!
//! All parts of a URI are drawn from a [`Draw`] seeded with the URI's id, so an id can be rendered
//! again at any time and nothing is stored.

/// One step of the SplitMix64 output function: a bijection that scatters all bits.
pub(crate) const fn scatter(value: u64) -> u64 {
    let mut z = value;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A seed for the purpose `name` under `seed`; different names give unrelated seeds.
pub(crate) const fn derive(seed: u64, name: u64) -> u64 {
    scatter(scatter(seed.wrapping_add(0x9E37_79B9_7F4A_7C15)) ^ name)
}

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    /// The stream of `seed`.
    pub(crate) const fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    /// The next 64 bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        scatter(self.0)
    }

    /// A number below `n`, which is not 0. The bias is below `n / 2^32`.
    #[inline]
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// A number below `n`, which is not 0, for ranges beyond 32 bits.
    #[inline]
    pub(crate) fn below_u64(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// True in `n` of a thousand draws.
    #[inline]
    pub(crate) fn per_mille(&mut self, n: u32) -> bool {
        self.below(1000) < n
    }

    /// A number in `0.0..1.0`.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of `items`, all equally likely; `items` is not empty.
    #[inline]
    pub(crate) fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }
}
