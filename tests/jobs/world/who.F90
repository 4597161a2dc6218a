! Which process of the launcher runs which rank, as Fortran sees it.
#include "notes.inc"
program who
  use job
  implicit none
  character(len=16) :: process
  integer :: ierror, found
  call begin()
  call get_environment_variable('OMPI_COMM_WORLD_RANK', process, status=found)
  if (found /= 0) call get_environment_variable('PMI_RANK', process)
  call note('process '//process)
  call print_notes()
  call MPI_Finalize(ierror)
end program

! RANKS:    4
! PROVES:   process i of the launcher runs rank p[i] in Fortran as well, by every
!           interface.
! PITFALLS: 1 2
! OUTPUT:   permuted
