/* Arguments that no call takes: each alone, which ends the job where the MPI finds it, and all of
 * them with errors returned. */

static void told(const char *what, int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    say(what, class);
}

static int sent_to(int to, int tag, int count, MPI_Datatype type, MPI_Comm comm)
{
    return MPI_Send(out, count, type, to, tag, comm);
}

static MPI_Comm freed_communicator(void)
{
    MPI_Comm made = duplicate(), copy = made;
    MPI_Comm_free(&made);
    return copy;
}

static MPI_Datatype freed_type(void)
{
    MPI_Datatype made, copy;
    MPI_Type_contiguous(2, MPI_INT, &made);
    MPI_Type_commit(&made);
    copy = made;
    MPI_Type_free(&made);
    return copy;
}

static void a_rank_beyond_the_last(void) { sent_to(size, 1, FEW, MPI_INT, world); }
static void a_negative_rank(void) { sent_to(-7, 1, FEW, MPI_INT, world); }
static void a_negative_tag(void) { sent_to(1 - rank, -7, FEW, MPI_INT, world); }
static void a_negative_count(void) { sent_to(1 - rank, 1, -1, MPI_INT, world); }
static void no_communicator(void) { sent_to(1 - rank, 1, FEW, MPI_INT, MPI_COMM_NULL); }
static void no_type(void) { sent_to(1 - rank, 1, FEW, MPI_DATATYPE_NULL, world); }
static void barrier_on_a_freed(void) { MPI_Barrier(freed_communicator()); }
static void send_on_a_freed(void) { sent_to(rank, 1, FEW, MPI_INT, freed_communicator()); }

static void send_of_a_freed_type(void)
{
    MPI_Datatype type = freed_type();
    sent_to(1 - rank, 1, FEW, type, world);
    MPI_Recv(in, FEW, type, 1 - rank, 1, world, MPI_STATUS_IGNORE);
}

static void send_of_an_uncommitted_type(void)
{
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    sent_to(1 - rank, 1, 1, type, world);
}

static void a_wrong_rank_of_one(void)
{
    if (rank == 1)
        sent_to(size, 1, FEW, MPI_INT, world);
    else
        MPI_Recv(in, FEW, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE);
}

static void a_freed_world(void)
{
    MPI_Comm copy = world;
    MPI_Comm_free(&copy);
}

static void send_without_a_buffer(void)
{
    MPI_Send(NULL, FEW, MPI_INT, 1 - rank, 1, world);
    MPI_Recv(in, FEW, MPI_INT, 1 - rank, 1, world, MPI_STATUS_IGNORE);
}

static void reduction_without_an_operator(void)
{
    MPI_Allreduce(out, in, FEW, MPI_INT, MPI_OP_NULL, world);
}

static void bcast_of_no_rank(void) { MPI_Bcast(out, FEW, MPI_INT, size, world); }
static void allreduce_in_one_buffer(void) { MPI_Allreduce(in, in, FEW, MPI_INT, MPI_SUM, world); }

static void wrong_messages(void)
{
    MPI_Status status;
    int flag;
    told("rank", sent_to(size, 1, FEW, MPI_INT, world));
    told("rank", sent_to(-7, 1, FEW, MPI_INT, world));
    told("tag", sent_to(1 - rank, -7, FEW, MPI_INT, world));
    told("count", sent_to(1 - rank, 1, -1, MPI_INT, world));
    told("type", sent_to(1 - rank, 1, FEW, MPI_DATATYPE_NULL, world));
    told("communicator", sent_to(1 - rank, 1, FEW, MPI_INT, MPI_COMM_NULL));
    told("receive", MPI_Recv(in, FEW, MPI_INT, size, 1, world, &status));
    told("receive", MPI_Recv(in, -1, MPI_INT, 1 - rank, 1, world, &status));
    told("irecv", MPI_Irecv(in, FEW, MPI_INT, size, 1, world, &request));
    told("isend", MPI_Isend(out, FEW, MPI_INT, 1 - rank, -7, world, &request));
    told("sendrecv", MPI_Sendrecv(out, FEW, MPI_INT, size, 1, in, FEW, MPI_INT, size, 1, world, &status));
    told("probe", MPI_Probe(size, 1, world, &status));
    told("iprobe", MPI_Iprobe(1 - rank, -7, world, &flag, &status));
    told("init", MPI_Send_init(out, -1, MPI_INT, 1 - rank, 1, world, &request));
    request = MPI_REQUEST_NULL;
    told("wait", MPI_Wait(&request, &status));
    told("start", MPI_Start(&request));
    told("cancel", MPI_Cancel(&request));
    told("free", MPI_Request_free(&request));
    told("waitall", MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE));
}

static void wrong_collectives(void)
{
    told("root", MPI_Bcast(out, FEW, MPI_INT, size, world));
    told("root", MPI_Reduce(out, in, FEW, MPI_INT, MPI_SUM, -7, world));
    told("count", MPI_Bcast(out, -1, MPI_INT, 0, world));
    told("type", MPI_Bcast(out, FEW, MPI_DATATYPE_NULL, 0, world));
    told("operator", MPI_Allreduce(out, in, FEW, MPI_INT, MPI_OP_NULL, world));
    told("communicator", MPI_Barrier(MPI_COMM_NULL));
    told("started", MPI_Ibcast(out, FEW, MPI_INT, size, world, &request));
    told("started", MPI_Ibarrier(MPI_COMM_NULL, &request));
    told("started", MPI_Ireduce(out, in, -1, MPI_INT, MPI_SUM, 0, world, &request));
}

static void wrong_objects(void)
{
    int dims[1] = {size + 1}, periods[1] = {0}, wrong[1] = {size};
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group, part;
    MPI_Datatype type;
    MPI_Win window;
    told("split", MPI_Comm_split(world, -7, 0, &made));
    told("dup", MPI_Comm_dup(MPI_COMM_NULL, &made));
    told("rank", MPI_Comm_rank(MPI_COMM_NULL, &wrong[0]));
    wrong[0] = size;
    told("cart", MPI_Cart_create(world, 1, dims, periods, 0, &made));
    MPI_Comm_group(world, &group);
    told("incl", MPI_Group_incl(group, 1, wrong, &part));
    told("vector", MPI_Type_vector(-1, 1, 1, MPI_INT, &type));
    told("window", MPI_Win_create(in, -1, 1, MPI_INFO_NULL, world, &window));
    window = MPI_WIN_NULL;
    told("fence", MPI_Win_fence(0, window));
    told("put", MPI_Put(out, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
    told("free", MPI_Win_free(&window));
}

static void all_wrong_arguments(void)
{
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    wrong_messages();
    wrong_collectives();
    wrong_objects();
}

#define ARGUMENTS \
    {"argument-rank", a_rank_beyond_the_last, 2}, \
    {"argument-negative-rank", a_negative_rank, 2}, \
    {"argument-tag", a_negative_tag, 2}, \
    {"argument-count", a_negative_count, 2}, \
    {"argument-null-communicator", no_communicator, 2}, \
    {"argument-null-type", no_type, 2}, \
    {"argument-null-buffer", send_without_a_buffer, 2}, \
    {"argument-null-operator", reduction_without_an_operator, 2}, \
    {"argument-freed-communicator", barrier_on_a_freed, 2}, \
    {"argument-freed-communicator-send", send_on_a_freed, 2}, \
    {"argument-freed-type", send_of_a_freed_type, 2}, \
    {"argument-uncommitted-type", send_of_an_uncommitted_type, 2}, \
    {"argument-of-one-rank", a_wrong_rank_of_one, 2}, \
    {"argument-freed-world", a_freed_world, 2}, \
    {"argument-root", bcast_of_no_rank, 2}, \
    {"argument-aliased", allreduce_in_one_buffer, 2}, \
    {"arguments-returned", all_wrong_arguments, 2},
