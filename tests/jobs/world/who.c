/*
 * Which process of the launcher runs which rank: the one job here whose output
 * depends on it.
 */
#include "notes.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *process = getenv("OMPI_COMM_WORLD_RANK");
    note("process %s\n", process ? process : getenv("PMI_RANK"));
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    4
 * PROVES:   process i of the launcher runs rank p[i], as the permutation says.
 * PITFALLS: 1
 * OUTPUT:   permuted
 */
