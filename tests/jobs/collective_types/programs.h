/* The fixed programs. */

static void check(int is_right, const char *program)
{
    calls++;
    if (!is_right && failures++ < 5)
        fprintf(stderr, "rank %d: %s is wrong\n", rank, program);
}

/* Integers that rank 0 sends backwards and the others as they are. */
static void negative_extent(void)
{
    MPI_Datatype backwards;
    MPI_Type_create_resized(MPI_INT, 0, -(MPI_Aint)sizeof(int), &backwards);
    MPI_Type_commit(&backwards);
    int data[4], from_all[4 * MOST_RANKS], right = 1;
    MPI_Datatype type = rank == 0 ? backwards : MPI_INT;
    int *first = rank == 0 ? data + 3 : data;
    for (int i = 0; i < 4; i++)
        data[i] = rank == 0 ? i : -1;
    MPI_Bcast(first, 4, type, 0, comm);
    for (int i = 0; i < 4; i++)
        right &= data[i] == (rank == 0 ? i : 3 - i);
    check(right, "a broadcast backwards");
    for (int all_get = 0; all_get < 2; all_get++) {
        for (int i = 0; i < 4; i++)
            data[i] = 10 * rank + i;
        if (all_get)
            MPI_Allgather(first, 4, type, from_all, 4, MPI_INT, comm);
        else
            MPI_Gather(first, 4, type, from_all, 4, MPI_INT, 0, comm);
        right = 1;
        for (int i = 0; i < 4 * ranks; i++)
            right &= from_all[i] == (i < 4 ? 3 - i : 10 * (i / 4) + i % 4);
        check(right || (!all_get && rank > 0), all_get ? "an allgather backwards" : "a gather backwards");
    }
    MPI_Type_free(&backwards);
}

/* One integer that rank 0 sends many times. */
static void zero_extent(void)
{
    MPI_Datatype still;
    MPI_Type_create_resized(MPI_INT, 0, 0, &still);
    MPI_Type_commit(&still);
    int data[5] = {7, 0, 0, 0, 0}, parts[2] = {-1, -1}, right = 1;
    MPI_Bcast(data, 5, rank == 0 ? still : MPI_INT, 0, comm);
    for (int i = 0; i < 5; i++)
        right &= data[i] == (rank > 0 || i == 0 ? 7 : 0);
    check(right, "a broadcast of one integer");
    data[0] = 70;
    MPI_Scatter(data, 2, rank == 0 ? still : MPI_INT, parts, 2, MPI_INT, 0, comm);
    check(parts[0] == 70 && parts[1] == 70, "a scatter of one integer");
    MPI_Type_free(&still);
}

/* Data without size on some ranks, and no elements on others. */
static void no_size(void)
{
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    int data = 5, others[MOST_RANKS];
    memset(others, -1, sizeof others);
    MPI_Bcast(&data, rank % 2 ? 9 : 0, rank % 2 ? empty : MPI_INT, 0, comm);
    MPI_Allgather(&data, rank % 2 ? 0 : 3, rank % 2 ? MPI_INT : empty, others, rank % 2, empty, comm);
    check(data == 5 && others[0] == -1, "what has no size");
    MPI_Type_free(&empty);
}

/* Absolute addresses on odd ranks. */
static void absolute(void)
{
    int data[2] = {rank, rank + 1}, others[2 * MOST_RANKS], ones[2] = {1, 1}, right = 1;
    MPI_Aint at[2];
    MPI_Datatype both;
    MPI_Get_address(&data[0], &at[0]);
    MPI_Get_address(&data[1], &at[1]);
    MPI_Type_create_hindexed(2, ones, at, MPI_INT, &both);
    MPI_Type_commit(&both);
    if (rank % 2)
        MPI_Allgather(MPI_BOTTOM, 1, both, others, 2, MPI_INT, comm);
    else
        MPI_Allgather(data, 2, MPI_INT, others, 2, MPI_INT, comm);
    for (int i = 0; i < 2 * ranks; i++)
        right &= others[i] == (i + 1) / 2;
    check(right, "an allgather of absolute addresses");
    MPI_Type_free(&both);
}

/* One element of more bytes than an int counts, in one part on rank 0 and in two on the others:
 * 4.5 GiB of memory for each rank. */
static void large_element(void)
{
    int length = 280000000, half = length / 2, lengths[] = {half, half};
    MPI_Aint starts[] = {0, (half + 1) * (MPI_Aint)sizeof(double)};
    double *data = malloc((size_t)(length + 1) * sizeof *data);
    long bad = 0;
    MPI_Datatype type;
    if (rank == 0)
        MPI_Type_contiguous(length, MPI_DOUBLE, &type);
    else
        MPI_Type_create_hindexed(2, lengths, starts, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i <= length; i++)
        data[i] = rank == 0 ? i : -1;
    MPI_Bcast(data, 1, type, 0, comm);
    for (int i = 0; rank > 0 && i <= length; i++)
        bad += data[i] != (i < half ? i : i == half ? -1 : i - 1);
    check(bad == 0, "a broadcast of a large element");
    MPI_Type_free(&type);
    free(data);
}
