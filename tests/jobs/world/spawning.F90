! Spawned jobs in Fortran: MPI_ARGV_NULL, MPI_ARGVS_NULL and MPI_ERRCODES_IGNORE
! reach MPI as what they are, and roots are the application's ranks.
#include "notes.inc"
program spawning
  use job
  implicit none
  integer :: ierror, root
  character(len=1024) :: itself
  COMM :: parents
  call begin()
  call get_command_argument(0, itself)
  call MPI_Comm_get_parent(parents, ierror)
  if (parents /= MPI_COMM_NULL) then
    call answer()
  else
    do root = 0, ranks - 1, ranks - 1
      call one_program(root)
      call two_programs(root)
    end do
    call print_notes()
  end if
  call MPI_Finalize(ierror)
contains
  ! What a child was given, to the parents' rank 0.
  subroutine answer()
    integer :: given(3)
    given = [command_argument_count(), rank, ranks]
    call MPI_Send(given, 3, MPI_INTEGER, 0, 1, parents, ierror)
    call MPI_Comm_disconnect(parents, ierror)
  end subroutine

  subroutine asked(what, children)
    character(len=*), intent(in) :: what
    COMM, intent(inout) :: children
    integer :: given(3), from, remote
    call MPI_Comm_remote_size(children, remote, ierror)
    call note(what//', children '//number(remote))
    do from = 0, remote - 1
      if (rank /= 0) exit
      call MPI_Recv(given, 3, MPI_INTEGER, from, 1, children, MPI_STATUS_IGNORE, ierror)
      call note('arguments, rank, ranks'//numbers(given))
    end do
    call MPI_Comm_disconnect(children, ierror)
  end subroutine

  subroutine one_program(root)
    integer, intent(in) :: root
    integer :: codes(1)
    character(len=8) :: arguments(3)
    character(len=1024) :: program
    COMM :: children
    program = 'no program'
    if (rank == root) program = itself
    call MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, root, MPI_COMM_WORLD, children, &
                        MPI_ERRCODES_IGNORE, ierror)
    call asked('no arguments from root '//number(root), children)
    arguments = [character(len=8) :: 'one', 'two', ' ']
    codes = -1
    call MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, root, MPI_COMM_WORLD, children, codes, ierror)
    call asked('two arguments, code '//number(codes(1)), children)
  end subroutine

  subroutine two_programs(root)
    integer, intent(in) :: root
    character(len=1024) :: programs(2)
    integer :: numbers_of(2)
#ifdef USE_MPI_F08
    type(MPI_Info) :: infos(2)
#else
    integer :: infos(2)
#endif
    COMM :: children
    programs = itself
    numbers_of = 1
    infos = MPI_INFO_NULL
    call MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, numbers_of, infos, root, MPI_COMM_WORLD, children, &
                                 MPI_ERRCODES_IGNORE, ierror)
    call asked('two programs', children)
  end subroutine
end program

! RANKS:    3
! PROVES:   MPI_ARGV_NULL, MPI_ARGVS_NULL and MPI_ERRCODES_IGNORE keep their meaning.
! PITFALLS: 1 14
! NOT:      mpich: Debian's build cannot spawn
