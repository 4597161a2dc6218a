/* Persistent requests, the ways to receive, and partners that are nobody. */

/* Persistent requests are counted each time that they are started, and not
 * when they are made: the third is made and never started. */
static void persistent(const struct circle *circle)
{
    enum { STARTS = 3 };
    unsigned char out[4][LONGEST] = {{0}}, in[4][LONGEST] = {{0}};
    static char room[4 * LONGEST];
    MPI_Request sends[4], receives[4], unused;
    int n = circle->size, to = (circle->rank + 1) % n, from = (circle->rank - 1 + n) % n;
    void *given;
    int size;

    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < 4; i++)
        MPI_Recv_init(in[i], 100 + i, MPI_BYTE, from, TAG + i, circle->comm, &receives[i]);
    MPI_Send_init(out[0], 100, MPI_BYTE, to, TAG, circle->comm, &sends[0]);
    MPI_Ssend_init(out[1], 101, MPI_BYTE, to, TAG + 1, circle->comm, &sends[1]);
    MPI_Rsend_init(out[2], 102, MPI_BYTE, to, TAG + 2, circle->comm, &sends[2]);
    MPI_Bsend_init(out[3], 103, MPI_BYTE, to, TAG + 3, circle->comm, &sends[3]);
    MPI_Send_init(out[0], 999, MPI_BYTE, to, TAG, circle->comm, &unused);

    for (int start = 0; start < STARTS; start++) {
        round_number++;
        for (int i = 0; i < 4; i++)
            fill(out[i], 100 + i, world_rank);
        MPI_Startall(4, receives);
        all_posted(circle);
        if (start % 2 == 0) {
            MPI_Startall(4, sends);
        } else {
            for (int i = 0; i < 4; i++)
                MPI_Start(&sends[i]);
        }
        MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
        MPI_Waitall(4, receives, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4; i++) {
            expect(circle, to, 100 + i);
            check(holds(in[i], 100 + i, circle->world_of[from]), "a persistent send");
        }
    }
    MPI_Request_free(&unused);
    for (int i = 0; i < 4; i++) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&receives[i]);
    }
    MPI_Buffer_detach(&given, &size);
}

/* The ways to receive: counting is the sender's, so each is one message. */
static void receives(const struct circle *circle)
{
    unsigned char out[LONGEST] = {0}, in[LONGEST] = {0};
    int n = circle->size, to = (circle->rank + 1) % n, from = (circle->rank - 1 + n) % n;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    for (int way = 0; way < 4; way++) {
        int flag = 0, length = 0;
        round_number++;
        fill(out, 40, world_rank);
        MPI_Isend(out, 40, MPI_BYTE, to, TAG, circle->comm, &request);
        expect(circle, to, 40);
        if (way == 0) {
            MPI_Probe(from, TAG, circle->comm, &status);
            MPI_Get_count(&status, MPI_BYTE, &length);
            MPI_Recv(in, length, MPI_BYTE, status.MPI_SOURCE, TAG, circle->comm, &status);
        } else if (way == 1) {
            while (!flag)
                MPI_Iprobe(from, MPI_ANY_TAG, circle->comm, &flag, &status);
            MPI_Recv(in, 40, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, circle->comm, &status);
        } else if (way == 2) {
            MPI_Mprobe(from, TAG, circle->comm, &message, &status);
            MPI_Mrecv(in, 40, MPI_BYTE, &message, &status);
        } else {
            MPI_Request receive;
            while (!flag)
                MPI_Improbe(from, TAG, circle->comm, &flag, &message, &status);
            MPI_Imrecv(in, 40, MPI_BYTE, &message, &receive);
            MPI_Wait(&receive, &status);
        }
        check(status.MPI_SOURCE == from && holds(in, 40, circle->world_of[from]), "a receive");
        wait_for(&request);
    }
}

/* MPI_PROC_NULL is no partner: nothing is counted. */
static void to_nobody(const struct circle *circle)
{
    char byte = 1;
    MPI_Request request;
    MPI_Send(&byte, 1, MPI_CHAR, MPI_PROC_NULL, TAG, circle->comm);
    MPI_Isend(&byte, 1, MPI_CHAR, MPI_PROC_NULL, TAG, circle->comm, &request);
    wait_for(&request);
    MPI_Sendrecv_replace(&byte, 1, MPI_CHAR, MPI_PROC_NULL, TAG, MPI_PROC_NULL, TAG, circle->comm, MPI_STATUS_IGNORE);
    MPI_Send_init(&byte, 1, MPI_CHAR, MPI_PROC_NULL, TAG, circle->comm, &request);
    MPI_Start(&request);
    wait_for(&request);
    MPI_Request_free(&request);
}
