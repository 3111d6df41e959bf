#include "tools/import/msccl.h"

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "models/base/quantity.h"
#include "tests/tools/import/xml.h"

namespace orrery::test {
namespace {

std::string errors(const std::string& xml) {
  try {
    read_msccl(xml, "a.xml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

/// `xml` with the first `from` replaced.
std::string with(std::string xml, const std::string& from, const std::string& to) {
  xml.replace(xml.find(from), from.size(), to);
  return xml;
}

TEST_CASE("MSCCL: the header") {
  const MscclAlgorithm algorithm = read_msccl(two_gather().text(), "a.xml");
  CHECK(algorithm.name == "small");
  CHECK(algorithm.protocol == "LL");
  CHECK(algorithm.collective == MscclCollective::AllGather);
  CHECK(algorithm.gpus == 2);
  CHECK(algorithm.chunks == 2);
  CHECK(algorithm.part() == 1);
  CHECK(algorithm.in_place);
}

TEST_CASE("MSCCL: a gpu's k-th send to a peer pairs with the peer's k-th receive from it") {
  const MscclAlgorithm algorithm = read_msccl(two_gather().text(), "a.xml");
  REQUIRE(algorithm.messages.size() == 2);
  CHECK(algorithm.messages[0].send == StepRef{Node(0), Channel(0), 0});
  CHECK(algorithm.messages[0].receive == StepRef{Node(1), Channel(0), 1});
  CHECK(algorithm.messages[1].send == StepRef{Node(1), Channel(0), 0});
  CHECK(algorithm.messages[1].receive == StepRef{Node(0), Channel(0), 1});
}

TEST_CASE("MSCCL: in place, an all-gather's input is the gpu's part of the one buffer") {
  AlgoText algo = two_gather();
  // Gpu 1's own chunk under its other name: chunk 0 of its input is chunk 1 of the buffer.
  const std::string xml = with(algo.text(), "srcbuf=\"o\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\"",
                               "srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\"");
  const MscclAlgorithm algorithm = read_msccl(xml, "a.xml");
  CHECK(algorithm.steps[1][0][0].source == Slice{Area::Input, 1, 1});
}

TEST_CASE("MSCCL: the step that each type becomes") {
  struct Row {
    const char* type;
    bool from, source, target, to;
    Combine combine;
  };
  const Row rows[] = {{"s", false, true, false, true, Combine::None},
                      {"r", true, false, true, false, Combine::None},
                      {"rcs", true, false, true, true, Combine::None},
                      {"rrs", true, true, false, true, Combine::Add},
                      {"rrc", true, true, true, false, Combine::Add},
                      {"rrcs", true, true, true, true, Combine::Add},
                      {"cpy", false, true, true, false, Combine::None},
                      {"re", false, true, true, false, Combine::Add},
                      {"nop", false, false, false, false, Combine::None}};
  for (const Row& row : rows) {
    // The peer answers each message, so that every type has its two ends.
    const std::string answer = row.from && row.to ? "rcs" : row.from ? "s" : row.to ? "r" : "nop";
    AlgoText algo;
    algo.gpus = {BlockText{0, 1, 1, {StepText{0, row.type, "o0", "o1"}.text()}}.text(),
                 BlockText{0, 0, 0, {StepText{0, answer, "o0", "o1"}.text()}}.text()};
    const Step step = read_msccl(algo.text(), "a.xml").steps[0][0][0];
    CAPTURE(row.type);
    CHECK(step.from.has_value() == row.from);
    CHECK(step.to.has_value() == row.to);
    CHECK(step.source == (row.source ? std::optional(Slice{Area::Input, 0, 1}) : std::nullopt));
    CHECK(step.target == (row.target ? std::optional(Slice{Area::Input, 1, 1}) : std::nullopt));
    CHECK(step.combine == row.combine);
  }
}

TEST_CASE("MSCCL: a dependency names a step of another thread block of the gpu") {
  AlgoText algo = two_gather();
  algo.gpus[0] += BlockText{7, -1, -1, {StepText{0, "nop", "o0", "o0", 0, 0, 1}.text()}}.text();
  const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
  CHECK(algorithm.steps[0][1][0].after == StepRef{Node(0), Channel(0), 1});
  CHECK(algorithm.thread_blocks[0] == std::vector<int64_t>{0, 7});
}

TEST_CASE("MSCCL: a dependency on an earlier step of the same thread block adds nothing") {
  const std::string xml =
      with(two_gather().text(), "dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\"",
           "dstoff=\"1\" cnt=\"1\" depid=\"0\" deps=\"0\"");
  CHECK_FALSE(read_msccl(xml, "a.xml").steps[0][0][1].after.has_value());
}

TEST_CASE("MSCCL: chunks become elements") {
  const auto schedule = stored_schedule(read_msccl(two_gather().text(), "a.xml"), 10, 3);
  CHECK(schedule->extent().slots == 3);
  CHECK(schedule->extent().input == 20);
  CHECK(schedule->extent().in_place);
  CHECK(schedule->step({Node(0), Channel(0), 1}).target == Slice{Area::Input, 10, 10});
  CHECK_THROWS_AS(stored_schedule(read_msccl(two_gather().text(), "a.xml"), int64_t{1} << 62, 3),
                  Overflow);
}

TEST_CASE("MSCCL: errors name their position") {
  const std::string good = two_gather().text();
  CHECK(errors(good) == "none");
  CHECK(errors("<algo") == "a.xml:1:5: this is no XML: Error parsing start element tag");
  CHECK(errors("<xml/>") == "a.xml:1:1: expected an MSCCL algorithm, <algo>, got <xml>");
  CHECK(errors(with(good, "coll=\"allgather\"", "coll=\"custom\"")) ==
        "a.xml:1:1: /algo/coll: expected allreduce, allgather, alltoall or reduce_scatter, got "
        "\"custom\"");
  CHECK(errors(with(good, "inplace", "inplce")) ==
        "a.xml:1:1: /algo/inplce: unknown attribute; did you mean \"inplace\"?\n"
        "a.xml:1:1: /algo: attribute \"inplace\" is missing");
  CHECK(errors(with(good, "ngpus=\"2\"", "ngpus=\"3\"")) ==
        "a.xml:1:1: /algo/nchunksperloop: 2 chunks do not divide into 3 equal parts");
  CHECK(errors(with(good, "o_chunks=\"2\"", "o_chunks=\"3\"")) ==
        "a.xml:2:1: /algo/gpu/0/o_chunks: expected 2 for an allgather of 2 chunks over 2 gpus, got "
        "3");
  CHECK(errors(with(good, "send=\"1\"", "send=\"5\"")) ==
        "a.xml:3:1: /algo/gpu/0/tb/0/send: expected a whole number from -1 to 1, got \"5\"\n"
        "a.xml:4:1: /algo/gpu/0/tb/0/step/0/type: s sends, and the thread block has no send peer");
  CHECK(errors(with(good, "type=\"r\"", "type=\"rx\"")) ==
        "a.xml:5:1: /algo/gpu/0/tb/0/step/1/type: expected s, r, rcs, rrs, rrc, rrcs, cpy, re or "
        "nop, "
        "got \"rx\"");
  CHECK(
      errors(with(good, "dstoff=\"1\"", "dstoff=\"2\"")) ==
      "a.xml:5:1: /algo/gpu/0/tb/0/step/1/dstoff: chunks 2 to 2 lie outside buffer o, which has 2");
  CHECK(errors(with(good, "depid=\"-1\"", "depid=\"4\"")) ==
        "a.xml:4:1: /algo/gpu/0/tb/0/step/0/depid: gpu 0 has no thread block 4");
  CHECK(errors(with(good, "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"1\"")) ==
        "a.xml:4:1: /algo/gpu/0/tb/0/step/0/deps: a step cannot wait for itself or a later step of "
        "its thread block");
  CHECK(errors(with(good, "type=\"r\"", "type=\"nop\"")) ==
        "a.xml:10:1: /algo/gpu/1/tb/0/step/0: on channel 0, gpu 1 sends 1 messages to gpu 0, which "
        "receives 0");
}

TEST_CASE("MSCCL: every error of a file is reported") {
  std::string xml = with(two_gather().text(), "type=\"r\"", "type=\"rx\"");
  xml = with(xml, "<gpu id=\"1\"", "<gpu id=\"3\"");
  CHECK(errors(xml) ==
        "a.xml:5:1: /algo/gpu/0/tb/0/step/1/type: expected s, r, rcs, rrs, rrc, rrcs, cpy, re or "
        "nop, "
        "got \"rx\"\n"
        "a.xml:8:1: /algo/gpu/1/id: expected 1: gpus are listed in order");
}

}  // namespace
}  // namespace orrery::test
