//! The rungs of the ladder of comparison (RFC 3986 section 6.2).

use core::fmt;
use core::str::FromStr;

named! {
    /// How far normalization goes; a later rung merges every pair that an earlier one merges.
    ///
    /// ```
    /// use uriscan::normalize::Rung;
    /// assert!(Rung::String < Rung::Syntax && Rung::Syntax < Rung::Scheme);
    /// assert_eq!("syntax".parse(), Ok(Rung::Syntax));
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Rung {
        /// Simple string comparison (6.2.1): the bytes are the same.
        String = "string",
        /// Syntax-based normalization (6.2.2).
        Syntax = "syntax",
        /// Scheme-based normalization (6.2.3), on top of syntax-based.
        #[default]
        Scheme = "scheme",
    }
}

/// No rung has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRung;

impl fmt::Display for UnknownRung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the rungs are string, syntax and scheme")
    }
}

impl core::error::Error for UnknownRung {}

impl FromStr for Rung {
    type Err = UnknownRung;

    fn from_str(name: &str) -> Result<Rung, UnknownRung> {
        Rung::from_name(name).ok_or(UnknownRung)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_others_are_rejected() {
        for rung in Rung::ALL {
            assert_eq!(Rung::from_name(rung.name()), Some(rung));
            assert_eq!(rung.to_string().parse(), Ok(rung));
        }
        assert_eq!("Syntax".parse::<Rung>(), Err(UnknownRung));
        assert_eq!("".parse::<Rung>(), Err(UnknownRung));
    }
}
