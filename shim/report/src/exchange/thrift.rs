//! Thrift's compact protocol, as far as the metadata of Parquet need it.

/// Bytes of a structure under construction.
#[derive(Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: i16,
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Struct {
    pub(super) fn i32(self, field: i16, value: i32) -> Self {
        self.number(field, I32, i64::from(value))
    }

    pub(super) fn i64(self, field: i16, value: i64) -> Self {
        self.number(field, I64, value)
    }

    pub(super) fn text(mut self, field: i16, value: &str) -> Self {
        self.header(field, BINARY);
        self.bytes.extend(binary(value));
        self
    }

    pub(super) fn structure(mut self, field: i16, value: Struct) -> Self {
        self.header(field, STRUCT);
        self.bytes.extend(value.end());
        self
    }

    pub(super) fn structures(self, field: i16, values: Vec<Struct>) -> Self {
        let values = values.into_iter().map(Struct::end).collect();
        self.list(field, STRUCT, values)
    }

    pub(super) fn numbers(self, field: i16, values: &[i32]) -> Self {
        let number = |value: &i32| varint(zigzag(i64::from(*value)));
        self.list(field, I32, values.iter().map(number).collect())
    }

    pub(super) fn texts(self, field: i16, values: &[&str]) -> Self {
        let values = values.iter().map(|value| binary(value)).collect();
        self.list(field, BINARY, values)
    }

    /// Returns all bytes.
    pub(super) fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn number(mut self, field: i16, kind: u8, value: i64) -> Self {
        self.header(field, kind);
        self.bytes.extend(varint(zigzag(value)));
        self
    }

    fn list(mut self, field: i16, kind: u8, values: Vec<Vec<u8>>) -> Self {
        self.header(field, LIST);
        match u8::try_from(values.len()) {
            Ok(few @ 0..15) => self.bytes.push(few << 4 | kind),
            _ => {
                self.bytes.push(0xf0 | kind);
                self.bytes.extend(varint(values.len() as u64));
            }
        }
        self.bytes.extend(values.into_iter().flatten());
        self
    }

    /// Writes the header of a field; fields are in order, fewer than 16 apart.
    fn header(&mut self, field: i16, kind: u8) {
        let step = (field - self.last) as u8;
        self.bytes.push(step << 4 | kind);
        self.last = field;
    }
}

fn binary(text: &str) -> Vec<u8> {
    let mut bytes = varint(text.len() as u64);
    bytes.extend(text.as_bytes());
    bytes
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_the_protocols_description_has_them() {
        for (value, expected) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (i64::MIN, u64::MAX)] {
            assert_eq!(zigzag(value), expected);
        }
        assert_eq!(varint(50399), [0xdf, 0x89, 0x03]);
        let written = Struct::default().i32(1, 1).texts(4, &["ab"]).end();
        assert_eq!(written, [0x15, 2, 0x39, 0x18, 2, b'a', b'b', 0]);
    }
}
