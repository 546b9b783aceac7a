/* Why the PEs together keep more than the model has (MODEL section 8): replication and padding, by cause.
 *
 * A tensor that is cut w ways and copied c times takes c * w shares.  w shares less the tensor are padding; what TP copies
 * of that set add comes next, then CP's, then DP's: in this order the causes add up exactly. */
#include "shares.h"

const char *const waste_name[N_WASTES] = {
#define X(code, name, of_kv, meaning) name,
    WASTES(X)
#undef X
};
const bool waste_of_kv[N_WASTES] = {
#define X(code, name, of_kv, meaning) of_kv,
    WASTES(X)
#undef X
};
const char *const waste_meaning[N_WASTES] = {
#define X(code, name, of_kv, meaning) meaning,
    WASTES(X)
#undef X
};

static bool is_cache(const struct tensor *tensor)
{
    return tensor->code >= TENSOR_KEY_CACHE;
}

static enum waste_code waste_by_tp(const struct tensor *tensor)
{
    if (is_cache(tensor)) return WASTE_KV_BY_TP;
    if (tensor->code == TENSOR_KEY || tensor->code == TENSOR_VALUE) return WASTE_KV_WEIGHTS_BY_TP;
    if (tensor->code == TENSOR_QUERY_DOWN || tensor->code == TENSOR_LATENT_DOWN) return WASTE_MLA_WEIGHTS_BY_TP;
    return WASTE_OTHER_WEIGHTS_BY_TP;
}

static double ways(const struct tensor *tensor)
{
    const struct tensor_side *const side[] = {&tensor->stack, &tensor->rows, &tensor->columns};
    double n = 1.0;
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < side[i]->n_cuts; c++) n *= (double)side[i]->cut[c].ways;
    return n;
}

void lower_waste(struct waste *waste, const struct tensors *tensors)
{
    const double ranks = (double)tensors->ranks;
    *waste = (struct waste){0};
    for (int i = 0; i < tensors->n; i++) {
        const struct tensor *const t = &tensors->tensor[i];
        const double share = tensor_share_bytes(t), own = t->is_own ? tensor_bytes(t) : 0.0;
        const double layers = (double)t->layers, fullest = (double)t->fullest_layers / ranks;
        const double set = share * ways(t), by_tp = set * t->copies[0], by_cp = by_tp * t->copies[1];
        const struct {
            enum waste_code code;
            double bytes;
        } parts[] = {
            {is_cache(t) ? WASTE_KV_BY_PADDING : WASTE_WEIGHTS_BY_PADDING, set - tensor_bytes(t)},
            {WASTE_WEIGHTS_BY_PP, tensor_bytes(t) - own},
            {waste_by_tp(t), by_tp - set},
            {WASTE_WEIGHTS_BY_CP, by_cp - by_tp},
            {WASTE_WEIGHTS_BY_DP, by_cp * t->copies[2] - by_cp},
        };
        struct kept *const machine = is_cache(t) ? &waste->machine_kv : &waste->machine_weights;
        struct kept *const pe = is_cache(t) ? &waste->pe_kv : &waste->pe_weights;
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
            waste->machine_bytes[parts[p].code] += parts[p].bytes * layers;
            waste->pe_bytes[parts[p].code] += parts[p].bytes * fullest;
        }
        machine->own_bytes += own * layers;
        machine->kept_bytes += share * ranks * layers;
        pe->own_bytes += own * fullest;
        pe->kept_bytes += share * (double)t->fullest_layers;
    }
}
