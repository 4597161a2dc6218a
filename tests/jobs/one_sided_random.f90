! Random one-sided epochs from Fortran, legal by construction, whose outcome is known; what
! one_sided_random.c does in little.
!
!     one_sided_random.f90 SEED WINDOWS EPOCHS
!
! All ranks draw the same numbers. In an epoch (fence, lock of each target, lock of all with
! flushes, or start) each rank puts into its own part of the cells of others, and adds to cells that
! take sums only. Rank 0 prints the number of wrong cells of all.
program one_sided_random
  use mpi
  implicit none
  integer, parameter :: cells = 512, sums = 256, most = 8, room = 8192
  integer, asynchronous :: out(room)
  ! On the heap: into static memory of a window MPICH 4.0 puts some elements off.
  integer, allocatable, asynchronous :: own(:)
  integer :: expected(cells, 0:most - 1)
  integer :: rank, ranks, error, window, windows, epochs, i, j, used, wrong, all_wrong, group
  integer(kind=8) :: state
  integer(kind=MPI_ADDRESS_KIND) :: bytes

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  if (command_argument_count() /= 3 .or. ranks > most) call MPI_Abort(MPI_COMM_WORLD, 2, error)
  state = mod(argument(1), 2147483647_8)
  windows = int(argument(2))
  epochs = int(argument(3))
  wrong = 0
  allocate (own(cells))
  bytes = cells * 4
  call MPI_Comm_group(MPI_COMM_WORLD, group, error)
  do i = 1, windows
    own = 0
    expected = 0
    call MPI_Win_create(own, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
    do j = 1, epochs
      call epoch(draw(4))
    end do
    call MPI_Win_free(window, error)
  end do
  deallocate (own)
  call MPI_Group_free(group, error)
  call MPI_Reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) write (*, '(i0, a)') all_wrong, ' wrong'
  call MPI_Finalize(error)

contains

  function argument(number) result(value)
    integer, intent(in) :: number
    integer(kind=8) :: value
    character(len=32) :: text
    call get_command_argument(number, text)
    read (text, *) value
  end function argument

  function draw(below) result(drawn)
    integer, intent(in) :: below
    integer :: drawn
    state = mod(state * 1103515245_8 + 12345_8, 2147483648_8)
    drawn = int(mod(state / 65536, int(below, 8)))
  end function draw

  ! Where the elements of a call of this rank's lie until it is complete.
  function taken(count) result(first)
    integer, intent(in) :: count
    integer :: first
    first = used + 1
    used = used + count
    if (used > room) call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end function taken

  subroutine reach(kind, origin, target)
    integer, intent(in) :: kind, origin, target
    integer :: cell, count, last, value, first, k, flush
    integer(kind=MPI_ADDRESS_KIND) :: place
    logical :: is_mine
    is_mine = origin == rank
    cell = 1 + origin * (sums / ranks)
    last = (origin + 1) * (sums / ranks)
    do
      count = 1 + draw(4)
      value = draw(10000)
      flush = draw(16)
      if (cell + count - 1 > last) exit
      do k = 0, count - 1
        expected(cell + k, target) = value + k
      end do
      if (is_mine) then
        first = taken(count)
        out(first:first + count - 1) = expected(cell:cell + count - 1, target)
        place = cell - 1
        call MPI_Put(out(first), count, MPI_INTEGER, target, place, count, MPI_INTEGER, window, error)
        if (kind == 2 .and. flush == 0) call MPI_Win_flush(target, window, error)
        if (kind == 2 .and. flush == 1) call MPI_Win_flush_local(target, window, error)
      end if
      cell = cell + count + draw(5)
    end do
    do k = 1, 10
      cell = sums + 1 + draw(cells - sums)
      value = draw(100)
      expected(cell, target) = expected(cell, target) + value
      if (is_mine) then
        first = taken(1)
        out(first) = value
        place = cell - 1
        call MPI_Accumulate(out(first), 1, MPI_INTEGER, target, place, 1, MPI_INTEGER, MPI_SUM, &
                            window, error)
      end if
    end do
  end subroutine reach

  subroutine epoch(kind)
    integer, intent(in) :: kind
    integer :: origin, target
    used = 0
    if (kind == 0) call MPI_Win_fence(0, window, error)
    if (kind == 2) call MPI_Win_lock_all(0, window, error)
    if (kind == 3) then
      call MPI_Win_post(group, 0, window, error)
      call MPI_Win_start(group, 0, window, error)
    end if
    do origin = 0, ranks - 1
      do target = 0, ranks - 1
        if (draw(4) == 0) cycle
        if (kind == 1 .and. origin == rank) then
          call MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window, error)
        end if
        call reach(kind, origin, target)
        if (kind == 1 .and. origin == rank) call MPI_Win_unlock(target, window, error)
      end do
    end do
    if (kind == 0) call MPI_Win_fence(MPI_MODE_NOSUCCEED, window, error)
    if (kind == 2) call MPI_Win_unlock_all(window, error)
    if (kind == 3) then
      call MPI_Win_complete(window, error)
      call MPI_Win_wait(window, error)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window, error)
    wrong = wrong + count(own /= expected(:, rank))
    call MPI_Win_unlock(rank, window, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end subroutine epoch

end program one_sided_random
