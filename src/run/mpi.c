/* Ranks: the only file that sees MPI.
 *
 * MPI_Init without a launcher costs half a second and needs a host name that resolves, so a plain `cosweep` on a laptop
 * or in a login shell never starts it.  Launchers are known by what they leave in the environment of each process:
 * mpirun of Open MPI, PMIx and PMI (srun --mpi=pmix|pmi2, MPICH's hydra), and Slurm's own step variables.  Inside sbatch
 * or salloc without srun there is a SLURM_PROCID but no SLURM_STEP_ID of a launched step. */
#define _POSIX_C_SOURCE 200809L
#include "cosweep/run.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

static bool launched(void)
{
    static const char *const traces[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++)
        if (getenv(traces[i])) return true;
    const char *const tasks = getenv("SLURM_STEP_NUM_TASKS");
    return getenv("SLURM_PROCID") && getenv("SLURM_STEP_ID") && tasks && strtol(tasks, NULL, 10) > 1;
}

/* Tasks the launcher says it started, 0 = it does not say. */
static long n_launched(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const char *const size = getenv(sizes[i]);
        if (size) return strtol(size, NULL, 10);
    }
    return 0;
}

/* Tasks that do not find each other would each do all the work and overwrite one another's result. */
static void require_company(struct ranks ranks)
{
    if (ranks.n > 1 || n_launched() <= 1) return;
    fprintf(stderr,
            "cosweep: started as one of %ld tasks, but MPI sees this one only; use this MPI's own mpirun, or "
            "srun --mpi=pmix\n",
            n_launched());
    exit(STATUS_SYSTEM);
}

struct ranks ranks_start(int *argc, char ***argv)
{
    struct ranks ranks = {.rank = 0, .n = 1};
    int started = 0;
    if (!launched()) return ranks;
    MPI_Initialized(&started);
    if (!started) {
        int provided = MPI_THREAD_SINGLE;
        /* Threads compute; only the one that started MPI calls it. */
        if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED) {
            fprintf(stderr,
                    "cosweep: this MPI library cannot run beside threads (it offers level %d, needed is %d); "
                    "use one that offers MPI_THREAD_FUNNELED\n",
                    provided, MPI_THREAD_FUNNELED);
            exit(STATUS_SYSTEM);
        }
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.n);
    require_company(ranks);
    return ranks;
}

void ranks_stop(void)
{
    int started = 0, stopped = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&stopped);
    if (started && !stopped) MPI_Finalize();
}

void ranks_abort(int code)
{
    int started = 0, stopped = 0;
    fflush(NULL);
    MPI_Initialized(&started);
    MPI_Finalized(&stopped);
    if (started && !stopped) MPI_Abort(MPI_COMM_WORLD, code);
    exit(code);
}

const char *ranks_library(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n = 0;
    MPI_Get_library_version(text, &n);
    text[strcspn(text, ",\n")] = '\0'; /* Open MPI goes on with its package and build date */
    return text;
}

/* ---- messages to rank 0 ------------------------------------------------------------------------------------------ */

enum { TAG_SIZE = 1, TAG_DATA = 2, MESSAGE_BYTES = 1 << 30 }; /* MPI counts are int: large data go in pieces */

void ranks_send(const void *data, size_t bytes)
{
    const uint64_t size = bytes;
    MPI_Send(&size, 1, MPI_UINT64_T, 0, TAG_SIZE, MPI_COMM_WORLD);
    for (size_t at = 0; at < bytes; at += MESSAGE_BYTES) {
        const size_t piece = bytes - at < MESSAGE_BYTES ? bytes - at : MESSAGE_BYTES;
        MPI_Send((const char *)data + at, (int)piece, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD);
    }
}

void *ranks_receive(int from, size_t *bytes)
{
    uint64_t size = 0;
    MPI_Recv(&size, 1, MPI_UINT64_T, from, TAG_SIZE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char *const data = malloc(size > 0 ? size : 1);
    if (!data) {
        fprintf(stderr, "cosweep: no memory for %llu bytes of results of rank %d\n", (unsigned long long)size, from);
        ranks_abort(STATUS_SYSTEM);
        abort();
    }
    for (size_t at = 0; at < size; at += MESSAGE_BYTES) {
        const size_t piece = size - at < MESSAGE_BYTES ? size - at : MESSAGE_BYTES;
        MPI_Recv(data + at, (int)piece, MPI_BYTE, from, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    *bytes = size;
    return data;
}

int ranks_first(bool bad)
{
    int started = 0, rank = 0, first = -1;
    MPI_Initialized(&started);
    if (!started) return bad ? 0 : -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = bad ? rank : INT_MAX;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return first == INT_MAX ? -1 : first;
}

void *ranks_share(const void *data, size_t *bytes)
{
    int started = 0, rank = 0;
    MPI_Initialized(&started);
    if (started) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t size = *bytes;
    if (started) MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    char *const copy = malloc(size > 0 ? size : 1);
    if (!copy) {
        fprintf(stderr, "cosweep: no memory for %llu bytes shared by rank 0\n", (unsigned long long)size);
        ranks_abort(STATUS_SYSTEM);
        abort();
    }
    if (rank == 0 && size > 0) memcpy(copy, data, size);
    for (size_t at = 0; started && at < size; at += MESSAGE_BYTES) {
        const size_t piece = size - at < MESSAGE_BYTES ? size - at : MESSAGE_BYTES;
        MPI_Bcast(copy + at, (int)piece, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    *bytes = size;
    return copy;
}
