/* The forms of sends: what each of them sends once, alone or together with a receive. */

/* The ways to send one message; each has been handed a posted receive. */
typedef void (*form)(const void *, int, MPI_Datatype, int, MPI_Comm);

static void by_send(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Send(b, n, t, to, TAG, c);
}

static void by_ssend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Ssend(b, n, t, to, TAG, c);
}

static void by_rsend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Rsend(b, n, t, to, TAG, c);
}

/* Buffered sends bring their own buffer, and wait until it is empty. */
static void by_bsend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    static char room[LONGEST + MPI_BSEND_OVERHEAD];
    void *given;
    int size;
    MPI_Buffer_attach(room, sizeof room);
    MPI_Bsend(b, n, t, to, TAG, c);
    MPI_Buffer_detach(&given, &size);
}

static void wait_for(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void by_isend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Request request;
    MPI_Isend(b, n, t, to, TAG, c, &request);
    wait_for(&request);
}

static void by_issend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Request request;
    MPI_Issend(b, n, t, to, TAG, c, &request);
    wait_for(&request);
}

static void by_irsend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Request request;
    MPI_Irsend(b, n, t, to, TAG, c, &request);
    wait_for(&request);
}

static void by_ibsend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    static char room[LONGEST + MPI_BSEND_OVERHEAD];
    void *given;
    int size;
    MPI_Request request;
    MPI_Buffer_attach(room, sizeof room);
    MPI_Ibsend(b, n, t, to, TAG, c, &request);
    wait_for(&request);
    MPI_Buffer_detach(&given, &size);
}

static const struct {
    const char *name;
    form send;
} forms[] = {
    {"MPI_Send", by_send},   {"MPI_Ssend", by_ssend},   {"MPI_Rsend", by_rsend},   {"MPI_Bsend", by_bsend},
    {"MPI_Isend", by_isend}, {"MPI_Issend", by_issend}, {"MPI_Irsend", by_irsend}, {"MPI_Ibsend", by_ibsend},
};

/* One round: everyone sends with one form to the rank `shift` further on. In
 * an intercommunicator the groups may differ in size, so a rank sends only
 * where both groups have it. */
static void one_form(const struct circle *circle, int which, int shift)
{
    unsigned char out[LONGEST] = {0}, in[LONGEST] = {0};
    round_number++;
    int n = circle->size;
    int to = (circle->rank + shift) % n, from = ((circle->rank - shift) % n + n) % n;
    int mine = length_of(world_rank), theirs = length_of(circle->world_of[from]);
    MPI_Request receive;
    MPI_Status status;
    int received;

    fill(out, mine, world_rank);
    memset(in, 0xee, sizeof in);
    MPI_Irecv(in, LONGEST, MPI_BYTE, from, TAG, circle->comm, &receive);
    all_posted(circle);
    forms[which].send(out, mine, MPI_BYTE, to, circle->comm);
    expect(circle, to, mine);
    MPI_Wait(&receive, &status);
    MPI_Get_count(&status, MPI_BYTE, &received);
    check(received == theirs && status.MPI_SOURCE == from && status.MPI_TAG == TAG, "the status");
    check(holds(in, theirs, circle->world_of[from]), forms[which].name);
}

/* Bytes are those of the data, whatever the type: a strided vector, whose
 * extent is larger than its size, and a pair with a hole. */
static void datatypes(const struct circle *circle)
{
    int n = circle->size, to = (circle->rank + 1) % n, from = (circle->rank - 1 + n) % n;
    double out[64], in[64];
    struct {
        double value;
        int index;
    } pair = {1.5, 3}, pair_in;
    MPI_Datatype vector;
    round_number++;
    for (int i = 0; i < 64; i++)
        out[i] = world_rank + i, in[i] = -1;
    MPI_Type_vector(5, 2, 7, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    MPI_Sendrecv(out, 1, vector, to, TAG, in, 1, vector, from, TAG, circle->comm, MPI_STATUS_IGNORE);
    expect(circle, to, 10 * (long long)sizeof(double));
    check(in[0] == circle->world_of[from] && in[29] == circle->world_of[from] + 29 && in[2] == -1, "a vector");
    MPI_Type_free(&vector);

    memset(&pair_in, 0, sizeof pair_in);
    MPI_Sendrecv(&pair, 1, MPI_DOUBLE_INT, to, TAG, &pair_in, 1, MPI_DOUBLE_INT, from, TAG, circle->comm,
                 MPI_STATUS_IGNORE);
    expect(circle, to, sizeof(double) + sizeof(int));
    check(pair_in.value == 1.5 && pair_in.index == 3, "a pair");
}

/* MPI_Sendrecv and MPI_Sendrecv_replace count one message each, for what they
 * send. */
static void send_and_receive(const struct circle *circle, int shift)
{
    unsigned char out[LONGEST] = {0}, in[LONGEST] = {0};
    int n = circle->size;
    int to = (circle->rank + shift) % n, from = ((circle->rank - shift) % n + n) % n;
    round_number++;
    int mine = length_of(world_rank), theirs = length_of(circle->world_of[from]);
    fill(out, mine, world_rank);
    MPI_Sendrecv(out, mine, MPI_BYTE, to, TAG, in, theirs, MPI_BYTE, from, TAG, circle->comm, MPI_STATUS_IGNORE);
    expect(circle, to, mine);
    check(holds(in, theirs, circle->world_of[from]), "MPI_Sendrecv");

    round_number++;
    fill(out, 200, world_rank);
    MPI_Sendrecv_replace(out, 200, MPI_BYTE, to, TAG, from, TAG, circle->comm, MPI_STATUS_IGNORE);
    expect(circle, to, 200);
    check(holds(out, 200, circle->world_of[from]), "MPI_Sendrecv_replace");

#if MPI_VERSION >= 4
    MPI_Request request;
    round_number++;
    fill(out, 70, world_rank);
    MPI_Isendrecv(out, 70, MPI_BYTE, to, TAG, in, 70, MPI_BYTE, from, TAG, circle->comm, &request);
    wait_for(&request);
    expect(circle, to, 70);
    check(holds(in, 70, circle->world_of[from]), "MPI_Isendrecv");

    round_number++;
    fill(out, 90, world_rank);
    MPI_Isendrecv_replace(out, 90, MPI_BYTE, to, TAG, from, TAG, circle->comm, &request);
    wait_for(&request);
    expect(circle, to, 90);
    check(holds(out, 90, circle->world_of[from]), "MPI_Isendrecv_replace");
#endif
}

#if MPI_VERSION >= 4
/* The large-count twins are functions of their own. */
static void large_counts(const struct circle *circle)
{
    unsigned char out[LONGEST] = {0}, in[LONGEST] = {0};
    int n = circle->size, to = (circle->rank + 1) % n, from = (circle->rank - 1 + n) % n;
    MPI_Request requests[2];
    round_number++;
    fill(out, 300, world_rank);
    MPI_Irecv_c(in, 300, MPI_BYTE, from, TAG, circle->comm, &requests[0]);
    MPI_Send_c(out, 300, MPI_BYTE, to, TAG, circle->comm);
    wait_for(&requests[0]);
    expect(circle, to, 300);
    check(holds(in, 300, circle->world_of[from]), "MPI_Send_c");

    round_number++;
    fill(out, 310, world_rank);
    MPI_Irecv_c(in, 310, MPI_BYTE, from, TAG, circle->comm, &requests[0]);
    MPI_Isend_c(out, 310, MPI_BYTE, to, TAG, circle->comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(circle, to, 310);
    check(holds(in, 310, circle->world_of[from]), "MPI_Isend_c");

    round_number++;
    fill(out, 320, world_rank);
    MPI_Sendrecv_c(out, 320, MPI_BYTE, to, TAG, in, 320, MPI_BYTE, from, TAG, circle->comm, MPI_STATUS_IGNORE);
    expect(circle, to, 320);
    check(holds(in, 320, circle->world_of[from]), "MPI_Sendrecv_c");
}
#endif
