! Messages around a ring with wildcards, as persistent and as non-blocking receives, and reductions,
! the same in each run:
!
!     cuts.f90 ROUNDS
program cuts
  use mpi
  implicit none
  integer, parameter :: long = 20000
  integer :: rank, size, ierror, round, rounds, right, left, prepared, requests(2)
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
  integer, allocatable :: outgoing(:), incoming(:)
  integer :: one, total
  integer(8) :: hash
  character(len=16) :: text
  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierror)
  call GET_COMMAND_ARGUMENT(1, text)
  read (text, *) rounds
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  allocate (outgoing(long), incoming(long))
  hash = 17
  one = 1
  call MPI_RECV_INIT(incoming, long, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, prepared, ierror)
  do round = 1, rounds
    outgoing = round * 100 + rank
    if (mod(round, 2) == 0) then
      call MPI_START(prepared, ierror)
      call MPI_SEND(outgoing, long, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierror)
      call MPI_WAIT(prepared, status, ierror)
    else
      call MPI_IRECV(incoming, 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(1), ierror)
      call MPI_ISEND(outgoing, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(2), ierror)
      call MPI_WAITALL(2, requests, statuses, ierror)
    end if
    hash = mod(hash * 31 + incoming(1), 1000000007_8)
    if (mod(round, 10) == 0) then
      call MPI_ALLREDUCE(one, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
      hash = hash + total
    end if
  end do
  call MPI_REQUEST_FREE(prepared, ierror)
  if (rank == 0) print '(a,i0)', 'found ', hash
  call MPI_FINALIZE(ierror)
end program cuts
