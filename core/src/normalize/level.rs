//! The levels of the ladder of comparison (RFC 3986 section 6.2).

use core::fmt;
use core::str::FromStr;

named! {
    /// How far normalization goes; a later level merges every pair that an earlier one merges.
    ///
    /// ```
    /// use uriscan::normalize::Level;
    /// assert!(Level::String < Level::Syntax && Level::Syntax < Level::Scheme);
    /// assert_eq!("syntax".parse(), Ok(Level::Syntax));
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Level {
        /// Simple string comparison (6.2.1): the bytes are the same.
        String = "string",
        /// Syntax-based normalization (6.2.2).
        Syntax = "syntax",
        /// Scheme-based normalization (6.2.3), on top of syntax-based.
        #[default]
        Scheme = "scheme",
    }
}

/// No level has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownLevel;

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the levels are string, syntax and scheme")
    }
}

impl core::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Level, UnknownLevel> {
        Level::from_name(name).ok_or(UnknownLevel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_others_are_rejected() {
        for level in Level::ALL {
            assert_eq!(Level::from_name(level.name()), Some(level));
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert_eq!("Syntax".parse::<Level>(), Err(UnknownLevel));
        assert_eq!("".parse::<Level>(), Err(UnknownLevel));
    }
}
