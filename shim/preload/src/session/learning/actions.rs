//! Actions of this run, by the results of earlier ones.

use treepie_base::{Process, Slice};
use treepie_guard::learning::{Arm, Candidate, Case, End, Experience, Judgement, Knowledge, Run};
use treepie_placement::allocation::Allocation;
use treepie_placement::binding::LaunchedProcess;
use treepie_process::log;
use treepie_profile::experience::ExperienceFile;
use treepie_profile::{GuardedCell, GuardedEpochs, Profile};
use treepie_traffic::{Layer, Metric};

use super::history::{Learning, hosts};
use super::lesson::{self, Lesson, within_patience};

/// Actions of this run.
pub struct Lessons {
    /// Candidate that is used.
    pub candidate: Option<Candidate>,
    /// File for the traffic, if it is counted.
    pub profile: Option<String>,
    /// Guard results of the newest run in an allocation of this shape.
    pub guard: Vec<GuardedCell>,
    /// Guard results for small puts and accumulates.
    pub epochs: Vec<GuardedEpochs>,
    /// Guard results of other programs in such an allocation.
    pub proven: Vec<GuardedCell>,
}

impl Learning {
    /// Decides on the actions, and begins this run's file.
    pub fn settle(
        mut self,
        processes: &Slice<Process, LaunchedProcess>,
        allocation: &Allocation,
    ) -> Lessons {
        let shape = self.shape(processes);
        let mut next = self.next(shape);
        let mut judgements = Vec::new();
        if next.knowledge == Knowledge::Counted {
            let profile = self.counted(processes.len());
            // The profile may be lost, or was never written, for example on a full disk.
            next.counts = profile.is_none();
            let judged =
                profile.and_then(|profile| self.judge(&profile, shape, processes, allocation));
            if let Some(judgement) = judged {
                judgements.push(judgement.clone());
                self.known.experience.add(Experience {
                    runs: Vec::new(),
                    judgements: vec![judgement],
                });
                next = self.next(shape);
            }
        }
        log::info(&format!(
            "auto: {}: {}",
            self.application.program, next.knowledge
        ));
        let run = Run {
            name: self.name.clone(),
            began: self.now,
            shape,
            arm: next.arm,
            counted: next.counts,
            end: End::Open,
        };
        let profile = next.counts.then(|| {
            let path = self.store.profile_path(self.key, &self.name);
            path.display().to_string()
        });
        let guards = self.known.guards.iter();
        let here = guards.filter(|known| known.shape == shape);
        let (cells, epochs): (Vec<_>, Vec<_>) = here
            .map(|known| (known.cells.clone(), known.epochs.clone()))
            .unzip();
        let mut guard: Vec<GuardedCell> = cells.concat();
        let epochs = epochs.concat();
        let (guards, program) = self.guards_key(shape);
        let elsewhere = self.elsewhere(guards, program);
        if guard.is_empty() {
            guard = elsewhere.same_program;
        }
        let platform = self.platform_key(processes);
        let lesson = Lesson {
            platform,
            guards,
            program,
            hosts: hosts(processes),
            store: self.store,
            key: self.key,
            file: ExperienceFile {
                producer: self.producer,
                application: self.application,
                experience: Experience {
                    runs: vec![run],
                    judgements,
                },
                guards: Vec::new(),
            },
            random: self.random,
        };
        // An unfinished plain run carries no information.
        let mut is_written = true;
        if next.counts || next.arm != Arm::Plain {
            is_written = lesson.write();
        }
        let (candidate, profile) = match is_written {
            true => (next.candidate, profile),
            // An attempt that fails must be on record.
            false => (None, None),
        };
        lesson::watch(is_written.then_some(lesson));
        Lessons {
            candidate,
            profile,
            guard,
            epochs,
            proven: elsewhere.others,
        }
    }

    /// Returns the latest counted traffic, of this number of ranks.
    fn counted(&self, ranks: usize) -> Option<Profile> {
        let counted = self.known.experience.counted()?.name.clone();
        let (store, key) = (self.store.clone(), self.key);
        let profile = within_patience(move || store.profile(key, &counted))??;
        (profile.ranks == ranks).then_some(profile)
    }

    /// Predicts the gain from the counted traffic here.
    fn judge(
        &self,
        profile: &Profile,
        shape: u64,
        processes: &Slice<Process, LaunchedProcess>,
        allocation: &Allocation,
    ) -> Option<Judgement> {
        let traffic = profile.traffic(Layer::ALL);
        let matrix = traffic.exact_affinity(Metric::Size).ok()?;
        let case = Case {
            matrix: &matrix,
            in_mpi: share_in_mpi(profile),
            allocation,
            processes,
            shape,
            now: self.now,
        };
        case.judge(self.known.experience.judgement(shape)).ok()
    }
}

/// Returns the fraction of all ranks' time that was in MPI, if it was measured.
fn share_in_mpi(profile: &Profile) -> Option<f64> {
    let times = profile.times.as_ref()?;
    let elapsed: f64 = times.elapsed.iter().map(|&time| time as f64 / 1e9).sum();
    let outside: f64 = times.outside_mpi().iter().sum();
    (elapsed > 0.0).then(|| 1.0 - outside / elapsed)
}
