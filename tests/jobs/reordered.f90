! A grid whose ranks may be reordered, from Fortran: what each node gets from its
! neighbours does not depend on the order, which the lines "order" tell.
program reordered
  use mpi
  implicit none
  integer :: here(1), world, ranks, grid, rank, ierror, node, sizes(2), coords(2), mine, got(4)
  logical :: periods(2)
  integer, allocatable :: all(:, :), order(:)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, world, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  here = world
  sizes = 0
  periods = [.true., .false.]
  call MPI_Dims_create(ranks, 2, sizes, ierror)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, .true., grid, ierror)
  call MPI_Comm_rank(grid, rank, ierror)
  call MPI_Cart_coords(grid, rank, 2, coords, ierror)
  mine = 100 * coords(1) + coords(2)
  got = -1
  call MPI_Neighbor_allgather(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, grid, ierror)
  allocate (all(4, ranks), order(ranks))
  call MPI_Gather(got, 4, MPI_INTEGER, all, 4, MPI_INTEGER, 0, grid, ierror)
  call MPI_Gather(here, 1, MPI_INTEGER, order, 1, MPI_INTEGER, 0, grid, ierror)
  if (rank == 0) then
    do node = 1, ranks
      print '(a, i0, a, 4(1x, i0))', 'node ', node - 1, ':', all(:, node)
    end do
    print '(a, *(1x, i0))', 'order grid:', order
  end if
  call adjacent
  call MPI_Comm_free(grid, ierror)
  call MPI_Finalize(ierror)
contains
  subroutine adjacent
    integer :: near, from(1), to(1), got(1)
    to = mod(world + ranks / 2, ranks)
    from = mod(world + ranks - ranks / 2, ranks)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .true., near, ierror)
    call MPI_Comm_rank(near, rank, ierror)
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, near, ierror)
    call MPI_Gather(got, 1, MPI_INTEGER, order, 1, MPI_INTEGER, 0, near, ierror)
    if (rank == 0) print '(a, *(1x, i0))', 'half the ring away:', order
    call MPI_Gather(here, 1, MPI_INTEGER, order, 1, MPI_INTEGER, 0, near, ierror)
    if (rank == 0) print '(a, *(1x, i0))', 'order pairs:', order
    call MPI_Comm_free(near, ierror)
  end subroutine
end program
