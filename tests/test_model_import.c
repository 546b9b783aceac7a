/* model: a Hugging Face config becomes the model it describes, as its own code would read it, or is refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cosweep/io.h"

#define assert_contains(text, part)                                                                                         \
    do {                                                                                                                    \
        if (strstr(text, part) == NULL)                                                                                     \
            fail_msg("`%s` does not contain `%s`", text, part);                                                             \
    } while (0)

static struct model preset(const char *name)
{
    static struct errors errors;
    struct model model;
    errors = (struct errors){0};
    if (model_by_name(&model, name, &errors, NULL, 0) != 0)
        fail_msg("%s: %s", name, errors.item[0].message);
    return model;
}

static struct errors import_errors;
static char warnings[MESSAGE_CHARS];

static int import_tree(struct model *model, const struct node *tree, const char *name)
{
    assert_non_null(tree);
    return model_from_hugging_face(model, tree, &import_errors, name, warnings, sizeof warnings);
}

static int import_file(struct model *model, const char *name)
{
    struct arena arena = {0};
    char path[512];
    import_errors = (struct errors){0};
    snprintf(path, sizeof path, "%s/tests/data/hf/%s", SOURCE_DIR, name);
    const int result = import_tree(model, tree_read(path, &arena, &import_errors), name);
    arena_free(&arena);
    return result;
}

static int import_text(struct model *model, const char *text)
{
    struct arena arena = {0};
    import_errors = (struct errors){0};
    const int result = import_tree(model, tree_parse(text, strlen(text), "config.json", 1, &arena, &import_errors),
                                   "config.json");
    arena_free(&arena);
    return result;
}

static void assert_same_model(const struct model *a, const struct model *b)
{
    assert_int_equal(a->layers, b->layers);
    assert_int_equal(a->hidden, b->hidden);
    assert_int_equal(a->heads, b->heads);
    assert_int_equal(a->kv_heads, b->kv_heads);
    assert_int_equal(a->head_dim, b->head_dim);
    assert_int_equal(a->ffn, b->ffn);
    assert_int_equal(a->vocab, b->vocab);
    assert_int_equal(a->gated, b->gated);
    assert_int_equal(a->parallel_block, b->parallel_block);
    assert_memory_equal(&a->mla, &b->mla, sizeof a->mla);
    assert_memory_equal(&a->moe, &b->moe, sizeof a->moe);
    assert_memory_equal(&a->window, &b->window, sizeof a->window);
    assert_int_equal(a->n_kinds, b->n_kinds);
    assert_memory_equal(a->layer_kind, b->layer_kind, sizeof a->layer_kind);
}

static void configs_become_their_presets(void **state)
{
    (void)state;
    static const char *const name[] = {"llama-3.1-70b", "deepseek-v3", "gpt-oss-20b", "gemma-3-4b"};
    for (int i = 0; i < 4; i++) {
        char file[64];
        struct model model;
        const struct model expected = preset(name[i]);
        snprintf(file, sizeof file, "%s.json", name[i]);
        assert_int_equal(import_file(&model, file), 0);
        assert_same_model(&model, &expected);
        assert_int_equal(model.tied, expected.tied);
        assert_true(model_parameters(&model) == model_parameters(&expected));
    }
    struct model model;
    import_file(&model, "deepseek-v3.json");
    assert_string_equal(model.name, "DeepSeek-V3");
    assert_contains(warnings, "multi-token-prediction");
    assert_contains(warnings, "fp8");
    import_file(&model, "gpt-oss-20b.json");
    assert_contains(warnings, "sinks");
    import_file(&model, "gemma-3-4b.json");
    assert_contains(warnings, "vision");
    import_file(&model, "llama-3.1-70b.json");
    assert_string_equal(warnings, "");
}

/* transformers ties Falcon's head to its embedding, although the checkpoint the preset counts holds both. */
static void falcon_is_parallel_plain_multi_query_and_tied(void **state)
{
    (void)state;
    struct model model;
    const struct model expected = preset("falcon-7b");
    assert_int_equal(import_file(&model, "falcon-7b.json"), 0);
    assert_same_model(&model, &expected);
    assert_true(model.tied);
    assert_true(model_parameters(&model) == 6921720704.0);
}

/* Families without a preset, against the number of parameters their model cards give. */
static void families_have_their_published_parameters(void **state)
{
    (void)state;
    static const struct {
        double parameters;
        const char *config;
    } known[] = {
        {124439808, "{model_type: gpt2, n_embd: 768, n_layer: 12, n_head: 12, n_positions: 1024, vocab_size: 50257}"},
        {125239296, "{model_type: opt, hidden_size: 768, num_hidden_layers: 12, num_attention_heads: 12, ffn_dim: 3072,"
                    " max_position_embeddings: 2048, vocab_size: 50272, word_embed_proj_dim: 768}"},
        {559214592, "{model_type: bloom, hidden_size: 1024, n_layer: 24, n_head: 16, vocab_size: 250880}"},
        {70426624, "{model_type: gpt_neox, hidden_size: 512, num_hidden_layers: 6, num_attention_heads: 8,"
                   " intermediate_size: 2048, vocab_size: 50304}"},
        {3030371328, "{model_type: starcoder2, hidden_size: 3072, num_hidden_layers: 30, num_attention_heads: 24,"
                     " num_key_value_heads: 2, intermediate_size: 12288, vocab_size: 49152, sliding_window: 4096}"},
        {8028033024, "{model_type: cohere2, hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32,"
                     " num_key_value_heads: 8, intermediate_size: 14336, vocab_size: 256000, sliding_window: 4096}"},
        {6919161856, "{model_type: olmoe, hidden_size: 2048, num_hidden_layers: 16, num_attention_heads: 16,"
                     " intermediate_size: 1024, vocab_size: 50304, num_experts: 64, num_experts_per_tok: 8}"},
        {14315784192, "{model_type: qwen2_moe, hidden_size: 2048, num_hidden_layers: 24, num_attention_heads: 16,"
                      " intermediate_size: 5632, moe_intermediate_size: 1408, shared_expert_intermediate_size: 5632,"
                      " vocab_size: 151936, num_experts: 60, num_experts_per_tok: 4, decoder_sparse_step: 1}"},
        {16375728128, "{model_type: deepseek, hidden_size: 2048, num_hidden_layers: 28, num_attention_heads: 16,"
                      " intermediate_size: 10944, moe_intermediate_size: 1408, n_routed_experts: 64, n_shared_experts: 2,"
                      " num_experts_per_tok: 6, first_k_dense_replace: 1, moe_layer_freq: 1, vocab_size: 102400}"},
        {3836021760, "{model_type: phi3, hidden_size: 3072, num_hidden_layers: 32, num_attention_heads: 24,"
                     " num_key_value_heads: 8, intermediate_size: 8192, vocab_size: 200064, tie_word_embeddings: true}"},
        {8537680896, "{model_type: gemma, hidden_size: 3072, num_hidden_layers: 28, num_attention_heads: 16,"
                     " intermediate_size: 24576, vocab_size: 256000}"},
        {1644515328, "{model_type: stablelm, hidden_size: 2048, num_hidden_layers: 24, num_attention_heads: 32,"
                     " intermediate_size: 5632, vocab_size: 100352, use_qkv_bias: true, use_parallel_residual: false}"},
        {15517456384, "{model_type: gpt_bigcode, n_embd: 6144, n_layer: 40, n_head: 48, n_inner: 24576,"
                      " n_positions: 8192, vocab_size: 49152}"},
        {21825437888, "{model_type: ernie4_5_moe, hidden_size: 2560, num_hidden_layers: 28, num_attention_heads: 20,"
                      " num_key_value_heads: 4, intermediate_size: 12288, moe_intermediate_size: 1536,"
                      " moe_num_experts: 64, moe_num_shared_experts: 2, moe_k: 6, moe_layer_start_index: 1,"
                      " moe_layer_end_index: 27, vocab_size: 103424}"},
        {7069016064, "{model_type: bloom, n_embed: 4096, n_layer: 30, num_attention_heads: 32, vocab_size: 250880}"},
        {6050882784, "{model_type: gptj, n_embd: 4096, n_layer: 28, n_head: 16, vocab_size: 50400, n_inner: null}"},
        {2779683840, "{model_type: phi, hidden_size: 2560, num_hidden_layers: 32, num_attention_heads: 32,"
                     " intermediate_size: 10240, vocab_size: 51200}"},
        {41873153344, "{model_type: phimoe, hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32,"
                      " num_key_value_heads: 8, intermediate_size: 6400, num_local_experts: 16, num_experts_per_tok: 2,"
                      " attention_bias: true, lm_head_bias: true, vocab_size: 32064}"},
        {12143185920, "{model_type: stablelm, hidden_size: 5120, num_hidden_layers: 40, num_attention_heads: 32,"
                      " num_key_value_heads: 8, intermediate_size: 13824, vocab_size: 100352, qk_layernorm: true,"
                      " use_parallel_residual: true}"},
        {7818448896, "{model_type: exaone, hidden_size: 4096, num_layers: 32, num_attention_heads: 32,"
                     " num_key_value_heads: 8, head_dim: 128, intermediate_size: 14336, vocab_size: 102400}"},
        {8053338176, "{model_type: apertus, hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32,"
                     " num_key_value_heads: 8, intermediate_size: 21504, hidden_act: xielu, qk_norm: true,"
                     " vocab_size: 131072}"},
        {16801974272, "{model_type: bailing_moe, hidden_size: 2048, num_hidden_layers: 28, num_attention_heads: 16,"
                      " num_key_value_heads: 4, intermediate_size: 5632, moe_intermediate_size: 1408, num_experts: 64,"
                      " num_shared_experts: 2, num_experts_per_tok: 6, first_k_dense_replace: 0, vocab_size: 126464}"},
        {16255643392, "{model_type: bailing_moe, hidden_size: 2048, num_hidden_layers: 20, num_attention_heads: 16,"
                      " num_key_value_heads: 4, head_dim: 128, intermediate_size: 5120, moe_intermediate_size: 512,"
                      " num_experts: 256, num_shared_experts: 1, num_experts_per_tok: 8, first_k_dense_replace: 1,"
                      " use_qk_norm: true, moe_router_enable_expert_bias: true, vocab_size: 157184}"},
        {102889705216, "{model_type: bailing_moe_v2, hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32,"
                       " num_key_value_heads: 4, intermediate_size: 9216, moe_intermediate_size: 1024, num_experts: 256,"
                       " num_shared_experts: 1, num_experts_per_tok: 8, first_k_dense_replace: 1, use_qk_norm: true,"
                       " moe_shared_expert_intermediate_size: 1024, vocab_size: 157184}"},
        {29943393920, "{model_type: glm4_moe_lite, hidden_size: 2048, num_hidden_layers: 47, num_attention_heads: 20,"
                      " intermediate_size: 10240, moe_intermediate_size: 1536, n_routed_experts: 64, n_shared_experts: 1,"
                      " num_experts_per_tok: 4, first_k_dense_replace: 1, q_lora_rank: 768, kv_lora_rank: 512,"
                      " qk_nope_head_dim: 192, qk_rope_head_dim: 64, v_head_dim: 256, vocab_size: 154880}"},
        {7504568320, "{model_type: hunyuan_v1_dense, hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32,"
                     " num_key_value_heads: 8, head_dim: 128, intermediate_size: 14336, num_experts: 1,"
                     " tie_word_embeddings: true, vocab_size: 128167}"},
        /* The next two cut to as many layers as they have entries here. */
        {6041711104, "{model_type: hunyuan_v1_moe, hidden_size: 4096, num_hidden_layers: 2, num_attention_heads: 32,"
                     " num_key_value_heads: 8, head_dim: 128, intermediate_size: 3072, moe_intermediate_size: [3072, 3072],"
                     " num_experts: 64, num_shared_expert: [1, 1], moe_topk: [8, 8], vocab_size: 128167}"},
        {571496960, "{model_type: granitemoehybrid, hidden_size: 2560, num_hidden_layers: 4, num_attention_heads: 40,"
                     " num_key_value_heads: 8, intermediate_size: 8192, shared_intermediate_size: 8192, mamba_d_state: 256,"
                     " layer_types: [attention, attention, attention, attention], num_local_experts: 0,"
                     " tie_word_embeddings: true, vocab_size: 100352}"},
        /* Multi-query by a word of the nested map, and a width beside it. */
        {5609099264, "{model_type: mpt, d_model: 4096, n_heads: 32, n_layers: 32, vocab_size: 50432,"
                     " attn_config: {attn_type: multiquery_attention}}"},
        {4535357440, "{model_type: mpt, d_model: 4096, n_heads: 32, n_layers: 32, vocab_size: 50432,"
                     " attn_config: {attn_type: multiquery_attention}, ffn_config: {ffn_hidden_size: 12288}}"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct model model;
        if (import_text(&model, known[i].config) != 0)
            fail_msg("%s", import_errors.item[0].message);
        if (model_parameters(&model) != known[i].parameters)
            fail_msg("%s: %.0f parameters, published %.0f", model.name, model_parameters(&model), known[i].parameters);
    }
}

#define QWEN(type, more)                                                                                                    \
    "{model_type: " type ", hidden_size: 512, num_hidden_layers: 8, num_attention_heads: 8, num_key_value_heads: 2,"        \
    " head_dim: 128, intermediate_size: 1024, vocab_size: 1000" more "}"
#define EXPERTS ", num_experts: 16, num_experts_per_tok: 2, moe_intermediate_size: 64"

static void windows_apply_where_the_code_applies_them(void **state)
{
    (void)state;
    struct model model;
    assert_int_equal(import_text(&model, QWEN("qwen2", ", sliding_window: 256, use_sliding_window: false")), 0);
    assert_int_equal(model.window.tokens, 0);
    assert_int_equal(import_text(&model, QWEN("qwen2", ", sliding_window: 256, use_sliding_window: true,"
                                                       " max_window_layers: 6")), 0);
    assert_int_equal(model.window.tokens, 256);
    assert_int_equal(model.n_kinds, 2);
    assert_int_equal(model.kind[0].n_layers, 6);
    assert_int_equal(model.kind[1].window_tokens, 256);
    assert_int_equal(import_text(&model, QWEN("mistral", ", sliding_window: 256")), 0);
    assert_int_equal(model.n_kinds, 1);
    assert_int_equal(model.kind[0].window_tokens, 256);
    assert_int_equal(import_text(&model, QWEN("mistral", ", sliding_window: null")), 0);
    assert_int_equal(model.kind[0].window_tokens, 0);
    assert_int_equal(import_text(&model, QWEN("cohere2", ", sliding_window: 256, sliding_window_pattern: 2")), 0);
    assert_int_equal(model.window.global_every, 2);
    assert_int_equal(import_text(&model, QWEN("llama", ", sliding_window: 256")), 0);
    assert_int_equal(model.window.tokens, 0);
    assert_contains(warnings, "sliding_window");
    /* Qwen's code forgets the window unless it is switched on, whatever layer_types says; its defaults are its own. */
#define LAYER_TYPES ", layer_types: [full_attention, full_attention, full_attention, full_attention, full_attention,"       \
                    " full_attention, full_attention, sliding_attention]"
    assert_int_equal(import_text(&model, QWEN("qwen3", ", sliding_window: 256, use_sliding_window: false" LAYER_TYPES)), 0);
    assert_int_equal(model.window.tokens, 0);
    assert_int_equal(import_text(&model, QWEN("qwen3", ", sliding_window: 256, use_sliding_window: true" LAYER_TYPES)), 0);
    assert_int_equal(model.kind[1].n_layers, 1);
    assert_int_equal(import_text(&model, QWEN("qwen3", ", use_sliding_window: true, max_window_layers: 0")), 0);
    assert_int_equal(model.kind[0].window_tokens, 4096);
    assert_int_equal(import_text(&model, QWEN("mistral", "")), 0);
    assert_int_equal(model.kind[0].window_tokens, 4096);
    assert_int_equal(import_text(&model, QWEN("gpt_oss", EXPERTS)), 0);
    assert_int_equal(model.kind[0].window_tokens, 128);
    assert_int_equal(import_text(&model, QWEN("exaone4", ", sliding_window_pattern: 'LLG'")), 0);
    assert_int_equal(model.window.global_every, 3);
}

/* What the code of a type takes where the config is silent; an explicit null is not silence. */
static void fields_left_out_are_those_of_the_code(void **state)
{
    (void)state;
#define LATENT ", qk_nope_head_dim: 64, qk_rope_head_dim: 32, v_head_dim: 64"
    struct model model;
    assert_int_equal(import_text(&model, QWEN("deepseek_v3", EXPERTS LATENT)), 0);
    assert_int_equal(model.mla.q_rank, 1536);
    assert_int_equal(model.mla.kv_rank, 512);
    assert_int_equal(model.moe.shared_ffn, 64);
    assert_int_equal(model.moe.dense_layers, 3);
    assert_int_equal(import_text(&model, QWEN("deepseek_v3", EXPERTS LATENT ", q_lora_rank: null, n_shared_experts: null")),
                     0);
    assert_int_equal(model.mla.q_rank, 0);
    assert_int_equal(model.moe.shared_ffn, 0);
    assert_int_equal(import_text(&model, QWEN("deepseek_v2", EXPERTS ", use_mla: false, kv_lora_rank: 512")), 0);
    assert_int_equal(model.mla.kv_rank, 0);
    assert_int_equal(import_text(&model, QWEN("qwen2_moe", EXPERTS)), 0);
    assert_int_equal(model.moe.shared_ffn, 5632);
    assert_int_equal(import_text(&model, QWEN("ernie4_5_moe", EXPERTS)), 0);
    assert_int_equal(model.moe.shared_ffn, 128);
    assert_int_equal(model.moe.dense_layers, 1);
    assert_int_equal(import_text(&model, "{model_type: starcoder2, hidden_size: 3072, num_hidden_layers: 30,"
                                         " num_attention_heads: 24, intermediate_size: 12288, vocab_size: 49152}"), 0);
    assert_int_equal(model.kv_heads, 2);
    assert_int_equal(import_text(&model, "{model_type: dbrx, d_model: 512, n_heads: 8, n_layers: 8, vocab_size: 1000,"
                                         " ffn_config: {ffn_hidden_size: 64, moe_num_experts: 4, moe_top_k: 2}}"), 0);
    assert_int_equal(model.kv_heads, 1);
    assert_int_equal(import_text(&model, "{model_type: gpt2, n_embd: 768, n_layer: 12, n_head: 12, vocab_size: 50257}"), 0);
    assert_true(model_parameters(&model) == 124439808.0);
}

static void moe_layers_are_found_in_every_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        int dense_layers, period;
    } spelling[] = {
#define UNCHUNKED ", attention_chunk_size: null, intermediate_size_mlp: 2048"
        {QWEN("qwen3_moe", EXPERTS ", decoder_sparse_step: 2, mlp_only_layers: []"), 0, 2},
        {QWEN("qwen3_moe", EXPERTS ", decoder_sparse_step: 1, mlp_only_layers: [0, 1]"), 2, 1},
        {QWEN("deepseek", EXPERTS ", first_k_dense_replace: 3"), 3, 1},
        {QWEN("deepseek", EXPERTS ", moe_layer_freq: [0, 0, 0, 1, 1, 1, 1, 1]"), 3, 1},
        {QWEN("deepseek", EXPERTS ", moe_layer_freq: [false, false, false, true, true, true, true, true]"), 3, 1},
        {QWEN("llama4_text", EXPERTS UNCHUNKED ", interleave_moe_layer_step: 2"), 0, 2},
        {QWEN("llama4_text", EXPERTS UNCHUNKED ", moe_layers: [3, 7]"), 0, 4},
        {QWEN("ernie4_5_moe", EXPERTS ", moe_layer_start_index: 1, moe_layer_interval: 1, moe_layer_end_index: -1"), 1, 1},
    };
    for (size_t i = 0; i < sizeof spelling / sizeof spelling[0]; i++) {
        struct model model;
        if (import_text(&model, spelling[i].config) != 0)
            fail_msg("%s: %s", spelling[i].config, import_errors.item[0].message);
        assert_int_equal(model.moe.dense_layers, spelling[i].dense_layers);
        assert_int_equal(model.moe.period, spelling[i].period);
        assert_int_equal(model.moe.experts, 16);
    }
}

static void what_cannot_be_represented_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *config, *part;
    } refused[] = {
        {"{model_type: deepseek_v32, index_topk: 2048}", "sparse-attention indexer"},
        {"{model_type: nemotron_h}", "state-space"},
        {"{model_type: gemma4, text_config: {model_type: gemma4_text}}", "heads of another size"},
        {QWEN("exaone4", ", sliding_window_pattern: GLLL"), "no whole number"},
        {"{model_type: mllama, text_config: {model_type: mllama_text_model}}", "`mllama` cannot be represented"},
        {QWEN("deepseek_v3", ", index_topk: 2048"), "index_topk"},
        {QWEN("llama", ", mamba_d_state: 16"), "mamba_d_state"},
        {QWEN("minimax_m2", ", attn_type_list: [1, 1, 1, 1, 1, 1, 1, 0]"), "linear attention"},
        {QWEN("qwen3", ", layer_types: [full_attention, linear_attention, a, b, c, d, e, f]"), "linear_attention"},
        {QWEN("qwen3", ", layer_types: [full_attention]"), "1 entries for 8 layers"},
        {QWEN("qwen3_moe", EXPERTS ", mlp_only_layers: [4]"), "MoE layers do not follow"},
        {QWEN("llama", ", v_head_dim: 64"), "v_head_dim"},
        {QWEN("novel", ", hidden_act: silu, tie_word_embeddings: false, memory_slots: 7"), "memory_slots"},
        {QWEN("novel", ", hidden_act: silu, tie_word_embeddings: false, multi_query: true"), "multi_query"},
        {QWEN("novel", ", hidden_act: gelu, tie_word_embeddings: false"), "hidden_act"},
        {QWEN("novel", ", hidden_act: silu"), "tie_word_embeddings"},
        {QWEN("novel", ", hidden_act: silu, tie_word_embeddings: false" EXPERTS), "first_k_dense_replace"},
        {"{model_type: llama, hidden_size: 512}", "num_hidden_layers: missing"},
        {"{hidden_size: 512}", "model_type: missing"},
        {"[1, 2]", "no Hugging Face config"},
        {QWEN("llama", ", rope_theta: 1, num_local_experts: many"), "no whole number"},
        {QWEN("llama", ", tie_word_embeddings: 3"), "neither true nor false"},
        {QWEN("llama4_text", EXPERTS ", intermediate_size_mlp: 2048"), "attends within chunks"},
        {QWEN("mixtral", ""), "mixtral has experts"},
        {QWEN("gpt_oss", ""), "gpt_oss has experts"},
        {QWEN("qwen3_moe", EXPERTS ", n_routed_experts: 8"), "num_experts: `16` contradicts n_routed_experts: 8"},
        {QWEN("deepseek", EXPERTS ", moe_layer_freq: [0, 0, 0, 1, 1, 1, 1, 2]"), "neither sparse nor dense"},
        {QWEN("deepseek", EXPERTS ", mlp_layer_types: sparse"), "mlp_layer_types: 0 entries for 8 layers"},
        {QWEN("qwen3_moe", EXPERTS ", mlp_only_layers: 3"), "no list of layers from 0 to 7"},
        {QWEN("qwen3_moe", EXPERTS ", mlp_only_layers: [8]"), "no list of layers from 0 to 7"},
        {QWEN("llama", ", n_layer: 4"), "n_layer: `4` contradicts num_hidden_layers: 8"},
        {QWEN("hunyuan_v1_dense", ", use_cla: true"), "layers share caches"},
        {QWEN("hunyuan_v1_moe", ", num_experts: [8, 16]"), "no whole number"},
        {QWEN("granitemoehybrid", ", layer_types: [mamba, attention]"), "state-space"},
        {QWEN("smollm3", ", use_sliding_window: true, sliding_window: 256"), "add layer_types"},
        {QWEN("novel", ", hidden_act: silu, tie_word_embeddings: false, ffn_dim_multiplier: 2"), "ffn_dim_multiplier"},
        {"{model_type: florence2, is_encoder_decoder: true, text_config: " QWEN("llama", "") "}", "is_encoder_decoder"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct model model;
        assert_int_equal(import_text(&model, refused[i].config), -1);
        assert_int_equal(import_errors.item[0].code, STATUS_INPUT);
        assert_string_equal(import_errors.item[0].file, "config.json");
        assert_contains(import_errors.item[0].message, refused[i].part);
    }
    struct model model;
    assert_int_equal(import_file(&model, "llama-4-scout.json"), -1);
    assert_int_equal(import_errors.n, 1);
    assert_int_equal(import_errors.item[0].line, 16);
    assert_contains(import_errors.item[0].message, "attention_chunk_size");
}

static void unknown_types_and_fields_are_warned_of(void **state)
{
    (void)state;
    struct model model;
    assert_int_equal(import_text(&model, QWEN("novel", ", hidden_act: silu, tie_word_embeddings: false")), 0);
    assert_contains(warnings, "model_type is not known");
    assert_true(model.gated);
    assert_int_equal(import_text(&model, QWEN("llama", ", memory_slots: 7")), 0);
    assert_contains(warnings, "memory_slots is not understood");
    assert_int_equal(import_text(&model, QWEN("llama", ", num_nextn_predict_layers: 1, memory_slots: 7, heads_up: 8")), 0);
    assert_string_equal(warnings, "multi-token-prediction layers are left out; memory_slots, heads_up are not understood");
    assert_int_equal(import_text(&model, "{model_type: mpt, d_model: 512, n_heads: 8, n_layers: 8, vocab_size: 1000,"
                                         " attn_config: {sliding_window_size: 64}}"), 0);
    assert_contains(warnings, "sliding_window_size is not understood");
    assert_int_equal(import_text(&model, QWEN("llama", ", use_qk_norm: true, intermediate_size_mlp: 9")), 0);
    assert_contains(warnings, "norms of Q and K");
    assert_int_equal(model.ffn, 1024);
    assert_int_equal(import_text(&model, QWEN("llama", EXPERTS)), 0);
    assert_contains(warnings, "num_experts is modelled, though the code of llama does not read it");
    assert_int_equal(import_text(&model, QWEN("llama", ", kv_lora_rank: 256" LATENT)), 0);
    assert_contains(warnings, "kv_lora_rank is modelled");
    assert_int_equal(import_text(&model, QWEN("mixtral", EXPERTS ", first_k_dense_replace: 1")), 0);
    assert_contains(warnings, "moe_intermediate_size is not used by mixtral");
    assert_contains(warnings, "first_k_dense_replace is modelled");
    assert_int_equal(model.moe.ffn, 1024);
    assert_int_equal(import_text(&model, "{model_type: qwen3_omni_moe, thinker_config: {text_config: "
                                         QWEN("qwen3_omni_moe_text", EXPERTS ", num_local_experts: 16") "}}"), 0);
    assert_contains(warnings, "not the vision or audio tower");
    char many[2000] = "{num_nextn_predict_layers: 1";
    for (int i = 0; i < 30; i++) /* they leave room for what matters more */
        snprintf(many + strlen(many), sizeof many - strlen(many), ", some_unknown_field_%d: 1", i);
    snprintf(many + strlen(many), sizeof many - strlen(many), ", %s", &QWEN("llama", "")[1]);
    assert_int_equal(import_text(&model, many), 0);
    assert_contains(warnings, "multi-token-prediction");
    assert_contains(warnings, "some_unknown_field_8 and 21 more are not understood");
    assert_int_equal(import_text(&model, "{tie_word_embeddings: true, text_config: "
                                         QWEN("llama", ", tie_word_embeddings: false") "}"), 0);
    assert_contains(warnings, "tie_word_embeddings is false of the text decoder, true of the file");
    assert_int_equal(import_text(&model, QWEN("qwen2", ", is_causal: false")), 0);
    assert_contains(warnings, "modelled as causal");
    assert_int_equal(import_text(&model, QWEN("llama", ", memory_slots: null")), 0);
    assert_string_equal(warnings, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configs_become_their_presets),
        cmocka_unit_test(falcon_is_parallel_plain_multi_query_and_tied),
        cmocka_unit_test(families_have_their_published_parameters),
        cmocka_unit_test(fields_left_out_are_those_of_the_code),
        cmocka_unit_test(windows_apply_where_the_code_applies_them),
        cmocka_unit_test(moe_layers_are_found_in_every_spelling),
        cmocka_unit_test(what_cannot_be_represented_is_refused_by_name),
        cmocka_unit_test(unknown_types_and_fields_are_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
