! A job that hangs, or does not:
!
!     hangs.f90 ring               everybody receives from the left before it sends to the right
!     hangs.f90 waits SECONDS      rank 0 sleeps, the others wait for its message
program hangs
  use mpi
  implicit none
  integer :: rank, size, ierror, status(MPI_STATUS_SIZE), seconds, i
  integer :: value
  character(len=16) :: mode, text
  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierror)
  call MPI_BARRIER(MPI_COMM_WORLD, ierror)
  call GET_COMMAND_ARGUMENT(1, mode)
  value = rank
  if (mode == 'ring') then
    call MPI_RECV(value, 1, MPI_INTEGER, mod(rank + size - 1, size), 2, MPI_COMM_WORLD, status, ierror)
    call MPI_SEND(value, 1, MPI_INTEGER, mod(rank + 1, size), 2, MPI_COMM_WORLD, ierror)
  else if (rank == 0) then
    call GET_COMMAND_ARGUMENT(2, text)
    read (text, *) seconds
    call SLEEP(seconds)
    do i = 1, size - 1
      call MPI_SEND(value, 1, MPI_INTEGER, i, 2, MPI_COMM_WORLD, ierror)
    end do
  else
    call MPI_RECV(value, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, status, ierror)
  end if
  call MPI_FINALIZE(ierror)
  if (rank == 0) print '(a)', 'ended well'
end program hangs
