//! Arguments of `treepie cut`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use treepie_launch::error::CommandError;

use crate::commands::cut::coordinator::Remote;
use crate::commands::cut::members::Members;
use crate::commands::cut::protocol::JobNumber;
use crate::commands::cut::waves::Waves;
use crate::commands::options::{Printing, RunSettings, positive};
use crate::commands::why::named_base;

/// Stop all ranks while no message is in flight, to save the job; or verify its messages
#[derive(Debug, Args)]
#[command(
    override_usage = "treepie cut [OPTIONS] -- mpirun -np 16 ./app ...\n       \
                            treepie cut [OPTIONS] [JOB]"
)]
pub struct Arguments {
    /// A running job, started with TREEPIE_CUT=true: the process number of its launcher or of a
    /// rank, or the number of the run or its beginning [default: the only one]
    #[arg(value_name = "JOB", conflicts_with = "command")]
    pub(crate) job: Option<String>,
    /// Make a wave at this interval
    #[arg(long, value_name = "TIME", value_parser = positive, requires = "command")]
    pub(crate) every: Option<Duration>,
    /// Make one wave as soon as all ranks exist
    #[arg(long, conflicts_with = "every")]
    pub(crate) now: bool,
    /// Shell command that saves the job while its ranks are stopped. TREEPIE_CUT_WAVE has the
    /// number of the wave, TREEPIE_CUT_PROCESSES the processes of the ranks
    #[arg(long, value_name = "COMMAND")]
    pub(crate) then: Option<String>,
    /// Drop a wave that finds no quiet cut within this time; all ranks continue
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = positive)]
    wave_timeout: Duration,
    /// End the command of --then after this time
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = positive)]
    time_limit: Duration,
    /// For a job started here: fail if a message was never received, or a receive never completed.
    /// For a running job: read the counts without stopping any rank
    #[arg(long)]
    pub(crate) verify: bool,
    /// Directory of the pages, if TREEPIE_PAGES names one
    #[arg(long, value_name = "DIR")]
    pub(crate) pages: Option<PathBuf>,
    /// Ranks also run on these hosts: treepie on each of them coordinates its ranks, and the one on
    /// the first host all of them; give it once for each cluster
    #[arg(long, value_name = "HOST,...", value_parser = hosts)]
    cluster: Vec<Hosts>,
    /// Command that runs another on a host: called with the host, then the command
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    remote_shell: String,
    /// Obey orders for the ranks of this host and those of --cluster
    #[arg(long, hide = true)]
    pub(crate) coordinate: bool,
    /// The number given to the runs
    #[arg(long, hide = true, value_parser = hexadecimal)]
    pub(crate) given: Option<u64>,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    /// The usual command line of the job
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// The hosts of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Hosts(Vec<String>);

pub(super) fn hosts(text: &str) -> Result<Hosts, String> {
    let hosts: Vec<String> = text.split(',').map(|host| host.trim().to_owned()).collect();
    let is_name = |host: &String| !host.is_empty() && !host.starts_with('-');
    if hosts.iter().all(is_name) {
        Ok(Hosts(hosts))
    } else {
        Err(format!("`{text}` is no list of hosts; write n1,n2,n3"))
    }
}

pub(crate) fn hexadecimal(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16).map_err(|error| format!("`{text}`: {error}"))
}

impl Arguments {
    pub(crate) fn members(&self, base: PathBuf, which: JobNumber) -> Result<Members, CommandError> {
        let mut clusters: Vec<Vec<String>> = self
            .cluster
            .iter()
            .map(|cluster| cluster.0.clone())
            .collect();
        // A coordinator contacts each host of its own cluster separately.
        if self.coordinate {
            let hosts = clusters.into_iter().flatten();
            clusters = hosts.map(|host| vec![host]).collect();
        }
        let pages = named_base(&base)?;
        let remote = Remote {
            shell: &self.remote_shell,
            pages: pages.as_deref(),
        };
        Members::new(base, which, &clusters, remote)
    }

    pub(crate) fn waves(&self, base: PathBuf, which: JobNumber) -> Result<Waves, CommandError> {
        Ok(Waves {
            members: self.members(base, which)?,
            patience: self.wave_timeout,
            then: self.then.clone(),
            limit: self.time_limit,
        })
    }
}
