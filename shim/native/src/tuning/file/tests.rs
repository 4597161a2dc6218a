use super::*;

const TEXT: &str = "\
treepie: tuning
version: 1
mpi: open-mpi 4.1.4
ranks: 4
hosts: 1
rows:
- operation: bcast
  ranks: 4
  from_bytes: 1024
  algorithm: binomial
  us: 3.1
  native_us: 5.2
  others:
    chain: 4.5
- operation: bcast
  ranks: 4
  from_bytes: 8
  algorithm: default
  us: 5.0
  native_us: 5.0
  slower_than:
    scatter+allgather: 2.5
";

fn read(text: &str) -> Result<TuningFile, FileError> {
    TuningFile::from_text(Path::new("a.tuning.yaml"), text)
}

fn problem(from: &str, to: &str) -> String {
    assert!(TEXT.contains(from), "{from}");
    read(&TEXT.replace(from, to)).unwrap_err().to_string()
}

#[test]
fn a_tuning_is_read_in_order_and_written_as_it_was_read() {
    let file = read(TEXT).unwrap();
    let rows = &file.rows;
    assert_eq!([rows[0].from_bytes, rows[1].from_bytes], [8, 1024]);
    assert_eq!(rows[0].algorithm, None);
    assert_eq!(rows[1].algorithm.as_deref(), Some("binomial"));
    assert!((rows[1].factor() - 5.2 / 3.1).abs() < 1e-9);
    let written = file.to_text(Path::new("a.tuning.yaml")).unwrap();
    assert_eq!(read(&written).unwrap(), file);
    assert!(written.contains("native_us: 5.2"), "{written}");
}

#[test]
fn what_a_tuning_cannot_say_is_refused_by_field() {
    for (from, to, expected) in [
        (
            "mpi: open-mpi 4.1.4",
            "mpi: open-mpi 9.0.0",
            "a.tuning.yaml:3:6: mpi: open-mpi 9.0.0: treepie does not know the algorithms of this \
             MPI; it knows those of Open MPI 4.1 to 6.0, MPICH 4.0 to 5.0 and Intel MPI 2021",
        ),
        (
            "algorithm: binomial",
            "algorithm: rhombus",
            "a.tuning.yaml: rows[0].algorithm: open-mpi 4.1.4 has no algorithm `rhombus` for bcast; \
             write default or one of basic_linear, chain, pipeline, split_binary_tree, \
             binary_tree, binomial, knomial, scatter_allgather, scatter_allgather_ring",
        ),
        (
            "us: 3.1",
            "us: -3.1",
            "a.tuning.yaml:11:7: rows[0].us: -3.1 is no time; microseconds above 0 were expected",
        ),
        (
            "from_bytes: 8",
            "from_bytes: 1024",
            "a.tuning.yaml: rows[1]: has the operation, ranks and bytes of a row before; keep one",
        ),
        (
            "ranks: 4\n  from_bytes: 8",
            "ranks: 1\n  from_bytes: 8",
            "a.tuning.yaml: rows[1].ranks: is 1; a collective has at least 2 ranks",
        ),
    ] {
        assert_eq!(problem(from, to), expected);
    }
    assert!(problem("version: 1", "version: 2").contains("written by a newer treepie"));
    assert!(problem("us: 3.1\n", "\n").contains("missing field"));
}
