/* Tensors and waste: the shares of all tensors are what the demand's fullest PE keeps, cuts and copies account for every
 * rank, and own bytes and wastes add up to what is kept; on random candidates over all families, phases and plans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "random_candidates.h"

enum { N_CANDIDATES = 4000 };

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-11 * fabs(expected)))
        fail_msg("%.17g, not %.17g", got, expected);
}

static void tensors_of(struct tensors *tensors, const struct random_candidate *c)
{
    struct lowering lowering;
    const struct fabric fabric = fabric_of(&c->hardware);
    lower_init(&lowering, &c->scenario);
    lower_set_fabric(&lowering, &fabric);
    lower_tensors(tensors, &lowering, &c->plan);
}

static bool is_cache(const struct tensor *t)
{
    return t->code >= TENSOR_KEY_CACHE;
}

static void shares_are_the_fullest_pe(void **state)
{
    static struct random_candidate c;
    struct tensors tensors;
    (void)state;
    random_state = 51;
    for (int i = 0; i < N_CANDIDATES; i++) {
        double weights = 0.0, kv = 0.0;
        random_candidate(&c);
        tensors_of(&tensors, &c);
        for (int t = 0; t < tensors.n; t++)
            *(is_cache(&tensors.tensor[t]) ? &kv : &weights) +=
                (double)tensors.tensor[t].fullest_layers * tensor_share_bytes(&tensors.tensor[t]);
        assert_near(weights, c.demand.weight_bytes);
        assert_near(kv, c.demand.kv_bytes);
    }
}

static double ways(const struct tensor_side *side)
{
    double n = 1.0;
    for (int c = 0; c < side->n_cuts; c++)
        n *= (double)side->cut[c].ways;
    return n;
}

/* Every rank of a pipeline stage has one share, and together they have the whole. */
static void cuts_and_copies_are_all_ranks(void **state)
{
    static struct random_candidate c;
    struct tensors tensors;
    (void)state;
    random_state = 52;
    for (int i = 0; i < N_CANDIDATES; i++) {
        random_candidate(&c);
        tensors_of(&tensors, &c);
        for (int j = 0; j < tensors.n; j++) {
            const struct tensor *const t = &tensors.tensor[j];
            const struct tensor_side *const side[] = {&t->stack, &t->rows, &t->columns};
            assert_near(ways(side[0]) * ways(side[1]) * ways(side[2]) * t->copies[0] * t->copies[1] * t->copies[2],
                        (double)tensors.ranks);
            for (int s = 0; s < 3; s++)
                assert_true(side[s]->share * ways(side[s]) >= side[s]->size * (1.0 - 1e-12));
        }
    }
}

/* Layers of all tensors together: the parameters of the model, but for what MODEL section 8 leaves out. */
static void own_bytes_are_the_model(void **state)
{
    static struct random_candidate c;
    struct tensors tensors;
    struct waste waste;
    (void)state;
    random_state = 53;
    for (int i = 0; i < N_CANDIDATES; i++) {
        random_candidate(&c);
        tensors_of(&tensors, &c);
        lower_waste(&waste, &tensors);
        struct model bare = c.scenario.model;
        memset(&bare.extras, 0, sizeof bare.extras);
        const double latent_norms =
            bare.mla.kv_rank > 0 ? (double)(bare.layers * (bare.mla.q_rank + bare.mla.kv_rank)) : 0.0;
        const double all = (model_parameters(&bare) - (double)bare.hidden - latent_norms) * c.scenario.weight_bytes;
        if (fabs(waste.machine_weights.own_bytes - all) > 1e-9 * all)
            fail_msg("own %.17g, parameters %.17g", waste.machine_weights.own_bytes, all);
    }
}

static void assert_adds_up(const struct kept *kept, const double bytes[N_WASTES], bool kv)
{
    double sum = kept->own_bytes;
    for (int w = 0; w < N_WASTES; w++) {
        assert_true(bytes[w] >= -1e-9 * kept->kept_bytes);
        if (waste_of_kv[w] == kv)
            sum += bytes[w];
    }
    assert_near(sum, kept->kept_bytes);
}

static void wastes_add_up(void **state)
{
    static struct random_candidate c;
    struct tensors tensors;
    struct waste waste;
    bool seen[N_WASTES] = {false};
    (void)state;
    random_state = 54;
    for (int i = 0; i < N_CANDIDATES; i++) {
        random_candidate(&c);
        tensors_of(&tensors, &c);
        lower_waste(&waste, &tensors);
        assert_adds_up(&waste.machine_weights, waste.machine_bytes, false);
        assert_adds_up(&waste.machine_kv, waste.machine_bytes, true);
        assert_adds_up(&waste.pe_weights, waste.pe_bytes, false);
        assert_adds_up(&waste.pe_kv, waste.pe_bytes, true);
        assert_near(waste.pe_weights.kept_bytes, c.demand.weight_bytes);
        assert_near(waste.pe_kv.kept_bytes, c.demand.kv_bytes);
        for (int w = 0; w < N_WASTES; w++)
            seen[w] |= waste.machine_bytes[w] > 0.0;
    }
    for (int w = 0; w < N_WASTES; w++)
        if (!seen[w])
            fail_msg("no candidate has %s", waste_name[w]);
}

/* Llama 3.1 70B on tp = 16, cp = 2: 8 KV heads on 16 ranks, worked out by hand. */
static void example_of_llama_70b(void **state)
{
    static struct random_candidate c;
    struct errors errors = {0};
    struct tensors tensors;
    struct waste waste;
    (void)state;
    c.scenario = (struct scenario){.phase = PHASE_DECODE,
                                   .new_tokens = 1,
                                   .past_tokens = 8191,
                                   .weight_bytes = 2.0,
                                   .kv_bytes = 2.0,
                                   .activation_bytes = 2.0,
                                   .compute = DTYPE_BF16,
                                   .accepted_tokens = 1.0};
    assert_int_equal(model_by_name(&c.scenario.model, "llama-3.1-70b", &errors, "test", 0), 0);
    assert_int_equal(hardware_by_name(&c.hardware, "sip", &errors, "test", 0), 0);
    c.plan = plan_of_ones;
    c.plan.tp = 16;
    c.plan.cp = 2;
    c.plan.batch = 4;
    tensors_of(&tensors, &c);
    lower_waste(&waste, &tensors);
    const struct tensor *cache = NULL;
    for (int t = 0; t < tensors.n; t++)
        if (tensors.tensor[t].code == TENSOR_KEY_CACHE)
            cache = &tensors.tensor[t];
    assert_non_null(cache);
    assert_true(cache->stack.share == 4 && cache->rows.share == 4096 && cache->columns.share == 128);
    assert_true(cache->copies[0] == 2 && cache->copies[1] == 1 && cache->rows.cut[0].ways == 2 &&
                cache->columns.cut[0].ways == 8);
    assert_near(waste.machine_bytes[WASTE_KV_BY_TP], 2.0 * 80 * 4 * 8192 * 1024 * 2.0); /* K and V once more */
    assert_near(waste.machine_bytes[WASTE_KV_WEIGHTS_BY_TP], 2.0 * 80 * 8192 * 1024 * 2.0);
    assert_true(waste.machine_bytes[WASTE_WEIGHTS_BY_PADDING] == 0 && waste.machine_bytes[WASTE_WEIGHTS_BY_DP] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_the_fullest_pe), cmocka_unit_test(cuts_and_copies_are_all_ranks),
        cmocka_unit_test(own_bytes_are_the_model),   cmocka_unit_test(wastes_add_up),
        cmocka_unit_test(example_of_llama_70b),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
