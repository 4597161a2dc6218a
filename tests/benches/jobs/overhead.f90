! Times single calls in Fortran, for `scripts/bench overhead`, as the program
! `overhead` does in C.
!
!     overhead.f90 fortran-comm-rank|fortran-isend-self BATCHES ITERATIONS    on 2 ranks
!
! Prints one line a batch, from rank 0: nanoseconds an iteration.
program overhead
  use mpi
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import
      integer(c_int), value :: microseconds
    end function
  end interface
  integer, parameter :: long = selected_int_kind(18)
  integer :: ierror, rank, batches, iterations, batch
  integer(long) :: began, ended, rate
  character(len=32) :: kind, number
  logical :: done
  call get_command_argument(1, kind)
  call get_command_argument(2, number)
  read (number, *) batches
  call get_command_argument(3, number)
  read (number, *) iterations
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (rank == 0) then
    call run()
    do batch = 1, batches
      call system_clock(began, rate)
      call run()
      call system_clock(ended)
      print '(f0.2)', real(ended - began, 8)*1e9/real(rate, 8)/iterations
    end do
    call MPI_Send(rank, 1, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, ierror)
  else
    ! Stays off the processor while rank 0 is timed.
    done = .false.
    do while (.not. done)
      ierror = usleep(1000)
      call MPI_Iprobe(0, 2, MPI_COMM_WORLD, done, MPI_STATUS_IGNORE, ierror)
    end do
    call MPI_Recv(batch, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end if
  call MPI_Finalize(ierror)
contains
  subroutine run()
    integer :: turn, me, requests(2)
    integer, asynchronous :: out(2), in(2)
    do turn = 1, iterations
      if (kind == 'fortran-comm-rank') then
        call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
      else
        call MPI_Irecv(in, 2, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, requests(1), ierror)
        call MPI_Isend(out, 2, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, requests(2), ierror)
        call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierror)
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
      end if
    end do
  end subroutine
end program
