! Rank 0 reads two numbers from unit 5, a line each, and tells all ranks; the sum over all ranks is
! printed.
program reads_input
    use mpi
    implicit none
    integer :: rank, error, numbers(2), total

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    numbers = 0
    if (rank == 0) then
        read (*, *) numbers(1)
        read (5, *) numbers(2)
    end if
    call MPI_Bcast(numbers, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call MPI_Reduce(sum(numbers), total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
    if (rank == 0) print '(a, i0)', 'sum ', total
    call MPI_Finalize(error)
end program
