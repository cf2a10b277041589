//! Amounts with units, in the same notation as in study files.

use plan::{Amount, Bytes, Nanos};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A type that is written as a text with its unit.
macro_rules! written_with_unit {
    ($(#[$doc:meta])* $name:ident($inner:ty), $read:expr, $write:expr, $example:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(pub $inner);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = String::deserialize(from)?;
                let read: fn(&str) -> Result<$inner, String> = $read;
                read(&text).map(Self).map_err(D::Error::custom)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let write: fn($inner) -> String = $write;
                to.serialize_str(&write(self.0))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "examples": [$example] })
            }
        }
    };
}

/// The message of a unit error, with what is allowed.
fn told(error: &plan::UnitError) -> String {
    format!("{}: {}", error.message, error.help)
}

written_with_unit!(
    /// Bytes, as `"64GiB"`.
    Size(u64),
    |text| Bytes::parse_study(text).map(|bytes| bytes.0).map_err(|error| told(&error)),
    |bytes| format!("{bytes}B"),
    "64GiB"
);

written_with_unit!(
    /// Nanoseconds, as `"80us"`.
    Time(u64),
    |text| Nanos::parse_study(text).map(|time| time.0).map_err(|error| told(&error)),
    |nanos| format!("{nanos}ns"),
    "80us"
);

written_with_unit!(
    /// Bytes per second, as `"3.2GB/s"`.
    Bandwidth(f64),
    |text| match Amount::parse_rate(text) {
        Ok(Amount::BytesPerSecond(rate)) => Ok(rate),
        _ => Err(format!("`{text}` is not a bandwidth: give a number with its unit, for example \"2.8GB/s\" \
                          or \"10Gbit/s\"")),
    },
    |rate| format!("{rate}B/s"),
    "3.2GB/s"
);
