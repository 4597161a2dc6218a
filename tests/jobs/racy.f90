! Rank 0 adds what others send, in the order in which it comes: by receives from any rank, and by
! requests of which any may be complete first.
program racy
  use mpi
  implicit none
  integer, parameter :: rounds = 20, window = 3
  integer :: rank, size, ierror, i, posted, messages, place
  integer :: status(MPI_STATUS_SIZE), requests(window)
  integer(8) :: hash
  double precision :: value, total, values(window)
  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierror)
  messages = rounds * (size - 1)
  hash = 17
  total = 0
  if (rank == 0) then
    do i = 1, messages
      call MPI_RECV(value, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, status, ierror)
      total = total * 1.0000001d0 + value
      hash = mod(hash * 31 + status(MPI_SOURCE), 1000000007_8)
    end do
    do i = 1, window
      call MPI_IRECV(values(i), 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests(i), ierror)
    end do
    posted = window
    do i = 1, messages
      call MPI_WAITANY(window, requests, place, status, ierror)
      total = total * 1.0000001d0 + values(place)
      hash = mod(hash * 31 + status(MPI_SOURCE) * 7 + place, 1000000007_8)
      if (posted < messages) then
        call MPI_IRECV(values(place), 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests(place), ierror)
        posted = posted + 1
      end if
    end do
    print '(a,i0,a,es24.16)', 'order ', hash, ', sum ', total
  else
    do i = 1, rounds
      value = 1.0d0 / (rank * 100 + i)
      call MPI_SEND(value, 1, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, ierror)
    end do
    do i = 1, rounds
      value = 1.0d0 / (rank + i)
      call MPI_SEND(value, 1, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
    end do
  end if
  call MPI_FINALIZE(ierror)
end program racy
