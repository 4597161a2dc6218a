/*
 * A collective that ranks call with arguments that do not fit each other, which is wrong: it ends
 * in an error of the MPI's or never.
 *
 *     collective_mismatches short|roots|counts|types|wrong-on-one|returned
 *
 * wrong-on-one: one rank's own arguments are wrong, and that rank alone gets an error; the
 * collectives after that must not take what this one left behind. returned: a message is too long
 * for one rank, on a communicator that returns errors, which the world does not, and which it did
 * not at an earlier call.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LONGEST 2 /* seconds that a mismatched call may take: all that goes wrong does so at once */

int main(int argc, char **argv)
{
    static double in[5000], out[5000];
    const char *which = argc > 1 ? argv[1] : "";
    MPI_Comm world = MPI_COMM_WORLD;
    int rank, ranks, code, value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    int odd = rank == 1;
    if (strcmp(which, "wrong-on-one") && strcmp(which, "returned"))
        alarm(LONGEST);
    if (!strcmp(which, "short"))
        MPI_Bcast(in, odd ? 10 : 5000, MPI_DOUBLE, 0, world);
    else if (!strcmp(which, "roots"))
        MPI_Reduce(in, out, 100, MPI_DOUBLE, MPI_SUM, odd ? 1 : 0, world);
    else if (!strcmp(which, "counts"))
        MPI_Allreduce(in, out, odd ? 7 : 3000, MPI_DOUBLE, MPI_SUM, world);
    else if (!strcmp(which, "types"))
        MPI_Alltoall(in, 8, odd ? MPI_INT : MPI_DOUBLE, out, 8, MPI_DOUBLE, world);
    else if (!strcmp(which, "returned")) {
        MPI_Comm comm;
        int class = MPI_SUCCESS;
        MPI_Comm_dup(world, &comm);
        /* A right call like those below, while errors still end the job. */
        MPI_Bcast(in, 100, MPI_DOUBLE, 0, comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        for (int round = 0; round < 3; round++) {
            code = MPI_Bcast(in, odd ? 10 : 100, MPI_DOUBLE, 0, comm);
            if (code != MPI_SUCCESS)
                MPI_Error_class(code, &class);
            if (odd != (code != MPI_SUCCESS) || (odd && class != MPI_ERR_TRUNCATE))
                printf("rank %d got code %d of class %d\n", rank, code, class);
            value = rank == 0 ? round : -1;
            code = MPI_Bcast(&value, 1, MPI_INT, 0, comm);
            if (code != MPI_SUCCESS || value != round)
                printf("rank %d has %d, not %d\n", rank, value, round);
        }
        MPI_Comm_free(&comm);
        MPI_Errhandler handler;
        MPI_Comm_get_errhandler(world, &handler);
        if (handler != MPI_ERRORS_ARE_FATAL)
            printf("rank %d has another handler\n", rank);
    } else {
        MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
        value = 1;
        code = MPI_Bcast(&value, odd ? -1 : 1, MPI_INT, 0, world);
        if (odd && code == MPI_SUCCESS)
            printf("no error on rank %d\n", rank);
        for (int round = 2; round < 40; round++) {
            value = rank == 0 ? round : -1;
            MPI_Bcast(&value, 1, MPI_INT, 0, world);
            if (value != round)
                printf("rank %d has %d, not %d\n", rank, value, round);
        }
    }
    printf("rank %d is done\n", rank);
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    4 ranks, with a time limit.
 * EXPECT: an error, or that it ends by its alarm; with wrong-on-one and returned, that all are done.
 */
