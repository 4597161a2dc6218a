! The ring job in Fortran with "use mpi_f08". ring.c, ring.f, ring.f90 and
! ring.py send the same messages and print the same lines; ring.md tells
! what they are.
!
! build: mpifort ring_f08.f90 -o ring
! run:   mpirun -np 4 ring
program ring
    use mpi_f08
    implicit none
    integer, parameter :: rounds = 10, unit = 100, small = 10
    integer :: me, ranks, left, right, rank
    integer :: results(5)
    integer, allocatable :: gathered(:, :)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    left = mod(me + ranks - 1, ranks)
    right = mod(me + 1, ranks)

    call pass_token(results(1))
    call shift_right(results(2))
    call shift_left(results(3))
    call reduce(results(4), results(5))

    ! Only the root's receive buffer matters.
    allocate (gathered(5, merge(ranks, 0, me == 0)))
    call MPI_Gather(results, 5, MPI_INTEGER, gathered, 5, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (me == 0) then
        do rank = 0, ranks - 1
            print '(7(a, i0))', 'rank ', rank, ' of ', ranks, ': token ', gathered(1, rank + 1), &
                ' right ', gathered(2, rank + 1), ' left ', gathered(3, rank + 1), &
                ' all ', gathered(4, rank + 1), ' alike ', gathered(5, rank + 1)
        end do
    end if
    call MPI_Finalize()

contains

    ! A number goes round the ring, from rank 0 to rank 0; each rank adds itself.
    subroutine pass_token(token)
        integer, intent(out) :: token
        integer :: received, count
        type(MPI_Status) :: status
        token = me + 1
        if (ranks == 1) return
        if (me == 0) then
            call MPI_Send(token, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
            call MPI_Recv(token, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, status)
            call MPI_Get_count(status, MPI_INTEGER, count)
            print '(4(a, i0), a)', 'token ', token, ' from rank ', status%MPI_SOURCE, &
                ', tag ', status%MPI_TAG, ', ', count, ' integer'
        else
            call MPI_Recv(received, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            token = token + received
            call MPI_Send(token, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
        end if
    end subroutine

    ! Longer and longer blocks go to the right, each round's block on to the next.
    subroutine shift_right(total)
        integer, intent(out) :: total
        double precision :: block(rounds*unit), received(rounds*unit)
        integer :: round
        total = 0
        block = me + 1
        do round = 1, rounds
            call MPI_Sendrecv(block, round*unit, MPI_DOUBLE_PRECISION, right, 2, &
                              received, round*unit, MPI_DOUBLE_PRECISION, left, 2, &
                              MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            block = received(1)
            total = total + int(received(round*unit))
        end do
    end subroutine

    ! One small message to the left, without waiting for each other.
    subroutine shift_left(last)
        integer, intent(out) :: last
        integer, asynchronous :: block(small), received(small)
        integer :: i
        type(MPI_Request) :: requests(2)
        do i = 1, small
            block(i) = 100*(me + 1) + i - 1
        end do
        call MPI_Irecv(received, small, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(block, small, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        last = received(small)
    end subroutine

    ! The sum of all ranks, reduced in place, in the world and among every other rank.
    subroutine reduce(all, alike)
        integer, intent(out) :: all, alike
        type(MPI_Comm) :: half
        double precision :: total(1), part(1)
        total = me + 1
        call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
        all = int(total(1))
        call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), me, half)
        part = me + 1
        call MPI_Allreduce(MPI_IN_PLACE, part, 1, MPI_DOUBLE_PRECISION, MPI_SUM, half)
        alike = int(part(1))
        call MPI_Comm_free(half)
    end subroutine

end program
