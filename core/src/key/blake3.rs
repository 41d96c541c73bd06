//! BLAKE3 of many short inputs at once: one input per 32-bit lane.
//!
//! An input of up to [`CHUNK_LEN`] bytes is one chunk of BLAKE3: a chain of compressions, one for
//! each 64-byte block, the last of which yields the hash. Inputs with equal numbers of blocks need
//! the same steps, so a group of them is hashed in parallel, whatever their bytes and the length of
//! their last block. Longer inputs are hashed by the crate `blake3`, which is also the oracle of
//! the tests.

use ::blake3::hazmat::{ContextKey, HasherExt, hash_derive_key_context};

use super::Key;
use crate::chunk::Padded;
use crate::simd::lanes::{BLOCK_WORDS, Lanes32, MAX_LANES};
use crate::simd::{BLOCK, Isa, Task, prefetch};

/// Size of a chunk in bytes: longer inputs are trees of chunks.
pub(super) const CHUNK_LEN: usize = ::blake3::CHUNK_LEN;

/// Maximum number of blocks in an input of one chunk.
const MAX_BLOCKS: usize = CHUNK_LEN / BLOCK;

const CHUNK_START: u32 = 1 << 0;
const CHUNK_END: u32 = 1 << 1;
const ROOT: u32 = 1 << 3;
const DERIVE_KEY_MATERIAL: u32 = 1 << 6;

const IV: [u32; 8] = [
    0x6A09_E667,
    0xBB67_AE85,
    0x3C6E_F372,
    0xA54F_F53A,
    0x510E_527F,
    0x9B05_688C,
    0x1F83_D9AB,
    0x5BE0_CD19,
];

/// The first bytes of a hash, of the size of a key.
type Start = [u8; 16];

/// What distinguishes the modes of BLAKE3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    /// The first chaining value of a chunk.
    key: [u32; 8],
    /// Flags of every block.
    flags: u32,
    /// The same key in the form that the crate takes, unless it is the one of the plain hash.
    context_key: Option<ContextKey>,
}

impl Mode {
    /// The plain hash.
    pub(super) fn hash() -> Mode {
        Mode { key: IV, flags: 0, context_key: None }
    }

    /// Key derivation under `context`; the input is the key material.
    pub(super) fn derive_key(context: &str) -> Mode {
        let context_key = hash_derive_key_context(context);
        let mut key = [0; 8];
        for (word, bytes) in key.iter_mut().zip(context_key.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Mode { key, flags: DERIVE_KEY_MATERIAL, context_key: Some(context_key) }
    }

    /// The key of one input of any length, computed by the crate.
    pub(super) fn key(&self, input: &[u8]) -> Key {
        let hash = match &self.context_key {
            None => ::blake3::hash(input),
            Some(key) => ::blake3::Hasher::new_from_context_key(key).update(input).finalize(),
        };
        Key::of_hash(*hash.as_bytes().first_chunk().expect("a hash of 32 bytes"))
    }

    /// Sets `out[i]` to the key of `input(i)`, for each `i`.
    #[inline(always)]
    pub(super) fn keys<'a, I: Isa>(
        &self,
        isa: I,
        input: impl Fn(usize) -> Padded<'a>,
        out: &mut [Key],
    ) {
        let mut groups = [Group::EMPTY; MAX_BLOCKS];
        for place in 0..out.len() {
            let input = input(place);
            if input.len() > CHUNK_LEN {
                out[place] = self.key(input.content());
                continue;
            }
            // It is read when its group is full.
            prefetch(input.padded(), 0);
            prefetch(input.padded(), input.len());
            // An empty input has one block too.
            let blocks = input.len().div_ceil(BLOCK).max(1);
            let group = &mut groups[blocks - 1];
            if group.push(input, (input.len() - (blocks - 1) * BLOCK) as u32, place) == I::LANES {
                self.write_keys(isa, blocks, group, out);
                group.len = 0;
            }
        }
        for (blocks, group) in (1..).zip(&mut groups) {
            let len = group.len;
            if len > 0 {
                // The unused lanes hash any input with these blocks.
                let any = group.inputs[0];
                group.inputs[len..].fill(any);
                self.write_keys(isa, blocks, group, out);
            }
        }
    }

    #[inline(always)]
    fn write_keys<I: Isa>(&self, isa: I, blocks: usize, group: &Group<'_>, out: &mut [Key]) {
        let hashes = isa.call(Hashes { mode: self, group, blocks });
        for (place, hash) in group.places.iter().zip(&hashes).take(group.len) {
            out[*place] = Key::of_hash(*hash);
        }
    }
}

/// Inputs with equal numbers of blocks, one for each lane.
#[derive(Clone, Copy)]
struct Group<'a> {
    /// The blocks of each input, and bytes after them.
    inputs: [&'a [[u8; BLOCK]]; MAX_LANES],
    /// Number of bytes in the last block of each.
    rests: [u32; MAX_LANES],
    /// The positions of their keys.
    places: [usize; MAX_LANES],
    /// Number of inputs so far.
    len: usize,
}

impl<'a> Group<'a> {
    const EMPTY: Group<'static> =
        Group { inputs: [&[]; MAX_LANES], rests: [0; MAX_LANES], places: [0; MAX_LANES], len: 0 };

    /// Adds an input to the next lane, which must be free; returns the number of inputs.
    #[inline(always)]
    fn push(&mut self, input: Padded<'a>, rest: u32, place: usize) -> usize {
        // A mask instead of three checks.
        let lane = self.len % MAX_LANES;
        self.inputs[lane] = input.padded().as_chunks().0;
        self.rests[lane] = rest;
        self.places[lane] = place;
        self.len = lane + 1;
        self.len
    }
}

/// The hashes of a group whose inputs have `blocks` blocks each.
struct Hashes<'g, 'a> {
    mode: &'g Mode,
    group: &'g Group<'a>,
    blocks: usize,
}

impl Hashes<'_, '_> {
    /// Block `index` of the inputs of the first `lanes` lanes.
    #[inline(always)]
    fn blocks(&self, index: usize, lanes: usize) -> [&[u8; BLOCK]; MAX_LANES] {
        let mut blocks = [&[0; BLOCK]; MAX_LANES];
        for (block, input) in blocks.iter_mut().zip(&self.group.inputs).take(lanes) {
            *block = &input[index];
        }
        blocks
    }
}

impl Task for Hashes<'_, '_> {
    type Output = [Start; MAX_LANES];

    #[inline(always)]
    fn run<I: Isa>(self, l: I) -> Self::Output {
        let (lanes, last) = (I::LANES, self.blocks - 1);
        let mut chain = self.mode.key.map(|word| l.splat(word));
        let mut flags = self.mode.flags | CHUNK_START;
        for index in 0..last {
            let words = l.load(&self.blocks(index, lanes));
            let v = compressed(l, chain, words, l.splat(BLOCK as u32), l.splat(flags));
            chain = [
                l.xor(v[0], v[8]),
                l.xor(v[1], v[9]),
                l.xor(v[2], v[10]),
                l.xor(v[3], v[11]),
                l.xor(v[4], v[12]),
                l.xor(v[5], v[13]),
                l.xor(v[6], v[14]),
                l.xor(v[7], v[15]),
            ];
            flags = self.mode.flags;
        }
        let words = l.load_starts(&self.blocks(last, lanes), &self.group.rests);
        let flags = l.splat(flags | CHUNK_END | ROOT);
        let v = compressed(l, chain, words, l.gather(&self.group.rests), flags);
        let start = [l.xor(v[0], v[8]), l.xor(v[1], v[9]), l.xor(v[2], v[10]), l.xor(v[3], v[11])];
        let mut hashes = [[0; 16]; MAX_LANES];
        l.store(start, &mut hashes);
        hashes
    }
}

/// Half of a round: the function G four times, interleaved step by step. The arguments are the
/// words of the state and, after the semicolon, those of the message.
macro_rules! mixed {
    ($l:ident, $v:ident, $m:ident, $(($a:literal $b:literal $c:literal $d:literal; $x:literal $y:literal))*) => {
        // Adds the word of the message first: the other operand is the last result of the step
        // before.
        $(
            $v[$a] = $l.add($l.add($v[$a], $m[$x]), $v[$b]);
            $v[$d] = $l.rotate_16($l.xor($v[$d], $v[$a]));
            $v[$c] = $l.add($v[$c], $v[$d]);
            $v[$b] = $l.rotate_12($l.xor($v[$b], $v[$c]));
            $v[$a] = $l.add($l.add($v[$a], $m[$y]), $v[$b]);
            $v[$d] = $l.rotate_8($l.xor($v[$d], $v[$a]));
            $v[$c] = $l.add($v[$c], $v[$d]);
            $v[$b] = $l.rotate_7($l.xor($v[$b], $v[$c]));
        )*
    };
}

/// The state after the seven rounds of a compression.
#[inline(always)]
fn compressed<L: Lanes32>(
    l: L,
    chain: [L::Words; 8],
    message: [L::Words; BLOCK_WORDS],
    len: L::Words,
    flags: L::Words,
) -> [L::Words; 16] {
    let [a, b, c, d, e, f, g, h] = chain;
    let zero = l.splat(0);
    let [i, j, k, n] = [l.splat(IV[0]), l.splat(IV[1]), l.splat(IV[2]), l.splat(IV[3])];
    // The counter of chunks is zero, as there is only one chunk.
    let mut v = [a, b, c, d, e, f, g, h, i, j, k, n, zero, zero, len, flags];
    let mut m = message;
    round(l, &mut v, &m);
    m = permuted(m);
    round(l, &mut v, &m);
    m = permuted(m);
    round(l, &mut v, &m);
    m = permuted(m);
    round(l, &mut v, &m);
    m = permuted(m);
    round(l, &mut v, &m);
    m = permuted(m);
    round(l, &mut v, &m);
    m = permuted(m);
    round(l, &mut v, &m);
    v
}

#[inline(always)]
fn round<L: Lanes32>(l: L, v: &mut [L::Words; 16], m: &[L::Words; BLOCK_WORDS]) {
    mixed!(l, v, m, (0 4 8 12; 0 1) (1 5 9 13; 2 3) (2 6 10 14; 4 5) (3 7 11 15; 6 7));
    mixed!(l, v, m, (0 5 10 15; 8 9) (1 6 11 12; 10 11) (2 7 8 13; 12 13) (3 4 9 14; 14 15));
}

/// The words of a message in the order of the next round.
#[inline(always)]
fn permuted<W: Copy>(m: [W; BLOCK_WORDS]) -> [W; BLOCK_WORDS] {
    [
        m[2], m[6], m[3], m[10], m[7], m[0], m[4], m[13], m[1], m[11], m[12], m[5], m[9], m[14],
        m[15], m[8],
    ]
}
