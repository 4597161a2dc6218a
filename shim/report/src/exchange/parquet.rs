//! Apache Parquet, without compression: plain values, no missing ones. Written here, with
//! `thrift.rs`, because the package `parquet` (60.1, without its default features) brings ten
//! further packages and 130,000 lines for three kinds of columns; pandas and pyarrow read the
//! result in a test.

use std::io::{self, Write};

use super::columns::{Column, Columns, Values};
use super::thrift::Struct;

const MAGIC: &[u8] = b"PAR1";
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const UNCOMPRESSED: i32 = 0;
const REQUIRED: i32 = 0;
const UTF8: i32 = 0;

/// Maximum number of rows of a group: pages must be shorter than 2 GiB.
const GROUP: usize = 1 << 20;

/// Writes a table.
pub(super) fn write(table: &Columns, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(MAGIC)?;
    let mut place = MAGIC.len() as i64;
    let mut groups = Vec::new();
    for first in (0..table.rows()).step_by(GROUP) {
        let rows = first..table.rows().min(first + GROUP);
        let count = rows.len() as i64;
        let (start, mut chunks) = (place, Vec::new());
        for column in &table.0 {
            let values = plain(&column.values, rows.clone());
            let page = page(values.len(), count);
            out.write_all(&page)?;
            out.write_all(&values)?;
            let bytes = (page.len() + values.len()) as i64;
            chunks.push(chunk(column, place, bytes, count));
            place += bytes;
        }
        let group = Struct::default().structures(1, chunks);
        groups.push(group.i64(2, place - start).i64(3, count));
    }
    let footer = footer(table, groups);
    out.write_all(&footer)?;
    out.write_all(&(footer.len() as u32).to_le_bytes())?;
    out.write_all(MAGIC)
}

/// Encodes values one after the other, each text after its length.
fn plain(values: &Values, rows: std::ops::Range<usize>) -> Vec<u8> {
    match values {
        Values::Whole(values) => values[rows].iter().flat_map(|v| v.to_le_bytes()).collect(),
        Values::Real(values) => values[rows].iter().flat_map(|v| v.to_le_bytes()).collect(),
        Values::Text(values) => {
            let text = |text: &String| {
                let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
                bytes.extend(text.as_bytes());
                bytes
            };
            values[rows].iter().flat_map(text).collect()
        }
    }
}

fn kind(values: &Values) -> i32 {
    match values {
        Values::Whole(_) => 2,
        Values::Real(_) => 5,
        Values::Text(_) => 6,
    }
}

fn page(bytes: usize, rows: i64) -> Vec<u8> {
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    let data = Struct::default().i32(1, rows as i32).i32(2, PLAIN);
    let data = data.i32(3, RLE).i32(4, RLE);
    let header = Struct::default().i32(1, 0).i32(2, bytes).i32(3, bytes);
    header.structure(5, data).end()
}

fn chunk(column: &Column, place: i64, bytes: i64, rows: i64) -> Struct {
    let metadata = Struct::default()
        .i32(1, kind(&column.values))
        .numbers(2, &[PLAIN, RLE])
        .texts(3, &[column.name])
        .i32(4, UNCOMPRESSED)
        .i64(5, rows)
        .i64(6, bytes)
        .i64(7, bytes)
        .i64(9, place);
    Struct::default().i64(2, place).structure(3, metadata)
}

fn footer(table: &Columns, groups: Vec<Struct>) -> Vec<u8> {
    let root = Struct::default().text(4, "schema");
    let mut schema = vec![root.i32(5, table.0.len() as i32)];
    schema.extend(table.0.iter().map(|column| {
        let element = Struct::default().i32(1, kind(&column.values));
        let element = element.i32(3, REQUIRED).text(4, column.name);
        match column.values {
            Values::Text(_) => element.i32(6, UTF8),
            Values::Whole(_) | Values::Real(_) => element,
        }
    }));
    let created = concat!("treepie ", env!("CARGO_PKG_VERSION"));
    let file = Struct::default().i32(1, 1).structures(2, schema);
    let file = file.i64(3, table.rows() as i64).structures(4, groups);
    file.text(6, created).end()
}
