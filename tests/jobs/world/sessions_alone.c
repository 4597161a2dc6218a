/*
 * A program with sessions and without MPI_Init: there is no world to replace,
 * and the job runs as it would plainly.
 */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, size, sum = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "treepie-tests", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0)
        printf("%d processes, sum of ranks %d\n", size, sum);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
#else
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("this MPI has no sessions\n");
    MPI_Finalize();
#endif
    return 0;
}

/*
 * RANKS:    3
 * PROVES:   a program that never calls MPI_Init runs, in every mode.
 * PITFALLS: 2 13
 */
