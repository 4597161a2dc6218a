//! Moments as files have them: in UTC, to the second, as in `2026-11-21T04:03:48Z`.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Deserializer, Serializer};

use crate::convert;

/// Returns the text of a moment; empty for one outside of the calendar.
pub fn date(time: SystemTime) -> String {
    Timestamp::try_from(time).map_or_else(|_| String::new(), |time| format!("{time:.0}"))
}

/// Writes seconds since 1970, for `#[serde(with = "moment")]`.
pub fn serialize<S: Serializer>(seconds: &u64, out: S) -> Result<S::Ok, S::Error> {
    let seconds = i64::try_from(*seconds).unwrap_or(i64::MAX);
    let text = Timestamp::from_second(seconds).map(|time| format!("{time:.0}"));
    out.serialize_str(&text.unwrap_or_default())
}

/// Reads seconds since 1970, for `#[serde(with = "moment")]`.
pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    convert::text(input, |text| {
        let time: Option<Timestamp> = text.parse().ok();
        let seconds = time.and_then(|time| u64::try_from(time.as_second()).ok());
        seconds.ok_or_else(|| format!("`{text}` is no moment such as 2026-11-21T04:03:48Z"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn dates_are_in_utc_and_to_the_second() {
        let time = UNIX_EPOCH + Duration::from_millis(1_795_233_828_999);
        assert_eq!(date(time), "2026-11-21T04:03:48Z");
    }
}
