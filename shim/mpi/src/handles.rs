//! The handles of MPI's objects, each a type of its own over the word that all of them are passed
//! in. What a word is, says the table of the interface: entry points are generated with these
//! types. So a handle is the native MPI's own: it comes from a call of the application's or from
//! the native MPI, and safe code makes none of a number. That its object has not ended is for the
//! application to see to, as without the library: MPICH finds out, Open MPI follows the address.

use crate::words::Word;

/// What all handles have in common.
pub trait Handle: Copy {
    /// That of a parameter that a procedure does not have.
    const ABSENT: Self;

    /// The handle that is passed as this word.
    ///
    /// # Safety
    /// The word is a handle of this type that the native MPI gave or defines.
    unsafe fn from_word(word: Word) -> Self;

    /// The word that it is passed in: an address, or an `int` below bits that mean nothing.
    fn word(self) -> Word;

    /// Whether it is that of a parameter that a procedure does not have.
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

/// A communicator as the application wrote it, where its world may stand for another: `world`
/// says which [`Comm`] is meant.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct AppComm(Word);

impl AppComm {
    /// The communicator of the native MPI that has this handle, which is not what is meant where
    /// a world is substituted.
    #[inline(always)]
    pub const fn as_written(self) -> Comm {
        Comm(self.0)
    }
}
