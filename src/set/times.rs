//! When the keys of a run were first seen: a file with one time for each key, in the order of the
//! keys.
//!
//! A [file of blocks](super::blocks) of numbers of 32 bits, big-endian: seconds since 1970. Its
//! facts: the digest of the keys it belongs to, in two numbers, the earliest time and the latest.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use super::blocks::{self, BLOCK, BlockWriter, Blocks, Kind};
use super::error::SetError;
use super::names;

/// A point in time: whole seconds since 1970-01-01T00:00:00Z, up to the year 2106.
///
/// The text format is that of RFC 3339: `2026-03-01T12:00:00Z`. A day alone means its first second;
/// a number means seconds.
///
/// ```
/// use uriscan::set::Timestamp;
/// let noon: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
/// assert_eq!(noon, Timestamp(1_772_366_400));
/// assert_eq!("2026-03-01".parse(), Ok(Timestamp(1_772_323_200)));
/// assert_eq!("1772366400".parse(), Ok(noon));
/// assert_eq!(noon.to_string(), "2026-03-01T12:00:00Z");
/// assert!("2026-13-01".parse::<Timestamp>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u32);

impl Timestamp {
    /// Converts `time`, clamped to the range of the type.
    pub fn of(time: SystemTime) -> Timestamp {
        let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        Timestamp(u32::try_from(seconds).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(self.0.into());
        humantime::format_rfc3339_seconds(time).fmt(f)
    }
}

/// The text is not a [`Timestamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write a time from 1970 to 2106 as a day, 2026-03-01, a date and time, 2026-03-01T12:00:00Z, or seconds since 1970")
    }
}

impl std::error::Error for NotATime {}

impl FromStr for Timestamp {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Timestamp, NotATime> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(Timestamp).map_err(|_| NotATime);
        }
        seconds_of(text).map(Timestamp).ok_or(NotATime)
    }
}

/// The seconds since 1970 of a day (its first second) or of a point in time. Fractions of a second are truncated, and a
/// leap second equals the second before it, as in POSIX.
fn seconds_of(text: &str) -> Option<u32> {
    const WITHOUT_ZONE: usize = "2026-03-01T12:00:00".len();
    let midnight = if text.contains('T') { "" } else { "T00:00:00Z" };
    let text = format!("{text}{midnight}");
    // The parser is lax about what follows the seconds.
    let rest = text.strip_suffix('Z').or(text.strip_suffix("+00:00"))?.get(WITHOUT_ZONE..)?;
    let digits = if rest.is_empty() { "0" } else { rest.strip_prefix('.')? };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let time = humantime::parse_rfc3339(&text).ok()?;
    u32::try_from(time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs()).ok()
}

/// Size of a time in bytes.
const WIDTH: usize = 4;

static KIND: Kind = Kind {
    magic: b"uriscan times 2\n",
    width: WIDTH as u64,
    facts: 4,
    bound: 2,
    suffix: names::TIMES,
    stranger: "it does not begin like a file of times",
    damaged: "the checksum of a block of times is wrong",
};

/// Indexes of the earliest and the latest time in the facts.
const EARLIEST: usize = 2;
const LATEST: usize = 3;

/// The error for times that do not match the facts.
const RANGE: &str = "the header does not match the times";

/// The facts that bind times to their keys.
fn bound_to(keys: &Blocks) -> [u64; EARLIEST] {
    [(keys.digest() >> 64) as u64, keys.digest() as u64]
}

/// Reads the times of a run.
#[derive(Debug)]
pub(super) struct Times(Blocks);

impl Times {
    /// Opens the times at `path`, which belong to `keys`.
    ///
    /// # Errors
    /// If they cannot be read, are damaged outside the times, or belong to other keys.
    pub(super) fn open(path: &Path, keys: &Blocks) -> Result<Times, SetError> {
        Times::of(Blocks::open(path, &KIND)?, keys)
    }

    fn of(times: Blocks, keys: &Blocks) -> Result<Times, SetError> {
        let facts = times.facts();
        if facts[..EARLIEST] != bound_to(keys) || times.len() != keys.len() {
            return Err(SetError::damaged(times.path(), "they belong to other keys", 16));
        }
        if facts[EARLIEST] > facts[LATEST] || facts[LATEST] > u64::from(u32::MAX) {
            return Err(outside(&times));
        }
        Ok(Times(times))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Size of the file in bytes.
    pub(super) fn file_bytes(&self) -> u64 {
        self.0.file_bytes()
    }

    /// The earliest and the latest; `None` if there are no keys.
    pub(super) fn range(&self) -> Option<(Timestamp, Timestamp)> {
        let time = |fact: usize| Timestamp(self.0.facts()[fact] as u32);
        (self.0.len() > 0).then(|| (time(EARLIEST), time(LATEST)))
    }

    /// Calls `found` with the times at `places`, which rise, and the value that accompanies each
    /// position.
    ///
    /// # Errors
    /// If they cannot be read or are damaged.
    pub(super) fn read<T>(
        &self,
        places: impl IntoIterator<Item = (u64, T)>,
        mut found: impl FnMut(T, Timestamp),
    ) -> Result<(), SetError> {
        let (mut bytes, mut held) = (Vec::new(), None);
        let range = self.0.facts()[EARLIEST]..=self.0.facts()[LATEST];
        for (place, beside) in places {
            let block = place / KIND.block_items();
            if held != Some(block) {
                self.0.read(block..block + 1, &mut bytes)?;
                held = Some(block);
            }
            let at = (place % KIND.block_items()) as usize * WIDTH;
            let time = u32::from_be_bytes(bytes[at..at + WIDTH].try_into().expect("4 bytes"));
            if !range.contains(&u64::from(time)) {
                let at = BLOCK as u64 + place * WIDTH as u64;
                return Err(SetError::damaged(self.path(), RANGE, at));
            }
            found(beside, Timestamp(time));
        }
        Ok(())
    }

    /// Reads everything; returns all damage.
    ///
    /// # Errors
    /// If something cannot be read at all.
    pub(super) fn verify(&self) -> Result<Vec<SetError>, SetError> {
        let mut range: Option<(u32, u32)> = None;
        let mut damages = self.0.verify(|_, bytes| {
            for time in bytes.chunks_exact(WIDTH) {
                let time = u32::from_be_bytes(time.try_into().expect("4 bytes"));
                let (first, last) = range.unwrap_or((time, time));
                range = Some((first.min(time), last.max(time)));
            }
        })?;
        let found = range.map(|(first, last)| (Timestamp(first), Timestamp(last)));
        if damages.is_empty() && found != self.range() {
            damages.push(outside(&self.0));
        }
        Ok(damages)
    }
}

fn outside(times: &Blocks) -> SetError {
    let at = blocks::FACTS + 8 * EARLIEST;
    SetError::damaged(times.path(), RANGE, at as u64)
}

/// Times being written.
#[derive(Debug)]
pub(super) struct TimesWriter {
    blocks: BlockWriter,
    /// The earliest and the latest.
    range: (Timestamp, Timestamp),
}

impl TimesWriter {
    /// Creates a file in `directory`.
    ///
    /// # Errors
    /// If no file can be created there.
    pub(super) fn new(directory: &Path) -> Result<TimesWriter, SetError> {
        let blocks = BlockWriter::new(directory, &KIND)?;
        Ok(TimesWriter { blocks, range: (Timestamp(u32::MAX), Timestamp(0)) })
    }

    /// Adds times, at most a block of them.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(super) fn push(&mut self, times: impl Iterator<Item = Timestamp>) -> Result<(), SetError> {
        let range = &mut self.range;
        self.blocks.push(times.map(|time| {
            *range = (range.0.min(time), range.1.max(time));
            time.0.to_be_bytes()
        }))
    }

    /// Finishes the file, which belongs to `keys`, like [`BlockWriter::finish`].
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn finish(self, keys: &Blocks, is_durable: bool) -> Result<Times, SetError> {
        let (first, last) = if keys.len() > 0 { self.range } else { (Timestamp(0), Timestamp(0)) };
        let [high, low] = bound_to(keys);
        let facts = [high, low, u64::from(first.0), u64::from(last.0)];
        Times::of(self.blocks.finish(&facts, is_durable)?, keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_round_trips() {
        for day in 0..=u32::MAX / 86_400 {
            let start = Timestamp(day * 86_400);
            let text = start.to_string();
            assert_eq!((text.parse(), text[..10].parse()), (Ok(start), Ok(start)));
        }
        assert_eq!(Timestamp(u32::MAX).to_string(), "2106-02-07T06:28:15Z");
    }

    #[test]
    fn points_in_time_are_those_of_rfc_3339_in_utc() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29", 951_782_400),
            ("2024-12-31T23:59:60Z", 1_735_689_599),
            ("2106-02-07T06:28:15Z", u32::MAX),
            ("2024-02-29T12:00:00.5Z", 1_709_208_000),
            ("2024-02-29T12:00:00.1234567891Z", 1_709_208_000),
            ("2024-02-29T12:00:00+00:00", 1_709_208_000),
            ("2024-02-29T12:00:00.5+00:00", 1_709_208_000),
        ] {
            assert_eq!(text.parse(), Ok(Timestamp(seconds)), "{text}");
        }
        let days = "1969-12-31 1999-02-29 2100-02-29 2024-02-30 2024-04-31 2024-12-32 2024-00-01 2024-01-00 \
            2024-13-01 2106-02-08 9999-12-31 2024-1-01 02024-01-01 2024-01-011 2024/01/01 +024-01-01 2024-01-1x 2024-01-1T";
        let ends = "T23:59:61Z T24:00:00Z T12:60:00Z T12:00:00 T12:00Z T12:00:00.Z T12:00:00.+00:00 T12:00:00+01:00 \
            T12:00:00ZZ T12:00:00ZxZ T12:00:00.x5Z T12:00:00x5Z T1é:00:00Z T12:00:00:00Z t12:00:00z é T";
        let times = ends.split(' ').map(|end| format!("2024-01-01{end}"));
        for text in days.split_whitespace().map(str::to_owned).chain(times) {
            assert_eq!(text.parse::<Timestamp>(), Err(NotATime), "{text}");
        }
    }
}
