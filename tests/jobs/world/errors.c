/*
 * Errors that are returned: the MPI's own, in every mode.
 */
#include "notes.h"

#define TRY(call) note("%s: %s\n", #call, class_of(call))

int main(int argc, char **argv)
{
    int value = 0, flag, two[2], *pointer;
    MPI_Comm world, made;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win window;
    MPI_File file;
    MPI_Status status;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

    TRY(MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD));
    TRY(MPI_Send(&value, 1, MPI_INT, -7, 0, MPI_COMM_WORLD));
    TRY(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    TRY(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD));
    TRY(MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD));
    TRY(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    TRY(MPI_Isend(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &request));
    TRY(MPI_Send_init(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &request));
    TRY(MPI_Recv(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &status));
    TRY(MPI_Probe(size, 0, MPI_COMM_WORLD, &status));
    TRY(MPI_Sendrecv(&value, 1, MPI_INT, size, 0, two, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &status));
    TRY(MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD));
    TRY(MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD));
    TRY(MPI_Reduce(&value, two, 1, MPI_INT, MPI_SUM, -3, MPI_COMM_WORLD));
    TRY(MPI_Allreduce(&value, two, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD));
    TRY(MPI_Gather(&value, 1, MPI_INT, two, 1, MPI_INT, size + 1, MPI_COMM_WORLD));
    TRY(MPI_Comm_rank(MPI_COMM_NULL, &value));
    TRY(MPI_Comm_dup(MPI_COMM_NULL, &made));
    TRY(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &value));
    TRY(MPI_Comm_get_name(MPI_COMM_NULL, (char[MPI_MAX_OBJECT_NAME]){0}, &value));
    TRY(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &pointer, &flag));
    TRY(MPI_Comm_remote_size(MPI_COMM_WORLD, &value));
    TRY(MPI_Cart_rank(MPI_COMM_WORLD, two, &value));
    TRY(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &value));
    TRY(MPI_Neighbor_allgather(&value, 1, MPI_INT, two, 1, MPI_INT, MPI_COMM_WORLD));
    TRY(MPI_Win_create(&value, sizeof value, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    TRY(MPI_File_open(MPI_COMM_WORLD, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));

    world = MPI_COMM_WORLD;
    TRY(MPI_Comm_free(&world));
    note("the handle is %s\n", seen(world));
    world = MPI_COMM_NULL;
    TRY(MPI_Comm_free(&world));
#ifdef OPEN_MPI /* others let the world be disconnected, and are lost then */
    world = MPI_COMM_WORLD;
    TRY(MPI_Comm_disconnect(&world));
    note("the handle is %s\n", seen(world));
#endif

    /* A message that is too long. */
    int many[8] = {0};
    MPI_Irecv(&value, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &request);
    MPI_Send(many, 8, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD);
    TRY(MPI_Wait(&request, &status));
    note("from the rank on the left: %d\n", status.MPI_SOURCE == (rank + size - 1) % size);

    int still;
    MPI_Comm_rank(MPI_COMM_WORLD, &still);
    note("still the same rank: %d\n", still == rank);
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    3
 * PROVES:   each error is the host's, by its class, and the world survives being
 *           freed.
 * PITFALLS: 10
 * FAILURES: testFreeWorld
 */
