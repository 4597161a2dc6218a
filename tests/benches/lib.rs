//! Benchmarks of the crates under `shim/`: each file of `benches/` is a program that prints a
//! table. The MPI programs whose calls `scripts/bench` times are in `jobs/`.
