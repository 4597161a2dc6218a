C     The ring job in Fortran 77 with mpif.h. ring.c, ring.f90,
C     ring_f08.f90 and ring.py send the same messages and print the
C     same lines; ring.md tells what they are.
C
C     build: mpifort ring.f -o ring
C     run:   mpirun -np 4 ring
      program ring
      implicit none
      include 'mpif.h'
      integer me, ranks, left, right, rank, error, i
      integer results(5)
      integer gathered(5, 0:1023)

      call MPI_INIT(error)
      call MPI_COMM_RANK(MPI_COMM_WORLD, me, error)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, error)
      if (ranks .gt. 1024) then
         print *, 'ring: at most 1024 ranks'
         call MPI_ABORT(MPI_COMM_WORLD, 1, error)
      end if
      left = mod(me + ranks - 1, ranks)
      right = mod(me + 1, ranks)

      call token(me, ranks, left, right, results(1))
      call toright(me, left, right, results(2))
      call toleft(me, left, right, results(3))
      call reduce(me, results(4), results(5))

      call MPI_GATHER(results, 5, MPI_INTEGER, gathered, 5,
     &                MPI_INTEGER, 0, MPI_COMM_WORLD, error)
      if (me .eq. 0) then
         do 10 rank = 0, ranks - 1
            write (*, 20) rank, ranks, (gathered(i, rank), i = 1, 5)
 10      continue
      end if
 20   format ('rank ', i0, ' of ', i0, ': token ', i0, ' right ', i0,
     &        ' left ', i0, ' all ', i0, ' alike ', i0)
      call MPI_FINALIZE(error)
      end

C     A number goes round the ring, from rank 0 to rank 0; each rank
C     adds itself.
      subroutine token(me, ranks, left, right, number)
      implicit none
      include 'mpif.h'
      integer me, ranks, left, right, number
      integer before, length, error, status(MPI_STATUS_SIZE)
      number = me + 1
      if (ranks .eq. 1) return
      if (me .eq. 0) then
         call MPI_SEND(number, 1, MPI_INTEGER, right, 1,
     &                 MPI_COMM_WORLD, error)
         call MPI_RECV(number, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1,
     &                 MPI_COMM_WORLD, status, error)
         call MPI_GET_COUNT(status, MPI_INTEGER, length, error)
         write (*, 30) number, status(MPI_SOURCE), status(MPI_TAG),
     &                 length
      else
         call MPI_RECV(before, 1, MPI_INTEGER, left, 1,
     &                 MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
         number = number + before
         call MPI_SEND(number, 1, MPI_INTEGER, right, 1,
     &                 MPI_COMM_WORLD, error)
      end if
 30   format ('token ', i0, ' from rank ', i0, ', tag ', i0, ', ', i0,
     &        ' integer')
      end

C     Longer and longer blocks go to the right, each round's block on
C     to the next.
      subroutine toright(me, left, right, total)
      implicit none
      include 'mpif.h'
      integer me, left, right, total, round, i, error
      double precision block(1000), got(1000)
      total = 0
      do 40 i = 1, 1000
         block(i) = me + 1
 40   continue
      do 60 round = 1, 10
         call MPI_SENDRECV(block, round*100, MPI_DOUBLE_PRECISION,
     &        right, 2, got, round*100, MPI_DOUBLE_PRECISION, left, 2,
     &        MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
         do 50 i = 1, 1000
            block(i) = got(1)
 50      continue
         total = total + int(got(round*100))
 60   continue
      end

C     One small message to the left, without waiting for each other.
C     The arrays stay in memory while MPI fills them.
      subroutine toleft(me, left, right, last)
      implicit none
      include 'mpif.h'
      integer me, left, right, last, i, error
      integer block(10), got(10), requests(2)
      save block, got
      volatile block, got
      do 70 i = 1, 10
         block(i) = 100*(me + 1) + i - 1
 70   continue
      call MPI_IRECV(got, 10, MPI_INTEGER, right, 3,
     &               MPI_COMM_WORLD, requests(1), error)
      call MPI_ISEND(block, 10, MPI_INTEGER, left, 3,
     &               MPI_COMM_WORLD, requests(2), error)
      call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, error)
      last = got(10)
      end

C     The sum of all ranks, reduced in place, in the world and among
C     every other rank. Compilers want each MPI function of a file to
C     get one type of buffer; here all reductions are of doubles.
      subroutine reduce(me, all, alike)
      implicit none
      include 'mpif.h'
      integer me, all, alike, half, error
      double precision total(1), part(1)
      total(1) = me + 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION,
     &                   MPI_SUM, MPI_COMM_WORLD, error)
      all = int(total(1))
      call MPI_COMM_SPLIT(MPI_COMM_WORLD, mod(me, 2), me, half, error)
      part(1) = me + 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, part, 1, MPI_DOUBLE_PRECISION,
     &                   MPI_SUM, half, error)
      alike = int(part(1))
      call MPI_COMM_FREE(half, error)
      end
