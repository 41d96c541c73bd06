//! Options whose value is a whole number.

use std::num::IntErrorKind;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Any number.
pub(crate) const ANY: RangeInclusive<u64> = 0..=u64::MAX;
/// A number that is not 0.
pub(crate) const SOME: RangeInclusive<u64> = 1..=u64::MAX;

/// A parser of whole numbers in `range`; the error says what is expected.
pub(crate) fn number<T: FromStr>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |typed| {
        let number = typed.parse::<u64>();
        let is_in_range = number.as_ref().is_ok_and(|number| range.contains(number));
        typed.parse().ok().filter(|_| is_in_range).ok_or_else(|| {
            let (start, end) = range.clone().into_inner();
            let is_too_large =
                number.is_err_and(|error| *error.kind() == IntErrorKind::PosOverflow);
            match end {
                u64::MAX if !is_too_large => format!("a whole number from {start} on is expected"),
                _ => format!("a whole number from {start} to {end} is expected"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn numbers_are_whole_and_in_their_range() {
        assert_eq!(number::<u16>(0..=1024)("1024"), Ok(1024));
        assert_eq!(number::<usize>(ANY)("0"), Ok(0));
        assert_eq!(number::<NonZeroU32>(SOME)("7"), Ok(NonZeroU32::new(7).unwrap()));
        let wrong = |typed: &str, range| number::<u64>(range)(typed).unwrap_err();
        for typed in ["x", "-1", "1.5", "1k", " 1"] {
            assert_eq!(wrong(typed, ANY), "a whole number from 0 on is expected", "{typed}");
        }
        assert_eq!(wrong("", ANY), "a whole number from 0 on is expected");
        assert_eq!(wrong("0", SOME), "a whole number from 1 on is expected");
        let largest = "a whole number from 1 to 18446744073709551615 is expected";
        assert_eq!(wrong("99999999999999999999", SOME), largest);
        assert_eq!(wrong("13", 0..=12), "a whole number from 0 to 12 is expected");
    }

    /// Otherwise clap takes `-1` for an option that it does not know.
    #[test]
    fn a_negative_number_is_taken_for_a_value_by_every_option_with_a_number() {
        const NUMBERS: [&str; 9] =
            ["N", "BITS", "SIZE", "RATE", "SHARE", "STATUS", "TIME", "AGE", "DAY"];
        fn check(command: &clap::Command) {
            for arg in command.get_arguments() {
                let names = arg.get_value_names().unwrap_or_default();
                let is_number = names.iter().any(|name| NUMBERS.contains(&&**name));
                assert_eq!(arg.is_allow_negative_numbers_set(), is_number, "{arg}");
            }
            command.get_subcommands().for_each(check);
        }
        check(&crate::args::complete());
    }
}
