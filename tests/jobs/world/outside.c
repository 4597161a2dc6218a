/*
 * A call of MPI before MPI_Init, or after MPI_Finalize, where it is not allowed: the
 * host ends the job, or says what it says.
 */
#include "notes.h"

int main(int argc, char **argv)
{
    int value = -1, early = argc > 1 && !strcmp(argv[1], "early");
    printf("before\n");
    fflush(stdout);
    if (early) {
        MPI_Comm_rank(MPI_COMM_WORLD, &value);
        printf("asked before MPI_Init: %s\n", value == -1 ? "told nothing" : "told a rank");
    }
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    printf("sent after MPI_Finalize\n");
    return 0;
}

/*
 * RANKS:    2
 * PROVES:   what MPI does not allow before its start and after its end is the
 *           host's error, with the host's exit status.
 * PITFALLS: 26
 * STATUS:   plain
 */
