/* Phases marked with MPI_Pcontrol. Every rank sends to its right neighbour: 10
 * bytes in phase 1; three times 2 x 100 bytes in phase 2 and an MPI_Allreduce of an
 * int in phase 3; 1000 bytes and an MPI_Bcast that are not to be counted; 1 byte in
 * phase 1 again. Then it shares memory with the ranks of its node. */

#include <mpi.h>

static char out[1000], in[1000];

static void shift(int times, int bytes)
{
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < times; i++)
        MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, 0, in, bytes, MPI_CHAR,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int one = 1, sum;
    void *base;
    MPI_Comm node;
    MPI_Win window;

    MPI_Init(&argc, &argv);
    shift(1, 10);
    for (int i = 0; i < 3; i++) {
        MPI_Pcontrol(2);
        shift(2, 100);
        MPI_Pcontrol(3, "whatever a tool takes");
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Pcontrol(0);
    shift(1, 1000);
    MPI_Bcast(out, 7, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    shift(1, 1);

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, node, &base, &window);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
