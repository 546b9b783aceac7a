/* Where the ranks of a plan sit (MODEL section 3), and the ring that runs through them (section 5), for drawings. */
#include "cli/answer.h"

enum { MOST_MEMBERS = 64 }; /* the others follow from the stride */

/* Rank 0's neighbours along one axis: [cube, PE of it] each. */
static void members_write(struct json *json, const struct layout *layout, int axis, int64_t pes_per_cube)
{
    json_open(json, "members", '[');
    for (int64_t i = 0; i < layout->size[axis] && i < MOST_MEMBERS; i++) {
        const int64_t pe = i * layout->stride[axis];
        json_open(json, NULL, '[');
        json_number(json, NULL, (double)(pe / pes_per_cube));
        json_number(json, NULL, (double)(pe % pes_per_cube));
        json_close(json, ']');
    }
    json_close(json, ']');
}

void placement_write_json(struct json *json, const struct answer *answer)
{
    static const char *const axis_name[N_AXES] = {"tp", "cp", "pp", "dp"};
    const struct layout *const layout = &answer->layout;
    json_open(json, "placement", '[');
    for (int a = 0; a < N_AXES; a++) {
        json_open(json, NULL, '{');
        json_text(json, "axis", axis_name[a]);
        json_number(json, "ranks", (double)layout->size[a]);
        json_number(json, "stride", (double)layout->stride[a]);
        json_open(json, "span", '[');
        for (int l = 0; l < N_LEVELS; l++) json_number(json, NULL, (double)layout->span[a][l]);
        json_close(json, ']');
        members_write(json, layout, a, (int64_t)answer->candidate.hardware.pes_per_cube);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void ring_write_json(struct json *json, const struct answer *answer)
{
    json_open(json, "ring", '[');
    for (int k = 0; k < answer->demand.n_kinds; k++) {
        const struct ring_time *const ring = &answer->explanation.ring[k];
        if (ring->n_hops == 0.0) continue;
        json_open(json, NULL, '{');
        json_number(json, "window", (double)answer->demand.kind[k].window_tokens);
        json_bool(json, "moe", answer->demand.kind[k].moe);
        json_number(json, "hops", ring->n_hops);
        json_number(json, "hops_home", ring->n_extra);
        json_number(json, "hop_s", ring->hop_s);
        json_number(json, "chunk_s", ring->chunk_s);
        json_bool(json, "hidden", ring->hop_s <= ring->chunk_s);
        json_number(json, "exposed_s", ring->exposed_s);
        json_number(json, "fixed_s", ring->fixed_s);
        json_close(json, '}');
    }
    json_close(json, ']');
}
