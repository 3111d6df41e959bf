"""Writes scenarios/ring-attention.json: causal attention of one sequence over devices in a ring, once on the sequence as
it is and once on the sequence that reorder_sequence makes of it.

    python3 tools/oracle/ring_attention.py >scenarios/ring-attention.json
"""

import json
from dataclasses import dataclass
from typing import Any

RANKS = 4
HEADS, HEAD = 4, 32
LENGTH = 512
HALF = LENGTH // (2 * RANKS)  # a block has so many queries and keys: half of what a device has
DTYPE = "f32"

LAYOUTS = ("contiguous", "reordered")

Op = dict[str, Any]


def parts_of(layout: str, rank: int) -> tuple[int, int]:
    """The two parts of the sequence, of HALF tokens each, that a rank holds, in their order there."""
    if layout == "contiguous":
        return 2 * rank, 2 * rank + 1
    return rank, 2 * RANKS - 1 - rank


@dataclass(frozen=True)
class Block:
    """Attention of the queries of one part to the keys of one part."""

    most: str  # of each query the largest score
    total: str  # the sum of the exponentials relative to that
    values: str  # the values weighted by these exponentials


class Program:
    """The ops of one device on one layout. Their ids begin with the same name."""

    def __init__(self, name: str):
        self.name = name
        self.ops: list[Op | str] = []

    def say(self, text: str) -> None:
        self.ops.append(text)

    def add(self, name: str, op: str, of: str | list[str] | None = None, **given: Any) -> str:
        self.ops.append({"id": f"{self.name}.{name}", "op": op, **({} if of is None else {"of": of}), **given})
        return f"{self.name}.{name}"

    def full(self, name: str, value: float, shape: list[int]) -> str:
        one = self.add(f"{name}.one", "full", shape=[], fill_value=value, dtype=DTYPE)
        return self.spread(name, one, shape, [])

    def spread(self, name: str, of: str, shape: list[int], dimensions: list[int]) -> str:
        return self.add(name, "broadcast_in_dim", of, shape=shape, broadcast_dimensions=dimensions)

    def cut(self, name: str, of: str, tokens: tuple[int, int], width: tuple[int, int]) -> str:
        start, limit = [0, tokens[0], width[0]], [HEADS, tokens[1], width[1]]
        return self.add(name, "slice", of, start_indices=start, limit_indices=limit)

    def mask(self) -> tuple[str, str]:
        """Which keys a query sees in a block on the diagonal, and the score of the others."""
        shape = [HEADS, HALF, HALF]
        query = self.add("query", "iota", dtype="s32", shape=shape, dimension=1)
        key = self.add("key", "iota", dtype="s32", shape=shape, dimension=2)
        return self.add("seen", "ge", [query, key]), self.full("never", -1e30, shape)

    def block(self, name: str, q: str, k: str, v: str, mask: tuple[str, str] | None) -> Block:
        scores = self.add(f"{name}.scores", "dot_general", [q, k], dimension_numbers=[[[2], [2]], [[0], [0]]])
        if mask:
            scores = self.add(f"{name}.masked", "select_n", [mask[0], mask[1], scores])
        most = self.add(f"{name}.most", "reduce_max", scores, axes=[2])
        spread = self.spread(f"{name}.most.all", most, [HEADS, HALF, HALF], [0, 1])
        below = self.add(f"{name}.below", "sub", [scores, spread])
        weights = self.add(f"{name}.weights", "exp", below)
        total = self.add(f"{name}.total", "reduce_sum", weights, axes=[2])
        values = self.add(f"{name}.values", "dot_general", [weights, v], dimension_numbers=[[[2], [1]], [[0], [0]]])
        return Block(most, total, values)

    def merged(self, name: str, blocks: dict[int, Block]) -> str:
        """The attention of a part's queries: its blocks side by side, in the order of their keys, each weighted anew by
        how far its largest score is below the largest of all. In whatever order they were done, the bits are the
        same."""
        of, n = [blocks[key] for key in sorted(blocks)], len(blocks)

        def beside(what: str, values: list[str], width: int) -> str:
            """Of each query, `width` numbers of each block."""
            joined = self.add(f"{name}.{what}", "concatenate", values, dimension=1) if n > 1 else values[0]
            shape = [HEADS, n, HALF, width] if width > 1 else [HEADS, n, HALF]
            return self.add(f"{name}.{what}.apart", "reshape", joined, new_sizes=shape)

        each = beside("most", [block.most for block in of], 1)
        most = self.add(f"{name}.most.of_all", "reduce_max", each, axes=[1])
        spread = self.spread(f"{name}.most.all", most, [HEADS, n, HALF], [0, 2])
        weights = self.add(f"{name}.weights", "exp", self.add(f"{name}.below", "sub", [each, spread]))
        totals = self.add(f"{name}.totals", "mul", [weights, beside("total", [block.total for block in of], 1)])
        total = self.add(f"{name}.total.of_all", "reduce_sum", totals, axes=[1])
        values = beside("values", [block.values for block in of], HEAD)
        spread = self.spread(f"{name}.weights.all", weights, [HEADS, n, HALF, HEAD], [0, 1, 2])
        weighted = self.add(f"{name}.weighted", "mul", [values, spread])
        summed = self.add(f"{name}.summed", "reduce_sum", weighted, axes=[1])
        spread = self.spread(f"{name}.total.all", total, [HEADS, HALF, HEAD], [0, 1])
        return self.add(name, "div", [summed, spread])


def attention(layout: str, rank: int) -> Program:
    program = Program(f"{layout[0]}{rank}")
    q, kv = "q", "kv"
    if layout == "reordered":
        program.say("Once more, with this device's part of the reordered sequence.")
        tokens = (2 * HALF * rank, 2 * HALF * (rank + 1))
        whole = program.add("q.whole", "reorder_sequence", "q_whole", cp_size=RANKS)
        q = program.cut("q.own", whole, tokens, (0, HEAD))
        whole = program.add("kv.whole", "reorder_sequence", "kv_whole", cp_size=RANKS)
        kv = program.cut("kv.own", whole, tokens, (0, 2 * HEAD))
    q = program.add("q", "mul", [q, program.full("scale", HEAD**-0.5, [HEADS, 2 * HALF, HEAD])])
    mask = program.mask()
    own, halves = parts_of(layout, rank), ((0, HALF), (HALF, 2 * HALF))
    queries = {part: program.cut(f"q{part}.of", q, half, (0, HEAD)) for part, half in zip(own, halves, strict=True)}
    blocks: dict[int, dict[int, Block]] = {part: {} for part in own}
    for step in range(RANKS):
        here = parts_of(layout, (rank - step) % RANKS)
        program.say(f"Here are the keys and values of parts {here[0]} and {here[1]}.")
        if step < RANKS - 1:
            ring = [[i, (i + 1) % RANKS] for i in range(RANKS)]
            given = {"axis_name": "cp", "perm": ring, "site": f"{layout} {step}", "stream": 1}
            program.add(f"pass{step}", "ppermute_start", kv, **given)
        for key, half in zip(here, halves, strict=True):
            seen_by = [part for part in own if part >= key]
            if not seen_by:
                continue
            k = program.cut(f"k{key}", kv, half, (0, HEAD))
            v = program.cut(f"v{key}", kv, half, (HEAD, 2 * HEAD))
            for part in seen_by:
                on_diagonal = mask if part == key else None
                blocks[part][key] = program.block(f"q{part}k{key}", queries[part], k, v, on_diagonal)
        if step < RANKS - 1:
            kv = program.add(f"kv{step + 1}", "done", f"{program.name}.pass{step}")
    program.say("The blocks of each part of the queries together, and the whole result.")
    both = [program.merged(f"q{part}", blocks[part]) for part in own]
    result = program.add("attention", "concatenate", both, dimension=1)
    gathered = {"axis_name": "cp", "axis": 1, "tiled": True, "site": layout}
    program.ops.append({"id": f"{layout}{rank}", "op": "all_gather", "of": result, **gathered})
    return program


def ops_of(rank: int) -> list[Op | str]:
    """All that a device does."""
    first, second = (attention(layout, rank) for layout in LAYOUTS)
    met = {"op": "psum", "of": f"{first.name}.scale.one", "axis_name": "cp", "site": "meet", "algorithm": "in_switch"}
    meet = ["All devices meet here, and begin the second attention together.", {"id": f"meet{rank}", **met}]
    back = {"op": "reorder_sequence", "of": f"reordered{rank}", "cp_size": RANKS, "to_contiguous": True}
    return [*first.ops, *meet, *second.ops, {"id": f"back{rank}", **back}]


def arrays() -> dict[str, Any]:
    def array(width: int, **given: Any) -> dict[str, Any]:
        return {"shape": [HEADS, LENGTH, width], "dtype": DTYPE, **given}

    cut = [None, "cp", None]
    return {
        "q": array(HEAD, spec=cut, init={"random": 1}),
        "kv": array(2 * HEAD, spec=cut, init={"random": 2}),
        "q_whole": array(HEAD, init={"same_as": "q"}),
        "kv_whole": array(2 * HEAD, init={"same_as": "kv"}),
    }


def lines_of(ops: list[Op | str]) -> str:
    return "\n".join(
        f"      // {op}" if isinstance(op, str) else f"      {json.dumps(op)}{',' if i + 1 < len(ops) else ''}"
        for i, op in enumerate(ops)
    )


def main() -> None:
    print(f"""\
// Ring attention: causal attention of one sequence of {LENGTH} tokens over {RANKS} devices, each with a program of its own. Keys and
// values are passed round, and a device leaves out the blocks that the mask empties. First the sequence is as it is, and
// device 0 has little to do while device {RANKS - 1} has most. Then reorder_sequence gives each device a part from the front and
// one from the end, and all have the same work. In blocks of {HALF} queries and {HALF} keys, half of what a device has, the
// slowest device does {4 * RANKS - 1} blocks at first and {2 * RANKS + 1} then, those on the diagonal whole. The first attention takes until
// "contiguous0" ends. Then all devices meet: a sum through the switch, which ends on all within a nanosecond. So the second
// attention takes from the end of "meet0" until "reordered3" ends. Its result, put back into order, has the same bits,
// since blocks are added in the order of their keys. tools/oracle/ring_attention.py writes this file.
{{
  "orrery": 1,
  "name": "ring attention, contiguous (to contiguous0) and reordered (meet0 to reordered3)",
  "check_types": false,
  "cluster": {{"devices": {RANKS}, "topology": "switch", "in_switch_reduction": true, "bandwidth": "50 GB/s", "latency": "500 ns",
              "memory": "1 GiB", "launch": "0 s", "memory_bandwidth": "1 TB/s", "flops": {{"{DTYPE}": "1 TFLOP/s", "s32": "1 TFLOP/s"}}}},
  "mesh": {{"cp": {RANKS}}},
  "arrays": {{""")
    print("    // The keys and the values are side by side.")
    print(",\n".join(f"    {json.dumps(name)}: {json.dumps(given)}" for name, given in arrays().items()))
    print('  },\n  "programs": [')
    programs = [
        f'    {{"name": "device {r}", "on": [{r}], "do": [\n{lines_of(ops_of(r))}\n    ]}}' for r in range(RANKS)
    ]
    print(",\n".join(programs) + "\n  ],")
    print(f'  "outputs": {json.dumps([f"{name}{r}" for r in range(RANKS) for name in ("contiguous", "back")])},')
    print('  "expect": [')
    print("".join(f'    {{"equal": ["contiguous{r}", "back{r}"]}},\n' for r in range(RANKS)), end="")
    print("""\
    {"holds": ["deadlock_free", "race_free", "no_leak", "proved"]}
  ]
}""")


if __name__ == "__main__":
    main()
