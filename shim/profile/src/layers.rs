//! Layers that were counted pair by pair, as matrices beside the profile.

use std::io::{BufReader, BufWriter, Write};
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use treepie_base::{FileError, convert, is_stream, text, write_atomically};
use treepie_traffic::formats::matrix_market::{self, Counts};
use treepie_traffic::{Layer, MatrixError, Traffic, TrafficMatrix};

/// Number of pairs above which matrices are compressed: `.mtx.gz`, which SciPy and Julia read
/// directly.
const MOST_PAIRS_AS_TEXT: usize = 1 << 20;
/// Number of pairs below which matrices are read sequentially.
const WORTH_A_THREAD: usize = 100_000;
/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// Sender, receiver, and count.
type Count = (usize, usize, u64);

/// Files of the matrices of a layer, and their sums.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayerFiles {
    #[serde(with = "convert")]
    layer: Layer,
    messages_matrix: String,
    bytes_matrix: String,
    /// Number of ordered pairs of ranks with traffic.
    pairs: usize,
    messages: u64,
    bytes: u64,
}

impl LayerFiles {
    /// Returns the names of the matrices of the layer of the profile at `path`. The names contain
    /// `phase`, and show whether the files are compressed.
    fn new(
        path: &Path,
        phase: Option<&str>,
        layer: Layer,
        traffic: &TrafficMatrix,
        compressed: bool,
    ) -> LayerFiles {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = [".yaml", ".yml"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(&name);
        let stem = match phase {
            Some(name) => format!("{stem}.phase-{}", plain(name)),
            None => stem.to_owned(),
        };
        let ending = if compressed { "mtx.gz" } else { "mtx" };
        let total = traffic.total();
        LayerFiles {
            layer,
            messages_matrix: format!("{stem}.{layer}.messages.{ending}"),
            bytes_matrix: format!("{stem}.{layer}.bytes.{ending}"),
            pairs: traffic.non_zeros(),
            messages: total.messages,
            bytes: total.bytes,
        }
    }
}

/// Converts a name so that it can be part of a file's name.
fn plain(name: &str) -> String {
    let plain = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() => letter,
        '-' | '_' | '.' => letter,
        _ => '_',
    };
    name.chars().map(plain).collect()
}

/// Writes the matrices of all layers that have traffic, and point-to-point, beside the profile at
/// `path`; their names contain `phase`. Returns their entries for the profile.
pub(crate) fn write(
    path: &Path,
    phase: Option<&str>,
    layers: &[(Layer, &TrafficMatrix)],
) -> Result<Vec<LayerFiles>, FileError> {
    let mut written = Vec::new();
    for &(layer, traffic) in layers {
        if traffic.non_zeros() == 0 && layer != Layer::PointToPoint {
            continue;
        }
        let compressed = traffic.non_zeros() > MOST_PAIRS_AS_TEXT;
        let files = LayerFiles::new(path, phase, layer, traffic, compressed);
        write_layer(path, &files, traffic, compressed)?;
        written.push(files);
    }
    Ok(written)
}

/// Reads the matrices of a list of layers, each into its place in `layers`. `field` is the name of
/// the list in the profile.
pub(crate) fn read(
    path: &Path,
    field: &str,
    listed: &[LayerFiles],
    layers: &mut [(Layer, &mut TrafficMatrix)],
    ranks: usize,
) -> Result<(), FileError> {
    let wrong = |problem: String| Err(FileError::field(path, field, problem));
    for (_, traffic) in layers.iter_mut() {
        **traffic = TrafficMatrix::new(ranks);
    }
    let mut seen = Vec::new();
    for files in listed {
        let layer = files.layer;
        if layer == Layer::Collectives {
            let problem = "collectives have no matrices of their own; write them as rows of \
                           `collectives`";
            return wrong(problem.into());
        }
        if seen.contains(&layer) {
            return wrong(format!("{layer} is listed twice; keep one of them"));
        }
        seen.push(layer);
        let read = read_layer(path, field, files, ranks)?;
        for (known, place) in layers.iter_mut() {
            if *known == layer {
                **place = read;
                break;
            }
        }
    }
    match seen.contains(&Layer::PointToPoint) {
        true => Ok(()),
        false => wrong("point-to-point is missing; take the profile again".into()),
    }
}

/// Writes the two matrices of a layer beside the profile at `path`, unless there can be no files.
fn write_layer(
    path: &Path,
    files: &LayerFiles,
    traffic: &TrafficMatrix,
    compressed: bool,
) -> Result<(), FileError> {
    if is_stream(path) {
        return Ok(());
    }
    type Counted = fn(Traffic) -> u64;
    let counts: [(&str, &str, Counted); 2] = [
        (&files.messages_matrix, "messages", |t| t.messages),
        (&files.bytes_matrix, "bytes", |t| t.bytes),
    ];
    for (name, what, count) in counts {
        let comment = format!(
            "{what} that rank row - 1 sent to rank column - 1, {}",
            files.layer
        );
        let size = (traffic.order(), traffic.non_zeros());
        // Both files list the same pairs: a message without bytes is an entry of 0.
        let entries = traffic
            .entries()
            .map(|(from, to, sent)| (from, to, count(sent)));
        write_atomically(&path.with_file_name(name), |out: &mut dyn Write| {
            if !compressed {
                return matrix_market::write_counts(size, entries, &comment, out);
            }
            let mut out = GzEncoder::new(out, Compression::fast());
            // The encoder is slow with a few bytes at a time.
            let lines = BufWriter::with_capacity(1 << 16, &mut out);
            matrix_market::write_counts(size, entries, &comment, lines)?;
            out.finish().map(drop)
        })?;
    }
    Ok(())
}

/// Reads the two matrices of a layer and compares them with the profile.
fn read_layer(
    path: &Path,
    field: &str,
    files: &LayerFiles,
    ranks: usize,
) -> Result<TrafficMatrix, FileError> {
    let entries_of = |name: &str| {
        let plain = Path::new(name)
            .file_name()
            .is_some_and(|plain| plain == name);
        if !plain {
            let problem = format!(
                "`{name}` is not the name of a file beside the profile; write a name without \
                 directories"
            );
            return Err(FileError::field(path, field, problem));
        }
        let matrix = path.with_file_name(name);
        let read = read_counts(&matrix)?;
        match read.order == ranks {
            true => Ok(read.entries),
            false => {
                let problem = format!(
                    "the matrix is for {} ranks and its profile for {ranks}; take the profile again",
                    read.order
                );
                Err(FileError::at(&matrix, 0, problem))
            }
        }
    };
    let (messages, bytes) = match files.pairs < WORTH_A_THREAD {
        true => (
            entries_of(&files.messages_matrix),
            entries_of(&files.bytes_matrix),
        ),
        // A job waits for it.
        false => thread::scope(|scope| {
            let messages = scope.spawn(|| entries_of(&files.messages_matrix));
            let bytes = entries_of(&files.bytes_matrix);
            match messages.join() {
                Ok(messages) => (messages, bytes),
                Err(panic) => resume_unwind(panic),
            }
        }),
    };
    let (messages, bytes) = (messages?, bytes?);
    let traffic =
        together(ranks, &messages, &bytes).map_err(|error| FileError::field(path, field, error))?;
    let total = traffic.total();
    for (what, found, stated) in [
        ("pairs", traffic.non_zeros() as u64, files.pairs as u64),
        ("messages", total.messages, files.messages),
        ("bytes", total.bytes, files.bytes),
    ] {
        if found != stated {
            let problem = format!(
                "the matrices {} and {} have {found} {what}, the profile has {stated}; they are \
                 of different runs or were cut off, take the profile again",
                files.messages_matrix, files.bytes_matrix
            );
            return Err(FileError::field(
                path,
                format!("{field}.{}", files.layer),
                problem,
            ));
        }
    }
    Ok(traffic)
}

/// Reads the counts of a matrix, which is compressed or not by its name.
fn read_counts(path: &Path) -> Result<Counts, FileError> {
    let name = path.display().to_string();
    let is_compressed = path.extension().is_some_and(|ending| ending == "gz");
    text::read_with(path, |file| match is_compressed {
        true => {
            let text = BufReader::with_capacity(BUFFER, GzDecoder::new(file));
            matrix_market::read_counts(text, &name)
        }
        false => matrix_market::read_counts(file, &name),
    })
}

/// Combines messages and bytes of the same pairs.
fn together(
    ranks: usize,
    messages: &[Count],
    bytes: &[Count],
) -> Result<TrafficMatrix, MatrixError> {
    let pair = |&(from, to, _): &Count| (from, to);
    // The order in which treepie writes them.
    if messages.iter().map(pair).eq(bytes.iter().map(pair)) {
        let both = messages.iter().zip(bytes);
        let entries = both
            .map(|(&(from, to, messages), &(.., bytes))| (from, to, Traffic::new(messages, bytes)));
        return TrafficMatrix::from_entries(ranks, entries);
    }
    let messages = messages
        .iter()
        .map(|&(from, to, sent)| (from, to, Traffic::new(sent, 0)));
    let bytes = bytes
        .iter()
        .map(|&(from, to, sent)| (from, to, Traffic::new(0, sent)));
    TrafficMatrix::from_entries(ranks, messages.chain(bytes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;

    #[test]
    fn a_compressed_matrix_has_as_many_entries_as_its_file_is_worth() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.mtx.gz");
        let mut out = GzEncoder::new(fs::File::create(&path).unwrap(), Compression::fast());
        writeln!(out, "%%MatrixMarket matrix coordinate integer general").unwrap();
        writeln!(out, "4 4 5000000").unwrap();
        out.write_all(&b"1 1 1\n".repeat(5_000_000)).unwrap();
        out.finish().unwrap();
        let error = read_counts(&path).unwrap_err().to_string();
        let expected = ":2: 5000000 entries would take more than the 64 MiB of memory that a text";
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn a_compressed_matrix_reads_back_and_half_of_it_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dense.profile.yaml");
        let mut dense = TrafficMatrix::new(50);
        for (from, to) in (0..50).flat_map(|from| (0..50).map(move |to| (from, to))) {
            dense.add(from, to, Traffic::new(1, (1 << 53) + 1));
        }
        let files = LayerFiles::new(&path, None, Layer::PointToPoint, &dense, true);
        write_layer(&path, &files, &dense, true).unwrap();
        let matrix = directory
            .path()
            .join("dense.profile.point-to-point.bytes.mtx.gz");
        let whole = fs::read(&matrix).unwrap();
        let plain = LayerFiles::new(&path, None, Layer::PointToPoint, &dense, false);
        write_layer(&path, &plain, &dense, false).unwrap();
        let text = fs::metadata(path.with_file_name(&plain.bytes_matrix)).unwrap();
        assert!(
            (whole.len() as u64) < text.len() / 2,
            "{} bytes",
            whole.len()
        );
        assert_eq!(read_layer(&path, "layers", &files, 50).unwrap(), dense);
        fs::write(&matrix, &whole[..whole.len() / 2]).unwrap();
        let said = read_layer(&path, "layers", &files, 50)
            .unwrap_err()
            .to_string();
        assert!(said.contains("cannot be read"), "{said}");
    }
}
