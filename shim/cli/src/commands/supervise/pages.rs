//! Pages of the ranks of an attempt: their location and variables.

use std::ffi::OsString;
use std::path::PathBuf;

use treepie_jobstate::pages::run_directory;
use treepie_launch::watched::Watched;
use treepie_profile::settings::RUN_VARIABLE;

use crate::commands::hang;
use crate::commands::options::absolute_path;
use crate::commands::supervise::supervisor::Supervisor;

impl<'a> Supervisor<'a> {
    /// True if calls show progress.
    pub(super) fn goes_by_pages(&self) -> bool {
        self.job.arguments.stall.is_some() && self.job.arguments.checkpoint_files.is_none()
    }

    /// Reports the location of the pages of an attempt that stalled, or that none was found.
    pub(super) fn tell_of_pages(&mut self, run: u64, watched: &Watched, saw_pages: bool) {
        if !self.goes_by_pages() {
            return;
        }
        let pages = self.pages();
        if watched.stalled {
            for (run, _) in hang::runs_below(&pages, run) {
                let directory = run_directory(&pages, run);
                self.job.log.line(&format!(
                    "`treepie why {}` says what it waited for",
                    directory.display()
                ));
            }
        } else if !saw_pages && Some(watched.took) >= self.job.arguments.stall {
            self.job.log.line(&format!(
                "no page of its ranks was seen in {}, so that --stall could not tell whether it \
                 stood still; all hosts have to see that directory",
                pages.display()
            ));
        }
    }

    /// Directory of the watched pages, shared by all hosts.
    pub(super) fn pages(&self) -> PathBuf {
        let named = hang::directory().and_then(|path| absolute_path(&path).ok());
        named.unwrap_or_else(|| self.job.record.join("pages"))
    }

    /// Variables that make ranks keep pages, if calls show the progress.
    pub(super) fn pages_variables(&self, run: u64) -> Vec<(&'static str, OsString)> {
        if self.goes_by_pages() {
            vec![
                (RUN_VARIABLE, format!("{run:016x}").into()),
                (hang::PAGES, self.pages().into()),
            ]
        } else {
            Vec::new()
        }
    }
}
