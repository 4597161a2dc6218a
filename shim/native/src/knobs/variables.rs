//! Variables that select an algorithm: in the environment, and in MPI's tool interface (`MPI_T`).

use std::ffi::CStr;

use crate::knobs::knob::{Knob, Target};
use crate::knobs::library::{Library, Maker};
use treepie_collective::operation::Operation;

/// Variable of the environment and its value.
pub type Setting = (String, String);

/// Variable of the tool interface, and the value that selects an algorithm.
pub type Control = (String, i32);

/// Value of an algorithm's variable in the tool interface with which the MPI makes its own choice.
pub const OWN_CHOICE: i32 = 0;

/// Variable without which Open MPI ignores the settings of its algorithms.
const DYNAMIC: &str = "OMPI_MCA_coll_tuned_use_dynamic_rules";

/// Variable that names a file of rules.
const RULES: &str = "OMPI_MCA_coll_tuned_dynamic_rules_filename";

/// Variables by which HAN reads its own file of rules.
const HAN_RULES: [&str; 2] = [
    "OMPI_MCA_coll_han_use_dynamic_file_rules",
    "OMPI_MCA_coll_han_dynamic_rules_filename",
];

/// Variable that gives the component `acoll` precedence over others.
const ACOLL: &str = "OMPI_MCA_coll_acoll_priority";

/// Returns the variable with the bytes of HAN's segments for an operation.
fn han_segments(word: &str) -> String {
    format!("OMPI_MCA_coll_han_{word}_segsize")
}

/// Returns the variable that selects how MPICH divides an operation over hosts.
fn composition(word: &str) -> String {
    format!("MPIR_CVAR_{word}_COMPOSITION")
}

/// Variables by which MPICH reads files instead of its own collective selection.
const MPICH_ALGORITHMS: &str = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE";
const MPICH_COMPOSITIONS: &str = "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE";

/// Open MPI's info key for the components of a communicator's collectives, and its value without
/// HAN.
pub const WITHOUT_HAN: [&CStr; 2] = [c"ompi_comm_coll_preference", c"^han"];

/// Reader of a file of rules in an MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Component {
    /// Open MPI's `tuned`: selects the algorithm.
    Tuned,
    /// Open MPI's `han`: selects the component for a collective over several hosts.
    Han,
    /// MPICH's collective selection: selects the algorithm.
    Algorithms,
    /// Collective selection of MPICH's device `ch4`: selects how a call is divided over hosts
    /// before that.
    Compositions,
}

impl Library {
    /// Returns the operation in names of variables: `reduce_scatter`, or `REDUCE_SCATTER`.
    fn word(self, operation: Operation) -> String {
        let word = operation.to_string().replace('-', "_");
        match self.maker {
            Maker::OpenMpi => word,
            Maker::Mpich | Maker::IntelMpi => word.to_ascii_uppercase(),
        }
    }

    /// Returns the environment that a process needs so that its algorithms can be selected at run
    /// time.
    pub fn prerequisites(self) -> Vec<Setting> {
        match self.maker {
            Maker::OpenMpi => vec![(DYNAMIC.to_owned(), "1".to_owned())],
            Maker::Mpich | Maker::IntelMpi => Vec::new(),
        }
    }

    /// Returns the environment in which `knob` runs all calls of its operation. For MPICH the
    /// division of a call over hosts, which would precede the algorithm, is switched off for that
    /// operation.
    pub fn settings(self, knob: &Knob) -> Vec<Setting> {
        let word = self.word(knob.operation);
        let number = knob.number.to_string();
        match (self.maker, knob.target) {
            (Maker::OpenMpi, Target::HanSegments) => vec![(han_segments(&word), number)],
            (Maker::OpenMpi, Target::Priority) => vec![(ACOLL.to_owned(), number)],
            (Maker::OpenMpi, _) => {
                let mut settings = self.prerequisites();
                let name = format!("OMPI_MCA_coll_tuned_{word}_algorithm");
                settings.push((name, number));
                settings
            }
            (Maker::Mpich, Target::Composition) => vec![(composition(&word), number)],
            (Maker::Mpich, _) => vec![
                (
                    format!("MPIR_CVAR_{word}_DEVICE_COLLECTIVE"),
                    "0".to_owned(),
                ),
                (
                    format!("MPIR_CVAR_{word}_INTRA_ALGORITHM"),
                    knob.name.to_owned(),
                ),
            ],
            (Maker::IntelMpi, _) => vec![(format!("I_MPI_ADJUST_{word}"), number)],
        }
    }

    /// Returns the environment in which a component's file of rules takes effect.
    pub fn rules_settings(self, component: Component, path: &str) -> Vec<Setting> {
        let (mut settings, name) = match component {
            Component::Tuned => (self.prerequisites(), RULES),
            Component::Han => {
                let [enabled, name] = HAN_RULES;
                (vec![(enabled.to_owned(), "1".to_owned())], name)
            }
            Component::Algorithms => (Vec::new(), MPICH_ALGORITHMS),
            Component::Compositions => (Vec::new(), MPICH_COMPOSITIONS),
        };
        settings.push((name.to_owned(), path.to_owned()));
        settings
    }

    /// True if `tuned` reads rules in JSON: from Open MPI 6 on, which also reads lines.
    pub fn rules_are_json(self) -> bool {
        self.maker == Maker::OpenMpi && self.version.0 >= 6
    }

    /// True if Open MPI's HAN, if it is selected for a communicator over several hosts, runs an
    /// operation, and reads in its rules which other component is to run it. This is the case from
    /// version 5 on (`coll_han_dynamic.c`), with more operations from 6 on; in 4.1 HAN is only used
    /// on request.
    pub(crate) fn han_has(self, operation: Operation) -> bool {
        use Operation::*;
        let since = match operation {
            Allgather | Allgatherv | Allreduce | Barrier | Bcast | Gather | Reduce | Scatter => 5,
            Gatherv | Scatterv | Alltoall | Alltoallv => 6,
            _ => return false,
        };
        self.maker == Maker::OpenMpi && self.version.0 >= since
    }

    /// Returns the values to write in the tool interface to select `knob`, its own variable last;
    /// `None` if this library does not have it there, or reads it only when it starts.
    pub fn controls(self, knob: &Knob) -> Option<Vec<Control>> {
        let word = self.word(knob.operation);
        let number = i32::try_from(knob.number).ok()?;
        match (self.maker, knob.target) {
            (Maker::OpenMpi, Target::Algorithm) => {
                Some(vec![(format!("coll_tuned_{word}_algorithm"), number)])
            }
            (Maker::Mpich, Target::Algorithm) => Some(vec![
                (format!("MPIR_CVAR_{word}_DEVICE_COLLECTIVE"), 0),
                (format!("MPIR_CVAR_{word}_INTRA_ALGORITHM"), number),
            ]),
            (Maker::Mpich, Target::Composition) => Some(vec![(composition(&word), number)]),
            // Read only when the MPI starts.
            _ => None,
        }
    }

    /// Returns the variable of the tool interface without which those of algorithms have no effect,
    /// and its value: Open MPI 5 allows setting it at any time, 4.1 only by
    /// [`Library::prerequisites`].
    pub fn enabling_control(self) -> Option<Control> {
        let name = DYNAMIC.strip_prefix("OMPI_MCA_")?;
        (self.maker == Maker::OpenMpi).then(|| (name.to_owned(), 1))
    }

    /// Returns the variable of the tool interface that names a file of rules: these take precedence
    /// over the setting of an algorithm.
    pub fn rules_control(self) -> Option<&'static str> {
        let name = RULES.strip_prefix("OMPI_MCA_");
        name.filter(|_| self.maker == Maker::OpenMpi)
    }

    /// Returns the variable by which the user has decided about an operation already, if there is
    /// one. `is_set` tests if a variable of the environment is set.
    pub fn decided_by_user(
        self,
        operation: Operation,
        is_set: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let word = self.word(operation);
        let names = match self.maker {
            Maker::OpenMpi => {
                let mut names = vec![
                    format!("OMPI_MCA_coll_tuned_{word}_algorithm"),
                    format!("OMPI_MCA_coll_tuned_{word}_algorithm_segmentsize"),
                    RULES.to_owned(),
                    "OMPI_MCA_coll".to_owned(),
                    "OMPI_MCA_coll_tuned_priority".to_owned(),
                ];
                if self.han_has(operation) {
                    names.extend(HAN_RULES.map(str::to_owned));
                    names.push(format!("OMPI_MCA_coll_han_use_{word}_algorithm"));
                }
                let others = self.knobs(operation).into_iter();
                let others = others.filter(|knob| knob.target != Target::Algorithm);
                names.extend(
                    others
                        .flat_map(|knob| self.settings(&knob))
                        .map(|(name, _)| name),
                );
                names
            }
            Maker::Mpich => vec![
                format!("MPIR_CVAR_{word}_INTRA_ALGORITHM"),
                format!("MPIR_CVAR_{word}_DEVICE_COLLECTIVE"),
                composition(&word),
                format!("MPIR_CVAR_{word}_POSIX_INTRA_ALGORITHM"),
                "MPIR_CVAR_DEVICE_COLLECTIVES".to_owned(),
                MPICH_ALGORITHMS.to_owned(),
                MPICH_COMPOSITIONS.to_owned(),
            ],
            Maker::IntelMpi => vec![
                format!("I_MPI_ADJUST_{word}"),
                "I_MPI_TUNING_BIN".to_owned(),
                "I_MPI_TUNING".to_owned(),
            ],
        };
        names.into_iter().find(|name| is_set(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(library: &str, operation: Operation, name: &str) -> (Library, Knob) {
        let library: Library = library.parse().unwrap();
        (library, library.knob(operation, name).unwrap())
    }

    fn lines(settings: Vec<Setting>) -> Vec<String> {
        let lines = settings.into_iter();
        lines
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    #[test]
    fn each_library_is_set_by_its_own_variables() {
        let (library, knob) = of("open-mpi 4.1.4", Operation::ReduceScatterBlock, "butterfly");
        assert_eq!(
            lines(library.settings(&knob)),
            [
                "OMPI_MCA_coll_tuned_use_dynamic_rules=1",
                "OMPI_MCA_coll_tuned_reduce_scatter_block_algorithm=4"
            ]
        );
        let (library, knob) = of("mpich 4.0.2", Operation::Bcast, "binomial");
        assert_eq!(
            lines(library.settings(&knob)),
            [
                "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0",
                "MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial"
            ]
        );
        let (library, knob) = of("intel-mpi 2021.18.1", Operation::Alltoall, "plum");
        assert_eq!(lines(library.settings(&knob)), ["I_MPI_ADJUST_ALLTOALL=4"]);
        assert_eq!(library.controls(&knob), None);
    }

    #[test]
    fn what_is_no_algorithm_has_a_variable_of_its_own() {
        let (library, knob) = of("mpich 4.3.1", Operation::Allreduce, "composition_delta");
        let variable = "MPIR_CVAR_ALLREDUCE_COMPOSITION";
        assert_eq!(lines(library.settings(&knob)), [format!("{variable}=4")]);
        let controls = library.controls(&knob).unwrap();
        assert_eq!(controls, [(variable.to_owned(), 4)]);
        // Open MPI reads these when it starts.
        let (library, knob) = of("open-mpi 5.0.11", Operation::Bcast, "han_512k");
        let segments = "OMPI_MCA_coll_han_bcast_segsize";
        assert_eq!(
            lines(library.settings(&knob)),
            [format!("{segments}=524288")]
        );
        assert_eq!(library.controls(&knob), None);
        let set = |name: &str| name == segments;
        assert!(library.decided_by_user(Operation::Bcast, set).is_some());
        assert_eq!(library.decided_by_user(Operation::Gather, set), None);
        let (library, knob) = of("open-mpi 6.0.0", Operation::Gather, "acoll");
        let acoll = ["OMPI_MCA_coll_acoll_priority=50"];
        assert_eq!(lines(library.settings(&knob)), acoll);
        assert_eq!(library.controls(&knob), None);
    }

    #[test]
    fn the_tool_interface_of_mpich_has_the_place_in_the_list_of_its_version() {
        for (version, place) in [("mpich 4.0.2", 4), ("mpich 5.0.2", 5)] {
            let (library, knob) = of(version, Operation::Allgather, "ring");
            let expected = [
                ("MPIR_CVAR_ALLGATHER_DEVICE_COLLECTIVE".to_owned(), 0),
                ("MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM".to_owned(), place),
            ];
            assert_eq!(library.controls(&knob).unwrap(), expected);
        }
    }

    #[test]
    fn what_the_user_has_set_is_found_for_its_operation_alone() {
        let library: Library = "mpich 4.0.2".parse().unwrap();
        let set = |name: &str| name == "MPIR_CVAR_BCAST_INTRA_ALGORITHM";
        assert_eq!(
            library.decided_by_user(Operation::Bcast, set).as_deref(),
            Some("MPIR_CVAR_BCAST_INTRA_ALGORITHM")
        );
        assert_eq!(library.decided_by_user(Operation::Reduce, set), None);
        let library: Library = "open-mpi 5.0.1".parse().unwrap();
        let set = |name: &str| name == RULES;
        assert!(library.decided_by_user(Operation::Scan, set).is_some());
        let set = |name: &str| name == HAN_RULES[1];
        assert!(library.decided_by_user(Operation::Bcast, set).is_some());
        assert_eq!(library.decided_by_user(Operation::Scan, set), None);
        // HAN runs these from 6.0 on.
        assert_eq!(library.decided_by_user(Operation::Alltoallv, set), None);
        let library: Library = "open-mpi 6.0.0".parse().unwrap();
        assert!(library.decided_by_user(Operation::Alltoallv, set).is_some());
    }
}
