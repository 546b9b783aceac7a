#!/usr/bin/python3
"""A naive twin of the analytical model: MODEL.md sections 1 to 9, read aloud, never optimised.

    twin.py CASES.jsonl           one JSON answer per line; a line is a case or {"case": ...}
    twin.py --check GOLDEN.jsonl  compares with each line's `expect`, prints mismatches and a count

A case is {"scenario", "plan", "hardware"} in base units, all scalars, the model inline.
Names are those of the page; a trailing underscore (hq_, Fs_) is the page's own.
"""
import json
import math
import sys
from types import SimpleNamespace as Record

LEVELS = (0, 1, 2)
LINKS = ("pe", "d2d", "c2c")
ABSOLUTE_TOLERANCE = 1e-30
RELATIVE_TOLERANCE = 1e-9


class InputError(Exception):
    pass


def ceil_div(a, b):
    """Section 0: ceil of a ratio of integers is integer arithmetic."""
    return -(-a // b)


def up(x, tile):
    """Section 0: x rounded up to a tile; fractions are kept for a tile of 1."""
    return tile * math.ceil(x / tile) if tile > 1 else x


# ---------------------------------------------------------------- section 1: facts

def read_model(raw):
    """Section 1, Model."""
    mla, moe, window = raw.get("mla"), raw.get("moe"), raw.get("window")
    M = Record(L=raw["layers"], H=raw["hidden"], hq=raw["heads"], hkv=raw["kv_heads"], dh=raw["head_dim"],
               dv=raw["head_dim"], F=raw["ffn"], z=2 if raw["gated"] else 1, V=raw["vocab"], tied=raw["tied"],
               parallel=raw["parallel_block"], mla=bool(mla), moe=bool(moe), W=0, global_every=0, E=0, k=0, Fe=0, Fs=0)
    if mla:
        M.rq, M.rkv, M.dn, M.dr, M.dv = (mla[key] for key in ("q_rank", "kv_rank", "nope_dim", "rope_dim", "v_dim"))
    if moe:
        M.E, M.k, M.Fe, M.Fs = moe["experts"], moe["per_token"], moe["ffn"], moe.get("shared_ffn", 0)
        M.dense_layers, M.period = moe.get("dense_layers", 0), moe.get("period", 1)
    if window:
        M.W, M.global_every = window["tokens"], window.get("global_every", 0)
    return M


def kind_of_layer(M, i):
    """Section 1: a layer's kind is (its window or 0, MoE or dense)."""
    is_moe = M.moe and i >= M.dense_layers and (i + 1) % M.period == 0
    is_global = M.global_every > 0 and (i + 1) % M.global_every == 0
    return (0 if is_global else M.W, is_moe)


def layer_kinds(M):
    """Section 1: (kind, count) in order of first appearance."""
    counts = {}
    for i in range(M.L):
        kind = kind_of_layer(M, i)
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def read_scenario(raw):
    """Section 1, Scenario."""
    C = Record(phase=raw["phase"], wb=raw["weights"], kb=raw["kv"], ab=raw["activations"], compute=raw["compute"],
               imbalance=raw["moe_imbalance"], accepted=raw.get("accepted_tokens", 1),
               strict=raw["divisibility"] == "strict")
    if C.phase == "serve":
        C.isl, C.osl, C.T, C.chunk = raw["prompt_tokens"], raw["answer_tokens"], 1, raw.get("prompt_chunk", 0)
        C.S = C.isl + ceil_div(C.osl, 2)
    else:
        C.T, C.P = raw["new_tokens"], raw["past_tokens"]
        C.S = C.P + C.T
    if not 1 <= C.accepted <= C.T:
        raise InputError("accepted_tokens must be in 1..new_tokens")
    return C


def read_hardware(raw):
    """Section 1, Fabric and Rates."""
    efficiency, overhead, links = raw["efficiency"], raw["overhead"], raw["links"]
    return Record(
        Pc=raw["pes_per_cube"], Cs=raw["cubes_per_sip"], allocation=raw["allocation"],
        topology=[links[name]["topology"] for name in LINKS], flops=raw["pe"]["flops"],
        ratio=dict({"bf16": 1.0}, **raw["pe"]["flops_ratio"]), Rv=raw["pe"]["vector_flops"],
        BW=raw["pe"]["hbm_bandwidth"], capacity=raw["pe"]["hbm_capacity"],
        b=[links[name]["bandwidth"] for name in LINKS], a=[links[name]["latency"] for name in LINKS],
        e_gemm=efficiency["gemm"], e_attn=efficiency["attention"], e_hbm=efficiency["hbm"], e_kv=efficiency["kv"],
        e_link=[efficiency[name + "_link"] for name in LINKS],
        o_kernel=overhead["kernel"], o_attn=overhead["attention"], o_step=overhead["step"],
        o_coll=[overhead[name + "_collective"] for name in LINKS],
        tile=raw["gemm_tile"], q_tile=raw["attention_query_tile"], gqa_reuse=raw["gqa_reuse"],
        reserve_fraction=raw["reserve_fraction"], reserve=raw["reserve"], energy=raw["energy"], cost=raw["cost"])


def kv_modes_apply(M, tp):
    """Section 1: KV modes differ only here."""
    return not M.mla and tp > M.hkv and tp % M.hkv == 0


def pin(M, C, plan):
    """Section 1: knobs that cannot matter take their first value; `ep` is pinned after the check of section 2."""
    p = Record(**plan)
    if not (C.phase == "prefill" and p.cp > 1):
        p.ring = "kv"
    if not kv_modes_apply(M, p.tp):
        p.kv_mode = "replicate"
    if not (C.phase != "prefill" and p.cp > 1 and p.kv_mode == "replicate"):
        p.attention_scope = "tp"
    if p.tp == 1:
        p.tp_placement = "pe"
    if p.cp == 1:
        p.cp_placement = "pe"
    if (p.ffn_scope == "tp_cp" and p.cp == 1) or (p.ffn_scope == "tp_cp_dp" and p.dp == 1):
        p.ffn_scope = "tp"
    if p.ep == 1:
        p.moe_exchange = "allgather"
    return p


# ---------------------------------------------------------------- section 2: validity

def ffn_axes(p):
    """Section 6: the axes of the FFN group."""
    return {"tp": ("tp",), "tp_cp": ("tp", "cp"), "tp_cp_dp": ("tp", "cp", "dp")}[p.ffn_scope]


def ffn_ranks(p):
    """Section 6: D."""
    return math.prod(getattr(p, axis) for axis in ffn_axes(p))


def refusal(M, C, p):
    """Section 2, up to `memory`."""
    D = ffn_ranks(p)
    if p.tp > M.hq:
        return "tp_exceeds_heads"
    if p.pp > M.L:
        return "pp_exceeds_layers"
    if p.cp > (C.T if C.phase == "prefill" else C.S):
        return "cp_exceeds_sequence"
    if p.ep > 1 and not M.moe:
        return "ep_without_experts"
    if M.moe and p.ep > M.E:
        return "ep_exceeds_experts"
    if D % p.ep:
        return "ep_not_in_ffn_scope"
    if C.strict:
        divides = [M.hq % p.tp == 0, M.mla or M.hkv % p.tp == 0 or p.tp % M.hkv == 0, M.L % p.pp == 0, M.F % D == 0]
        if M.moe:
            divides += [M.E % p.ep == 0, M.Fe * p.ep % D == 0]
        if not all(divides):
            return "not_divisible"
    return None


# ---------------------------------------------------------------- section 3: layout

def smallest_divisor(n, least):
    return next(d for d in range(1, n + 1) if n % d == 0 and d >= least)


def pack(s, Pc, Cs):
    """Section 3: a block never straddles a boundary that it could fit inside."""
    if s <= Pc:
        return smallest_divisor(Pc, s)
    cubes = ceil_div(s, Pc)
    if cubes <= Cs:
        return Pc * smallest_divisor(Cs, cubes)
    return Pc * Cs * ceil_div(cubes, Cs)


def lay_out(p, hw):
    """Section 3: strides of the axes, used and allocated PEs, cubes, SIPs."""
    Pc, Cs = hw.Pc, hw.Cs
    size = {axis: getattr(p, axis) for axis in ("tp", "cp", "pp", "dp")}
    placement = {"tp": p.tp_placement, "cp": p.cp_placement}
    stride, s = {}, 1
    for axis in ("tp", "cp"):
        if placement[axis] == "pe":
            stride[axis] = s
            s = pack(s * size[axis], Pc, Cs)
    if any(placement[axis] == "cube" and size[axis] > 1 for axis in ("tp", "cp")) and s < Pc:
        s = Pc
    for axis in ("tp", "cp"):
        if placement[axis] == "cube":
            stride[axis] = s
            s = pack(s * size[axis], Pc, Cs)
    for axis in ("pp", "dp"):
        stride[axis] = s
        s = pack(s * size[axis], Pc, Cs)
    used, cubes, sips = math.prod(size.values()), ceil_div(s, Pc), ceil_div(s, Pc * Cs)
    if hw.allocation == "sip":
        cubes = sips * Cs
    pes = used if hw.allocation == "pe" else cubes * Pc
    return Record(size=size, stride=stride, used=used, pes=pes, cubes=cubes, sips=sips, nodes=(Pc, Cs, sips))


def axis_span(n, s, hw):
    """Section 3: members per level and their spacing, of one axis of size n and stride s."""
    Pc, Cs = hw.Pc, hw.Cs
    n0 = min(n, Pc // s) if s < Pc else 1
    n01 = min(n, Pc * Cs // s) if s < Pc * Cs else 1
    spacing = (s if s < Pc else 1, max(1, s // Pc) if s < Pc * Cs else 1, max(1, s // (Pc * Cs)))
    return (n0, ceil_div(n01, n0), ceil_div(n, n01)), spacing


def group_of(axes, where, hw):
    """Section 3: a group of axes: n and spacing per level, and g, the groups that share its links."""
    spans = {axis: axis_span(where.size[axis], where.stride[axis], hw) for axis in where.size}
    n = [math.prod(spans[axis][0][l] for axis in axes) for l in LEVELS]
    spacing = []
    for l in LEVELS:
        reach = max((spans[axis][0][l] * spans[axis][1][l] for axis in axes if spans[axis][0][l] > 1), default=1)
        spacing.append(max(1, ceil_div(reach, n[l])))
    outside = [spans[axis][0] for axis in spans if axis not in axes]
    g = [1, math.prod(o[0] for o in outside), math.prod(o[0] * o[1] for o in outside)]
    return Record(n=n, spacing=spacing, g=g)


def nearest(group, m):
    """Section 3: the subgroup of the m nearest ranks, and its complement."""
    n, g = group.n, group.g
    m0 = min(m, n[0])
    m1 = min(ceil_div(m, m0), n[1])
    m2 = ceil_div(m, m0 * m1)
    sub = Record(n=[m0, m1, m2], spacing=group.spacing,
                 g=[1, g[1] * ceil_div(n[0], m0), g[2] * ceil_div(n[0] * n[1], m0 * m1)])
    rest = Record(n=[ceil_div(a, b) for a, b in zip(n, sub.n)], spacing=[a * b for a, b in zip(group.spacing, sub.n)],
                  g=[1, g[1] * m0, g[2] * m0 * m1])
    return sub, rest


# ---------------------------------------------------------------- section 4: collectives

def grid(topology, N):
    """Section 4: the level as R rows of C columns."""
    C = 1 if topology == "ring" else max(c for c in range(1, math.isqrt(N) + 1) if N % c == 0)
    return N // C, C


def coefficients(topology, n, spacing, N):
    """Section 4: diameter, ag, ar, a2a and far of n nodes, spaced, of a level with N nodes."""
    if topology == "full":
        return Record(diameter=1, ag=1 / n, a2a=1 / n, ar=2 / n, far=1)
    if topology in ("switch", "switch_reduce"):
        share = (n - 1) / n
        return Record(diameter=1, ag=share, a2a=share, ar=2 * share if topology == "switch" else (n + 1) / n, far=1)
    R, C = grid(topology, N)
    if spacing < C:
        c = min(n, ceil_div(C, spacing))
        columns, rows, far = (c, spacing, C), (ceil_div(n, c), 1, R), spacing
    else:
        far = ceil_div(spacing, C)
        columns, rows = (1, 1, C), (n, far, R)
    diameter = port = links = cross = 0
    for (e, p, full), o in ((columns, rows[0]), (rows, columns[0])):
        if e > 1:
            wraps = topology != "mesh2d" and e * p >= full and e > 2
            diameter += p * (e // 2 if wraps else e - 1)
            port += (2 if wraps else 1) / p
            links += o * (e if wraps else e - 1) / p
            cross = max(cross, (e // 2) * ceil_div(e, 2) / e * p / (2 if wraps else 1))
    ag = (n - 1) / n / port
    return Record(diameter=diameter, ag=ag, ar=(n - 1) / links, a2a=max(ag, cross), far=far)


def ports(topology, n):
    """Section 4: ports through which a PE or a cube reaches the next level's links."""
    return {"full": max(1, n - 1), "ring": 2, "mesh2d": 4, "torus2d": 4, "switch": 1, "switch_reduce": 1}[topology]


class Network:
    """Section 4 on one machine and layout. Every exchange answers (seconds, [bytes a PE puts on each level])."""

    def __init__(self, where, hw):
        self.where, self.hw = where, hw

    def level_coefficients(self, group, l):
        return coefficients(self.hw.topology[l], group.n[l], group.spacing[l], self.where.nodes[l])

    def level_time(self, group, l, h, x, U, w):
        """Section 4: t_l."""
        hw = self.hw
        rate = [hw.b[j] * hw.e_link[j] for j in LEVELS]
        bounds = [x * U / rate[l]]
        if l > 0:
            bounds.append(w / (ports(hw.topology[0], hw.Pc) * rate[0]))
        if l == 2 and hw.Cs > 1:
            bounds.append(w * group.n[0] * group.g[1] / (ports(hw.topology[1], hw.Cs) * rate[1]))
        return h * hw.a[l] + max(bounds)

    def collective(self, what, group, V):
        """Section 4: all_gather, reduce_scatter, all_reduce, all_to_all."""
        spanned = [l for l in LEVELS if group.n[l] > 1]
        wire = [0.0, 0.0, 0.0]
        if not spanned or V == 0:
            return 0.0, wire
        seconds, n0, n1, n2 = 0.0, *group.n
        n = n0 * n1 * n2
        for l in spanned:
            q = self.level_coefficients(group, l)
            inner = math.prod(group.n[:l])
            w = (group.n[l] - 1) / group.n[l] * V / inner
            U = group.g[l] * V
            if what in ("all_gather", "reduce_scatter"):
                seconds += self.level_time(group, l, q.diameter, q.ag, U, w)
                wire[l] = w
            elif what == "all_reduce" and l < spanned[-1]:
                seconds += self.level_time(group, l, 2 * q.diameter, 2 * q.ag, U, 2 * w)
                wire[l] = 2 * w
            elif what == "all_reduce":
                two_shot = self.level_time(group, l, 2 * q.diameter, q.ar, U, 2 * w)
                one_shot = self.level_time(group, l, q.diameter, group.n[l] * q.ag, U, (group.n[l] - 1) * V / inner)
                seconds += min(two_shot, one_shot)
                wire[l] = 2 * w
            else:
                U = (V * n0 / n, group.g[1] * n0 * V * n0 * n1 / n, group.g[2] * n0 * n1 * V)[l]
                w = (V * (n0 - 1) / n, V * n0 * (n1 - 1) / n, V * (n2 - 1) / n2)[l]
                seconds += self.level_time(group, l, q.diameter, q.a2a, U, w)
                wire[l] = w
        return seconds + self.hw.o_coll[spanned[-1]], wire

    def hop(self, group, V):
        """Section 4: a neighbour hop along an axis, without o_coll."""
        seconds, wire = 0.0, [0.0, 0.0, 0.0]
        for l in LEVELS:
            if group.n[l] > 1:
                far = self.level_coefficients(group, l).far
                seconds = max(seconds, self.level_time(group, l, far, far, group.g[l] * V, V))
                wire = [V if j == l else 0.0 for j in LEVELS]
        return seconds, wire

    def o_coll(self, group):
        """Section 4: o_coll of the highest level spanned."""
        return self.hw.o_coll[max((l for l in LEVELS if group.n[l] > 1), default=0)]


# ---------------------------------------------------------------- the sizes sections 5 to 8 share

def sizes(M, C, p):
    """Section 5, above the stage table, and the head of section 6."""
    s = Record()
    s.b = ceil_div(p.batch, min(p.pp, p.batch))
    s.m = ceil_div(p.batch, s.b)
    s.N = {"decode": lambda: s.b * C.T, "prefill": lambda: s.b * ceil_div(C.T, p.cp),
           "serve": lambda: s.b * (C.isl + C.osl) / C.osl}[C.phase]()
    s.nl = {"decode": lambda: s.N, "prefill": lambda: s.b, "serve": lambda: s.b * (C.osl + 1) / C.osl}[C.phase]()
    hg = ceil_div(M.hq, M.hkv)
    if M.mla:
        s.hq_ = ceil_div(M.hq, p.tp)
    else:
        s.hq_ = ceil_div(hg, p.tp // M.hkv) if p.tp >= M.hkv else ceil_div(M.hkv, p.tp) * hg
    s.r = p.tp // M.hkv if kv_modes_apply(M, p.tp) else 1
    s.absorbed = M.mla and C.phase != "prefill"
    kv_heads = ceil_div(M.hkv, p.tp)
    if s.absorbed:
        s.kw, s.qh, s.dqk, s.dpv, s.q, sharing = M.rkv + M.dr, s.hq_, M.rkv + M.dr, M.rkv, 1, s.hq_
    elif M.mla:
        s.kw, s.qh, s.dqk, s.dpv, s.q, sharing = M.rkv + M.dr, s.hq_, M.dn + M.dr, M.dv, 1, 1
    elif p.kv_mode == "replicate":
        s.kw, s.qh, s.dqk, s.dpv, s.q, sharing = kv_heads * (M.dh + M.dv), s.hq_, M.dh, M.dv, 1, s.hq_ / kv_heads
    elif p.kv_mode == "split_dim":
        s.kw, s.qh, s.dqk, s.dpv, s.q, sharing = (M.dh + M.dv) / s.r, hg, M.dh / s.r, M.dv / s.r, 1, hg
    else:
        s.kw, s.qh, s.dqk, s.dpv, s.q, sharing = M.dh + M.dv, hg, M.dh, M.dv, s.r, hg
    s.sharing = sharing    # query heads per cached head
    s.hp = ceil_div(s.hq_, p.cp) if p.attention_scope == "tp_cp" else s.hq_
    s.dq = M.dn + M.dr if M.mla else M.dh    # what a projected query head holds
    s.D = ffn_ranks(p)
    sharded = ("dp", "cp") if C.phase == "prefill" else ("dp",)
    s.sharded = [axis for axis in ffn_axes(p) if axis in sharded]
    s.replicated = [axis for axis in ffn_axes(p) if axis not in sharded]
    s.ns = math.prod(getattr(p, axis) for axis in s.sharded)
    s.G = s.N * s.ns
    return s


def windowed(tokens, W):
    """min(tokens, W), W = 0 standing for no window."""
    return min(tokens, W) if W else tokens


def pairs_of(T, P, W):
    """Section 5: sum over i = 1..T of min(W or infinity, P+i), in closed form."""
    below = T if not W else min(T, max(0, W - P))    # the rows that do not fill the window
    return below * P + below * (below + 1) // 2 + (T - below) * W


def gemm(hw_tile, C, n, K, columns):
    """Section 5: FLOP and bytes of n x K x columns."""
    if n == 0 or K == 0 or columns == 0:
        return 0.0, 0.0
    tm, tn, tk = hw_tile
    return 2 * up(n, tm) * up(K, tk) * up(columns, tn), K * columns * C.wb + n * (K + columns) * C.ab


class Stages:
    """A list of stages; section 7's t(stage) as each is added."""

    def __init__(self, hw, Rg):
        self.hw, self.Rg, self.rows = hw, Rg, []

    def add(self, name, gemms=(), vector=0.0, hbm=0.0, exchanges=(), kernel=True, mean_gemms=None, mean_hbm=None):
        """Sections 5 and 7: gemms is a list of (times, (flop, bytes)); mean_* is what energy counts."""
        hw = self.hw
        flop = sum(times * one[0] for times, one in gemms)
        bytes_ = sum(times * one[1] for times, one in gemms) + hbm
        time = max(flop / (self.Rg * hw.e_gemm), vector / (hw.Rv * hw.e_gemm), bytes_ / (hw.BW * hw.e_hbm))
        exchange = sum(e[0] for e in exchanges)
        mean_gemms = gemms if mean_gemms is None else mean_gemms
        mean_hbm = hbm if mean_hbm is None else mean_hbm
        self.put(name, flop, vector, bytes_, exchanges, time + exchange + (hw.o_kernel if kernel else 0.0),
                 sum(times * one[0] for times, one in mean_gemms),
                 sum(times * one[1] for times, one in mean_gemms) + mean_hbm)

    def put(self, name, flop, vector, bytes_, exchanges, time, mean_flop, mean_bytes):
        self.rows.append(Record(name=name, flop=flop, vector=vector, bytes=bytes_, exchange=sum(e[0] for e in exchanges),
                                wire=[sum(e[1][l] for e in exchanges) for l in LEVELS], time=time,
                                mean_flop=mean_flop, mean_bytes=mean_bytes))

    def exchange(self, name, exchanges):
        self.add(name, exchanges=exchanges, kernel=False)


# ---------------------------------------------------------------- section 5: attention block

def attention_kernel(M, C, p, hw, s, W, groups, net):
    """Section 5: the fused kernel: FLOP, vector FLOP, bytes, exchanges, time."""
    cp, q, b, N = p.cp, s.q, s.b, s.N
    if C.phase == "serve":
        A = (windowed(C.S, W) + pairs_of(C.isl, 0, W) / C.osl) / (cp * q)
    else:
        A = ceil_div(pairs_of(C.T, C.P, W), cp * q)
    flop, vector = 2 * b * s.qh * (s.dqk + s.dpv) * A, 5 * b * s.qh * A

    u = 1 if hw.gqa_reuse else s.sharing
    io = N * s.qh * (s.dqk + s.dpv) * C.ab
    rows = ceil_div(windowed(C.S, W), cp * q)
    if C.phase == "decode":
        R = b * rows * s.kw * C.kb * u + io
    elif C.phase == "serve":
        R = b * (rows + C.isl / C.osl / (cp * q)) * s.kw * C.kb * u + io
    else:
        rows = ceil_div(C.S, cp * q)
        met = cp * rows
        if W:
            met = min(met, ceil_div(W + hw.q_tile, q))
        passes = ceil_div(ceil_div(C.T, cp), hw.q_tile)
        row_bytes = s.hq_ * (M.dn + M.dr + M.dv) * C.ab if M.mla else s.kw * C.kb
        R = b * met * row_bytes * passes * u + io
    t = max(flop / (hw.flops * hw.e_attn), vector / (hw.Rv * hw.e_attn), R / (hw.BW * hw.e_kv))

    exchanges = []
    if p.kv_mode != "replicate":
        sharers, _ = nearest(groups("tp"), s.r)
        if p.kv_mode == "split_dim":
            exchanges.append(net.collective("all_reduce", sharers, b * s.qh * A * 4))
        else:
            exchanges.append(net.collective("all_gather", sharers, N * s.qh * M.dh * C.ab))
            exchanges.append(net.collective("all_reduce", sharers, N * s.qh * (M.dv + 2) * 4))
    if p.attention_scope == "tp_cp":
        exchanges.append(net.collective("all_gather", groups("cp"), N * s.qh * s.dqk * C.ab))
    if C.phase == "prefill" and cp > 1:
        ring, chunk = groups("cp"), t / cp
        V = b * rows * s.kw * C.kb if p.ring == "kv" else N * s.qh * (s.dqk * C.ab + (s.dpv + 2) * 4)
        seconds, wire = net.hop(ring, V)
        exposed = (cp - 1) * (max(chunk, seconds) - chunk) + (seconds if p.ring == "q" else 0.0)
        hops = cp if p.ring == "q" else cp - 1
        exchanges.append((exposed + (cp - 1) * net.o_coll(ring), [hops * w for w in wire]))
    return flop, vector, R, exchanges, t


def attention_block(M, C, p, hw, s, W, merged, groups, net, out):
    """Section 5: the stages of one layer's attention. `merged`: the FFN's combine sums both (parallel block)."""
    N, H, cp = s.N, M.H, p.cp
    mm = lambda *shape: gemm(hw.tile, C, *shape)
    out.add("attn_norm", vector=4 * N * H, hbm=2 * N * H * C.ab)
    if M.mla:
        if M.rq:
            gemms = [(1, mm(N, H, M.rq)), (1, mm(N, M.rq, s.hp * s.dq))]
        else:
            gemms = [(1, mm(N, H, s.hp * s.dq))]
        gemms.append((1, mm(N, H, s.kw)))
        if s.absorbed:
            gemms += [(s.hp, mm(N, M.dn, M.rkv)), (s.hp, mm(N, M.rkv, M.dv))]
        else:
            X = s.b * ceil_div(C.S, cp) * (cp if p.ring == "kv" else 1)
            gemms.append((1, mm(X, M.rkv, s.hp * (M.dn + M.dv))))
    else:
        gemms = [(1, mm(N, H, s.hp * M.dh + s.kw))]
    out.add("qkv_proj", gemms)
    appended = N * s.kw * C.kb / (s.q if C.phase == "prefill" else cp * s.q)
    out.add("rope_kv_append", vector=6 * N * s.hp * (M.dr if M.mla else M.dh), hbm=appended + 2 * N * s.hp * s.dq * C.ab)
    flop, vector, R, exchanges, t = attention_kernel(M, C, p, hw, s, W, groups, net)
    out.put("attention", flop, vector, R, exchanges, t + sum(e[0] for e in exchanges) + hw.o_attn, flop, R)
    combine = []
    if C.phase != "prefill" and cp > 1:
        what = "reduce_scatter" if p.attention_scope == "tp_cp" else "all_reduce"
        combine.append(net.collective(what, groups("cp"), N * s.qh * (s.dpv + 2) * 4))
    out.exchange("cp_combine", combine)
    out.add("o_proj", [(1, mm(N, s.hp * M.dv, H))])
    if not merged:
        out.exchange("attn_allreduce", [net.collective("all_reduce", groups(*projection_axes(p)), N * H * C.ab)])
    if not M.parallel:
        out.add("ffn_norm", vector=4 * N * H, hbm=2 * N * H * C.ab)


def projection_axes(p):
    """Section 5: the axes over which the output projection is sharded."""
    return ("tp", "cp") if p.attention_scope == "tp_cp" else ("tp",)


def is_merged(M, p, s, is_moe):
    """Section 5: a parallel block whose attention needs no all-reduce of its own.

    The page does not count axes of size 1; golden case 105 (serve, FFN scope tp_cp_dp, cp = 1) counts them. Golden wins.
    """
    same_ranks = set(projection_axes(p)) == set(s.replicated)
    return M.parallel and same_ranks and not (is_moe and p.moe_exchange == "alltoall")


# ---------------------------------------------------------------- section 6: FFN block

def dense_exchanges(M, C, s, groups, net):
    """Section 6: dispatch and combine of a dense layer, and of MoE with allgather."""
    gathered = s.G * M.H * C.ab
    dispatch = [net.collective("all_gather", groups(*s.sharded), gathered)]
    combine = [net.collective("reduce_scatter", groups(*s.sharded), gathered),
               net.collective("all_reduce", groups(*s.replicated), s.G / s.ns * M.H * C.ab)]
    return dispatch, combine


def dense_ffn(M, C, hw, s, groups, net, out):
    """Section 6: a dense layer."""
    G, H, width = s.G, M.H, ceil_div(M.F, s.D)
    dispatch, combine = dense_exchanges(M, C, s, groups, net)
    out.exchange("dispatch", dispatch)
    out.add("gate_up", [(1, gemm(hw.tile, C, G, H, M.z * width))])
    out.add("activation", vector=4 * G * width, hbm=(M.z + 1) * G * width * C.ab)
    out.add("down", [(1, gemm(hw.tile, C, G, width, H))])
    out.exchange("combine", combine)


def imbalance(C, p, load):
    """Section 6: i."""
    if p.ep == 1 or C.imbalance == "uniform":
        return 1.0
    return min(p.ep, 1 + math.sqrt(2 * math.log(p.ep) / load) if C.imbalance == "random" else C.imbalance)


def mean_over_steps(C, s, touched):
    """Beyond the page, whose serve is that of prompt_chunk 0: `touched`(tokens of the group) of the mean step, or the mean
    of it over the steps with a chunk of a prompt and those without one."""
    decoding = s.b * s.ns
    if C.phase != "serve" or min(C.chunk, C.isl) <= decoding * C.isl / C.osl:
        return touched(s.G)
    chunk = min(C.chunk, C.isl)
    share = decoding * C.isl / C.osl / chunk
    return share * touched(decoding + chunk) + (1 - share) * touched(decoding)


def moe_ffn(M, C, p, hw, s, groups, net, out):
    """Section 6: an MoE layer."""
    G, H, E, k, ep = s.G, M.H, M.E, M.k, p.ep
    et = s.D // ep
    load = G * k / ep
    i = imbalance(C, p, load)
    Ec = ceil_div(E, ep)
    Q = G * k * Ec / E
    mean_Ea = mean_over_steps(C, s, lambda tokens: E / ep * (1 - (1 - k / E) ** tokens))
    if ep == 1:
        hot, Ea = 1.0, mean_Ea
    else:
        hot = max(i, 1 / Q)
        Ea = mean_over_steps(C, s, lambda tokens: min(Ec, max(1, Ec * (1 - (1 - k / E) ** (tokens * hot)))))

    if p.moe_exchange == "alltoall":
        expert_tp, expert_ep = nearest(groups(*ffn_axes(p)), et)
        Y = ep * (1 - (1 - 1 / ep) ** k)
        dispatch = [net.collective("all_to_all", expert_ep, max(1, i * G / s.D) * Y * H * C.ab),
                    net.collective("all_gather", expert_tp, i * G * Y / ep * H * C.ab)]
        combine = dispatch + [net.collective("all_gather", groups(*s.replicated), G / s.ns * H * C.ab)]
        Gs, Fs_ = G / s.D, M.Fs
    else:
        dispatch, combine = dense_exchanges(M, C, s, groups, net)
        Gs, Fs_ = G, M.Fs / s.D

    mm = lambda *shape: gemm(hw.tile, C, *shape)
    width = M.Fe / et
    experts = lambda rows, active, K, columns: (active, mm(rows, K, columns))
    rows, mean_rows = Q * hot / Ea, G * k / E * (E / ep / mean_Ea)
    elements, mean_elements = Q * hot * width + Gs * Fs_, load * width + Gs * Fs_
    out.add("router", [(1, mm(s.N, H, E))])
    out.exchange("dispatch", dispatch)
    shared = (1, mm(Gs, H, M.z * Fs_))
    out.add("gate_up", [experts(rows, Ea, H, M.z * width), shared],
            mean_gemms=[experts(mean_rows, mean_Ea, H, M.z * width), shared])
    out.add("activation", vector=4 * elements, hbm=(M.z + 1) * elements * C.ab, mean_hbm=(M.z + 1) * mean_elements * C.ab)
    shared = (1, mm(Gs, Fs_, H))
    out.add("down", [experts(rows, Ea, width, H), shared], mean_gemms=[experts(mean_rows, mean_Ea, width, H), shared])
    out.exchange("combine", combine)


# ---------------------------------------------------------------- section 7: time

def layer_stages(M, C, p, hw, s, kind, groups, net, Rg):
    """Sections 5 and 6: one layer of a kind."""
    W, is_moe = kind
    out = Stages(hw, Rg)
    attention_block(M, C, p, hw, s, W, is_merged(M, p, s, is_moe), groups, net, out)
    if is_moe:
        moe_ffn(M, C, p, hw, s, groups, net, out)
    else:
        dense_ffn(M, C, hw, s, groups, net, out)
    return out.rows


def edge_stages(M, C, p, hw, s, groups, net, Rg):
    """Section 7: embed, final_norm, lm_head."""
    out = Stages(hw, Rg)
    tp = groups("tp")
    out.add("embed", hbm=2 * s.N * M.H * C.ab, exchanges=[net.collective("all_reduce", tp, s.N * M.H * C.ab)])
    out.add("final_norm", vector=4 * s.nl * M.H, hbm=2 * s.nl * M.H * C.ab)
    out.add("lm_head", [(1, gemm(hw.tile, C, s.nl, M.H, ceil_div(M.V, p.tp)))],
            exchanges=[net.collective("all_gather", tp, s.nl * M.V * C.ab)])
    return out.rows


def pipeline_layers(M, pp):
    """Section 7: the layers each pipeline stage holds, possibly none."""
    y = ceil_div(M.L, pp)
    return [range(min(M.L, st * y), min(M.L, (st + 1) * y)) for st in range(pp)]


def pass_of(M, C, p, hw, where):
    """Section 7: every stage of one micro-batch's pass: [(kind or None, count, row)], and the times."""
    s, net, Rg = sizes(M, C, p), Network(where, hw), hw.flops * hw.ratio[C.compute]
    groups = lambda *axes: group_of(axes, where, hw)
    layers = {kind: layer_stages(M, C, p, hw, s, kind, groups, net, Rg) for kind in layer_kinds(M)}
    edges = edge_stages(M, C, p, hw, s, groups, net, Rg)
    rows = [(kind, count, row) for kind, count in layer_kinds(M).items() for row in layers[kind]]
    rows += [((0, False), 1, row) for row in edges]

    time = {kind: sum(row.time for row in layers[kind]) for kind in layers}
    embed, last = edges[0].time, edges[1].time + edges[2].time
    slow = [sum(time[kind_of_layer(M, i)] for i in held) + (embed if st == 0 else 0) + (last if st == p.pp - 1 else 0)
            for st, held in enumerate(pipeline_layers(M, p.pp))]
    t_layers = sum(count * time[kind] for kind, count in layer_kinds(M).items())
    t_edges, t_slow, h, h_wire = embed + last, max(slow), 0.0, [0.0, 0.0, 0.0]
    if p.pp > 1:
        pipeline = groups("pp")
        hop_s, hop_wire = net.hop(pipeline, s.N * M.H * C.ab / p.tp)
        gather_s, gather_wire = net.collective("all_gather", groups("tp"), s.N * M.H * C.ab)
        h = hop_s + net.o_coll(pipeline) + gather_s
        h_wire = [a + b for a, b in zip(hop_wire, gather_wire)]
    if C.phase == "prefill":
        step = t_layers + t_edges + (s.m - 1) * t_slow + (p.pp + s.m - 2) * h + hw.o_step
    else:
        step = max(t_layers + t_edges + p.pp * h, s.m * t_slow) + hw.o_step
    wire = [sum(count * row.wire[l] for _, count, row in rows) for l in LEVELS]
    return Record(sizes=s, rows=rows, layers=t_layers, edges=t_edges, hop=h, hop_wire=h_wire, step=step, wire=wire)


# ---------------------------------------------------------------- section 8: memory

def layer_weights(M, p, s, is_moe):
    """Section 8: weights of one layer, in elements."""
    H, hp = M.H, s.hp
    if M.mla:
        queries = H * M.rq + M.rq * hp * s.dq if M.rq else H * hp * s.dq
        attention = queries + H * s.kw + M.rkv * hp * (M.dn + M.dv) + hp * M.dv * H
    else:
        attention = H * (hp * M.dh + s.kw) + hp * M.dv * H
    if is_moe:
        shared = M.Fs if p.moe_exchange == "alltoall" else M.Fs / s.D
        ffn = H * M.E + ceil_div(M.E, p.ep) * p.ep * (M.z + 1) * H * M.Fe / s.D + (M.z + 1) * H * shared
    else:
        ffn = (M.z + 1) * H * ceil_div(M.F, s.D)
    return attention + ffn + 2 * H


def memory_of(M, C, p, s):
    """Section 8: bytes on the fullest PE."""
    S = C.isl + C.osl if C.phase == "serve" else C.S
    fullest = (-1, 0, 0)
    for st, held in enumerate(pipeline_layers(M, p.pp)):
        weights = kv = 0
        for i in held:
            W, is_moe = kind_of_layer(M, i)
            weights += layer_weights(M, p, s, is_moe)
            kv += p.batch * ceil_div(windowed(S, W), p.cp * s.q) * s.kw
        if st == 0:
            weights += ceil_div(M.V, p.tp) * M.H
        if st == p.pp - 1 and not (M.tied and p.pp == 1):
            weights += ceil_div(M.V, p.tp) * M.H
        weights, kv = weights * C.wb, kv * C.kb
        if weights + kv > fullest[0]:
            fullest = (weights + kv, weights, kv)
    f = max(ceil_div(M.F, s.D), M.Fe * M.k / s.D)
    head = s.dqk if M.mla else M.dh
    widest = max(s.N * (s.hq_ * head + s.kw), (2 * s.G * M.H if s.G > s.N else 0) + s.G * M.z * f, s.nl * M.V)
    activations = C.ab * (2 * s.N * M.H + widest)
    return Record(weights=fullest[1], kv=fullest[2], activations=activations, total=fullest[0] + activations)


# ---------------------------------------------------------------- section 9: metrics

def own_work(M, C, p, hw):
    """Section 9: FLOP and bytes of the job itself, on one PE, without replication, padding or imbalance."""
    alone = Record(tp=1, cp=1, pp=1, dp=1, ep=1, batch=p.batch * p.dp, tp_placement="pe", cp_placement="pe", ring="kv",
                   kv_mode="replicate", attention_scope="tp", ffn_scope="tp", moe_exchange="allgather")
    ideal = Record(**dict(vars(hw), tile=(1, 1, 1), gqa_reuse=True))
    uniform = Record(**dict(vars(C), imbalance="uniform"))
    rows = pass_of(M, uniform, alone, ideal, lay_out(alone, ideal)).rows
    return sum(count * row.flop for _, count, row in rows), sum(count * row.bytes for _, count, row in rows)


def energy_of(C, p, hw, run, where):
    """Section 9: joules of a step."""
    j, ranks = hw.energy, p.tp * p.cp * p.dp * run.sizes.m
    link = [j[name + "_link_byte"] for name in LINKS]
    busy = sum(count * (row.mean_flop * j["flop"] + row.mean_bytes * j["hbm_byte"]) for _, count, row in run.rows)
    energy = ranks * (busy + sum(w * e for w, e in zip(run.wire, link)))
    if p.pp > 1:
        hops = p.pp - 1 if C.phase == "prefill" else p.pp
        energy += ranks * hops * sum(w * e for w, e in zip(run.hop_wire, link))
    return energy + j["idle"] * where.pes * run.step


def degree(topology, n):
    """Section 9: a node's ports, for cost."""
    return {"full": n - 1, "switch": 1, "switch_reduce": 1, "ring": 2, "mesh2d": 4, "torus2d": 4}[topology]


def cost_of(hw, where):
    """Section 9: the allocated machine."""
    c = hw.cost
    link = [c[LINKS[l] + "_link"] * degree(hw.topology[l], where.nodes[l]) * hw.b[l] / 1e9 for l in LEVELS]
    pe = c["pe"] + c["tflops"] * hw.flops / 1e12 + c["gb"] * hw.capacity / 1e9 + c["tb_per_s"] * hw.BW / 1e12 + link[0]
    return where.pes * pe + where.cubes * (c["cube"] + link[1]) + where.sips * (c["sip"] + link[2])


def evaluate(case):
    """Sections 1 to 9: the answer of one candidate."""
    M, C, hw = read_model(case["scenario"]["model"]), read_scenario(case["scenario"]), read_hardware(case["hardware"])
    p = pin(M, C, case["plan"])
    reason = refusal(M, C, p)
    if reason:
        return {"fits": False, "reason": reason}
    where = lay_out(p, hw)
    run = pass_of(M, C, p, hw, where)
    memory = memory_of(M, C, p, run.sizes)
    fits = memory.total <= hw.capacity * (1 - hw.reserve_fraction) - hw.reserve
    tokens = p.batch * p.dp * (C.T if C.phase == "prefill" else C.accepted)
    latency = run.step if C.phase == "prefill" else run.step / C.accepted
    flop, bytes_ = own_work(M, C, p, hw)
    roofline = max(flop / (hw.flops * hw.ratio[C.compute]), bytes_ / hw.BW)
    energy, cost = energy_of(C, p, hw, run, where), cost_of(hw, where)
    return {
        "fits": fits, "reason": None if fits else "memory", "latency_s": latency, "layers_s": run.layers,
        "edges_s": run.edges, "hop_s": run.hop, "step_s": run.step,
        "memory": {"weights_bytes": memory.weights, "kv_bytes": memory.kv, "activation_bytes": memory.activations,
                   "total_bytes": memory.total},
        "layout": {"used": where.used, "pes": where.pes, "cubes": where.cubes, "sips": where.sips},
        "wire_bytes": run.wire,
        "stages": [{"stage": row.name, "window": kind[0], "moe": kind[1], "count": count, "flop": row.flop,
                    "vector_flop": row.vector, "hbm_bytes": row.bytes, "exchange_s": row.exchange, "time_s": row.time}
                   for kind, count, row in run.rows],
        "latency": latency, "throughput": tokens / run.step, "throughput_per_pe": tokens / run.step / where.pes,
        "interactivity": 1 / latency, "pes": where.pes, "cubes": where.cubes, "sips": where.sips,
        "hbm_utilization": memory.total / hw.capacity, "efficiency": roofline / (where.pes * run.step),
        "energy_per_token": energy / tokens, "power": energy / run.step, "cost": cost,
        "cost_per_token": cost * run.step / tokens,
    }


# ---------------------------------------------------------------- check

def differences(expect, got, path=""):
    """Every place where `got` lacks or contradicts `expect`."""
    if isinstance(expect, dict):
        if not isinstance(got, dict):
            return [f"{path}: expected an object, got {got!r}"]
        return [line for key in expect
                for line in (differences(expect[key], got[key], f"{path}.{key}") if key in got else
                             [f"{path}.{key}: absent"])]
    if isinstance(expect, list):
        if not isinstance(got, list) or len(expect) != len(got):
            return [f"{path}: expected {len(expect)} entries, got {got!r:.200}"]
        label = lambda i, e: e["stage"] if isinstance(e, dict) and "stage" in e else i
        return [line for i, (e, g) in enumerate(zip(expect, got)) for line in differences(e, g, f"{path}[{label(i, e)}]")]
    if any(isinstance(x, (bool, str)) or x is None for x in (expect, got)):
        return [] if expect == got else [f"{path}: expected {expect!r}, got {got!r}"]
    if math.isclose(expect, got, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE):
        return []
    return [f"{path}: expected {expect!r}, got {got!r}"]


def check(path):
    lines = [json.loads(line) for line in open(path) if line.strip()]
    good = 0
    for line in lines:
        wrong = differences(line["expect"], evaluate(line["case"]))
        good += not wrong
        for text in wrong:
            print(f"case {line['id']}{text}")
    print(f"{good} of {len(lines)} agree")
    return 0 if good == len(lines) else 1


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--check":
        return check(arguments[1])
    if len(arguments) == 1 and not arguments[0].startswith("--"):
        for text in open(arguments[0]):
            if text.strip():
                line = json.loads(text)
                try:
                    answer = evaluate(line.get("case", line))
                except InputError as error:
                    answer = {"error": str(error)}
                print(json.dumps(answer))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
