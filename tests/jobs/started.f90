! Non-blocking and persistent collectives. Counts, displacements and datatypes are expressions,
! whose values are gone when the call that starts returns, or arrays that are overwritten then.
!
!     started.f90 ROUNDS
module restarted
  use, intrinsic :: iso_c_binding
  implicit none
  abstract interface
    subroutine allreduce_init(sent, received, count, datatype, op, comm, info, request, ierror)
      integer :: sent(*), received(*), count, datatype, op, comm, info, request, ierror
    end subroutine
  end interface
  interface
    function dlsym(handle, name) bind(c)
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: dlsym
    end function
  end interface
contains
  ! MPI_ALLREDUCE_INIT by the name that the MPI has for it.
  subroutine find(init)
    procedure(allreduce_init), pointer, intent(out) :: init
    type(c_funptr) :: address
    address = dlsym(c_null_ptr, 'mpi_allreduce_init_'//c_null_char)
    if (.not. c_associated(address)) address = dlsym(c_null_ptr, 'mpix_allreduce_init_'//c_null_char)
    call c_f_procpointer(address, init)
  end subroutine
end module

program started
  use mpi
  use restarted
  implicit none
  integer, parameter :: most = 16
  integer :: rank, ranks, ierror, round, rounds, wrong, all_wrong
  character(len=16) :: text
  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
  call GET_COMMAND_ARGUMENT(1, text)
  read (text, *) rounds
  wrong = 0
  do round = 1, rounds
    call non_blocking()
  end do
  call persistent()
  call MPI_REDUCE(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0,a)', all_wrong, ' wrong'
  call MPI_FINALIZE(ierror)
contains
  subroutine expect(is_right, what)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    if (is_right) return
    wrong = wrong + 1
    if (wrong < 6) write (0, '(a,i0,2a)') 'rank ', rank, ': ', what
  end subroutine

  ! What rank `from` sends to rank `to`: as many as their numbers say.
  integer function elements(from, to)
    integer, intent(in) :: from, to
    elements = mod(from + 2*to, 4)
  end function

  subroutine non_blocking()
    integer, asynchronous :: sent(4*most), taken(4*most), sums(3), told(2)
    integer :: counts(most), places(most), types(most), requests(3), i, j
    sent = [(1000*rank + 10*round + i, i=1, 4*most)]
    taken = -1
    sums = round + rank
    told = -1
    if (rank == mod(round, ranks)) told = round
    counts = [(elements(i, rank), i=0, most - 1)]
    places = [(16*i, i=0, most - 1)]
    types = MPI_INTEGER
    call MPI_IALLTOALLW(sent, [(elements(rank, i), i=0, ranks - 1)], places + 0, [(MPI_INTEGER, i=1, ranks)], &
                        taken, counts, places, types, MPI_COMM_WORLD, requests(1), ierror)
    counts = -1
    places = -1
    types = MPI_DATATYPE_NULL
    call MPI_IALLREDUCE(MPI_IN_PLACE, sums, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_IBCAST(told, 2, MPI_INTEGER, mod(round, ranks), MPI_COMM_WORLD, requests(3), ierror)
    call complete(requests)
    do i = 0, ranks - 1
      do j = 1, 4
        call expect(taken(4*i + j) == merge(1000*i + 10*round + 4*rank + j, -1, j <= elements(i, rank)), 'a block')
      end do
    end do
    call expect(all(sums == ranks*round + ranks*(ranks - 1)/2), 'a sum')
    call expect(all(told == round), 'what a rank told')
  end subroutine

  ! Each round in another way.
  subroutine complete(requests)
    integer, intent(inout) :: requests(3)
    integer :: statuses(MPI_STATUS_SIZE, 3), indices(3), at, done, some, i
    logical :: flag
    select case (mod(round, 4))
    case (0)
      call MPI_WAITALL(3, requests, statuses, ierror)
    case (1)
      do i = 1, 3
        call MPI_WAITANY(3, requests, at, MPI_STATUS_IGNORE, ierror)
        call expect(at >= 1 .and. at <= 3, 'an index')
      end do
    case (2)
      done = 0
      do while (done < 3)
        call MPI_TESTSOME(3, requests, some, indices, statuses, ierror)
        done = done + some
      end do
    case default
      flag = .false.
      do while (.not. flag)
        call MPI_REQUEST_GET_STATUS(requests(1), flag, statuses(:, 1), ierror)
      end do
      call expect(requests(1) /= MPI_REQUEST_NULL, 'a look has freed the request')
      call MPI_WAITALL(3, requests, MPI_STATUSES_IGNORE, ierror)
    end select
    call expect(all(requests == MPI_REQUEST_NULL), 'a request is not null')
  end subroutine

  subroutine persistent()
    procedure(allreduce_init), pointer :: make => null()
    integer, asynchronous :: mine(1), total(1)
    integer :: request, cycles
    call find(make)
    call make(mine, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
    do cycles = 1, 5
      mine = cycles*rank
      total = -1
      call MPI_START(request, ierror)
      call MPI_WAIT(request, MPI_STATUS_IGNORE, ierror)
      call expect(total(1) == cycles*ranks*(ranks - 1)/2, 'a sum that was started again')
    end do
    call expect(request /= MPI_REQUEST_NULL, 'a persistent request is null')
    call MPI_REQUEST_FREE(request, ierror)
    call expect(request == MPI_REQUEST_NULL, 'a request that was freed is not null')
  end subroutine
end program
