//! Settings whose values are one of a few words.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::nearest::did_you_mean;
use treepie_base::{UnknownName, from_name, names};

/// Defines an enum whose variants are the words of a choice; messages contain the kind of choice.
macro_rules! choice {
    ($(#[doc = $doc:literal])+ $name:ident, $kind:literal { $($variants:tt)+ }) => {
        $(#[doc = $doc])+
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize,
            Display, IntoStaticStr, VariantArray,
        )]
        #[strum(serialize_all = "kebab-case")]
        pub enum $name { $($variants)+ }

        from_name!($name, $kind);
    };
}

choice! {
    /// Mode of the preloaded library.
    Mode, "mode" {
        /// Off: every call goes directly to the native MPI.
        #[default]
        Off,
        /// Counts the traffic and writes a profile.
        Profile,
        /// Applies a placement or a permutation.
        Replay,
        /// Learns from run to run: counts, tries, adopts and revokes.
        Auto,
    }
}

choice! {
    /// Way in which a placement is applied.
    Apply, "way to apply a placement" {
        /// By giving the processes other ranks; every process stays on its core.
        #[default]
        Permute,
        /// By moving every process to its core; ranks stay.
        Bind,
        /// By other ranks, with every process bound to the core that it runs on.
        Both,
    }
}

choice! {
    /// Process that keeps its rank under a permutation because of standard input.
    Stdin, "way with standard input" {
        /// A process whose input has data, or may get some, keeps the rank equal to its number.
        #[default]
        Auto,
        /// Process 0 does, without a test.
        Keep,
        /// None does.
        Ignore,
    }
}

choice! {
    /// Order of the ranks of a host, relative to the launcher's numbers.
    LocalOrder, "way with the order of ranks on a host" {
        /// Ascending if a run-time of devices is loaded, or devices are named in the environment.
        #[default]
        Auto,
        /// Ascending.
        Keep,
        /// As placed.
        Ignore,
    }
}

choice! {
    /// Measurement of the platform inside `MPI_Init`.
    Probe, "way to probe" {
        /// Never.
        #[default]
        Never,
        /// If no platform file fits the job.
        Auto,
    }
}

choice! {
    /// Implementation that reorders a communicator with a topology, if the program allows it.
    Reorder, "way to reorder" {
        /// The native MPI; most leave the ranks unchanged.
        #[default]
        Native,
        /// Treepie: the graph is placed on the cores where the processes run.
        Graph,
    }
}

choice! {
    /// Behaviour of a replay of an order after the point where the recorded run had ended early.
    AfterEnd, "way to go on after the end" {
        /// The job continues, and matches messages as they arrive.
        #[default]
        Free,
        /// The job ends.
        Stop,
    }
}

choice! {
    /// Guard on collectives that `auto` replaces.
    GuardMode, "guard" {
        /// None: the chosen plan runs from the first call on.
        #[default]
        Off,
        /// The native collective runs until a plan was measured to be faster, and again if it no
        /// longer is.
        On,
        /// Plans are measured, and none is adopted.
        Report,
    }
}

choice! {
    /// Transport of the messages between ranks of one host in plans that replace collectives.
    Transport, "transport" {
        /// The MPI's own messages.
        #[default]
        Messages,
        /// Memory that the ranks of a host share.
        Memory,
    }
}

choice! {
    /// Runner of non-blocking and persistent collectives, if they are replaced.
    Started, "way to run started collectives" {
        /// The runner that the setting of collectives names for the blocking form.
        #[default]
        Auto,
        /// Like `auto`, with a helper thread that advances plans, if the program may call MPI from
        /// several threads.
        Thread,
        /// The native MPI.
        Native,
    }
}

choice! {
    /// Handling of small puts and accumulates to one target.
    OneSided, "way to do one-sided communication" {
        /// Each goes to the native MPI immediately.
        #[default]
        Native,
        /// Those of an epoch are held back, and sent together.
        Gather,
        /// They are joined if that was measured to be faster, and as long as it is.
        Auto,
    }
}

/// Pages of the ranks, which show the call that each rank is in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Pages {
    /// None.
    #[default]
    Off,
    /// In this host's memory, where only the user may read it.
    Memory,
    /// Below this directory.
    Directory(PathBuf),
}

impl FromStr for Pages {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('/') {
            return Ok(Pages::Directory(text.into()));
        }
        match switch(text) {
            Ok(true) => Ok(Pages::Memory),
            Ok(false) => Ok(Pages::Off),
            Err(_) => Err(format!(
                "`{text}` is neither true nor false nor a directory; write one of them, a directory \
                 with a `/`"
            )),
        }
    }
}

impl fmt::Display for Pages {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pages::Off => out.write_str("false"),
            Pages::Memory => out.write_str("true"),
            Pages::Directory(path) => path.display().fmt(out),
        }
    }
}

choice! {
    /// Detail of the messages on standard error; each level includes those before.
    LogLevel, "log level" {
        /// Nothing at all.
        Off,
        /// Failures of what was requested.
        Error,
        /// Likely mistakes.
        #[default]
        Warn,
        /// Actions.
        Info,
        /// Reasons of decisions.
        Debug,
    }
}

/// Names of a switch; the first of each is the documented one.
const SWITCH: &[(&str, bool)] = &[
    ("true", true),
    ("false", false),
    ("yes", true),
    ("no", false),
    ("on", true),
    ("off", false),
    ("1", true),
    ("0", false),
];

/// Parses the name of a switch.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    names::parse("switch", SWITCH, text)
        .map_err(|_| format!("`{text}` is neither true nor false; write one of them"))
}

/// True if `text` turns a switch on.
pub fn is_on(text: &str) -> bool {
    switch(text) == Ok(true)
}

/// Parses the name of a choice; the message of an error has the nearest name and all names.
pub(super) fn choice<T: FromStr<Err = UnknownName>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|unknown: UnknownName| {
        let suggestion = did_you_mean(text, unknown.known.iter().copied());
        let known = unknown.known.join(", ");
        format!(
            "no {} is called `{text}`{suggestion}; write one of {known}",
            unknown.kind
        )
    })
}
