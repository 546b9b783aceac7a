/* A Hugging Face config.json: imported, printed, written inline, evaluated. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/reader.h"

static void check_facts(const struct model *model)
{
    const double all = model_parameters(model), active = model_active_parameters(model);
    int n_layers = 0;
    for (int k = 0; k < model->n_kinds; k++) n_layers += model->kind[k].n_layers;
    if (!isfinite(all) || all <= 0 || active <= 0 || active > all) fuzz_fail("%g parameters, %g active", all, active);
    if (model->layers < 1 || model->layers > MAX_LAYERS || n_layers != model->layers) fuzz_fail("%d layers", n_layers);
    if (model->hidden < 1 || model->heads < 1 || model->kv_heads < 1 || model->kv_heads > model->heads ||
        model->head_dim < 1 || model->vocab < 1)
        fuzz_fail("a fact below 1");
}

/* A study with the model written out, as the effective study has it, holds the same model. */
static void check_inline(const struct model *model)
{
    static struct errors errors;
    struct arena arena = {0};
    struct study study;
    char *text = NULL;
    size_t n;
    FILE *const to = open_memstream(&text, &n);
    errors.n = 0;
    if (!to) fuzz_fail("no stream in memory");
    fputs("scenarios:\n  - model: ", to);
    model_inline_json(&(struct json){.to = to}, NULL, model);
    fputs("\n    phase: decode\n    past_tokens: 4096\n", to);
    fclose(to);
    if (study_parse(&study, text, "inline", &arena, &errors) != 0) fuzz_fail("%s\n%s", errors.item[0].message, text);
    const struct model *const again = &study.scenario[0].model;
    if (again->n_kinds != model->n_kinds || memcmp(again->kind, model->kind, sizeof model->kind) != 0 ||
        memcmp(again->layer_kind, model->layer_kind, sizeof model->layer_kind) != 0 || again->hidden != model->hidden ||
        again->heads != model->heads || again->kv_heads != model->kv_heads || again->head_dim != model->head_dim ||
        again->ffn != model->ffn || again->vocab != model->vocab || again->gated != model->gated ||
        again->tied != model->tied || memcmp(&again->mla, &model->mla, sizeof model->mla) != 0 ||
        memcmp(&again->moe, &model->moe, sizeof model->moe) != 0)
        fuzz_fail("the model is read back as another:\n%s", text);
    fuzz_check_study(&study);
    struct candidate candidate = {.scenario = study.scenario[0]};
    static struct answer answer;
    space_decode(&study.space, 0, &candidate.plan, &candidate.hardware);
    answer_candidate(&answer, &candidate, NULL, 0);
    if (answer.complete) fuzz_check_metrics(answer.explanation.metric);
    free(text);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct errors errors;
    struct arena arena = {0};
    struct model model;
    char warnings[MESSAGE_CHARS] = "";
    const char *const path = fuzz_file(0, data, n);
    errors.n = errors.n_dropped = 0;
    const struct node *const config = tree_read(path, &arena, &errors);
    const int status = config ? model_from_hugging_face(&model, config, &errors, path, warnings, sizeof warnings) : -1;
    fuzz_check_errors(&errors, status);
    if (status == 0) {
        check_facts(&model);
        check_inline(&model);
        fuzz_command(&command_models, 1, &path, NULL);
        fuzz_command(&command_models, 2, (const char *const[]){path, "--json"}, NULL);
    }
    arena_free(&arena);
    return 0;
}
