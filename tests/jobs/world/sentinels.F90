! Fortran's special arguments, in every class of procedure that takes them, and
! LOGICALs: they must reach MPI as what they are.
#include "notes.inc"
program sentinels
  use job
  implicit none
  integer :: ierror, right, left
  call begin()
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  call in_place()
  call statuses()
  call bottom()
  call logicals()
  call graphs()
  call windows()
  call files()
  call prepared()
  call print_notes()
  call MPI_Finalize(ierror)
contains
  ! MPI_IN_PLACE as a send buffer, and at the root as a receive buffer.
  subroutine in_place()
    integer :: sum, all(0:15), counts(0:15), places(0:15), part, i
    REQUEST :: one
    counts = 1
    places = [(i, i=0, 15)]
    sum = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call note('allreduce '//number(sum))
    sum = rank + 1
    call MPI_Iallreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, one, ierror)
    call MPI_Wait(one, MPI_STATUS_IGNORE, ierror)
    call note('iallreduce '//number(sum))
    sum = rank + 1
    if (rank == 1) then
      call MPI_Reduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD, ierror)
    else
      call MPI_Reduce(sum, sum, 1, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD, ierror)
    end if
    call note('reduce '//number(sum))
    all = -1
    all(rank) = 10*rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call note('allgather'//numbers(all(0:ranks - 1)))
    all = -1
    all(rank) = 20*rank
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call note('allgatherv'//numbers(all(0:ranks - 1)))
    all = [(100*rank + i, i=0, 15)]
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call note('alltoall'//numbers(all(0:ranks - 1)))
    all = [(100*rank + i, i=0, 15)]
    call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, all, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call note('alltoallv'//numbers(all(0:ranks - 1)))
    all = -1
    all(rank) = 30*rank
    part = 30*rank
    if (rank == 0) then
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    else
      call MPI_Gather(part, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    end if
    call note('gather'//numbers(all(0:ranks - 1)))
    all = [(7*i, i=0, 15)]
    part = -1
    if (rank == 0) then
      call MPI_Scatter(all, 1, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, ierror)
    else
      call MPI_Scatter(all, 1, MPI_INTEGER, part, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    end if
    call note('scatter '//number(part))
    all = -1
    part = 11*rank
    call MPI_Gatherv(part, 1, MPI_INTEGER, all, counts, places, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierror)
    call note('gatherv'//numbers(all(0:ranks - 1)))
    all = [(13*i, i=0, 15)]
    call MPI_Scatterv(all, counts, places, MPI_INTEGER, part, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierror)
    call note('scatterv '//number(part))
    sum = rank + 1
    call MPI_Scan(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call note('scan '//number(sum))
    sum = rank + 1
    call MPI_Exscan(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (rank > 0) call note('exscan '//number(sum))
    all = [(rank + i, i=0, 15)]
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call note('reduce_scatter_block '//number(all(0)))
    all = [(rank + i, i=0, 15)]
    call MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call note('reduce_scatter '//number(all(0)))
  end subroutine

  ! MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE beside real statuses.
  subroutine statuses()
    integer :: in, two(2), flag_index, done(2), count
    logical :: flag
    REQUEST :: requests(2)
    STATUS(one)
    STATUSES(both, 2)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 1, in, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call note('sendrecv '//number(in))
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 2, in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, one, ierror)
    call note('sendrecv '//number(in)//' from '//number(SOURCE(one))//' tag '//number(TAG(one)))
    two = -1
    call MPI_Irecv(two, 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(rank, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call note('waitall '//number(two(1)))
    call MPI_Irecv(two, 1, MPI_INTEGER, left, 4, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(rank, 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, both, ierror)
    call note('waitall from '//number(SOURCE_OF(both, 1)))
    call MPI_Irecv(two, 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, requests(1), ierror)
    requests(2) = MPI_REQUEST_NULL
    call MPI_Send(rank, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, ierror)
    call MPI_Waitany(2, requests, flag_index, MPI_STATUS_IGNORE, ierror)
    call note('waitany '//number(flag_index))
    call MPI_Irecv(two, 1, MPI_INTEGER, left, 6, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Send(rank, 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, ierror)
    call MPI_Waitsome(2, requests, count, done, MPI_STATUSES_IGNORE, ierror)
    call note('waitsome '//number(count)//' '//number(done(1)))
    call MPI_Send(rank, 1, MPI_INTEGER, right, 8, MPI_COMM_WORLD, ierror)
    call MPI_Probe(left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, flag, one, ierror)
    call note('iprobe '//yes(flag)//' '//number(SOURCE(one)))
    call MPI_Recv(in, 1, MPI_INTEGER, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    requests(1) = MPI_REQUEST_NULL
    call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, ierror)
    call note('test '//yes(flag))
    call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, ierror)
    call note('testall '//yes(flag))
    call MPI_Recv(in, 0, MPI_INTEGER, MPI_PROC_NULL, 9, MPI_COMM_WORLD, one, ierror)
    call note('from nobody '//yes(SOURCE(one) == MPI_PROC_NULL))
  end subroutine

  ! MPI_BOTTOM with a type of absolute addresses.
  subroutine bottom()
    integer, save, asynchronous :: a(2), b(3)
    integer(kind=MPI_ADDRESS_KIND) :: places(2)
    integer :: lengths(2)
    DATATYPE :: there, types(2)
    REQUEST :: one
    call MPI_Get_address(a, places(1), ierror)
    call MPI_Get_address(b, places(2), ierror)
    lengths = [2, 3]
    types = MPI_INTEGER
    call MPI_Type_create_struct(2, lengths, places, types, there, ierror)
    call MPI_Type_commit(there, ierror)
    a = 0
    b = 0
    if (rank == 0) then
      a = [1, 2]
      b = [3, 4, 5]
    end if
    call MPI_Bcast(MPI_BOTTOM, 1, there, 0, MPI_COMM_WORLD, ierror)
    call note('bottom, bcast'//numbers(a)//numbers(b))
    a = [rank, 2*rank]
    b = 3*rank
    call MPI_Isend(MPI_BOTTOM, 1, there, right, 20, MPI_COMM_WORLD, one, ierror)
    call MPI_Wait(one, MPI_STATUS_IGNORE, ierror)
    call MPI_Recv(MPI_BOTTOM, 1, there, left, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call note('bottom, received'//numbers(a)//numbers(b))
    call MPI_Type_free(there, ierror)
  end subroutine

  ! LOGICAL arguments in and out.
  subroutine logicals()
    integer :: dims(2), got_dims(2), coords(2), up, down, mine, low
    logical :: periods(2), got(2), keep(2), flag
    COMM :: grid, line, halves, inter, merged
    dims = [ranks/2, 2]
    periods = [.true., .false.]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierror)
    call MPI_Cart_get(grid, 2, got_dims, got, coords, ierror)
    call note('cart'//numbers(got_dims)//' '//yes(got(1))//' '//yes(got(2))//numbers(coords))
    call MPI_Cart_shift(grid, 0, 1, up, down, ierror)
    call note('shift'//numbers([up, down]))
    keep = [.false., .true.]
    call MPI_Cart_sub(grid, keep, line, ierror)
    call MPI_Comm_size(line, mine, ierror)
    call note('sub '//number(mine))
    call MPI_Comm_free(line, ierror)
    call MPI_Comm_free(grid, ierror)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .true., grid, ierror)
    call MPI_Comm_rank(grid, mine, ierror)
    call note('reordered '//number(mine))
    call MPI_Comm_free(grid, ierror)
    call MPI_Comm_test_inter(MPI_COMM_WORLD, flag, ierror)
    call note('inter '//yes(flag))
    call MPI_Initialized(flag, ierror)
    call note('initialized '//yes(flag))
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, halves, ierror)
    call MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 30, inter, ierror)
    call MPI_Comm_test_inter(inter, flag, ierror)
    call note('inter '//yes(flag))
    low = mod(rank, 2)
    call MPI_Intercomm_merge(inter, low == 0, merged, ierror)
    call MPI_Comm_rank(merged, mine, ierror)
    call note('merged '//number(mine))
    call MPI_Comm_free(merged, ierror)
    call MPI_Comm_free(inter, ierror)
    call MPI_Comm_free(halves, ierror)
  end subroutine

  ! MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY.
  subroutine graphs()
    integer :: sources(1), targets(1), got(1), in, out, none(1), weights(1), back(1)
    logical :: weighted
    COMM :: near
    sources = left
    targets = right
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., near, ierror)
    call MPI_Dist_graph_neighbors_count(near, in, out, weighted, ierror)
    call note('unweighted '//yes(weighted)//numbers([in, out]))
    got = -1
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, near, ierror)
    call note('neighbour'//numbers(got))
    call MPI_Dist_graph_neighbors(near, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, ierror)
    call note('between'//numbers([sources, targets]))
    call MPI_Comm_free(near, ierror)
    weights = 9
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights, 1, targets, weights, &
                                        MPI_INFO_NULL, .false., near, ierror)
    call MPI_Dist_graph_neighbors_count(near, in, out, weighted, ierror)
    call MPI_Dist_graph_neighbors(near, 1, sources, weights, 1, targets, back, ierror)
    call note('weighted '//yes(weighted)//numbers([weights, back]))
    call MPI_Comm_free(near, ierror)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, none, MPI_WEIGHTS_EMPTY, 0, none, MPI_WEIGHTS_EMPTY, &
                                        MPI_INFO_NULL, .false., near, ierror)
    call MPI_Dist_graph_neighbors_count(near, in, out, weighted, ierror)
    call note('nobody'//numbers([in, out]))
    call MPI_Comm_free(near, ierror)
    none = 1
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], none, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, .true., near, ierror)
    got = -1
    call MPI_Neighbor_alltoall(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, near, ierror)
    call note('neighbour'//numbers(got))
    call MPI_Comm_free(near, ierror)
  end subroutine

  subroutine windows()
    integer, asynchronous :: memory(1024)
    integer(kind=MPI_ADDRESS_KIND) :: bytes, place, value
    logical :: flag
    WINDOW :: one
    memory = -1
    bytes = 4096
    place = 0
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, one, ierror)
    call MPI_Win_fence(0, one, ierror)
    call MPI_Put(rank, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, one, ierror)
    call MPI_Win_fence(0, one, ierror)
    call MPI_Win_get_attr(one, MPI_WIN_SIZE, value, flag, ierror)
    call note('put by '//number(memory(1))//', size '//number(int(value))//' '//yes(flag))
    call MPI_Win_free(one, ierror)
  end subroutine

  subroutine files()
    integer :: number_read, count
    integer(kind=MPI_OFFSET_KIND) :: place
    FILEHANDLE :: one
    STATUS(read)
    call MPI_File_open(MPI_COMM_WORLD, 'sentinels.dat', ior(ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE), &
                       MPI_INFO_NULL, one, ierror)
    place = 4*rank
    call MPI_File_write_at_all(one, place, 11*rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call MPI_File_sync(one, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    place = 4*right
    call MPI_File_read_at_all(one, place, number_read, 1, MPI_INTEGER, read, ierror)
    call MPI_Get_count(read, MPI_INTEGER, count, ierror)
    call note('file '//number(number_read)//' count '//number(count))
    call MPI_File_close(one, ierror)
  end subroutine

  ! Persistent operations, and names as strings.
  subroutine prepared()
    integer, asynchronous :: out, in
    integer :: turn, length
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    REQUEST :: both(2)
    COMM :: comm
    call MPI_Send_init(out, 1, MPI_INTEGER, right, 40, MPI_COMM_WORLD, both(1), ierror)
    call MPI_Recv_init(in, 1, MPI_INTEGER, left, 40, MPI_COMM_WORLD, both(2), ierror)
    do turn = 1, 3
      out = 10*rank + turn
      call MPI_Startall(2, both, ierror)
      call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, ierror)
      call note('persistent '//number(in))
    end do
    call MPI_Request_free(both(1), ierror)
    call MPI_Request_free(both(2), ierror)
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierror)
    call note('name '//trim(name)//' '//number(length))
    call MPI_Comm_idup(MPI_COMM_WORLD, comm, both(1), ierror)
    call MPI_Wait(both(1), MPI_STATUS_IGNORE, ierror)
    call MPI_Comm_set_name(comm, 'a dup', ierror)
    call MPI_Comm_get_name(comm, name, length, ierror)
    call note('name '//trim(name)//' '//number(length))
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_get_parent(comm, ierror)
    flag = comm == MPI_COMM_NULL
    call note('no parent '//yes(flag))
  end subroutine
end program

! RANKS:    4
! PROVES:   MPI_IN_PLACE, MPI_BOTTOM, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE,
!           MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY and LOGICALs keep their meaning, and a
!           profile is the same by every interface.
! PITFALLS: 1 15 17
! FAILURES: commnamef commnamef90 commnamef08
! PROFILE:  same by every interface
