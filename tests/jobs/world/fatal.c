/*
 * An error that nobody handles ends the job, as it does plainly.
 */
#include "notes.h"

int main(int argc, char **argv)
{
    int value = 0;
    begin(&argc, &argv);
    note("before the error\n");
    print_notes();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_INT, size + 4, 0, MPI_COMM_WORLD);
    printf("after the error\n");
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    2
 * PROVES:   errors are fatal at first, with the host's exit status.
 * PITFALLS: 8
 * STATUS:   plain
 */
