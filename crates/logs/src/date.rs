//! Dates as log frameworks write them.

/// How a date is written: compiled from the letters of `SimpleDateFormat`, or one of the names of log4j.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DateFormat {
    shape: Shape,
    /// Whether it says the day. A format with the time alone counts from midnight.
    pub has_day: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// `2021-07-28 13:31:16,997` in all its dialects: `T` or a space, a comma or a point, any number of fraction digits or
    /// none, a zone or none. Log4j 1, log4j 2 and logback mean different ones by the same name.
    Iso,
    Parts(Vec<Part>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// A number, with its fewest and most digits.
    Number(Unit, usize, usize),
    MonthName,
    /// A day of the week, or an era: letters that say nothing more.
    Word,
    HalfOfDay,
    Zone,
    Space,
    Byte(u8),
    /// What stands before the fraction of a second.
    FractionMark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Year,
    ShortYear,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Fraction,
    EpochSecond,
    EpochMilli,
}

#[derive(Default)]
struct Clock {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    ms: i64,
    afternoon: Option<bool>,
    offset_ms: i64,
    epoch_ms: Option<i64>,
}

const DAY_MS: i64 = 86_400_000;
const MONTHS: [&[u8; 3]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
/// A year of two digits is of this century: no JVM wrote logs in the one before its last decade.
const CENTURY: i64 = 2000;
/// Digits after the second that a framework can write: nanoseconds.
const FRACTION_DIGITS_MAX: usize = 9;

impl DateFormat {
    /// What `%d` means without an option.
    pub fn iso() -> DateFormat {
        DateFormat { shape: Shape::Iso, has_day: true }
    }

    /// Compiles the option of `%d{...}`; the error is a reason.
    pub fn compile(option: &str) -> Result<DateFormat, String> {
        let option = without_zone_name(option.trim());
        let name = option.to_ascii_uppercase();
        let letters = match name.as_str() {
            "" => return Ok(Self::iso()),
            "UNIX" => return Ok(Self::of(vec![Part::Number(Unit::EpochSecond, 9, 11)])),
            "UNIX_MILLIS" => return Ok(Self::of(vec![Part::Number(Unit::EpochMilli, 12, 14)])),
            _ if name.starts_with("ISO8601_BASIC") => "yyyyMMdd'T'HHmmss,SSS",
            _ if name.starts_with("ISO8601") || name.starts_with("DEFAULT") => return Ok(Self::iso()),
            _ if name.starts_with("ABSOLUTE") => "HH:mm:ss,SSS",
            _ if name.starts_with("COMPACT") => "yyyyMMddHHmmssSSS",
            _ if name == "DATE" || name.starts_with("DATE_") => "dd MMM yyyy HH:mm:ss,SSS",
            _ => option,
        };
        if matches!(
            letters,
            "yyyy-MM-dd HH:mm:ss,SSS"
                | "yyyy-MM-dd HH:mm:ss.SSS"
                | "yyyy-MM-dd HH:mm:ss"
                | "yyyy/MM/dd HH:mm:ss"
        ) {
            return Ok(Self::iso());
        }
        parts_of(letters).map(Self::of)
    }

    fn of(parts: Vec<Part>) -> DateFormat {
        let has = |wanted: &[Unit]| {
            parts.iter().any(|it| matches!(it, Part::Number(unit, ..) if wanted.contains(unit)))
        };
        let has_day = has(&[Unit::Day, Unit::EpochSecond, Unit::EpochMilli]);
        DateFormat { shape: Shape::Parts(parts), has_day }
    }

    /// Reads the date that stands at `at`: milliseconds since the epoch (a wall clock without a zone is read as UTC), and
    /// where the text goes on.
    pub fn read(&self, bytes: &[u8], at: usize) -> Option<(i64, usize)> {
        match &self.shape {
            Shape::Iso => read_iso(bytes, at),
            Shape::Parts(parts) => read_parts(parts, bytes, at),
        }
    }
}

/// Logback takes a time zone behind a comma: `%d{HH:mm:ss.SSS, UTC}`. A comma before the fraction is not one.
fn without_zone_name(option: &str) -> &str {
    match option.rsplit_once(',') {
        Some((format, zone))
            if zone.trim().chars().any(|it| it.is_alphabetic() && it != 'S') && !zone.contains('\'') =>
        {
            // Letters behind the comma that a format uses too (`MMM dd, yyyy h:mm`) are no zone.
            let is_format = zone.contains("yy") || zone.contains("mm") || zone.contains("ss");
            if is_format { option } else { format.trim_matches(['"', '\'', ' ']) }
        }
        _ => option,
    }
}

fn parts_of(letters: &str) -> Result<Vec<Part>, String> {
    let chars: Vec<char> = letters.chars().collect();
    let mut parts = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let letter = chars[at];
        let run = chars[at..].iter().take_while(|it| **it == letter).count();
        if letter == '\'' {
            let end = chars[at + 1..].iter().position(|it| *it == '\'').map(|it| at + 1 + it);
            let end = end.ok_or("a quote in the date is not closed")?;
            if end == at + 1 {
                parts.push(Part::Byte(b'\''));
            }
            push_text(&mut parts, &chars[at + 1..end]);
            at = end + 1;
            continue;
        }
        if !letter.is_ascii_alphabetic() {
            push_text(&mut parts, &chars[at..at + run]);
            at += run;
            continue;
        }
        at += run;
        // Where another number follows at once, only the width says where this one ends.
        let glued = chars.get(at).is_some_and(|it| it.is_ascii_alphabetic() && !"aEGzZXxO".contains(*it));
        let number = |unit, most: usize| {
            if glued { Part::Number(unit, run, run) } else { Part::Number(unit, 1, most.max(run)) }
        };
        let part = match letter {
            'y' | 'u' if run == 2 => Part::Number(Unit::ShortYear, 2, 2),
            'y' | 'u' => Part::Number(Unit::Year, 4, 4),
            'M' | 'L' if run >= 3 => Part::MonthName,
            'M' | 'L' => number(Unit::Month, 2),
            'd' => number(Unit::Day, 2),
            'H' | 'k' | 'h' | 'K' => number(Unit::Hour, 2),
            'm' => number(Unit::Minute, 2),
            's' => number(Unit::Second, 2),
            'S' | 'n' => {
                if let Some(mark @ Part::Byte(b',' | b'.')) = parts.last_mut() {
                    *mark = Part::FractionMark;
                }
                number(Unit::Fraction, FRACTION_DIGITS_MAX)
            }
            'a' => Part::HalfOfDay,
            'E' | 'G' => Part::Word,
            'z' | 'Z' | 'X' | 'x' | 'O' => Part::Zone,
            other => {
                return Err(format!(
                    "the date letter `{other}` is not known; known are y M d H h m s S a E Z X z, and text in quotes"
                ));
            }
        };
        parts.push(part);
    }
    if parts.is_empty() { Err("the date is empty".into()) } else { Ok(parts) }
}

fn push_text(parts: &mut Vec<Part>, text: &[char]) {
    for it in text {
        if it.is_whitespace() {
            if parts.last() != Some(&Part::Space) {
                parts.push(Part::Space);
            }
        } else {
            let mut buffer = [0; 4];
            parts.extend(it.encode_utf8(&mut buffer).bytes().map(Part::Byte));
        }
    }
}

fn read_iso(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let it = bytes.get(at..at + 19)?;
    let separator = it[4];
    if !matches!(separator, b'-' | b'/') || it[7] != separator || !matches!(it[10], b' ' | b'T' | b'_') {
        return None;
    }
    if it[13] != b':' || it[16] != b':' {
        return None;
    }
    let mut clock = Clock {
        year: two(it, 0)? * 100 + two(it, 2)?,
        month: two(it, 5)?,
        day: two(it, 8)?,
        hour: two(it, 11)?,
        minute: two(it, 14)?,
        second: two(it, 17)?,
        ..Clock::default()
    };
    let mut end = at + 19;
    if matches!(bytes.get(end), Some(b',' | b'.' | b':')) {
        let (digits, fraction) = digits(bytes, end + 1, FRACTION_DIGITS_MAX);
        if digits > 0 {
            clock.ms = milliseconds(fraction, digits);
            end += 1 + digits;
        }
    }
    if bytes.get(end).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    if let Some((offset_ms, after)) = read_offset(bytes, end) {
        clock.offset_ms = offset_ms;
        end = after;
    }
    Some((clock.epoch_ms()?, end))
}

fn read_parts(parts: &[Part], bytes: &[u8], mut at: usize) -> Option<(i64, usize)> {
    let mut clock = Clock { year: 1970, month: 1, day: 1, ..Clock::default() };
    for part in parts {
        match part {
            Part::Number(unit, fewest, most) => {
                let (count, value) = digits(bytes, at, *most);
                if count < *fewest {
                    return None;
                }
                at += count;
                match unit {
                    Unit::Year => clock.year = value,
                    Unit::ShortYear => clock.year = CENTURY + value,
                    Unit::Month => clock.month = value,
                    Unit::Day => clock.day = value,
                    Unit::Hour => clock.hour = value,
                    Unit::Minute => clock.minute = value,
                    Unit::Second => clock.second = value,
                    Unit::Fraction => clock.ms = milliseconds(value, count),
                    Unit::EpochSecond => clock.epoch_ms = Some(value * 1000),
                    Unit::EpochMilli => clock.epoch_ms = Some(value),
                }
            }
            Part::MonthName => {
                let word = letters(bytes, at);
                let start = word.get(..3)?.to_ascii_lowercase();
                clock.month = MONTHS.iter().position(|it| it[..] == start[..])? as i64 + 1;
                at += word.len();
                // Some locales write a point behind a shortened month.
                at += usize::from(bytes.get(at) == Some(&b'.'));
            }
            Part::Word => {
                let word = letters(bytes, at);
                if word.is_empty() {
                    return None;
                }
                at += word.len();
            }
            Part::HalfOfDay => {
                clock.afternoon = Some(match bytes.get(at..at + 2)?.to_ascii_lowercase().as_slice() {
                    b"am" => false,
                    b"pm" => true,
                    _ => return None,
                });
                at += 2;
            }
            Part::Zone => {
                let (offset_ms, after) = read_zone(bytes, at)?;
                clock.offset_ms = offset_ms;
                at = after;
            }
            Part::Space => {
                let after = skip_space(bytes, at);
                if after == at {
                    return None;
                }
                at = after;
            }
            Part::Byte(byte) => {
                if bytes.get(at) != Some(byte) {
                    return None;
                }
                at += 1;
            }
            Part::FractionMark => {
                if !matches!(bytes.get(at), Some(b',' | b'.')) {
                    return None;
                }
                at += 1;
            }
        }
    }
    if bytes.get(at).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    Some((clock.epoch_ms()?, at))
}

impl Clock {
    fn epoch_ms(&self) -> Option<i64> {
        if let Some(epoch_ms) = self.epoch_ms {
            return Some(epoch_ms);
        }
        let hour = match self.afternoon {
            Some(afternoon) if self.hour <= 12 => self.hour % 12 + if afternoon { 12 } else { 0 },
            Some(_) => return None,
            // `k` writes midnight as 24.
            None => self.hour % 24,
        };
        let fits = (1..=12).contains(&self.month)
            && (1..=31).contains(&self.day)
            && self.hour <= 24
            && self.minute < 60
            && self.second <= 60;
        let of_day_ms = ((hour * 60 + self.minute) * 60 + self.second) * 1000 + self.ms;
        fits.then(|| days_since_epoch(self.year, self.month, self.day) * DAY_MS + of_day_ms - self.offset_ms)
    }
}

/// Days from 1970-01-01 in the Gregorian calendar, years counted from March so that the leap day comes last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn two(bytes: &[u8], at: usize) -> Option<i64> {
    let tens = bytes[at].wrapping_sub(b'0');
    let ones = bytes[at + 1].wrapping_sub(b'0');
    (tens < 10 && ones < 10).then(|| i64::from(tens) * 10 + i64::from(ones))
}

/// How many digits stand at `at`, `most` at the most, and their value.
fn digits(bytes: &[u8], at: usize, most: usize) -> (usize, i64) {
    let mut value = 0;
    let mut count = 0;
    while count < most {
        match bytes.get(at + count) {
            Some(digit) if digit.is_ascii_digit() => value = value * 10 + i64::from(digit - b'0'),
            _ => break,
        }
        count += 1;
    }
    (count, value)
}

fn milliseconds(fraction: i64, digits: usize) -> i64 {
    match digits {
        0..=3 => fraction * 10_i64.pow(3 - digits as u32),
        _ => fraction / 10_i64.pow(digits as u32 - 3),
    }
}

fn letters(bytes: &[u8], at: usize) -> &[u8] {
    let rest = bytes.get(at..).unwrap_or_default();
    &rest[..rest.iter().take_while(|it| it.is_ascii_alphabetic()).count()]
}

/// Past spaces and tabs. JDK 20 and later write a narrow no-break space before `AM` and `PM`.
fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at..) {
            Some([b' ' | b'\t', ..]) => at += 1,
            Some([0xc2, 0xa0, ..]) => at += 2,
            Some([0xe2, 0x80, 0xaf, ..]) => at += 3,
            _ => return at,
        }
    }
}

/// `Z`, `+0100` or `+01:00`.
fn read_offset(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let sign = match bytes.get(at)? {
        b'Z' if !bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric) => return Some((0, at + 1)),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = two(bytes.get(at + 1..at + 3)?, 0)?;
    let colon = usize::from(bytes.get(at + 3) == Some(&b':'));
    let from = at + 3 + colon;
    let minutes = bytes.get(from..from + 2).and_then(|it| two(it, 0));
    let (minutes, end) = match minutes {
        Some(minutes) => (minutes, from + 2),
        None => (0, at + 3),
    };
    Some((sign * (hours * 60 + minutes) * 60_000, end))
}

/// An offset, or the name of a zone, which is taken for UTC: names say different things in different places.
fn read_zone(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    if let Some(offset) = read_offset(bytes, at) {
        return Some(offset);
    }
    let word = letters(bytes, at);
    if word.is_empty() {
        return None;
    }
    let end = at + word.len();
    Some(read_offset(bytes, end).unwrap_or((0, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &str, text: &str, expected: Option<(i64, usize)>) {
        let format = DateFormat::compile(format).expect(format);
        assert_eq!(format.read(text.as_bytes(), 0), expected, "{text}");
    }

    #[test]
    fn dates_of_many_formats() {
        let at = 1_627_479_076_997;
        check("ISO8601", "2021-07-28 13:31:16,997 x", Some((at, 23)));
        check("ISO8601", "2021-07-28T13:31:16.997x", Some((at, 23)));
        check("ISO8601", "2021-07-28T13:31:16.997123456Z", Some((at, 30)));
        check("ISO8601", "2021-07-28T15:31:16.997+02:00 ", Some((at, 29)));
        check("ISO8601", "2021-07-28 15:31:16.997+0200", Some((at, 28)));
        check("ISO8601", "2021/07/28 13:31:16", Some((at - 997, 19)));
        check("ISO8601", "2021-13-28 13:31:16,997", None);
        check("ISO8601", "2021-07-28 13:31:1", None);
        check("", "2021-07-28 13:31:16,997", Some((at, 23)));
        check("yyMMdd HHmmss", "081109 203615 148", Some((1_226_262_975_000, 13)));
        check("yy/MM/dd HH:mm:ss", "17/06/09 20:10:40 INFO", Some((1_497_039_040_000, 17)));
        check("HH:mm:ss.SSS", "10:00:00.123 [main]", Some((36_000_123, 12)));
        check("ABSOLUTE", "10:00:00,123 [main]", Some((36_000_123, 12)));
        check("HH:mm:ss.SSS, UTC", "10:00:00.123", Some((36_000_123, 12)));
        check("DATE", "28 Jul 2021 13:31:16,997", Some((at, 24)));
        check("COMPACT", "20210728133116997", Some((at, 17)));
        check("UNIX_MILLIS", "1627479076997 x", Some((at, 13)));
        check("MMM dd, yyyy h:mm:ss a", "Jul 28, 2021 1:31:16 PM a.B", Some((at - 997, 23)));
        check("MMM dd, yyyy h:mm:ss a", "Jul 28, 2021 1:31:16\u{202f}PM a.B", Some((at - 997, 25)));
        check("MMM dd, yyyy h:mm:ss a", "Jul 28, 2021 12:31:16 AM", Some((at - 997 - 13 * 3_600_000, 24)));
        check("EEE MMM dd HH:mm:ss z yyyy", "Wed Jul 28 13:31:16 UTC 2021", Some((at - 997, 28)));
        check("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2021-07-28T14:31:16.997+01:00", Some((at, 29)));
        check("yyyy-MM-dd", "1970-01-02", Some((DAY_MS, 10)));
        check("yyyy-MM-dd", "2000-02-29", Some((951_782_400_000, 10)));
    }

    #[test]
    fn letters_that_are_not_known_are_told() {
        for format in ["QQ", "'open", "yyyy-DDD"] {
            assert!(DateFormat::compile(format).is_err(), "{format}");
        }
    }
}
