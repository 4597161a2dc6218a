/* The kinds of communicators, and who is who on them. */

/* Finds out who is who by telling each other, not by asking for groups:
 * groups are part of what is tested. Each communicator has its own hundreds
 * of rounds, the same for all ranks, whichever they were in before. */
static void on(int number, MPI_Comm comm)
{
    struct circle circle = {.comm = comm};
    int inter;
    round_number = 1000 * number;
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &circle.rank);
    if (inter)
        MPI_Comm_remote_size(comm, &circle.size);
    else
        MPI_Comm_size(comm, &circle.size);
    circle.world_of = malloc((size_t)circle.size * sizeof(int));
    MPI_Allgather(&world_rank, 1, MPI_INT, circle.world_of, 1, MPI_INT, comm);
    every_form(&circle);
    free(circle.world_of);
}

static void on_and_free(int number, MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return;
    on(number, comm);
    MPI_Comm_free(&comm);
}

static void every_communicator(void)
{
    MPI_Comm comm, half, merged;
    MPI_Group world, odd;

    on(1, MPI_COMM_WORLD);
    on(2, MPI_COMM_SELF);

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    on_and_free(3, comm);

    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm); /* reversed */
    on_and_free(4, comm);

    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 3, world_rank, &comm);
    on_and_free(5, comm);

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &comm);
    on_and_free(6, comm);

    int dims[1] = {world_size}, periods[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
    on_and_free(7, comm);

    /* The odd ranks (or the only one) by a group of the world, and a
     * communicator made of that: a communicator of a communicator. */
    int range[1][3] = {{world_size > 1, world_size - 1, 2}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &odd);
    MPI_Comm_create(MPI_COMM_WORLD, odd, &comm);
    if (comm != MPI_COMM_NULL) {
        MPI_Comm reversed;
        int rank;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_split(comm, 0, -rank, &reversed);
        on_and_free(8, reversed);
    }
    on_and_free(9, comm);
    if (world_rank % 2 == 1) {
        MPI_Comm_create_group(MPI_COMM_WORLD, odd, 5, &comm);
        on_and_free(10, comm);
    }
    MPI_Group_free(&odd);
    MPI_Group_free(&world);

    /* Between the lower and the upper half, with equally many on each side,
     * the upper one in reverse; then both merged. */
    int each = world_size / 2;
    if (each > 0) {
        int side = world_rank < each ? 0 : world_rank < 2 * each ? 1 : MPI_UNDEFINED;
        MPI_Comm_split(MPI_COMM_WORLD, side, side == 1 ? -world_rank : world_rank, &half);
        if (half != MPI_COMM_NULL) {
            /* Leaders are named by rank in the peer communicator: the
             * lower half's is 0, the upper one's its highest. */
            MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side == 0 ? 2 * each - 1 : 0, 9, &comm);
            on(11, comm);
            MPI_Intercomm_merge(comm, side == 0, &merged);
            on_and_free(12, merged);
            MPI_Comm_free(&comm);
            MPI_Comm_free(&half);
        }
    }
}
