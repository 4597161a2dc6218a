//! MatrixMarket coordinate files: a header, the size, and one line for each entry
//! that is not zero; ranks count from 1.
//!
//! ```text
//! %%MatrixMarket matrix coordinate integer general
//! % comments
//! 3 3 2
//! 1 2 4096
//! 3 1 17
//! ```
//!
//! Supported are the fields `integer` and `real`, and the symmetries `general` and `symmetric`; the
//! latter lists only entries on and below the diagonal. Entries at the same position add up.
//! Source: Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats" (NISTIR 5935).

use std::io::{self, BufRead, Write};

use treepie_base::FileError;

use super::lines::{Line, Lines, shown};
use super::number::{Number, is_whole};
use crate::matrix::Matrix;

/// Whole numbers of a file, exact up to the largest `u64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Number of ranks.
    pub order: usize,
    /// Entries `(row, column, value)`, counted from 0, in the order of the file.
    pub entries: Vec<(usize, usize, u64)>,
}

/// Row, column, value.
type Entries<V> = Vec<(usize, usize, V)>;

/// Contents of the first line.
struct Header {
    integer: bool,
    symmetric: bool,
}

/// Reads a matrix; `file` is its name for messages.
///
/// # Errors
/// The input is malformed; the error has the position in the file.
pub fn read(reader: impl BufRead, file: &str) -> Result<Matrix, FileError> {
    let mut lines = Lines::new(reader, file);
    let header = read_header(&mut lines)?;
    let slow = |line: &Line<'_>, word: &str| {
        if header.integer {
            line.count(word, "a count that is not negative")?;
        }
        line.affinity(word)
    };
    let (order, entries) = read_entries(&mut lines, &header, |count| count as f64, slow)?;
    Matrix::from_entries(order, entries).map_err(|error| {
        lines
            .end()
            .error("a matrix", error.to_string(), "write it again")
    })
}

/// Reads a file of whole numbers without rounding them, for profiles.
///
/// # Errors
/// See [`read`]; a file of real numbers is refused.
pub fn read_counts(reader: impl BufRead, file: &str) -> Result<Counts, FileError> {
    let mut lines = Lines::new(reader, file);
    let header = read_header(&mut lines)?;
    if !header.integer {
        return Err(lines.last().error(
            "a header with the field `integer`",
            "`real`",
            "counts are whole numbers: write the file again",
        ));
    }
    let slow = |line: &Line<'_>, word: &str| line.count(word, "a count that is not negative");
    let (order, entries) = read_entries(&mut lines, &header, |count| count, slow)?;
    Ok(Counts { order, entries })
}

fn read_header<R: BufRead>(lines: &mut Lines<'_, R>) -> Result<Header, FileError> {
    const FORM: &str =
        "a header like `%%MatrixMarket matrix coordinate integer|real general|symmetric`";
    let Some(line) = lines.next()? else {
        return Err(lines.ended(FORM));
    };
    let lower = line.text.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let wrong = |remedy: &str| line.error(FORM, shown(&line.text), remedy);
    let ["%%matrixmarket", "matrix", form, field, symmetry] = words[..] else {
        return Err(wrong(
            "give a MatrixMarket file, or name it after its format",
        ));
    };
    if form != "coordinate" {
        return Err(wrong("write the matrix in coordinate form"));
    }
    let integer = match field {
        "integer" => true,
        "real" => false,
        _ => return Err(wrong("write the values as integer or real numbers")),
    };
    let symmetric = match symmetry {
        "general" => false,
        "symmetric" => true,
        _ => return Err(wrong("write the matrix as general or symmetric")),
    };
    Ok(Header { integer, symmetric })
}

fn read_size(line: &Line<'_>) -> Result<(usize, u64), FileError> {
    let words = line.three_words("three numbers: rows, columns, entries")?;
    let rows = line.order(words[0])?;
    let columns = line.order(words[1])?;
    if rows != columns {
        return Err(line.error(
            "as many columns as rows",
            format!("{rows} rows and {columns} columns"),
            "an affinity matrix has one row and one column for each rank",
        ));
    }
    Ok((rows, line.count(words[2], "the number of entries")?))
}

/// Reads the order, and the entries, whose values `value` parses, or `plain` converts from a number
/// on a line in the form that programs write.
fn read_entries<R: BufRead, V: Copy>(
    lines: &mut Lines<'_, R>,
    header: &Header,
    plain: impl Fn(u64) -> V,
    value: impl Fn(&Line<'_>, &str) -> Result<V, FileError>,
) -> Result<(usize, Entries<V>), FileError> {
    let Some(size_line) = lines.next_filled('%')? else {
        return Err(lines.ended("three numbers: rows, columns, entries"));
    };
    let (order, announced) = read_size(&size_line)?;
    let bytes = size_of::<(usize, usize, V)>() * if header.symmetric { 2 } else { 1 };
    let number = usize::try_from(announced).unwrap_or(usize::MAX);
    size_line.take("entries", number, bytes)?;
    let mut entries = Vec::new();
    let mut line = size_line;
    for read in 0..announced {
        if !header.symmetric
            && let Some([row, column, count]) = lines.next_plain()
            && let (Some(row), Some(column)) = (place(row, order), place(column, order))
        {
            lines.take_plain();
            entries.push((row, column, plain(count)));
            continue;
        }
        if !lines.next_filled_into(&mut line, '%')? {
            return Err(lines.ended(format!("{announced} entries after {read}")));
        }
        let words = line.three_words("three values: row, column, affinity")?;
        let row = line.index(words[0], "a row", 1, order)?;
        let column = line.index(words[1], "a column", 1, order)?;
        let value = value(&line, words[2])?;
        entries.push((row, column, value));
        if header.symmetric && column > row {
            return Err(line.error(
                "an entry on or below the diagonal",
                shown(&line.text),
                "a symmetric file lists each pair once; write `general` for both triangles",
            ));
        }
        if header.symmetric && column < row {
            entries.push((column, row, value));
        }
    }
    match lines.next_filled('%')? {
        None => Ok((order, entries)),
        Some(line) => Err(line.error(
            format!("the end after {announced} entries"),
            shown(&line.text),
            "correct the number of entries in the header, or remove this line",
        )),
    }
}

/// Converts a rank numbered from 1 in a file to one numbered from 0, if it is below `order`.
fn place(named: u64, order: usize) -> Option<usize> {
    let place = usize::try_from(named).ok()?.checked_sub(1)?;
    (place < order).then_some(place)
}

/// Writes a matrix, in the field `integer` if all its values are whole.
///
/// # Errors
/// Errors of `out`.
pub fn write(matrix: &Matrix, mut out: impl Write) -> io::Result<()> {
    let whole = matrix.entries().all(|(_, _, value)| is_whole(value));
    let field = if whole { "integer" } else { "real" };
    let (order, entries) = (matrix.order(), matrix.non_zeros());
    write_header(&mut out, field, "row sends to column", order, entries)?;
    for (row, column, value) in matrix.entries() {
        writeln!(out, "{} {} {}", row + 1, column + 1, Number(value))?;
    }
    out.flush()
}

/// Writes `pairs` entries `(row, column, count)`, counted from 0, without rounding them, in the
/// form that [`read_counts`] reads. Entries of 0 are written, too.
///
/// # Errors
/// Errors of `out`.
pub fn write_counts(
    (order, pairs): (usize, usize),
    entries: impl IntoIterator<Item = (usize, usize, u64)>,
    comment: &str,
    mut out: impl Write,
) -> io::Result<()> {
    write_header(&mut out, "integer", comment, order, pairs)?;
    for (row, column, value) in entries {
        writeln!(out, "{} {} {value}", row + 1, column + 1)?;
    }
    out.flush()
}

fn write_header(
    out: &mut impl Write,
    field: &str,
    comment: &str,
    order: usize,
    entries: usize,
) -> io::Result<()> {
    writeln!(out, "%%MatrixMarket matrix coordinate {field} general")?;
    writeln!(out, "% {comment}\n{order} {order} {entries}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::{entries, matrices};
    use proptest::prelude::*;

    fn of(text: &str) -> Result<Matrix, FileError> {
        read(text.as_bytes(), "job.mtx")
    }

    fn message(text: &str) -> String {
        of(text).unwrap_err().to_string()
    }

    const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n";

    #[test]
    fn comments_blank_lines_and_windows_line_ends_do_not_matter() {
        let matrix =
            of("%%matrixmarket MATRIX coordinate Integer General\r\n% a\n\n 2 2 2 \n%b\n1 2 3\n\n2\t1\t4")
                .unwrap();
        assert_eq!(
            matrix,
            Matrix::from_rows(&[[0.0, 3.0], [4.0, 0.0]]).unwrap()
        );
    }

    #[test]
    fn a_symmetric_file_holds_both_triangles_and_the_diagonal_once() {
        let matrix =
            of("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 5\n2 1 0.5\n").unwrap();
        assert_eq!(
            matrix,
            Matrix::from_rows(&[[5.0, 0.5], [0.5, 0.0]]).unwrap()
        );
        let upper = message("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 0.5\n");
        assert!(upper.starts_with("job.mtx:3: expected an entry on or below the diagonal"));
    }

    #[test]
    fn a_header_of_another_kind_is_refused_with_what_to_do() {
        assert_eq!(
            message("%%MatrixMarket matrix array real general\n"),
            "job.mtx:1: expected a header like `%%MatrixMarket matrix coordinate integer|real \
             general|symmetric`, found `%%MatrixMarket matrix array real general`; \
             write the matrix in coordinate form"
        );
        for text in [
            "",
            "3 3 0\n",
            "%%MatrixMarket matrix coordinate complex general\n",
            "%%MatrixMarket matrix coordinate real hermitian\n",
            "%%MatrixMarket vector coordinate real general\n",
        ] {
            assert!(message(text).starts_with("job.mtx:1: expected a header like"));
        }
    }

    #[test]
    fn a_matrix_that_is_not_square_is_refused() {
        assert_eq!(
            message(&format!("{GENERAL}2 3 0\n")),
            "job.mtx:2: expected as many columns as rows, found 2 rows and 3 columns; \
             an affinity matrix has one row and one column for each rank"
        );
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused() {
        assert_eq!(
            message(&format!("{GENERAL}2 2 2\n1 2 3\n")),
            "job.mtx:4: expected 2 entries after 1, found the end of the file; \
             the file is cut off or its header is wrong: write it again"
        );
        assert!(
            message(&format!("{GENERAL}2 2 1\n1 2"))
                .starts_with("job.mtx:3: expected three values")
        );
        assert!(message(GENERAL).starts_with("job.mtx:2: expected three numbers"));
    }

    #[test]
    fn more_entries_than_announced_are_refused() {
        assert_eq!(
            message(&format!("{GENERAL}2 2 1\n1 2 3\n2 1 3\n")),
            "job.mtx:4: expected the end after 1 entries, found `2 1 3`; \
             correct the number of entries in the header, or remove this line"
        );
    }

    #[test]
    fn values_that_are_no_affinities_are_refused() {
        for value in ["-1", "x", "nan", "inf", "1e999", "1,5"] {
            let said = message(&format!("{GENERAL}2 2 1\n1 2 {value}\n"));
            assert!(said.starts_with(&format!(
                "job.mtx:3: expected a number, finite and not negative, found `{value}`; "
            )));
        }
        let half = "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 1.5\n";
        assert!(message(half).contains("a whole number, found `1.5`"));
    }

    #[test]
    fn ranks_count_from_one_to_the_order() {
        for place in ["0 1", "3 1", "1 0", "1 3", "99999999999999999999 1", "-1 1"] {
            let said = message(&format!("{GENERAL}2 2 1\n{place} 7\n"));
            assert!(said.starts_with("job.mtx:3: expected a "), "{said}");
        }
    }

    #[test]
    fn a_monstrous_order_is_refused_before_memory_is_taken() {
        let said = message(&format!("{GENERAL}999999999999 999999999999 0\n"));
        assert!(said.contains("a number of ranks from 1 to 16777216"));
    }

    #[test]
    fn counts_of_real_numbers_are_refused() {
        let error = read_counts(format!("{GENERAL}1 1 0\n").as_bytes(), "x.mtx").unwrap_err();
        assert!(error.to_string().contains("counts are whole numbers"));
    }

    #[test]
    fn counts_that_a_matrix_cannot_hold_exactly_are_refused_and_not_rounded() {
        let integer = GENERAL.replace("real", "integer");
        for header in [GENERAL, &integer] {
            let said = message(&format!("{header}2 2 1\n1 2 9007199254740992\n"));
            assert_eq!(
                said,
                "job.mtx:3: expected a count below 2^53, above which not every whole number is \
                 exact, found `9007199254740992`; correct this value, or write it as a rounded \
                 number such as 1e17"
            );
            assert!(of(&format!("{header}2 2 1\n1 2 9007199254740991\n")).is_ok());
        }
        assert!(of(&format!("{GENERAL}2 2 1\n1 2 1e17\n")).is_ok());
    }

    #[test]
    fn a_file_that_is_no_text_is_refused() {
        let error = read(&b"%%MatrixMarket\xff\xfe\n"[..], "x.mtx").unwrap_err();
        assert!(error.to_string().contains("cannot be read after line 0"));
    }

    #[test]
    fn whole_numbers_are_written_without_decimals() {
        let mut text = Vec::new();
        let matrix = Matrix::from_entries(2, [(0, 1, 4096.0), (1, 0, 17.0)]).unwrap();
        write(&matrix, &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "%%MatrixMarket matrix coordinate integer general\n% row sends to column\n\
             2 2 2\n1 2 4096\n2 1 17\n"
        );
    }

    /// A reader that returns a few bytes at a time, so that lines are split anywhere.
    fn in_pieces(text: &str, bytes: usize) -> impl BufRead + '_ {
        std::io::BufReader::with_capacity(bytes, text.as_bytes())
    }

    #[test]
    fn lines_as_programs_write_them_and_others_are_read_alike() {
        let plain = "%%MatrixMarket matrix coordinate integer general\n3 3 4\n\
                     1 2 40\n2 3 999999999999999\n3 1 1234567890123456\n3 3 0\n";
        let others = plain.replace(' ', "  ").replace('\n', " \r\n% said\n");
        let others = others.replace("%%MatrixMarket  matrix", "%%MatrixMarket matrix");
        let expected = read_counts(others.as_bytes(), "x.mtx").unwrap();
        assert_eq!(expected.entries[2], (2, 0, 1_234_567_890_123_456));
        for bytes in 1..20 {
            assert_eq!(
                read_counts(in_pieces(plain, bytes), "x.mtx").unwrap(),
                expected
            );
        }
        let wrong = plain.replace("3 3 0", "4 3 0");
        assert!(
            read_counts(wrong.as_bytes(), "x.mtx")
                .unwrap_err()
                .to_string()
                .starts_with("x.mtx:6: expected a row from 1 to 3, found `4`")
        );
    }

    proptest! {
        #[test]
        fn a_matrix_that_is_written_is_read_back(matrix in matrices(12)) {
            let mut text = Vec::new();
            write(&matrix, &mut text).unwrap();
            prop_assert_eq!(read(&text[..], "x.mtx"), Ok(matrix));
        }

        #[test]
        fn counts_that_are_written_are_read_back_exactly(
            (order, entries) in entries(12, any::<u64>())
        ) {
            let mut text = Vec::new();
            let written = entries.iter().copied();
            write_counts((order, entries.len()), written, "any", &mut text).unwrap();
            prop_assert_eq!(read_counts(&text[..], "x.mtx"), Ok(Counts { order, entries }));
        }
    }
}
