//! Traffic of neighbourhood allgathers whose blocks are relayed, from the pairs that were recorded:
//! each block reaches each of its receivers once, along the path in their description.

use treepie_collective::AsRun;
use treepie_collective::algorithms::ways_of_block;
use treepie_collective::record::Record;
use treepie_traffic::{Traffic, TrafficMatrix};

/// Adds the traffic of the ranks of a record in all its calls.
pub(super) fn expand_relayed(
    record: &Record,
    pairs: &[(u32, u32, u64, u64)],
    run: &AsRun,
    into: &mut TrafficMatrix,
) {
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable();
    for of_source in sorted.chunk_by(|one, other| one.0 == other.0) {
        let source = of_source[0].0 as usize;
        let receivers = of_source.iter().map(|&(_, to, ..)| to as usize);
        let mut receivers: Vec<usize> = receivers.filter(|&to| to != source).collect();
        receivers.dedup();
        ways_of_block(&run.clusters, source, &receivers, &mut |from, to| {
            let is_near = run.clusters.of(source) == run.clusters.of(to);
            for &(.., bytes, messages) in of_source.iter().filter(|pair| pair.1 as usize == to) {
                let block = bytes / messages.max(1);
                let pieces = match is_near {
                    true => 1,
                    false => block.div_ceil(run.flow.segment_of(block).max(1)).max(1),
                };
                let sent = Traffic::new(messages.saturating_mul(pieces), bytes);
                into.add(record.group[from] as usize, record.group[to] as usize, sent);
            }
        });
    }
}
