/*
 * An error handler that throws: prints what each call threw, as rank 0 sees it, and that calls
 * behind them do what they should.
 *
 *     exceptions
 */
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>

static int rank, ranks;

/* What a call in C++ may have to undo while the exception passes. */
struct Undone {
    int &count;
    ~Undone() { count++; }
};

static int undone;

extern "C" void throw_class(MPI_Comm *, int *code, ...)
{
    Undone here{undone};
    int error_class;
    MPI_Error_class(*code, &error_class);
    throw std::runtime_error("class " + std::to_string(error_class));
}

template <typename Call> static void attempt(const char *what, Call call)
{
    std::string found = "no exception";
    try {
        Undone here{undone};
        call();
    } catch (const std::runtime_error &error) {
        found = error.what();
    }
    if (rank == 0)
        std::printf("%s: %s\n", what, found.c_str());
}

int main(int argc, char **argv)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    MPI_Comm_create_errhandler(throw_class, &handler);
    MPI_Comm_set_errhandler(world, handler);
    for (int round = 0; round < 3; round++) {
        double in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[64], sum = 0;
        attempt("send to nobody", [&] { MPI_Send(in, 1, MPI_DOUBLE, ranks, 0, world); });
        attempt("send of no type", [&] { MPI_Send(in, 1, MPI_DATATYPE_NULL, 0, 0, world); });
        attempt("isend to nobody", [&] { MPI_Isend(in, 1, MPI_DOUBLE, ranks, 0, world, &request); });
        attempt("bcast of -1", [&] { MPI_Bcast(in, -1, MPI_DOUBLE, 0, world); });
        attempt("bcast from behind the last", [&] { MPI_Bcast(in, 1, MPI_DOUBLE, ranks, world); });
        attempt("reduce with no operation",
                [&] { MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_OP_NULL, 0, world); });
        attempt("a duplicate for nobody", [&] { MPI_Comm_dup(world, nullptr); });
        /* And what is right after that. */
        attempt("sendrecv", [&] {
            MPI_Sendrecv(in, 8, MPI_DOUBLE, (rank + 1) % ranks, 1, out, 8, MPI_DOUBLE,
                         (rank + ranks - 1) % ranks, 1, world, MPI_STATUS_IGNORE);
        });
        attempt("allreduce", [&] { MPI_Allreduce(in + 7, &sum, 1, MPI_DOUBLE, MPI_SUM, world); });
        if (rank == 0)
            std::printf("%g %g, %d undone\n", out[7], sum, undone);
    }
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
