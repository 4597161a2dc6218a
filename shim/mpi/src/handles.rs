//! Handles of MPI's objects, each a separate type over the word in which all of them are passed.
//! The table of the interface determines the type of a word: entry points are generated with these
//! types. So a handle always comes from a call of the application or from the native MPI, and safe
//! code cannot make one from a number. The application must ensure that the object has not ended,
//! as without the library: MPICH detects an error, Open MPI follows the address.

use crate::words::Word;

/// Common interface of handles.
pub trait Handle: Copy {
    /// Value for a parameter that a procedure lacks.
    const ABSENT: Self;

    /// Returns the handle that is passed as this word.
    ///
    /// # Safety
    /// The word is a handle of this type that the native MPI returned or defines.
    unsafe fn from_word(word: Word) -> Self;

    /// Returns the word in which it is passed: an address, or an `int` below undefined bits.
    fn word(self) -> Word;

    /// True if it is the value for a parameter that a procedure lacks.
    fn is_absent(self) -> bool {
        self.word() == 0
    }
}

macro_rules! handles {
    ($($name:ident, $mpi:literal;)*) => { $(
        #[doc = concat!("`", $mpi, "`.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(Word);

        impl Handle for $name {
            const ABSENT: Self = $name(0);

            #[inline(always)]
            unsafe fn from_word(word: Word) -> Self {
                $name(word)
            }

            #[inline(always)]
            fn word(self) -> Word {
                self.0
            }
        }
    )* };
}

handles! {
    Comm, "MPI_Comm";
    Datatype, "MPI_Datatype";
    Errhandler, "MPI_Errhandler";
    Group, "MPI_Group";
    Info, "MPI_Info";
    MatchedMessage, "MPI_Message";
    Op, "MPI_Op";
    Request, "MPI_Request";
    Win, "MPI_Win";
}

/// Communicator as the application wrote it, whose world may be substituted: `world` determines the
/// [`Comm`].
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct AppComm(Word);

impl AppComm {
    /// Returns the native MPI's communicator with this handle, which is not the intended one while
    /// a world is substituted.
    #[inline(always)]
    pub const fn as_written(self) -> Comm {
        Comm(self.0)
    }
}
