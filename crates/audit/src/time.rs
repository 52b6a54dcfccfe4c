//! Instants as text.

use std::time::{Duration, SystemTime};

/// Returns an instant as RFC 3339 has it, in UTC, to the millisecond.
pub fn timestamp(at: SystemTime) -> String {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (seconds, milliseconds) = (since.as_secs(), since.subsec_millis());
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// Returns the date of a day after 1970-01-01. Years are counted from March, so that a leap day is
/// the last of its year and months follow one formula.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // to 0000-03-01
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + later, month, day)
}

/// Reads an instant: a date, a date and a time in UTC, or how long ago it was, such as `2h`.
pub fn parse_time(text: &str, now: SystemTime) -> Option<SystemTime> {
    if let Ok(period) = text.parse::<palisade_policy::name::Period>() {
        return now.checked_sub(period.duration());
    }
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let time = time.strip_suffix('Z').unwrap_or(time);
    let numbers = |text: &str, mark: char, count: usize| -> Option<Vec<u64>> {
        let digits = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
        let read = |it: &str| digits(it).then(|| it.parse().ok()).flatten();
        text.split(mark).map(read).collect::<Option<Vec<u64>>>().filter(|it| it.len() == count)
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let time = if time.matches(':').count() == 1 { format!("{time}:00") } else { time.to_owned() };
    let [year, month, day] = numbers(date, '-', 3)?.try_into().ok()?;
    let [hour, minute, second] = numbers(&time, ':', 3)?.try_into().ok()?;
    let [_] = numbers(fraction, '.', 1)?.try_into().ok()?;
    let milliseconds: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let days = days(year, month, day)?;
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    Some(SystemTime::UNIX_EPOCH + Duration::from_millis(seconds * 1000 + milliseconds))
}

/// Returns the days from 1970-01-01 to a date, if there is such a date.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (from, later) = if month > 2 { (month - 3, 0) } else { (month + 9, 1) };
    let year_from_march = year - later;
    let (era, rest) = (year_from_march / 400, year_from_march % 400);
    let days = (153 * from + 2) / 5 + day - 1 + rest * 365 + rest / 4 - rest / 100;
    let days = (era * 146_097 + days).checked_sub(719_468)?;
    (date(days) == (year, month, day)).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (1_798_761_600, "2027-01-01T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(timestamp(at), text);
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(timestamp(before), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn an_instant_is_read_in_the_ways_people_write_it() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        for (text, told) in [
            ("2h", Some("2027-01-15T06:00:00.000Z")),
            ("2027-01-15", Some("2027-01-15T00:00:00.000Z")),
            ("2024-02-29T12:30Z", Some("2024-02-29T12:30:00.000Z")),
            ("2024-02-29 12:30:01.5", Some("2024-02-29T12:30:01.500Z")),
            ("1970-01-01", Some("1970-01-01T00:00:00.000Z")),
            ("2023-02-29", None),
            ("2023-13-01", None),
            ("2023-01-01T24:00", None),
            ("2023-01-01T1:2:3:4", None),
            ("99999999h", Some("1970-01-01T00:00:00.000Z")),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(parse_time(text, now).map(timestamp).as_deref(), told, "{text}");
        }
    }
}
