// Compares ragged exchanges under transpose and batch with loops over their slices. JAX on the CPU
// cannot run them, and lets the last of several cotangents of a row overwrite the others.

#include <list>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/transform/batch.h"
#include "models/transform/gradients.h"
#include "tests/models/program/random_tables.h"
#include "tests/support/tries.h"
#include "tests/verifier/batches.h"
#include "tests/verifier/ragged_rig.h"

namespace orrery::test {
namespace {

const uint64_t kRaggedPrograms = tries(300);

NamedAt named(const std::string& name) {
  return {name, Origin{}};
}

Report run_checked(Scenario scenario) {
  RunOptions options;
  options.data = Data::On;
  Report report = run(std::move(scenario), options);
  for (const Check& check : report.checks)
    if (!check.holds())
      FAIL_CHECK(check.message);
  return report;
}

/// Places the slices of an operand one after another, with gaps.
void read_apart(RaggedGroup& group, Random& random) {
  for (SliceTables& sender : group.ranks) {
    int64_t at = 0;
    for (size_t i = 0; i < sender.send_sizes.size(); ++i) {
      at += random.between(0, 1);
      sender.input_offsets[i] = at;
      at += sender.send_sizes[i];
    }
    group.operand_rows = std::max(group.operand_rows, at);
  }
}

/// Gives all groups the extents of the largest.
void make_alike(std::vector<RaggedGroup*> groups) {
  for (RaggedGroup* group : groups)
    for (const RaggedGroup* other : groups) {
      group->operand_rows = std::max(group->operand_rows, other->operand_rows);
      group->output_rows = std::max(group->output_rows, other->output_rows);
    }
}

/// `Words` are integers that wrap.
using Words = std::vector<uint32_t>;

Words words(const Tensor& tensor) {
  Words words;
  for (const int32_t element : tensor.as<int32_t>())
    words.push_back(static_cast<uint32_t>(element));
  return words;
}

uint32_t product(const Words& a, const Words& b) {
  REQUIRE(a.size() == b.size());
  uint32_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

struct RandomForm {
  Form form;
  std::vector<RaggedGroup> tables;
  Shape row;
};

RandomForm random_form(Random& random) {
  RandomForm made;
  made.form.ranks = static_cast<uint32_t>(random.between(1, 4));
  made.form.groups = static_cast<Groups>(random.below(3));
  made.form.issue = random.below(3) == 0 ? Issue::Start : Issue::Sync;
  made.form.disjoint_reads = random.below(2) == 0;
  made.row = random.below(2) == 0 ? Shape() : Shape{random.between(1, 3)};
  const auto slices = static_cast<size_t>(random.between(1, 3));
  std::vector<RaggedGroup*> all;
  for (int g = 0; g < (made.form.groups == Groups::Axis ? 1 : 2); ++g)
    made.tables.push_back(random_tables(random, made.form.ranks, slices, 4));
  for (RaggedGroup& group : made.tables) {
    if (made.form.disjoint_reads)
      read_apart(group, random);
    all.push_back(&group);
  }
  make_alike(all);
  return made;
}

TEST_CASE("ragged: cotangents of a row that was sent often are added, exactly (A09)") {
  int64_t shared_rows = 0;
  for (uint64_t seed = 0; seed < kRaggedPrograms; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const RandomForm of = random_form(random);
    RaggedRig rig(of.form, Dtype::S32, of.row, of.tables, random);
    const Program program = rig.program();
    const Report forward = run_checked(rig.scenario_of(program, rig.arrays()));

    Diagnostics diagnostics("f");
    const Program back =
        transpose(program, Checks::States,
                  {Origin{}, {named("r")}, {named("operand"), named("output")}}, diagnostics);
    diagnostics.throw_if_any();
    std::vector<Tensor> cotangents;
    for (uint32_t d = 0; d < rig.devices(); ++d)
      cotangents.push_back(random_normalish(Dtype::S32, value(forward, "r", d).shape(), random));
    std::vector<Array> arrays(rig.arrays().begin() + 2, rig.arrays().end());
    arrays.push_back(per_device("ct_r", cotangents));
    const Report backward = run_checked(rig.scenario_of(back, std::move(arrays)));

    // The reference works slice by slice.
    std::vector<Words> operand(rig.devices());
    std::vector<Words> output(rig.devices());
    std::vector<std::vector<uint32_t>> devices(rig.groups(), std::vector<uint32_t>(of.form.ranks));
    for (uint32_t d = 0; d < rig.devices(); ++d) {
      devices[rig.place(d).first][rig.place(d).second] = d;
      operand[d].resize(words(value(forward, "operand", d)).size());
      output[d] = words(cotangents[d]);
    }
    const auto width = static_cast<size_t>(of.row.elements());
    std::vector<std::vector<int>> reads(rig.devices(), std::vector<int>(operand[0].size(), 0));
    for (size_t g = 0; g < of.tables.size(); ++g)
      for (size_t from = 0; from < of.form.ranks; ++from) {
        const SliceTables& tables = of.tables[g].ranks[from];
        for (size_t i = 0; i < tables.send_sizes.size(); ++i) {
          const uint32_t sender = devices[g][from];
          const uint32_t receiver = devices[g][i / of.tables[g].slices_for_each()];
          const size_t read = static_cast<size_t>(tables.input_offsets[i]) * width;
          const size_t written = static_cast<size_t>(tables.output_offsets[i]) * width;
          for (size_t e = 0; e < static_cast<size_t>(tables.send_sizes[i]) * width; ++e) {
            operand[sender][read + e] += words(cotangents[receiver])[written + e];
            output[receiver][written + e] = 0;
            shared_rows += ++reads[sender][read + e] == 2 ? 1 : 0;
          }
        }
      }
    uint32_t of_results = 0;
    uint32_t of_arguments = 0;
    for (uint32_t d = 0; d < rig.devices(); ++d) {
      CHECK(words(value(backward, "ct_operand", d)) == operand[d]);
      CHECK(words(value(backward, "ct_output", d)) == output[d]);
      of_results += product(words(cotangents[d]), words(value(forward, "r", d)));
      of_arguments += product(operand[d], words(value(forward, "operand", d))) +
                      product(output[d], words(value(forward, "output", d)));
    }
    CHECK(of_results == of_arguments);
  }
  CHECK(shared_rows > kRaggedPrograms);
}

TEST_CASE("ragged: the transpose of the transpose is the exchange (8.3)") {
  for (uint64_t seed = 0; seed < tries(100); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const RandomForm of = random_form(random);
    RaggedRig rig(of.form, Dtype::S32, of.row, of.tables, random);
    const Program program = rig.program();
    Diagnostics diagnostics("f");
    const Program back =
        transpose(program, Checks::States,
                  {Origin{}, {named("r")}, {named("operand"), named("output")}}, diagnostics);
    diagnostics.throw_if_any();
    const Program again = transpose(
        back, Checks::States, {Origin{}, {named("ct_operand")}, {named("ct_r")}}, diagnostics);
    diagnostics.throw_if_any();
    // The outputs are zeros.
    std::vector<Array> arrays = rig.arrays();
    std::vector<Tensor> zeros;
    for (uint32_t d = 0; d < rig.devices(); ++d)
      zeros.push_back(full(Dtype::S32, arrays[1].global, 0));
    arrays[1] = per_device("output", zeros);
    const Report once = run_checked(rig.scenario_of(program, arrays));
    std::vector<Array> tables(arrays.begin() + 2, arrays.end());
    Array cotangent = arrays[0];
    cotangent.name = "ct_ct_operand";
    tables.push_back(std::move(cotangent));
    const Report twice = run_checked(rig.scenario_of(again, std::move(tables)));
    for (uint32_t d = 0; d < rig.devices(); ++d)
      CHECK(words(value(twice, "ct_ct_r", d)) == words(value(once, "r", d)));
  }
}

TEST_CASE("ragged: each entry of a batch is exchanged by its own tables") {
  for (uint64_t seed = 0; seed < kRaggedPrograms; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto size = static_cast<size_t>(random.between(1, 3));
    const bool tables_differ = random.below(2) == 0;
    RandomForm of = random_form(random);
    of.form.disjoint_reads = false;
    std::vector<std::vector<RaggedGroup>> tables(size, of.tables);
    std::vector<RaggedGroup*> all;
    for (size_t b = 0; b < size; ++b)
      for (RaggedGroup& group : tables[b]) {
        if (tables_differ && b > 0)
          group = random_tables(random, of.form.ranks, group.slices_for_each(), 4);
        all.push_back(&group);
      }
    make_alike(all);
    std::list<RaggedRig> rigs;  // of each entry
    for (size_t b = 0; b < size; ++b)
      rigs.emplace_back(of.form, Dtype::S32, of.row, tables[b], random);
    RaggedRig& rig = rigs.front();
    const Program program = rig.program();

    BatchRequest request;
    request.size = static_cast<int64_t>(size);
    std::vector<Array> arrays;
    std::vector<bool> batched;
    for (size_t a = 0; a < rig.arrays().size(); ++a) {
      const Array& first = rig.arrays()[a];
      batched.push_back(a < 2 ? random.below(3) > 0 : tables_differ);
      if (!batched.back()) {
        arrays.push_back(first);
        continue;
      }
      const int64_t dimension = random.between(0, static_cast<int64_t>(first.global.rank()));
      request.in_axes.push_back({named(first.name), dimension});
      std::vector<Tensor> together;
      for (uint32_t d = 0; d < rig.devices(); ++d) {
        std::vector<Tensor> entries;
        for (const RaggedRig& each : rigs)
          entries.push_back(std::get<PerDeviceInit>(each.arrays()[a].init).tensors[d]);
        together.push_back(stacked(entries, dimension));
      }
      arrays.push_back(per_device(first.name, std::move(together)));
    }
    const auto rank = static_cast<int64_t>(rig.arrays()[1].global.rank());
    const int64_t out = random.between(0, rank);
    request.out_axes = {{named("r"), out}};
    Diagnostics diagnostics("f");
    const Program made = batch(program, Checks::States, request, diagnostics);
    diagnostics.throw_if_any();
    const Report report = run_checked(rig.scenario_of(made, std::move(arrays)));

    size_t b = 0;
    for (RaggedRig& each : rigs) {
      std::vector<Array> own = each.arrays();
      for (size_t a = 0; a < own.size(); ++a)
        if (!batched[a])
          own[a] = rig.arrays()[a];
      const Report alone = run_checked(each.scenario_of(b == 0 ? program : each.program(), own));
      for (uint32_t d = 0; d < rig.devices(); ++d)
        CHECK(same_bits(entry(value(report, "r", d), out, static_cast<int64_t>(b)),
                        value(alone, "r", d)));
      ++b;
    }
  }
}

TEST_CASE("ragged: a batch in the place of another axis has the slices of all its places") {
  for (uint64_t seed = 0; seed < tries(100); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    RandomForm of = random_form(random);
    of.form.groups = Groups::OuterAxis;
    of.tables.resize(1);
    of.tables.push_back(
        random_tables(random, of.form.ranks, of.tables.front().slices_for_each(), 3));
    of.form.disjoint_reads = false;
    make_alike({&of.tables[0], &of.tables[1]});
    RaggedRig rig(of.form, Dtype::S32, of.row, of.tables, random);
    const Program program = rig.program();
    const Report wanted = run_checked(rig.scenario_of(program, rig.arrays()));
    BatchRequest request;
    request.axis_name = named("y");
    std::vector<Array> arrays;
    for (const Array& array : rig.arrays()) {
      const int64_t dimension = random.between(0, static_cast<int64_t>(array.global.rank()));
      request.in_axes.push_back({named(array.name), dimension});
      const std::vector<Tensor>& tensors = std::get<PerDeviceInit>(array.init).tensors;
      std::vector<Tensor> together;
      for (uint32_t d = 0; d < rig.devices(); d += 2)
        together.push_back(stacked({tensors[d], tensors[d + 1]}, dimension));
      arrays.push_back(per_device(array.name, std::move(together)));
    }
    request.out_axes = {{named("r"), 0}};
    Diagnostics diagnostics("f");
    const Program made = batch(program, Checks::States, request, diagnostics);
    diagnostics.throw_if_any();
    const Report report = run_checked(rig.scenario_of(made, std::move(arrays)));
    for (uint32_t d = 0; d < rig.devices(); ++d)
      CHECK(same_bits(entry(value(report, "r", d / 2), 0, d % 2), value(wanted, "r", d)));
  }
}

}  // namespace
}  // namespace orrery::test
