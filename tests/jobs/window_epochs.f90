! Fences, locks and a put between them from Fortran, whose layer calls other names than C: two
! fences, one lock of all and one of the neighbour on each rank.
program window_epochs
  use mpi
  implicit none
  integer, parameter :: cells = 64
  integer :: rank, ranks, error, window, neighbour
  integer :: own(cells), out(8)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, at

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  neighbour = mod(rank + 1, ranks)
  out = rank
  own = -1
  at = 0
  bytes = cells * 4
  call MPI_Win_create(own, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  call MPI_Win_fence(0, window, error)
  call MPI_Put(out, 8, MPI_INTEGER, neighbour, at, 8, MPI_INTEGER, window, error)
  call MPI_Win_fence(0, window, error)
  call MPI_Win_lock_all(0, window, error)
  call MPI_Put(out, 2, MPI_INTEGER, neighbour, at, 2, MPI_INTEGER, window, error)
  call MPI_Win_flush_all(window, error)
  call MPI_Win_unlock_all(window, error)
  call MPI_Win_lock(MPI_LOCK_SHARED, neighbour, 0, window, error)
  call MPI_Win_unlock(neighbour, window, error)
  call MPI_Win_free(window, error)
  call MPI_Finalize(error)
end program window_epochs
