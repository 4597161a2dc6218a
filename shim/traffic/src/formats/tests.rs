//! All formats together, the dense ones, the graphs, and Open MPI's monitoring.

use std::io::{self, BufReader};
use std::path::Path;

use proptest::prelude::*;
use treepie_base::budget::within;

use crate::formats::{Format, dense_text, metis, monitoring, scotch};
use crate::matrix::Matrix;
use crate::strategies::{matrices, whole_matrices};
use crate::traffic::{Traffic, TrafficMatrix};

const ALL: [Format; 6] = [
    Format::MatrixMarket,
    Format::DenseText,
    Format::Csv,
    Format::Metis,
    Format::Scotch,
    Format::Monitoring,
];
const DENSE: [Format; 2] = [Format::DenseText, Format::Csv];
const GRAPHS: [Format; 2] = [Format::Metis, Format::Scotch];

fn written(format: Format, matrix: &Matrix) -> String {
    let mut text = Vec::new();
    format.write(matrix, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn message(format: Format, text: &str) -> String {
    let error = format.read(text.as_bytes(), "f").unwrap_err();
    let message = error.to_string();
    assert!(!message.contains('\n'), "one line: {message}");
    message
}

#[test]
fn matrices_have_as_many_ranks_and_entries_as_their_files_are_worth() {
    const HEADER: &str = "%%MatrixMarket matrix coordinate integer general\n";
    let market = |size: &str| (Format::MatrixMarket, format!("{HEADER}{size}\n"));
    for (what, (format, text)) in [
        (
            "9999993 ranks",
            (
                Format::Monitoring,
                "E 0 9999992 1 bytes 1 msgs sent\n".to_owned(),
            ),
        ),
        (
            "9999993 ranks",
            (
                Format::Monitoring,
                "D MPI_COMM_WORLD procs: 9999992\n".to_owned(),
            ),
        ),
        ("9999993 ranks", market("9999993 9999993 0")),
        (
            "18446744073709551615 entries",
            market("4 4 18446744073709551615"),
        ),
        ("9999993 ranks", (Format::Metis, "9999993 0\n".to_owned())),
        (
            "9999993 ranks",
            (Format::Scotch, "0\n9999993 0\n0 000\n".to_owned()),
        ),
    ] {
        let said = message(format, &text);
        let expected = format!("{what} would take more than the 64 MiB of memory");
        assert!(said.contains(&expected), "{said}");
    }
    let ring = |ranks: usize| {
        let rows: String = (1..ranks)
            .map(|rank| format!("{rank} {} 8\n", rank + 1))
            .collect();
        format!("{HEADER}{ranks} {ranks} {}\n{rows}", ranks - 1)
    };
    for ranks in [100_000, 3_000_000] {
        let text = ring(ranks);
        let read = within(text.len(), || {
            Format::MatrixMarket.read(text.as_bytes(), "f")
        });
        assert_eq!(read.unwrap().non_zeros(), ranks - 1);
    }
}

#[test]
fn a_line_without_an_end_is_not_kept() {
    let ones = BufReader::new(io::repeat(b'1'));
    let said = Format::DenseText.read(ones, "f").unwrap_err().to_string();
    assert!(said.contains("a line has no end"), "{said}");
}

#[test]
fn every_format_is_read_back_from_its_name() {
    for format in ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
}

#[test]
fn the_ending_of_a_name_tells_the_format_in_any_case() {
    let by_extension = |name: &str| Format::from_path(Path::new(name));
    for ending in Format::ENDINGS {
        let format = by_extension(&format!("dir.x/job{ending}")).unwrap();
        assert!(format.write(&Matrix::zero(1), Vec::new()).is_ok());
    }
    assert_eq!(by_extension("A.MTX"), Some(Format::MatrixMarket));
    assert_eq!(by_extension("a.0.prof"), Some(Format::Monitoring));
    for other in ["a.yaml", "mtx", "a.profile.yaml", ""] {
        assert_eq!(by_extension(other), None);
    }
}

#[test]
fn the_format_of_open_mpis_monitoring_is_not_written() {
    let error = Format::Monitoring
        .write(&Matrix::zero(1), Vec::new())
        .unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
}

#[test]
fn dense_rows_send_to_columns() {
    let text = "# made by hand\n0 5\t1\n\n2 0 0.5  \n0 0 0\n";
    let matrix = dense_text::read(text.as_bytes(), "f").unwrap();
    assert_eq!(matrix.get(0, 1), 5.0);
    assert_eq!(matrix.get(1, 2), 0.5);
    assert_eq!(
        written(Format::DenseText, &matrix),
        "0\t5\t1\n2\t0\t0.5\n0\t0\t0\n"
    );
    assert_eq!(written(Format::Csv, &matrix), "0,5,1\n2,0,0.5\n0,0,0\n");
}

#[test]
fn the_thesis_matrix_of_cg_has_the_same_sum_in_each_row() {
    // TreeMatch thesis, figure 2.4(a): messages of CG class C on 8 processes.
    let text = "\
        1976 6004 6004    0    0    0    0    0\n\
        6004 1976    0 6004    0    0    0    0\n\
        6004    0    0 6004 1976    0    0    0\n\
           0 6004 6004    0    0 1976    0    0\n\
           0    0 1976    0    0 6004 6004    0\n\
           0    0    0 1976 6004    0    0 6004\n\
           0    0    0    0 6004    0 1976 6004\n\
           0    0    0    0    0 6004 6004 1976\n";
    let matrix = dense_text::read(text.as_bytes(), "cg.mat").unwrap();
    for row in 0..8 {
        assert_eq!(
            matrix.row(row).map(|(_, value)| value).sum::<f64>(),
            13984.0
        );
    }
}

#[test]
fn a_table_that_is_not_square_is_refused_where_it_stops_being() {
    assert_eq!(
        message(Format::DenseText, "0 1\n2\n"),
        "f:2: expected 2 numbers, as in the first row, found 1; \
         the matrix must be square: one row and one column for each rank"
    );
    assert_eq!(
        message(Format::Csv, "0,1\n1,0\n0,1\n"),
        "f:3: expected the end after 2 rows of 2 numbers, found `0,1`; \
         the matrix must be square: one row and one column for each rank"
    );
    assert_eq!(
        message(Format::DenseText, "0 1 2\n2 0 1\n"),
        "f:3: expected 3 rows, as there are 3 numbers in the first, after 2, found the end of \
         the file; the file is cut off or its header is wrong: write it again"
    );
    for format in DENSE {
        assert!(message(format, "# nothing\n\n").contains("expected rows of numbers"));
    }
}

#[test]
fn a_table_with_something_else_than_affinities_is_refused() {
    for word in ["-1", "x", "NaN", "inf", "1;2", "0x10"] {
        for (format, separator) in [(Format::DenseText, ' '), (Format::Csv, ',')] {
            let said = message(format, &format!("0{separator}1\n{word}{separator}0\n"));
            let start = format!("f:2: expected a number, finite and not negative, found `{word}`");
            assert!(said.starts_with(&start), "{said}");
        }
    }
    assert!(message(Format::Csv, "0,\n0,0\n").contains("found nothing"));
}

#[test]
fn graphs_are_written_as_their_manuals_say() {
    let matrix =
        Matrix::from_entries(3, [(0, 1, 4000.0), (1, 0, 96.0), (2, 1, 17.0), (2, 2, 5.0)]).unwrap();
    assert_eq!(
        written(Format::Metis, &matrix),
        "3 2 001\n2 4096\n1 4096 3 17\n2 17\n"
    );
    assert_eq!(
        written(Format::Scotch, &matrix),
        "0\n3\t4\n0\t010\n1\t4096 1\n2\t4096 0\t17 2\n1\t17 1\n"
    );
}

#[test]
fn metis_headers_with_and_without_weights_are_read() {
    for header in ["2 1 1", "2 1 001"] {
        let text = format!("% comment\n{header}\n2 8\n% comment\n1 8\n");
        let matrix = metis::read(text.as_bytes(), "f").unwrap();
        assert_eq!(matrix.get(0, 1), 4.0);
        assert_eq!(matrix.get(1, 0), 4.0);
    }
    for header in ["2 1", "2 1 0", "2 1 000"] {
        let matrix = metis::read(format!("{header}\n2\n1\n").as_bytes(), "f").unwrap();
        assert_eq!(matrix.get(0, 1), 0.5);
    }
    assert!(message(Format::Metis, "2 1 11\n1 2 8\n1 1 8\n").contains("without sizes and weights"));
}

#[test]
fn blank_lines_of_a_metis_file_are_vertices_without_neighbours() {
    let matrix = metis::read(&b"3 1 1\n\n3 2\n2 2\n\n"[..], "f").unwrap();
    assert_eq!(matrix.non_zeros(), 2);
    assert_eq!(matrix.get(1, 2), 1.0);
}

#[test]
fn the_cube_of_the_scotch_guide_is_read_from_base_0_and_base_1() {
    let ends = [
        [4, 2, 1],
        [5, 3, 0],
        [6, 0, 3],
        [7, 1, 2],
        [0, 6, 5],
        [1, 7, 4],
        [2, 4, 7],
        [3, 5, 6],
    ];
    for base in [0, 1] {
        let mut text = format!("0\n8\t24\n{base} 000\n");
        for arcs in ends {
            let [a, b, c] = arcs.map(|end| end + base);
            text += &format!("3\t{a}\t{b}\t{c}\n");
        }
        let matrix = scotch::read(text.as_bytes(), "cube.grf").unwrap();
        assert_eq!(matrix.total(), 12.0, "one for each edge");
        for (vertex, arcs) in ends.into_iter().enumerate() {
            assert!(arcs.iter().all(|&end| matrix.get(vertex, end) == 0.5));
        }
    }
}

#[test]
fn graphs_whose_edges_do_not_fit_together_are_refused() {
    for (text, expected) in [
        ("3 1 1\n2 8\n3 8\n2 8\n", "f:1: expected 1 edges"),
        (
            "2 1 1\n2 8\n1 9\n",
            "f:2: expected each edge from both ends",
        ),
        ("2 1 1\n1 8\n2 8\n", "f:2: expected edges to other vertices"),
        (
            "2 2 1\n2 8 2 8\n1 8 1 8\n",
            "f:2: expected each neighbour once",
        ),
        ("2 1 1\n2 0\n1 0\n", "f:2: expected a positive weight"),
        (
            "2 1 1\n2\n1 8\n",
            "f:2: expected a weight after each neighbour",
        ),
        ("2 1 1\n3 8\n1 8\n", "f:2: expected a neighbour from 1 to 2"),
        ("2 1 1\n2 -8\n1 8\n", "f:2: expected the weight of an edge"),
        (
            "2 1 1\n2 8\n",
            "f:3: expected a line for each of 2 vertices",
        ),
        ("2 1 1\n2 8\n1 8\n1 8\n", "f:4: expected the end after 2"),
        ("", "f:1: expected the numbers of vertices and edges"),
    ] {
        let said = message(Format::Metis, text);
        assert!(said.starts_with(expected), "{said}");
    }
    for (text, expected) in [
        ("2\n2 2\n0 000\n1 1\n1 0\n", "f:1: expected the version"),
        ("0\n2 2\n5 000\n1 1\n1 0\n", "f:3: expected 0 or 1"),
        ("0\n2 2\n0 001\n1 1\n1 0\n", "f:3: expected the flag `000`"),
        ("0\n2 4\n0 000\n1 1\n1 0\n", "f:6: expected 4 arcs"),
        ("0\n2 2\n0 000\n1 1\n1\n", "f:6: expected the end of an arc"),
        (
            "0\n2 2\n0 000\n1 1\n1 0 7\n",
            "f:5: expected the end after 2",
        ),
        (
            "0\n2 2\n1 000\n1 0\n1 1\n",
            "f:4: expected the end of an arc from 1 to 2",
        ),
    ] {
        let said = message(Format::Scotch, text);
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn open_mpis_monitoring_is_read_by_layer() {
    let text = "# POINT TO POINT\n\
        E\t0\t1\t108 bytes\t27 msgs sent\t0,0,0,27,0\n\
        I\t0\t1\t12 bytes\t6 msgs sent\t0,0,6,0\n\
        # OSC\nS\t0\t2\t8 bytes\t1 msgs sent\nR\t0\t1\t16 bytes\t2 msgs sent\n\
        # COLLECTIVES\nC\t0\t1\t8 bytes\t1 msgs sent\n\
        D\tMY COMM\tprocs: 0,1,3\nO2A\t0\t0 bytes\t0 msgs sent\n";
    let counted = monitoring::read(text.as_bytes(), "f").unwrap();
    let entries = |matrix: &TrafficMatrix| matrix.entries().collect::<Vec<_>>();
    assert_eq!(counted.point_to_point.order(), 4);
    assert_eq!(
        entries(&counted.point_to_point),
        [(0, 1, Traffic::new(27, 108))]
    );
    assert_eq!(entries(&counted.collectives), [(0, 1, Traffic::new(6, 12))]);
    let one_sided = [(0, 2, Traffic::new(1, 8)), (1, 0, Traffic::new(2, 16))];
    assert_eq!(entries(&counted.one_sided), one_sided);
    let all = Format::Monitoring.read(text.as_bytes(), "f").unwrap();
    assert_eq!(all.get(0, 1), 120.0);
}

#[test]
fn a_monitoring_file_that_is_cut_off_or_something_else_is_refused() {
    for (text, expected) in [
        (
            "E\t0\t1\t108 by",
            "f:1: expected sender, receiver, bytes and messages",
        ),
        (
            "D\tMPI_COMM_WORLD\t",
            "f:1: expected the ranks of a communicator",
        ),
        (
            "E\t0\t-1\t108 bytes\t2 msgs sent\n",
            "f:1: expected a receiver",
        ),
        ("0 1 2\n", "f:1: expected a line that begins with"),
        ("# nothing\n", "f:2: expected what ranks sent"),
        (
            "E\t0\t999999999\t1 bytes\t1 msgs sent\n",
            "f:1: expected a receiver from 0 to 16777215",
        ),
    ] {
        let said = message(Format::Monitoring, text);
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn messages_show_only_the_start_of_long_lines() {
    let said = message(Format::MatrixMarket, &"é\u{7}".repeat(10_000));
    assert!(said.len() < 400, "{said}");
}

proptest! {
    #[test]
    fn a_dense_matrix_that_is_written_is_read_back(matrix in matrices(10)) {
        for format in DENSE {
            let text = written(format, &matrix);
            prop_assert_eq!(format.read(text.as_bytes(), "f"), Ok(matrix.clone()));
        }
    }

    #[test]
    fn a_graph_that_is_written_is_read_back_as_the_same_traffic_of_each_pair(
        matrix in whole_matrices(10)
    ) {
        for format in GRAPHS {
            let text = written(format, &matrix);
            let back = format.read(text.as_bytes(), "f").unwrap();
            prop_assert_eq!(back.symmetrised(), matrix.symmetrised());
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(
        start in prop::sample::select(vec![
            "", "%%MatrixMarket matrix coordinate real general\n", "0\n", "2 1 1\n", "E\t0\t",
        ]),
        text in "[-0-9 .,%#\\nEeDx\\t:\u{e9}]{0,80}",
    ) {
        for format in ALL {
            let text = format!("{start}{text}");
            if let Err(error) = format.read(text.as_bytes(), "f") {
                prop_assert!(error.to_string().starts_with("f:"));
            }
        }
    }

    #[test]
    fn a_file_that_lost_its_last_line_is_refused(matrix in whole_matrices(10)) {
        for format in [Format::MatrixMarket, Format::DenseText, Format::Csv, Format::Metis, Format::Scotch] {
            let text = written(format, &matrix);
            let end = text.trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1);
            let vertex_or_entry_lost = format.read(&text.as_bytes()[..end], "f");
            prop_assert!(vertex_or_entry_lost.is_err() , "{format}: {text}");
        }
    }
}
