//! Order of receives, as the settings request it.

use treepie_base::{List, Rank, check_writable};
use treepie_jobstate::order::Log;
use treepie_jobstate::order::file as order_file;
use treepie_mpi::native::Native;
use treepie_process::log;
use treepie_profile::settings::{AfterEnd, Mode, Settings};

use super::decision::{Order, OrderWay};
use super::program;
use super::request_error::RequestError;
use super::run::{self, describe};
use crate::order;

/// Order, and the logs that are replayed.
type OrderAndLogs = (Order, List<Rank, Log>);

/// Reads the settings for the order of receives.
pub(super) fn read(
    native: &Native,
    settings: &Settings,
    ranks: usize,
) -> Result<Option<OrderAndLogs>, RequestError> {
    let Some(path) = settings.order.as_deref() else {
        return Ok(None);
    };
    let delays = settings.order_delays;
    let (way, logs) = match settings.mode {
        Mode::Profile => {
            check_writable(path)?;
            order::clear(path);
            let run = describe(native, ranks, Vec::new());
            // Ranks may have changed their directory.
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            (
                OrderWay::Record(path, Box::new((run, program::of_order()))),
                List::new(),
            )
        }
        Mode::Replay => {
            let file = order_file::Order::read(path)?;
            file.check(path, ranks)?;
            let program = program::of_order();
            file.check_program(path, &program)?;
            if let Err(error) = file.check_build(path, &program, run::family_name(native)) {
                match settings.strict {
                    true => return Err(error.into()),
                    false => log::warn(&error.to_string()),
                }
            }
            if let [first, ..] = file.early()[..] {
                log::warn(&format!(
                    "{}: the recorded run ended before MPI_Finalize (rank {first}); behind its end \
                     {}",
                    path.display(),
                    match settings.order_after_end {
                        AfterEnd::Free => "messages are taken as they come",
                        AfterEnd::Stop => "the job is ended, too",
                    }
                ));
            }
            let way = OrderWay::Replay {
                patience: settings.order_timeout.0,
                after_end: settings.order_after_end,
            };
            (way, file.logs)
        }
        Mode::Off | Mode::Auto => return Ok(None),
    };
    Ok(Some((Order { way, delays }, logs)))
}
