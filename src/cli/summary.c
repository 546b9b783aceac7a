/* What a result says, for people: at the end of `run`, and in `show`. */
#include "cli/cli.h"

#include <inttypes.h>

/* "memory 120, limit_pes 7": the reasons that occurred. */
static void refusals_print(const struct result *result, const struct result_scenario *scenario, FILE *to)
{
    bool any = false;
    fprintf(to, "  refused    ");
    for (int i = REASON_NONE + 1; i < REASON_LIMIT + result->n_limits; i++) {
        if (scenario->n_refused[i] == 0) continue;
        const bool limit = i >= REASON_LIMIT;
        fprintf(to, "%s%s%s %" PRId64, any ? ", " : " ", limit ? "limit_" : "",
                limit ? metric_facts[result->limit[i - REASON_LIMIT].metric].name : reason_name[i], scenario->n_refused[i]);
        any = true;
    }
    fprintf(to, "%s\n", any ? "" : " none");
}

static void best_print(const struct result *result, const struct result_scenario *scenario, FILE *to)
{
    const struct result_row *const row = &scenario->row[scenario->best];
    char text[32];
    fprintf(to, "  best        %s %s in row %" PRId64 ":", metric_facts[METRIC_LATENCY].name,
            unit_format(text, row->metric[METRIC_LATENCY], DIM_SECONDS), scenario->best);
    for (int i = 0; i < result->n_objectives; i++)
        if (result->objective[i] != METRIC_LATENCY) {
            const enum metric metric = result->objective[i];
            fprintf(to, " %s %s,", metric_facts[metric].name,
                    unit_format(text, row->metric[metric], metric_facts[metric].dimension));
        }
    fprintf(to, " tp %" PRId64 " cp %" PRId64 " pp %" PRId64 " dp %" PRId64 " ep %" PRId64 " batch %" PRId64 "\n",
            row->plan.tp, row->plan.cp, row->plan.pp, row->plan.dp, row->plan.ep, row->plan.batch);
}

void summary_scenario(const struct result *result, const struct result_scenario *scenario, FILE *to)
{
    int64_t n_decided = scenario->n_feasible;
    for (int i = REASON_NONE + 1; i < REASON_LIMIT + result->n_limits; i++) n_decided += scenario->n_refused[i];
    const int64_t n_pruned = scenario->n_distinct - n_decided;
    fprintf(to, "scenario %s: %s, %s\n", scenario->name, scenario->model, scenario->phase);
    if (scenario->warnings[0] != '\0') fprintf(to, "  note        %s\n", scenario->warnings);
    fprintf(to, "  candidates  %" PRId64 " distinct of %" PRId64 " raw", scenario->n_distinct, scenario->n_raw);
    if (n_pruned > 0) fprintf(to, ", %" PRId64 " pruned", n_pruned);
    fprintf(to, "\n  feasible    %" PRId64 "\n", scenario->n_feasible);
    refusals_print(result, scenario, to);
    fprintf(to, "  Pareto set  %" PRId64 " rows over", scenario->n_rows);
    for (int i = 0; i < result->n_objectives; i++)
        fprintf(to, "%s %s", i > 0 ? "," : "", metric_facts[result->objective[i]].name);
    fprintf(to, "\n");
    if (scenario->best >= 0) best_print(result, scenario, to);
}

static void performance_print(const struct performance *performance, FILE *to)
{
    char wall[32], rate[32];
    fprintf(to, "took %s on %d rank%s x %d thread%s, %s candidates evaluated/s\n",
            unit_format(wall, performance->wall_s, DIM_SECONDS), performance->n_ranks, performance->n_ranks == 1 ? "" : "s",
            performance->n_threads, performance->n_threads == 1 ? "" : "s",
            unit_format(rate, performance->candidates_per_s, DIM_COUNT));
}

void summary_print(const struct result *result, FILE *to, int64_t top)
{
    fprintf(to, "study %s\n", result->study_name);
    for (int s = 0; s < result->n_scenarios; s++) {
        const struct result_scenario *const scenario = &result->scenario[s];
        const int64_t n = top > 0 && top < scenario->n_rows ? top : scenario->n_rows;
        struct shown shown = {0};
        fputc('\n', to);
        summary_scenario(result, scenario, to);
        if (scenario->n_rows == 0) continue;
        shown_default(&shown, result, scenario);
        fputc('\n', to);
        shown_print(&shown, scenario, NULL, n, to);
        if (n < scenario->n_rows) fprintf(to, "... and %" PRId64 " more\n", scenario->n_rows - n);
    }
    joint_print(result, to, top);
    if (result->performance.wall_s > 0) {
        fputc('\n', to);
        performance_print(&result->performance, to);
    }
}
