//! The choice for every collective and size, as a setting.

use std::process::ExitCode;

use treepie_choice::are_bytes_known;
use treepie_choice::predict::Predictor;
use treepie_collective::{Composition, Operation, Uniform};
use treepie_platform::Platform;
use treepie_profile::settings::{Collectives, OfSizes, Runner};

use crate::commands::outcome::Outcome;
use crate::commands::predict::arguments::Arguments;

/// Ranges of sizes begin at powers of two of these exponents, and at 0 bytes.
const EXPONENTS: std::ops::Range<u32> = 4..23;

/// Prints the setting.
pub fn run(platform: &Platform, arguments: &Arguments) -> Outcome {
    let mut listed = Vec::new();
    let operations = Operation::all().filter(|&one| are_bytes_known(one));
    for operation in operations.filter(|one| !one.is_among_neighbours()) {
        listed.push((operation, runner(platform, operation, arguments)?));
    }
    let setting = Collectives {
        listed,
        ..Collectives::default()
    };
    let setting = match setting.all_native() {
        true => Collectives::default(),
        false => setting,
    };
    let json = || serde_json::json!({ "collectives": setting.to_string() });
    let words = || format!("TREEPIE_COLLECTIVES={setting}\n");
    arguments.printing.answer(json, words)?;
    Ok(ExitCode::SUCCESS)
}

/// The choices of an operation.
fn runner(
    platform: &Platform,
    operation: Operation,
    arguments: &Arguments,
) -> Result<Runner, treepie_launch::error::CommandError> {
    let call = |bytes| Uniform {
        operation,
        bytes,
        root: arguments.root(operation, platform),
    };
    let mut predictor = arguments.predictor(platform, call(0))?;
    if operation == Operation::Barrier {
        return Ok(chosen(&predictor));
    }
    let mut ranges: Vec<OfSizes> = Vec::new();
    let starts = std::iter::once(0).chain(EXPONENTS.map(|exponent| 1 << exponent));
    let ends = EXPONENTS.map(|exponent| 1 << exponent);
    for (start, end) in starts.zip(ends.chain(std::iter::once(u64::MAX))) {
        // In the middle of the range; for the last range, as if it ended at twice its start.
        predictor = predictor.with_call(call((start + end.min(2 * start.max(8))) / 2));
        let runner = chosen(&predictor);
        match ranges.last_mut() {
            Some(last) if last.runner == runner => last.sizes.end = end,
            _ => ranges.push(OfSizes {
                sizes: start..end,
                runner,
            }),
        }
    }
    Ok(match &ranges[..] {
        [one] => one.runner.clone(),
        _ => Runner::BySize(ranges),
    })
}

fn chosen(predictor: &Predictor) -> Runner {
    let choice = predictor.choice();
    match choice.algorithm {
        Some(algorithm) => Runner::Plan(Composition {
            segment: Some(choice.segment).filter(|&segment| segment < predictor.call.bytes),
            ..Composition::from(algorithm)
        }),
        None => Runner::Native,
    }
}
