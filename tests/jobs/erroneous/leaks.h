/* What is made and never freed. */

static void communicators_that_are_kept(void)
{
    int dims[1] = {size}, periods[1] = {1};
    MPI_Comm made, half;
    MPI_Group group;
    duplicate();
    MPI_Comm_split(world, rank, 0, &half);
    MPI_Cart_create(world, 1, dims, periods, 1, &made);
    MPI_Comm_group(world, &group);
    MPI_Comm_create(world, group, &made);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    MPI_Intercomm_create(half, 0, world, 1 - rank, 5, &made);
    MPI_Comm_idup(world, &made, &request);
}

static void windows_that_are_kept(void)
{
    MPI_Win window;
    void *memory;
    MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, world, &window);
    MPI_Win_fence(0, window);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, world, &memory, &window);
    MPI_Win_fence(0, window);
}

static void windows_that_are_shared(void)
{
    MPI_Win window;
    void *memory;
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, world, &memory, &window);
    MPI_Win_create_dynamic(MPI_INFO_NULL, world, &window);
}

static void add(void *from, void *to, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((int *)to)[i] += ((int *)from)[i];
}

static void small_things_that_are_kept(void)
{
    MPI_Datatype type;
    MPI_Op operator;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Request send;
    int key;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Send(out, 1, type, 1 - rank, 1, world);
    MPI_Recv(in, 1, type, 1 - rank, 1, world, MPI_STATUS_IGNORE);
    MPI_Op_create(add, 1, &operator);
    MPI_Allreduce(out, in, FEW, MPI_INT, operator, world);
    MPI_Info_create(&info);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(world, key, in);
    MPI_Comm_get_errhandler(world, &handler);
    MPI_Send_init(out, FEW, MPI_INT, 1 - rank, 1, world, &send);
    MPI_Recv_init(in, FEW, MPI_INT, 1 - rank, 1, world, &request);
}

static void messages_that_are_not_received(void)
{
    for (int message = 0; message < 100; message++)
        MPI_Send(out, FEW, MPI_INT, 1 - rank, message, world);
}

static void a_message_that_is_not_received(void)
{
    MPI_Comm made = duplicate();
    if (rank == 0)
        MPI_Send(out, FEW, MPI_INT, 1, 1, made);
    MPI_Comm_free(&made);
}

static void a_buffer_that_is_not_detached(void)
{
    static char space[4096];
    MPI_Buffer_attach(space, sizeof space);
    MPI_Bsend(out, FEW, MPI_INT, 1 - rank, 1, world);
    MPI_Recv(in, FEW, MPI_INT, 1 - rank, 1, world, MPI_STATUS_IGNORE);
}

#define LEAKS \
    {"leak-communicators", communicators_that_are_kept, 2}, \
    {"leak-windows", windows_that_are_kept, 2}, \
    {"leak-shared-windows", windows_that_are_shared, 2}, \
    {"leak-small-things", small_things_that_are_kept, 2}, \
    {"leak-messages", messages_that_are_not_received, 2}, \
    {"leak-message-of-freed", a_message_that_is_not_received, 2}, \
    {"leak-buffer", a_buffer_that_is_not_detached, 2},
