//! File of a site's policy.
//!
//! ```yaml
//! treepie: site
//! version: 1
//! programs:                 # the first that matches
//!   - deny: /apps/licensed/**
//!   - allow: /apps/**
//!   - deny: '**'
//! ranks: 16                 # jobs of at least 16 ranks
//! sample: 0.1               # a tenth of them
//! settings:
//!   mode: profile
//!   output: /scratch/profiles/%j.profile.yaml
//! locked: [output]
//! ```

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::Deserialize;
use treepie_base::{FileError, FileErrorKind, Kind, header, open, text, yaml};

use super::error::SiteError;
use super::policy::SitePolicy;
use super::rules::{Rule, Rules};
use crate::settings::{Given, Settings, of_name};

/// Path of a site's policy.
pub const SITE_FILE: &str = "/etc/treepie/treepie.yaml";

/// Settings that take effect before `MPI_Init` has begun, when no site file has been read.
const BEFORE_START: [&str; 1] = ["tuning"];

/// Policy as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "treepie")]
    _kind: String,
    #[serde(rename = "version")]
    _version: u64,
    #[serde(default)]
    programs: Vec<WrittenRule>,
    #[serde(default = "one")]
    ranks: usize,
    sample: Option<f64>,
    #[serde(default)]
    settings: Given,
    #[serde(default)]
    locked: Vec<String>,
}

fn one() -> usize {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    allow: Option<String>,
    deny: Option<String>,
}

impl SitePolicy {
    /// Returns the policy of this machine; `None` if the site has none.
    ///
    /// # Errors
    /// An invalid file, or one that users other than root could have written.
    pub fn of_machine() -> Result<Option<Self>, SiteError> {
        let path = Path::new(SITE_FILE);
        let file = match open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileError::reading(path, &error).into()),
        };
        if !is_roots(&file) || !File::open("/etc/treepie").is_ok_and(|folder| is_roots(&folder)) {
            return Err(SiteError::NotRoots(SITE_FILE.to_owned()));
        }
        let text = text::of_open_file(path, file)?;
        Ok(Some(SitePolicy::from_text(path, &text)?))
    }

    /// Parses the policy in a text.
    ///
    /// # Errors
    /// Text that is not such a file or a newer one, an unknown setting, a duplicate rule, an
    /// invalid number.
    pub fn from_text(path: &Path, text: &str) -> Result<Self, FileError> {
        header::check(path, text, Some(Kind::Site))?;
        let written: Written = yaml::parse(path, text)?;
        written
            .check()
            .map_err(|problem| FileError::new(path, FileErrorKind::Problem(problem)))
    }
}

impl Written {
    fn check(self) -> Result<SitePolicy, String> {
        let mut rules = Vec::with_capacity(self.programs.len());
        let mut seen = HashSet::new();
        for (place, rule) in self.programs.into_iter().enumerate() {
            let (allows, pattern) = match (rule.allow, rule.deny) {
                (Some(pattern), None) => (true, pattern),
                (None, Some(pattern)) => (false, pattern),
                _ => {
                    return Err(format!(
                        "programs[{place}]: a rule is one of `allow: PATTERN` and `deny: PATTERN`"
                    ));
                }
            };
            if !seen.insert(pattern.clone()) {
                return Err(format!(
                    "programs[{place}]: `{pattern}` has a rule already; remove one of them"
                ));
            }
            let rule = Rule::new(allows, &pattern)
                .map_err(|problem| format!("programs[{place}]: `{pattern}`: {problem}"))?;
            rules.push(rule);
        }
        if let Some(sample) = self.sample
            && !(0.0..=1.0).contains(&sample)
        {
            return Err(format!("sample: {sample} is no share of jobs, from 0 to 1"));
        }
        if let Some(name) = self
            .settings
            .texts()
            .map(|(name, _)| name)
            .find(|name| BEFORE_START.contains(name))
        {
            return Err(format!(
                "settings: {name} acts before MPI_Init, when this file is not read; set it in the \
                 environment"
            ));
        }
        let locked = |name: &String| of_name(name).map(|setting| setting.name);
        let locked: Result<Vec<_>, _> = self.locked.iter().map(locked).collect();
        let locked = locked.map_err(|problem| format!("locked: {problem}"))?;
        let policy = SitePolicy {
            rules: Rules::new(rules),
            least_ranks: self.ranks,
            sample: self.sample.unwrap_or(1.0),
            settings: self.settings,
            locked,
        };
        Settings::from_sources(Some(&policy), None, |_| None)
            .map_err(|error| format!("settings: {error}"))?;
        Ok(policy)
    }
}

/// True if an open file belongs to root, and nobody else may write to it.
fn is_roots(file: &File) -> bool {
    file.metadata()
        .is_ok_and(|data| data.uid() == 0 && data.mode() & 0o022 == 0)
}
