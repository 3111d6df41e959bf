// Tests gradients of random programs with loops. A loop goes back as a loop, with the values that
// it saves in arrays. The oracle is the same program with its iterations written out by hand.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/array/text.h"
#include "models/base/random.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/support/tries.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

struct TextLoop;

struct TextOp {
  std::string id;
  std::string op;
  std::vector<std::string> of;
  std::string more = {};
};

using Item = std::variant<TextOp, std::shared_ptr<TextLoop>>;

struct TextLoop {
  struct Carried {
    std::string name;
    std::string initial;
    std::string yielded;
  };
  std::string id;
  int64_t lower = 0;
  int64_t trips = 0;
  std::vector<Carried> carries;
  std::vector<Item> body;  // its index is "i" and the loop's id
};

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += fmt::format(R"({}"{}")", text.empty() ? "" : ", ", name);
  return "[" + text + "]";
}

std::string text_of(const TextOp& op) {
  return fmt::format(R"({{"id": "{}", "op": "{}"{}{}}})", op.id, op.op,
                     op.of.empty() ? "" : ", \"of\": " + quoted(op.of), op.more);
}

std::vector<std::string> texts(const std::vector<Item>& items) {
  std::vector<std::string> all;
  for (const Item& item : items) {
    if (const auto* op = std::get_if<TextOp>(&item)) {
      all.push_back(text_of(*op));
      continue;
    }
    const TextLoop& loop = *std::get<std::shared_ptr<TextLoop>>(item);
    std::vector<std::string> carry;
    std::vector<std::string> yield;
    for (const TextLoop::Carried& carried : loop.carries) {
      carry.push_back(fmt::format(R"("{}": "{}")", carried.name, carried.initial));
      yield.push_back(fmt::format(R"("{}": "{}")", carried.name, carried.yielded));
    }
    all.push_back(fmt::format(
        R"({{"id": "{0}", "op": "fori_loop", "lower": {1}, "upper": {2}, "index": "i{0}",
            "carry": {{{3}}}, "yield": {{{4}}}, "body": [{5}]}})",
        loop.id, loop.lower, loop.lower + loop.trips, fmt::join(carry, ", "),
        fmt::join(yield, ", "), fmt::join(texts(loop.body), ",\n")));
  }
  return all;
}

/// Writes the items with all iterations under names of their own. `names` has those of what the
/// items read.
void write_out(const std::vector<Item>& items, const std::string& prefix,
               std::map<std::string, std::string>& names, std::vector<TextOp>& written) {
  const auto named = [&](const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  };
  for (const Item& item : items) {
    if (const auto* op = std::get_if<TextOp>(&item)) {
      TextOp copy = *op;
      for (std::string& operand : copy.of)
        operand = named(operand);
      names[op->id] = copy.id = prefix + op->id;
      written.push_back(std::move(copy));
      continue;
    }
    const TextLoop& loop = *std::get<std::shared_ptr<TextLoop>>(item);
    std::vector<std::string> carried;
    for (const TextLoop::Carried& each : loop.carries)
      carried.push_back(named(each.initial));
    for (int64_t k = 0; k < loop.trips; ++k) {
      const std::string in = fmt::format("{}{}_{}_", prefix, loop.id, k);
      for (size_t c = 0; c < carried.size(); ++c)
        names[loop.carries[c].name] = carried[c];
      const TextOp index = {
          "i" + loop.id,
          "full",
          {},
          fmt::format(R"(, "shape": [], "dtype": "s32", "fill_value": {})", loop.lower + k)};
      write_out({index}, in, names, written);
      write_out(loop.body, in, names, written);
      for (size_t c = 0; c < carried.size(); ++c)
        carried[c] = named(loop.carries[c].yielded);
    }
    for (size_t c = 0; c < carried.size(); ++c)
      names[fmt::format("{}.{}", loop.id, loop.carries[c].name)] = carried[c];
  }
}

/// Returns a bound of all values and cotangents of a program whose arrays are at most `largest`. In
/// whatever order cotangents are added, no sum of any of them is greater.
double bound_of(const std::vector<TextOp>& program, double largest) {
  std::map<std::string, double> values = {{"a", largest}, {"b", largest}, {"w", largest}};
  for (const TextOp& op : program) {
    double bound = op.op == "mul" ? 1 : 0;
    for (const std::string& operand : op.of)
      bound = op.op == "mul" ? bound * values[operand] : bound + values[operand];
    if (op.op == "dynamic_slice")
      bound = largest;
    values[op.id] = op.op.starts_with("psum") ? 2 * bound : op.op == "sin" ? 1 : bound;
  }
  std::map<std::string, double> cotangents = {{"r", largest}};
  for (auto op = program.rbegin(); op != program.rend(); ++op)
    for (size_t k = 0; k < op->of.size(); ++k) {
      const double factor = op->op == "mul"              ? values[op->of[1 - k]]
                            : op->op.starts_with("psum") ? 2
                                                         : 1;
      cotangents[op->of[k]] += factor * cotangents[op->id];
    }
  double bound = 0;
  for (const auto* const of : {&values, &cotangents})
    for (const auto& [name, value] : *of)
      bound = std::max(bound, value);
  return bound;
}

/// Makes random programs with loops on {x: 2}. The arrays have whole numbers, so all results are
/// whole numbers, unless the program has "sin".
class RandomLoops {
 public:
  /// Loops have up to `most` iterations, but for those in loops, which have up to 4. The arrays
  /// have `row` elements, and w has four times as many.
  explicit RandomLoops(uint64_t seed, uint64_t most = 4, int64_t row = 2)
      : random_(seed), sines_(seed % 4 == 0), most_(most), row_(row) {}

  std::vector<Item> program() {
    std::vector<Item> items;
    std::vector<std::string> readable = {"a", "b"};
    if (random_.below(2) == 0)
      add_op(items, readable);
    add_loop(items, readable, 1);
    add_op(items, readable);
    if (random_.below(3) == 0)
      add_loop(items, readable, 1);
    items.emplace_back(TextOp{"r", "add", {readable.back(), "a"}});
    return items;
  }

  bool is_whole() const { return !sines_; }
  const std::vector<std::string>& loops() const { return loops_; }
  /// Returns the names of collectives in loops whose operands follow from the index and from w.
  const std::vector<std::string>& fetched() const { return fetched_; }

 private:
  std::string unused(const char* prefix) { return fmt::format("{}{}", prefix, made_++); }

  /// Returns one of the values, often the last.
  std::string any(const std::vector<std::string>& readable) {
    return random_.below(2) == 0 ? readable.back() : readable[random_.below(readable.size())];
  }

  void add_op(std::vector<Item>& items, std::vector<std::string>& readable) {
    const std::string id = unused("o");
    const std::string x = any(readable);
    switch (random_.below(sines_ ? 8 : 7)) {
      case 0:
        items.emplace_back(TextOp{id, "neg", {x}});
        break;
      case 1:
        items.emplace_back(TextOp{id, "sub", {x, any(readable)}});
        break;
      case 2:
      case 3:
        items.emplace_back(TextOp{id, "mul", {x, random_.below(2) == 0 ? "b" : "a"}});
        break;
      case 4: {
        // A sum over the devices, which is the same on them, so a value that varies is added.
        items.emplace_back(TextOp{id + "s", "psum", {x}, R"(, "axis_name": "x")"});
        items.emplace_back(TextOp{id, "add", {id + "s", "a"}});
        break;
      }
      case 5:
        items.emplace_back(
            TextOp{id, "ppermute", {x}, R"(, "axis_name": "x", "perm": [[0, 1], [1, 0]])"});
        break;
      case 6:
        items.emplace_back(TextOp{id, "add", {x, any(readable)}});
        break;
      default:
        items.emplace_back(TextOp{id, "sin", {x}});
    }
    readable.push_back(id);
  }

  /// Multiplies by the row of w that the index names, or another one; it may come from the other
  /// device.
  void add_row(std::vector<Item>& items, std::vector<std::string>& readable,
               const std::string& loop) {
    const std::string id = unused("w");
    items.emplace_back(
        TextOp{id + "z", "full", {}, R"(, "shape": [], "dtype": "s32", "fill_value": 0)"});
    items.emplace_back(TextOp{id + "r",
                              "dynamic_slice",
                              {"w", random_.below(4) == 0 ? id + "z" : "i" + loop, id + "z"},
                              fmt::format(R"(, "slice_sizes": [1, {}])", row_)});
    items.emplace_back(
        TextOp{id + "v", "reshape", {id + "r"}, fmt::format(R"(, "new_sizes": [{}])", row_)});
    const bool fetched = random_.below(2) == 0;
    if (fetched) {
      items.emplace_back(TextOp{
          id + "g", "ppermute", {id + "v"}, R"(, "axis_name": "x", "perm": [[0, 1], [1, 0]])"});
      fetched_.push_back(fmt::format("{}.{}g", fmt::join(around_, "."), id));
    }
    items.emplace_back(TextOp{id, "mul", {any(readable), id + (fetched ? "g" : "v")}});
    readable.push_back(id);
  }

  void add_loop(std::vector<Item>& items, std::vector<std::string>& readable, int depth) {
    auto loop = std::make_shared<TextLoop>();
    loop->id = unused("l");
    if (depth == 1)
      loops_.push_back(loop->id);
    loop->lower = static_cast<int64_t>(random_.below(3)) - 1;
    loop->trips = 1 + static_cast<int64_t>(random_.below(depth == 1 ? most_ : 4));
    around_.push_back(loop->id);
    std::vector<std::string> inside = readable;
    // Carries may pass values on to each other, so that some are read iterations later.
    const bool passed_on = random_.below(6) == 0;
    const size_t carries = (passed_on ? 2 : 1) + random_.below(3);
    for (size_t c = 0; c < carries; ++c) {
      loop->carries.push_back({unused("h"), any(readable), ""});
      inside.push_back(loop->carries.back().name);
    }
    // A collective that is started in one iteration and done in the next.
    const bool future = random_.below(4) == 0;
    if (future) {
      const std::string first = unused("f");
      items.emplace_back(TextOp{first, "psum_start", {any(readable)}, R"(, "axis_name": "x")"});
      loop->carries.push_back({first + "c", first, first + "n"});
      loop->body.emplace_back(TextOp{first + "d", "done", {first + "c"}});
      loop->body.emplace_back(TextOp{first + "v", "add", {first + "d", "b"}});
      inside.push_back(first + "v");
    }
    for (size_t n = 1 + random_.below(3); n-- > 0;)
      random_.below(3) == 0 ? add_row(loop->body, inside, loop->id) : add_op(loop->body, inside);
    if (depth < 3 && random_.below(3) == 0) {
      add_loop(loop->body, inside, depth + 1);
      add_op(loop->body, inside);
    }
    if (future) {
      TextLoop::Carried& carried = loop->carries.back();
      loop->body.emplace_back(
          TextOp{carried.yielded, "psum_start", {inside.back()}, R"(, "axis_name": "x")"});
    }
    for (size_t c = 0; c < carries; ++c)
      loop->carries[c].yielded = c == 0      ? inside.back()
                                 : passed_on ? loop->carries[c - 1].name
                                             : any(inside);
    items.emplace_back(loop);
    around_.pop_back();
    if (future) {
      const std::string& carried = loop->carries.back().name;
      items.emplace_back(TextOp{carried + "e", "done", {loop->id + "." + carried}});
      items.emplace_back(TextOp{carried + "u", "add", {carried + "e", "a"}});
      readable.push_back(carried + "u");
    }
    for (size_t c = carries; c-- > 0;)
      if (c == 0 || random_.below(2) == 0)
        readable.push_back(loop->id + "." + loop->carries[c].name);
  }

  Random random_;
  const bool sines_;
  const uint64_t most_;
  const int64_t row_;
  size_t made_ = 0;
  std::vector<std::string> loops_;
  std::vector<std::string> around_;  // loops around the place
  std::vector<std::string> fetched_;
};

/// Returns the tensors of each output on each device.
std::vector<Tensor> gradients(const std::vector<std::string>& program, bool checked,
                              const std::string& more) {
  const std::string text = fmt::format(
      R"({{"orrery": 1, "mesh": {{"x": 2}}, "check_types": {},
  "cluster": {{"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"}},
  "arrays": {{
    "a": {{"local_shape": [2], "dtype": "f32", "per_device": [[1, -2], [2, -1]]}},
    "b": {{"local_shape": [2], "dtype": "f32", "per_device": [[-1, 1], [1, 2]]}},
    "w": {{"local_shape": [4, 2], "dtype": "f32", "per_device": [[1, 2, -1, 1, 0, -2, 1, 1], [2, -1, 1, 1, -2, 0, -1, 1]]}},
    "ct_r": {{"local_shape": [2], "dtype": "f32", "per_device": [[1, 2], [-1, 1]]}}}},
  "program": [{}],
  "transform": {{"vjp": {{"of": ["r"], "with_respect_to": ["a", "b", "w"]{}}}}},
  "outputs": ["r", "ct_a", "ct_b", "ct_w"]}})",
      checked, fmt::join(program, ",\n"), more);
  INFO(text);
  RunOptions options;
  options.data = Data::On;
  const Scenario scenario = read_scenario("f", text);
  const std::string written = write_scenario(scenario);
  CHECK(write_scenario(read_scenario("written", written)) == written);
  const Report report = run(scenario, options);
  for (const Check& check : report.checks) {
    CAPTURE(check.message);
    CHECK(check.verdict != Verdict::Fails);
  }
  std::vector<Tensor> all;
  for (const ValueId output : report.scenario->program.outputs)
    for (const uint32_t device : {0U, 1U})
      all.push_back(report.values->at(output, LogicalId(device)).value());
  return all;
}

/// A whole number below this is exact in f32, and so is each sum of such numbers below it.
constexpr double kExact = 1 << 24;

/// Checks that the tensors are equal within `error`.
void check_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b, double error) {
  for (size_t t = 0; t < a.size(); ++t)
    for (int64_t i = 0; i < a[t].elements(); ++i) {
      CAPTURE(t);
      CHECK(std::abs(element_as_double(a[t], i) - element_as_double(b[t], i)) <= error);
    }
}

/// Returns the scenario of a gradient of a program with rows of so many elements.
Scenario gradient(const std::vector<std::string>& program, int64_t row,
                  const std::vector<std::string>& arguments = {"a", "b", "w"}) {
  std::vector<std::string> outputs = {"r"};
  for (const std::string& argument : arguments)
    outputs.push_back("ct_" + argument);
  return read_scenario(
      "f", fmt::format(R"({{"orrery": 1, "mesh": {{"x": 2}}, "check_types": false,
  "cluster": {{"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"}},
  "arrays": {{"a": {{"shape": [{0}], "dtype": "f32"}}, "b": {{"shape": [{0}], "dtype": "f32"}},
             "w": {{"shape": [4, {0}], "dtype": "f32"}}, "ct_r": {{"shape": [{0}], "dtype": "f32"}}}},
  "program": [{1}],
  "transform": {{"vjp": {{"of": ["r"], "with_respect_to": {2}}}}},
  "outputs": {3}}})",
                       row, fmt::join(program, ",\n"), quoted(arguments), quoted(outputs)));
}

TEST_CASE("vjp: random loops have the gradients of their iterations written out") {
  const uint64_t programs = tries(400);
  uint64_t compared = 0;
  uint64_t prefetched = 0;
  uint64_t kept = 0;
  for (uint64_t seed = 0; seed < programs; ++seed) {
    CAPTURE(seed);
    // Loops of more than 8 iterations stay loops.
    RandomLoops random(seed, seed % 2 == 0 ? 4 : 12);
    const std::vector<Item> items = random.program();
    std::map<std::string, std::string> names;
    std::vector<TextOp> written;
    write_out(items, "", names, written);
    const double bound = bound_of(written, 2);
    if (bound >= kExact)
      continue;
    ++compared;
    kept += gradient(texts(items), 2).program.loops.empty() ? 0 : 1;
    // The sums may be added in another order. Each op rounds by at most 2^-24 of the bound, and
    // what it rounded grows by at most the bound.
    const double error = random.is_whole() ? 0
                                           : static_cast<double>(written.size()) * bound * bound *
                                                 std::ldexp(1.0, -24);
    std::vector<std::string> written_texts;
    for (const TextOp& op : written)
      written_texts.push_back(text_of(op));
    const bool checked = seed % 2 == 0;
    const std::vector<Tensor> expected = gradients(written_texts, checked, "");
    const std::string recompute = fmt::format(R"(, "recompute": {})", quoted(random.loops()));
    const std::string whole = R"(, "keep_loops": true)";
    std::vector<std::string> transforms = {
        "",    recompute,         R"(, "overlap": true)",        R"(, "recompute": "all")",
        whole, whole + recompute, whole + R"(, "overlap": true)"};
    if (!random.fetched().empty()) {
      ++prefetched;
      for (const bool overlap : {false, true})
        transforms.push_back(fmt::format(R"(, "recompute": {}, "prefetch": {}, "overlap": {})",
                                         quoted(random.fetched()), 1 + seed % 3, overlap));
    }
    for (const std::string& more : transforms) {
      CAPTURE(more);
      check_equal(gradients(texts(items), checked, more), expected, error);
    }
  }
  CHECK(kept >= programs / 20);
  CHECK(compared >= programs / 2);
  CHECK(prefetched >= programs / 4);
}

constexpr int64_t kLargeRow = 262'144;  // 1 MiB, beside which scalars are small
/// A slice may be taken again, with its two start indices, where a program without loops saves it.
constexpr int64_t kIndices = 2 * 256;

TEST_CASE("vjp: the peak of random loops is at most that of their iterations written out") {
  size_t kept = 0;
  const uint64_t programs = tries(2000);
  for (uint64_t seed = 0; seed < programs; ++seed) {
    CAPTURE(seed);
    const std::vector<Item> items = RandomLoops(seed, seed % 2 == 0 ? 4 : 20, kLargeRow).program();
    std::map<std::string, std::string> names;
    std::vector<TextOp> written;
    write_out(items, "", names, written);
    std::vector<std::string> written_texts;
    for (const TextOp& op : written)
      written_texts.push_back(text_of(op));
    const auto peak = [&](Scenario scenario) {
      if (seed % 4 < 2)
        scenario.memory.reuse = MemoryPolicy::Reuse::Xla;
      RunOptions options;
      options.data = Data::Off;
      return run(scenario, options).memory.largest_peak();
    };
    std::vector<std::string> arguments;  // one, two or all three
    for (const auto& [argument, mask] :
         {std::pair("a", 1U), std::pair("b", 2U), std::pair("w", 4U)})
      if (((1 + seed / 4 % 7) & mask) != 0)
        arguments.emplace_back(argument);
    CAPTURE(arguments);
    const Scenario looped = gradient(texts(items), kLargeRow, arguments);
    kept += looped.program.loops.empty() ? 0 : 1;
    CAPTURE(fmt::to_string(fmt::join(texts(items), "\n")));
    CHECK(peak(looped).count() <=
          kIndices + peak(gradient(written_texts, kLargeRow, arguments)).count());
  }
  CHECK(kept >= programs / 8);
  CHECK(kept <= programs / 2);
}

TEST_CASE("vjp: slices of an array have the gradients that dynamic slices of it have") {
  const auto program = [](bool is_dynamic) {
    std::vector<std::string> ops;
    const auto rows = [&](const std::string& name, int first, int count) {
      if (is_dynamic) {
        for (const int start : {first, 0})
          ops.push_back(fmt::format(
              R"({{"id": "{}.{}", "op": "full", "shape": [], "dtype": "s32", "fill_value": {}}})",
              name, start == first ? "i" : "z", start));
        ops.push_back(fmt::format(
            R"({{"id": "{0}.s", "op": "dynamic_slice", "of": ["w", "{0}.i", "{0}.{1}"], "slice_sizes": [{2}, 2]}})",
            name, first == 0 ? "i" : "z", count));
      } else {
        ops.push_back(fmt::format(
            R"({{"id": "{}.s", "op": "slice", "of": "w", "start_indices": [{}, 0], "limit_indices": [{}, 2]}})",
            name, first, first + count));
      }
      ops.push_back(
          fmt::format(R"({{"id": "{0}", "op": "reduce_sum", "of": "{0}.s", "axes": [0]}})", name));
    };
    rows("m", 1, 1);
    ops.emplace_back(R"({"id": "y", "op": "mul", "of": ["a", "m"]})");
    rows("n", 1, 2);
    ops.emplace_back(R"({"id": "v", "op": "mul", "of": ["y", "n"]})");
    rows("o", 3, 1);
    ops.emplace_back(R"({"id": "u", "op": "mul", "of": ["v", "o"]})");
    ops.emplace_back(R"({"id": "r", "op": "mul", "of": ["u", "b"]})");
    return ops;
  };
  for (const bool checked : {false, true})
    check_equal(gradients(program(false), checked, ""), gradients(program(true), checked, ""), 0);
}

TEST_CASE("vjp: a slice that begins beyond an index of s32 has a gradient") {
  RunOptions options;
  options.data = Data::Off;
  CHECK(run(read_scenario("f", R"({"orrery": 1, "mesh": {"x": 2},
  "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
  "arrays": {"q": {"shape": [3000000010], "dtype": "f32"}, "ct_r": {"shape": [2], "dtype": "f32"}},
  "program": [
    {"id": "s", "op": "slice", "of": "q", "start_indices": [3000000000], "limit_indices": [3000000002]},
    {"id": "t", "op": "slice", "of": "q", "start_indices": [0], "limit_indices": [2]},
    {"id": "r", "op": "mul", "of": ["s", "t"]}],
  "transform": {"vjp": {"of": ["r"], "with_respect_to": ["q"]}}, "outputs": ["ct_q"]})"),
            options)
            .holds());
}

/// Returns the peak of a gradient of a loop of so many iterations. The arrays have 1 KiB a row.
Bytes peak(const std::vector<Item>& body, int64_t trips, bool is_written) {
  const auto loop = std::make_shared<TextLoop>(
      TextLoop{"l", 0, trips, {{"h", "a", std::get<TextOp>(body.back()).id}}, body});
  std::map<std::string, std::string> names;
  std::vector<TextOp> written;
  write_out({loop}, "", names, written);
  std::vector<std::string> program = texts({loop});
  if (is_written) {
    program.clear();
    for (const TextOp& op : written)
      program.push_back(text_of(op));
  }
  const std::string last = is_written ? written.back().id : "l.h";
  return run(read_scenario("f", fmt::format(R"({{"orrery": 1, "mesh": {{"x": 2}},
  "cluster": {{"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"}},
  "arrays": {{"a": {{"shape": [256], "dtype": "f32"}}, "w": {{"shape": [32, 256], "dtype": "f32"}},
             "ct_r": {{"shape": [256], "dtype": "f32"}}}},
  "program": [{}, {{"id": "r", "op": "neg", "of": "{}"}}],
  "transform": {{"vjp": {{"of": ["r"], "with_respect_to": ["a"]}}}},
  "outputs": ["ct_a"]}})",
                                            fmt::join(program, ",\n"), last)),
             {})
      .memory.largest_peak();
}

TEST_CASE("vjp: the peak grows by no more an iteration than with iterations written out") {
  const std::vector<Item> two_saved = {TextOp{"m", "sin", {"h"}}, TextOp{"y", "mul", {"m", "m"}}};
  const std::vector<Item> row = {
      TextOp{"z", "full", {}, R"(, "shape": [], "dtype": "s32", "fill_value": 0)"},
      TextOp{"s", "dynamic_slice", {"w", "il", "z"}, R"(, "slice_sizes": [1, 256])"},
      TextOp{"v", "reshape", {"s"}, R"(, "new_sizes": [256])"}, TextOp{"y", "mul", {"h", "v"}}};
  const std::vector<Item> carried = {TextOp{"y", "exp", {"h"}}};
  struct Case {
    const std::vector<Item>& body;
    int64_t saved;  // rows that an iteration must save
  };
  // The gradient of exp reads its result. The row of w is taken again.
  for (const Case& each : {Case{two_saved, 2}, Case{row, 0}, Case{carried, 1}}) {
    CAPTURE(texts(each.body).front());
    const auto growth = [&](int64_t trips, bool is_written) {
      return peak(each.body, 2 * trips, is_written) - peak(each.body, trips, is_written);
    };
    // vjp writes up to 8 iterations out.
    for (const int64_t trips : {4, 16}) {
      CAPTURE(trips);
      CHECK(growth(trips, false).count() == trips * 1024 * each.saved);
      CHECK(growth(trips, false) <= growth(trips, true));
    }
  }
}

TEST_CASE(
    "vjp: no cotangent is overwritten through a view of it, or of the cotangent of a result") {
  // The gradient of p is ct_y, which q reads too. That of w is a view of it, to which s adds.
  for (const char* const view : {R"({"id": "p", "op": "reshape", "of": "w", "new_sizes": [8]})",
                                 R"({"id": "o", "op": "optimization_barrier", "of": "w"},
           {"id": "p", "op": "reshape", "of": "o", "new_sizes": [8]})"}) {
    const std::string text = fmt::format(R"({{"orrery": 1, "mesh": {{"x": 2}},
  "cluster": {{"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"}},
  "arrays": {{"a": {{"shape": [8], "dtype": "f32"}}, "b": {{"shape": [8], "dtype": "f32"}},
             "w": {{"shape": [4, 2], "dtype": "f32"}}, "ct_r": {{"shape": [8], "dtype": "f32"}}}},
  "program": [
    {{"id": "z", "op": "full", "shape": [], "dtype": "s32", "fill_value": 0}},
    {{"id": "q", "op": "mul", "of": ["a", "b"]}},
    {{"id": "s", "op": "dynamic_slice", "of": ["w", "z", "z"], "slice_sizes": [1, 2]}},
    {{"id": "ss", "op": "reduce_sum", "of": "s", "axes": [0, 1]}},
    {},
    {{"id": "y", "op": "add", "of": ["p", "q"]}},
    {{"id": "r", "op": "mul", "of": ["y", "ss"]}}],
  "transform": {{"vjp": {{"of": ["r"], "with_respect_to": ["a", "b", "w"]}}}},
  "outputs": ["ct_a", "ct_b", "ct_w"]}})",
                                         view);
    CHECK(run(read_scenario("f", text), {}).holds());
  }
}

TEST_CASE("vjp: an array that a later op overwrites is saved, where it would be sliced again") {
  const std::string text = R"({"orrery": 1, "mesh": {"x": 2},
  "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
  "arrays": {"a": {"shape": [2], "dtype": "f32"}, "w": {"shape": [4, 2], "dtype": "f32"},
             "ix": {"shape": [4], "dtype": "s32"}, "ct_r": {"shape": [2], "dtype": "f32"}},
  "program": [
    {"id": "z", "op": "full", "shape": [], "dtype": "s32", "fill_value": 0},
    {"id": "wc", "op": "mul", "of": ["w", "w"]},
    {"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, "index": "i", "carry": {"h": "a"},
     "yield": {"h": "y"}, "body": [
      {"id": "s", "op": "dynamic_slice", "of": ["wc", "i", "z"], "slice_sizes": [1, 2]},
      {"id": "v", "op": "reshape", "of": "s", "new_sizes": [2]},
      {"id": "y", "op": "mul", "of": ["h", "v"]}]},
    {"id": "wn", "op": "scatter_add", "of": ["wc", "w", "ix"], "axis": 0, "donate": ["wc"]},
    {"id": "n", "op": "reduce_sum", "of": "wn", "axes": [0]},
    {"id": "r", "op": "add", "of": ["l", "n"]}],
  "transform": {"vjp": {"of": ["r"], "with_respect_to": ["a", "w"]}},
  "outputs": ["ct_a", "ct_w"]})";
  CHECK(run(read_scenario("f", text), {}).holds());
}

}  // namespace
}  // namespace orrery::test
