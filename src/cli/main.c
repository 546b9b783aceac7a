/* The program: finds the command, parses its options, calls it, prints its errors, returns the exit code. */
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "run/provenance.h"

#define X(name) &command_##name,
static const struct command *const commands[] = {COMMANDS(X)};
#undef X
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };
enum { MOST_THREADS = 4096 }; /* OpenMP's library overflows its stack at some more */

static void help_print(FILE *to)
{
    fprintf(to, "Sweep hardware and parallelism together for serving a large language model.\n\n"
                "usage: " PROGRAM " COMMAND [OPTIONS]\n\ncommands:\n");
    for (int i = 0; i < N_COMMANDS; i++) fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to, "\n`" PROGRAM " COMMAND --help` shows options and examples, `" PROGRAM " --version` how it was built.\n\n"
                "exit codes: 0 done, 1 a comparison failed, 2 bad input, 3 nothing feasible, 4 stopped with a checkpoint,\n"
                "5 the system failed\n");
}

static void command_help(const struct command *command, FILE *to)
{
    fprintf(to, "%s %s: %s\n\nusage: %s %s %s\n\noptions:\n", PROGRAM, command->name, command->summary, PROGRAM,
            command->name, command->usage);
    options_print(command->options, to);
    fprintf(to, "\nexamples:\n%s", command->examples);
}

static void version_print(FILE *to)
{
    static struct result built;
    provenance_fill(&built);
    fprintf(to, "%s\nrevision: %s\ncompiler: %s\nflags: %s\nMPI: %s\nHDF5: %s\nSIMD: %s\n", built.program,
            built.revision[0] != '\0' ? built.revision : "none (not built from a git checkout)", built.compiler, built.flags,
            ranks_library(), result_library(), built.simd);
}

static const struct command *command_find(const char *name, struct errors *errors)
{
    const char *names[N_COMMANDS];
    for (int i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i]->name;
        if (strcmp(name, names[i]) == 0) return commands[i];
    }
    const char *near = nearest_word(name, names, N_COMMANDS);
    error_add(errors, STATUS_INPUT, NULL, 0, "there is no command `%.80s`; %s `%s`%s", name, near ? "did you mean" : "see",
              near ? near : PROGRAM " --help", near ? "?" : "");
    return NULL;
}

/* Which command, and whether only text about the program is wanted (then it is printed and NULL is returned). */
static const struct command *command_chosen(int *argc, char ***argv, struct cli *cli)
{
    const char *const first = *argc > 1 ? (*argv)[1] : "";
    const bool help = strcmp(first, "help") == 0;
    if (*argc < 2) {
        error_add(&cli->errors, STATUS_INPUT, NULL, 0, "no command given; see `%s --help`", PROGRAM);
        return NULL;
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        if (cli->ranks.rank == 0) version_print(stdout);
        return NULL;
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || (help && *argc == 2)) {
        if (cli->ranks.rank == 0) help_print(stdout);
        return NULL;
    }
    const struct command *const command = command_find(help ? (*argv)[2] : first, &cli->errors);
    if (command && help) {
        if (cli->ranks.rank == 0) command_help(command, stdout);
        return NULL;
    }
    *argc -= 1;
    *argv += 1;
    return command;
}

/* Exit code of a command whose options are parsed. */
static int command_call(const struct command *command, int argc, char **argv, struct cli *cli)
{
    bool help = false;
    if (omp_get_max_threads() > MOST_THREADS)
        return error_add(&cli->errors, STATUS_INPUT, NULL, 0,
                         "OMP_NUM_THREADS: %d is above %d; give as many as a rank has cores", omp_get_max_threads(),
                         MOST_THREADS);
    if (options_parse(command->options, command->name, argc, argv, &help, &cli->errors) != 0) return -1;
    if (!help && (command->collective || cli->ranks.rank == 0)) return command->call(cli);
    if (help && cli->ranks.rank == 0) command_help(command, stdout);
    return STATUS_DONE;
}

/* A reader that closed the pipe has seen enough: no error.  A full disk behind stdout is one. */
static int output_close(int code)
{
    struct pollfd reader = {.fd = STDOUT_FILENO, .events = POLLOUT};
    errno = 0;
    const bool failed = fflush(stdout) != 0 || ferror(stdout);
    if (!failed || errno == EPIPE) return code;
    /* It failed earlier, and what is left was written: only the pipe itself knows whether it was closed. */
    if (errno == 0 && poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR)) return code;
    fprintf(stderr, PROGRAM ": writing to standard output: %s\n", errno != 0 ? strerror(errno) : "not all could be written");
    return STATUS_SYSTEM;
}

/* Where the caller closed 0, 1 or 2, the next file that is opened would be taken for it.  What stands there instead can be
 * neither read nor written, as before. */
static void take_standard_files(void)
{
    for (int file = 0; file <= 2; file++)
        if (fcntl(file, F_GETFD) < 0) open("/dev/null", file == 0 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    static struct cli cli;
    take_standard_files();
    signal(SIGPIPE, SIG_IGN); /* seen as EPIPE in output_close */
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error like a full disk */
    cli.ranks = ranks_start(&argc, &argv);
    const struct command *const command = command_chosen(&argc, &argv, &cli);
    int code = command ? command_call(command, argc, argv, &cli) : STATUS_DONE;
    if (cli.errors.n > 0) {
        if (cli.ranks.rank == cli.speaker) errors_print(&cli.errors, stderr);
        code = code <= STATUS_DONE ? cli.errors.item[0].code : code;
    }
    /* The error is another rank's, and so is the exit code: srun takes the highest of all. */
    if (code < STATUS_DONE && cli.speaker != cli.ranks.rank) code = STATUS_DONE;
    code = output_close(code);
    ranks_stop();
    return code;
}
