//! The ends of the hosts of a text: hosts repeat, and a look-up in the public suffix list takes as long as all else.

use xxhash_rust::xxh3::xxh3_64;

use crate::rules::{Ends, ends};

/// How many hosts are remembered, at most.
const MOST: usize = 1 << 10;

/// The hosts of a text that were looked up, each until another one takes its place.
#[derive(Debug, Default)]
pub(super) struct Names<'t>(Vec<(&'t [u8], Ends<'t>)>);

impl<'t> Names<'t> {
    /// [`ends`] of `host`.
    pub(super) fn ends(&mut self, host: &'t [u8]) -> Ends<'t> {
        self.0.resize(MOST, Default::default());
        // Whoever writes hosts that share a place only makes look-ups necessary.
        let place = &mut self.0[xxh3_64(host) as usize % MOST];
        if place.0 != host {
            *place = (host, ends(host));
        }
        place.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_those_of_the_list_whatever_was_looked_up_before() {
        let hosts: Vec<String> = (0..5000)
            .map(|i| format!("a.b{}.{}", i * i % 3001, ["com", "co.uk", "x"][i % 3]))
            .collect();
        let mut names = Names::default();
        for host in hosts.iter().chain(&hosts).map(String::as_bytes).chain([&b""[..], b"[::1]"]) {
            let (found, expected) = (names.ends(host), ends(host));
            assert_eq!((found.domain, found.suffix), (expected.domain, expected.suffix));
        }
    }
}
