//! Open MPI from version 6 on: rules of `tuned` in JSON, version 3 (pull request 13104 of Open MPI,
//! `tuned_dynamic_file_schema.json`). They name the calls that they are for, so that calls without
//! measurements need no rule.

use serde_json::{Map, Value, json};

use crate::tuning::rules::steps::{Operations, Step, bytes_of};
use treepie_collective::Operation;

/// Returns the rules of `tuned`.
pub(super) fn of_tuned(operations: &Operations) -> String {
    let mut collectives = Map::new();
    for (operation, sizes) in operations.values() {
        let of_ranks = |(ranks, steps): (&usize, &Vec<Step>)| {
            json!({
                "comm_size_min": ranks,
                "comm_size_max": ranks,
                "rules": rules(*operation, *ranks, steps),
            })
        };
        let name = operation.to_string().replace('-', "");
        collectives.insert(name, sizes.iter().map(of_ranks).collect());
    }
    let all = json!({"rule_file_version": 3, "module": "tuned", "collectives": collectives});
    format!("{all:#}\n")
}

/// Returns rules with the range of bytes of each algorithm.
fn rules(operation: Operation, ranks: usize, steps: &[Step]) -> Vec<Value> {
    let ends = steps.iter().skip(1).map(|(bytes, _)| Some(*bytes));
    let steps = steps.iter().zip(ends.chain([None]));
    steps
        .filter_map(|((bytes, knob), end)| {
            let last = end.map(|end| bytes_of(operation, ranks, end) - 1);
            Some(json!({
                "msg_size_min": bytes_of(operation, ranks, *bytes),
                "msg_size_max": last.map_or(json!("inf"), Value::from),
                "alg": (*knob)?.name,
            }))
        })
        .collect()
}
