"""The training step of a Llama-3 block, tensor parallel over 8 devices, as scenarios: of full size with the backward
pass keeping everything or computing it again, and a small twin with data, of which JAX computes the gradients too."""

import argparse
import json
import math
from dataclasses import dataclass
from typing import Any

DEVICES = 8
WEIGHTS = ("w_qkv", "w_o", "w_gate", "w_up", "w_down")
GAINS = ("gain_attention", "gain_mlp")


@dataclass(frozen=True)
class Size:
    tokens: int
    hidden: int
    heads: int
    kv_heads: int  # one on each device
    head: int
    mlp: int
    dtype: str

    @property
    def own_tokens(self) -> int:
        return self.tokens // DEVICES

    @property
    def half(self) -> int:
        return self.own_tokens // 2

    @property
    def own_heads(self) -> int:
        return self.heads // DEVICES

    @property
    def own_qkv(self) -> int:
        return (self.own_heads + 2) * self.head

    @property
    def own_mlp(self) -> int:
        return self.mlp // DEVICES

    @property
    def pairs(self) -> int:
        return self.head // 2


LARGE = Size(8192, 4096, 32, 8, 128, 14336, "bf16")
SMALL = Size(16, 32, 16, 8, 2, 32, "f64")

Op = dict[str, Any]


class Ops:
    """Ops one after another; a text is a comment."""

    def __init__(self, size: Size):
        self.size = size
        self.ops: list[Op | str] = []

    def say(self, text: str) -> None:
        self.ops.append(text)

    def add(self, name: str, op: str, of: str | list[str] | None = None, **given: Any) -> str:
        self.ops.append({"id": name, "op": op, **({} if of is None else {"of": of}), **given})
        return name

    def full(self, name: str, value: float, dtype: str | None = None) -> str:
        return self.add(name, "full", shape=[], fill_value=value, dtype=dtype or self.size.dtype)

    def spread(self, name: str, of: str, shape: list[int], dimensions: list[int]) -> str:
        return self.add(name, "broadcast_in_dim", of, shape=shape, broadcast_dimensions=dimensions)

    def slice(self, name: str, of: str, start: list[int], limit: list[int]) -> str:
        return self.add(name, "slice", of, start_indices=start, limit_indices=limit)

    def matmul(self, name: str, left: str, right: str) -> str:
        return self.add(name, "dot_general", [left, right], dimension_numbers=[[[1], [0]], [[], []]])


def norm(o: Ops, name: str, x: str, gain: str) -> None:
    """An RMS norm with a gain."""
    rows, hidden = o.size.half, o.size.hidden
    o.add(f"{name}.square", "mul", [x, x])
    o.add(f"{name}.sum", "reduce_sum", f"{name}.square", axes=[1])
    o.add(f"{name}.mean", "mul", [f"{name}.sum", "one_hidden"])
    o.add(f"{name}.shifted", "add", [f"{name}.mean", "eps"])
    o.add(f"{name}.rsqrt", "rsqrt", f"{name}.shifted")
    o.spread(f"{name}.scale", f"{name}.rsqrt", [rows, hidden], [0])
    o.add(f"{name}.unit", "mul", [x, f"{name}.scale"])
    o.spread(f"{name}.gain", gain, [rows, hidden], [1])
    o.add(name, "mul", [f"{name}.unit", f"{name}.gain"])


def gathered(o: Ops, name: str, of: str) -> None:
    o.add(name, "all_gather_start", of, axis_name="t", axis=0, tiled=True)


def scattered(o: Ops, name: str, of: str) -> None:
    o.add(name, "psum_scatter_start", of, axis_name="t", scatter_dimension=0, tiled=True)


def rotated(o: Ops, name: str, heads: str, count: int) -> None:
    """The halves of each head, turned by the angles."""
    tokens, head, pairs = o.size.tokens, o.size.head, o.size.pairs
    o.slice(f"{name}.a", heads, [0, 0, 0], [tokens, count, pairs])
    o.slice(f"{name}.b", heads, [0, 0, pairs], [tokens, count, head])
    for function in ("cos", "sin"):
        o.spread(f"{name}.{function}", function, [tokens, count, pairs], [0, 2])
    for part in "ab":
        for function in ("cos", "sin"):
            o.add(f"{name}.{part}{function[0]}", "mul", [f"{name}.{part}", f"{name}.{function}"])
    o.add(f"{name}.first", "sub", [f"{name}.ac", f"{name}.bs"])
    o.add(f"{name}.second", "add", [f"{name}.bc", f"{name}.as"])
    o.add(name, "concatenate", [f"{name}.first", f"{name}.second"], dimension=2)


def attention(o: Ops) -> None:
    """Causal, of this device's heads."""
    s = o.size
    shape = [s.tokens, s.own_heads, s.tokens]
    o.add("scores", "dot_general", ["q", "k"], dimension_numbers=[[[2], [1]], [[], []]])
    o.add("p.scaled", "mul", ["scores", "one_sqrt_head"])
    o.spread("p.seen", "seen", shape, [0, 2])
    o.spread("p.never", "never", shape, [])
    o.add("p.masked", "select_n", ["p.seen", "p.never", "p.scaled"])
    o.add("p.most", "reduce_max", "p.masked", axes=[2])
    o.spread("p.most_all", "p.most", shape, [0, 1])
    o.add("p.shifted", "sub", ["p.masked", "p.most_all"])
    o.add("p.exp", "exp", "p.shifted")
    o.add("p.sum", "reduce_sum", "p.exp", axes=[2])
    o.spread("p.sum_all", "p.sum", shape, [0, 1])
    o.add("p", "div", ["p.exp", "p.sum_all"])
    o.add("context", "dot_general", ["p", "v"], dimension_numbers=[[[2], [0]], [[], []]])
    o.add("attention", "reshape", "context", new_sizes=[s.tokens, s.own_heads * s.head])


def in_order(o: Ops, name: str, of: str, sizes: tuple[int, int], width: int) -> None:
    """Tokens by device and half instead of by half and device, or the other way."""
    o.add(f"{name}.parts", "reshape", of, new_sizes=[*sizes, o.size.half, width])
    o.add(f"{name}.turned", "transpose", f"{name}.parts", permutation=[1, 0, 2, 3])
    o.add(name, "reshape", f"{name}.turned", new_sizes=[o.size.tokens, width])


def forward(size: Size) -> list[Op | str]:
    o = Ops(size)
    s = size
    half_of_all = s.tokens // 2
    o.say("Constants, and the rotary angles: of token i and pair j, i / 500000^(j / pairs).")
    o.full("one_hidden", 1 / s.hidden)
    o.full("eps", 1e-5)
    o.full("one_sqrt_head", 1 / math.sqrt(s.head))
    o.full("never", -1e30)
    angle = "f32" if size.dtype == "bf16" else size.dtype
    o.add("token", "iota", dtype=angle, shape=[s.tokens, s.pairs], dimension=0)
    o.add("pair", "iota", dtype=angle, shape=[s.tokens, s.pairs], dimension=1)
    o.full("log_base", -math.log(500000) / s.pairs, angle)
    o.add("log_frequency", "mul", ["pair", "log_base"])
    o.add("frequency", "exp", "log_frequency")
    o.add("angle", "mul", ["token", "frequency"])
    for function in ("cos", "sin"):
        if angle == size.dtype:
            o.add(function, function, "angle")
        else:
            o.add(f"{function}_wide", function, "angle")
            o.add(function, "convert_element_type", f"{function}_wide", new_dtype=size.dtype)
    o.say("A token sees those before it, and itself.")
    for name, dimension in (("query", 0), ("key", 1)):
        o.add(name, "iota", dtype="s32", shape=[s.tokens, s.tokens], dimension=dimension)
    o.add("seen", "ge", ["query", "key"])
    o.say(
        f"Each device holds {s.own_tokens} tokens. Both halves of them are worked on in turn, so that the collective of\n"
        "one half runs behind the matmuls of the other."
    )
    for h in (0, 1):
        o.slice(f"x{h}", "x", [h * s.half, 0], [(h + 1) * s.half, s.hidden])
        norm(o, f"n{h}", f"x{h}", "gain_attention")
        gathered(o, f"gather_n{h}", f"n{h}")
    o.say(f"Queries, keys and values of this device's {s.own_heads} heads and 1 KV head, tokens in their order.")
    for h in (0, 1):
        o.add(f"a{h}", "done", f"gather_n{h}")
        o.matmul(f"qkv{h}", f"a{h}", "w_qkv")
    o.add("qkv_halves", "concatenate", ["qkv0", "qkv1"], dimension=0)
    in_order(o, "qkv", "qkv_halves", (2, DEVICES), s.own_qkv)
    queries = s.own_heads * s.head
    o.slice("q_flat", "qkv", [0, 0], [s.tokens, queries])
    o.add("q_heads", "reshape", "q_flat", new_sizes=[s.tokens, s.own_heads, s.head])
    o.slice("k_flat", "qkv", [0, queries], [s.tokens, queries + s.head])
    o.add("k_heads", "reshape", "k_flat", new_sizes=[s.tokens, 1, s.head])
    o.slice("v", "qkv", [0, queries + s.head], [s.tokens, queries + 2 * s.head])
    rotated(o, "q", "q_heads", s.own_heads)
    rotated(o, "k_turned", "k_heads", 1)
    o.add("k", "reshape", "k_turned", new_sizes=[s.tokens, s.head])
    o.say("Causal attention: scores [query, head, key].")
    attention(o)
    o.say("The output projection leaves partial sums; each half is scattered back to its tokens while the next is computed.")
    in_order(o, "attention_halves", "attention", (DEVICES, 2), queries)
    for h in (0, 1):
        o.slice(f"attention{h}", "attention_halves", [h * half_of_all, 0], [(h + 1) * half_of_all, queries])
        o.matmul(f"o{h}", f"attention{h}", "w_o")
        scattered(o, f"scatter_o{h}", f"o{h}")
    for h in (0, 1):
        o.add(f"r{h}", "done", f"scatter_o{h}")
        o.add(f"h{h}", "add", [f"x{h}", f"r{h}"])
        norm(o, f"m{h}", f"h{h}", "gain_mlp")
        gathered(o, f"gather_m{h}", f"m{h}")
    o.say("SwiGLU: silu of the gate, times up, then down to partial sums again.")
    for h in (0, 1):
        o.add(f"b{h}", "done", f"gather_m{h}")
        o.matmul(f"gate{h}", f"b{h}", "w_gate")
        o.matmul(f"up{h}", f"b{h}", "w_up")
        o.add(f"silu{h}.logistic", "logistic", f"gate{h}")
        o.add(f"silu{h}", "mul", [f"gate{h}", f"silu{h}.logistic"])
        o.add(f"act{h}", "mul", [f"silu{h}", f"up{h}"])
        o.matmul(f"d{h}", f"act{h}", "w_down")
        scattered(o, f"scatter_d{h}", f"d{h}")
    for h in (0, 1):
        o.add(f"f{h}", "done", f"scatter_d{h}")
        o.add(f"y{h}", "add", [f"h{h}", f"f{h}"])
    o.add("y", "concatenate", ["y0", "y1"], dimension=0)
    return o.ops


def shapes(s: Size) -> dict[str, tuple[list[int], list[str | None]]]:
    """The shapes of the arrays, with their specs."""
    return {
        "x": ([s.tokens, s.hidden], ["t", None]),
        "gain_attention": ([s.hidden], [None]),
        "gain_mlp": ([s.hidden], [None]),
        "w_qkv": ([s.hidden, DEVICES * s.own_qkv], [None, "t"]),
        "w_o": ([s.hidden, s.hidden], ["t", None]),
        "w_gate": ([s.hidden, s.mlp], [None, "t"]),
        "w_up": ([s.hidden, s.mlp], [None, "t"]),
        "w_down": ([s.mlp, s.hidden], ["t", None]),
    }


def optimizer(s: Size) -> list[Op | str]:
    """Momentum, kept in f32."""
    o = Ops(s)
    wide = "f32" if s.dtype == "bf16" else s.dtype
    o.full("rate", 2.0**-10, wide)
    o.full("decay", 0.875, wide)
    for name in (*GAINS, *WEIGHTS):
        gradient, weight = f"ct_{name}", name
        if wide != s.dtype:
            gradient = o.add(f"{name}.gradient", "convert_element_type", gradient, new_dtype=wide)
            weight = o.add(f"{name}.wide", "convert_element_type", name, new_dtype=wide)
        o.add(f"{name}.decayed", "mul", [f"momentum_{name}", "decay"], donate=f"momentum_{name}")
        o.add(f"new_momentum_{name}", "add", [f"{name}.decayed", gradient])
        o.add(f"{name}.step", "mul", [f"new_momentum_{name}", "rate"])
        new = o.add(f"{name}.moved" if wide != s.dtype else f"new_{name}", "sub", [weight, f"{name}.step"])
        if wide != s.dtype:
            o.add(f"new_{name}", "convert_element_type", new, new_dtype=s.dtype)
    return o.ops


def transform(recompute: bool) -> dict[str, Any]:
    vjp: dict[str, Any] = {"of": ["y"], "with_respect_to": ["x", *GAINS, *WEIGHTS], "overlap": True}
    if recompute:
        vjp["recompute"] = "all"
    return {"vjp": vjp}


def scenario(size: Size, title: str, comment: str, recompute: bool, init: dict[str, Any]) -> str:
    """With an op a line."""
    out = [f"// {line}" for line in comment.split("\n")]
    out += ["{", '  "orrery": 1,', f'  "name": {json.dumps(title)},', '  "cluster": "h100-sxm-8",']
    out += [f'  "mesh": {{"t": {DEVICES}}},', '  "check_types": true,', '  "arrays": {']
    wide = "f32" if size.dtype == "bf16" else size.dtype
    arrays = []
    for name, (shape, spec) in shapes(size).items():
        given = {"shape": shape, "dtype": size.dtype, "spec": spec, "init": init[name]}
        arrays.append((name, given))
    shape, spec = shapes(size)["x"]
    arrays.append(("ct_y", {"shape": shape, "dtype": size.dtype, "spec": spec, "init": init["ct_y"]}))
    for name in (*GAINS, *WEIGHTS):
        shape, spec = shapes(size)[name]
        arrays.append((f"momentum_{name}", {"shape": shape, "dtype": wide, "spec": spec, "init": init["momentum"]}))
    out += [f"    {json.dumps(name)}: {json.dumps(given)}," for name, given in arrays]
    out[-1] = out[-1][:-1]
    out += ["  },", '  "program": [', *_lines(forward(size)), "  ],"]
    out += [f'  "transform": {json.dumps(transform(recompute))},', '  "then": [']
    out += ["    // Momentum, kept in f32." if wide != size.dtype else "    // Momentum.", *_lines(optimizer(size)), "  ],"]
    outputs = ["y", "ct_x"] + [f"new_{kind}{name}" for kind in ("", "momentum_") for name in (*GAINS, *WEIGHTS)]
    out += [f'  "outputs": {json.dumps(outputs)},', '  "expect": [']
    out += ['    {"holds": ["deadlock_free", "race_free", "no_leak", "proved"]}', "  ]", "}"]
    return "\n".join(out) + "\n"


def _lines(ops: list[Op | str]) -> list[str]:
    lines = []
    for op in ops:
        if isinstance(op, str):
            lines += [f"    // {line}" for line in op.split("\n")]
        else:
            lines.append(f"    {json.dumps(op)},")
    lines[-1] = lines[-1][:-1]
    return lines


def ops_only(ops: list[Op | str]) -> list[Op]:
    return [op for op in ops if not isinstance(op, str)]


def corpus_line(size: Size) -> str:
    """As in corpus.py: the small step on random data, and what JAX computes of it, states checked."""
    import oracle  # sets up JAX

    import jax
    import numpy as np
    from jax.sharding import Mesh, PartitionSpec

    from dtypes import DTYPES, to_hex
    from jax_program import run_ops

    rng = np.random.default_rng(20261123)
    dtype = DTYPES[size.dtype]
    specs = {name: PartitionSpec(*spec) for name, (_, spec) in shapes(size).items()}
    whole = {
        name: (rng.standard_normal(shape) / (math.sqrt(shape[0]) if name in WEIGHTS else 1)).astype(dtype.numpy)
        for name, (shape, _) in shapes(size).items()
    }
    specs["ct_y"] = specs["x"]
    whole["ct_y"] = rng.standard_normal(shapes(size)["x"][0]).astype(dtype.numpy)
    for name in (*GAINS, *WEIGHTS):
        specs[f"momentum_{name}"] = specs[name]
        whole[f"momentum_{name}"] = rng.standard_normal(whole[name].shape).astype(dtype.numpy)
    program, then = ops_only(forward(size)), ops_only(optimizer(size))
    active = ["x", *GAINS, *WEIGHTS]
    mesh = Mesh(np.array(jax.devices()[:DEVICES]), ("t",))

    def step(values: dict[str, Any]) -> dict[str, Any]:
        def of_active(given: dict[str, Any]) -> Any:
            return run_ops(program, {**values, **given}, started=False)["y"]

        y, pull = jax.vjp(of_active, {name: values[name] for name in active})
        cotangents = {f"ct_{name}": ct for name, ct in pull(values["ct_y"])[0].items()}
        after = run_ops(then, {**values, **cotangents})
        news = {name: after[name] for name in after if name.startswith("new_")}
        return {"y": y, **cotangents, **news}

    of = {"y": specs["x"], **{f"ct_{name}": specs[name] for name in active}}
    for name in (*GAINS, *WEIGHTS):
        of[f"new_{name}"] = of[f"new_momentum_{name}"] = specs[name]
    found = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(specs,), out_specs=of, check_vma=True))(whole)

    def entry(array: Any, spec: Any) -> list[Any]:
        """The dtype, the shape on a device, and the bits of all devices."""
        axis = next((d for d, name in enumerate(spec) if name), None)
        parts = np.split(np.asarray(array), DEVICES, axis) if axis is not None else [np.asarray(array)]
        bits = "".join(to_hex(part) for part in parts)
        return [size.dtype, list(parts[0].shape), bits]

    line = {
        "numerics": "ieee",
        "check_types": True,
        "mesh": {"t": DEVICES},
        "arrays": {name: [*entry(x, specs[name]), ["t"] if any(specs[name]) else []] for name, x in whole.items()},
        "program": program,
        "transform": transform(False),
        "then": then,
        "results": {name: ["bound", *entry(x, of[name])] for name, x in found.items()},
    }
    assert oracle  # used for its effect
    return json.dumps(line, separators=(",", ":"))


BLOCK = "A training step of one Llama-3-8B block in real ops, tensor parallel over 8 H100: hidden 4096, 32 heads of 128, 8 KV heads,\nFFN 14336, bf16, 8,192 tokens. The forward pass is written here; its backward pass is made by vjp, whose collectives start\non stream 1 and run behind matmuls; an optimizer with momentum follows."


def main() -> None:
    parser = argparse.ArgumentParser(prog="train_step", description=__doc__)
    parser.add_argument("what", choices=("full", "recompute", "small", "corpus"))
    what = parser.parse_args().what
    if what == "corpus":
        print(corpus_line(SMALL))
        return
    names = ["x", *GAINS, *WEIGHTS, "ct_y", "momentum"]
    zeros = {name: "zeros" for name in names}
    if what == "full":
        comment = BLOCK + " The results of the forward pass that the backward pass\nreads are kept."
        print(scenario(LARGE, "Llama-3-8B block, a training step", comment, False, zeros), end="")
    elif what == "recompute":
        comment = BLOCK + " The backward pass computes\nagain what it reads of the forward pass: less memory, more time."
        print(scenario(LARGE, "Llama-3-8B block, a training step that recomputes", comment, True, zeros), end="")
    else:
        comment = (
            "The small twin of llama3-8b-train-step.json, run with data: hidden 32, 16 heads of 2, 8 KV heads, FFN 32, f64, 16 tokens.\n"
            "The same program on other data has the gradients of JAX: tests/oracle."
        )
        random = {name: "random" for name in names}
        random.update(x={"random": 1}, gain_attention=0.125, gain_mlp=0.125, momentum={"random": 2})
        for name in WEIGHTS:
            random[name] = {"random": 3 + WEIGHTS.index(name)}
        print(scenario(SMALL, "Llama-3 block in small, a training step with data", comment, False, random), end="")


if __name__ == "__main__":
    main()
