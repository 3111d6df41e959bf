#include "tools/import/msccl.h"

#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "models/base/quantity.h"
#include "tests/tools/import/xml.h"
#include "tools/import/msccl_schedule.h"
#include "tools/import/msccl_steps.h"

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

/// Returns `xml` with the first `from` replaced by `to`.
std::string with(std::string xml, const std::string& from, const std::string& to) {
  xml.replace(xml.find(from), from.size(), to);
  return xml;
}

TEST_CASE("MSCCL: the header") {
  const MscclAlgorithm algorithm = read_msccl(two_gather().text(), "a.xml");
  CHECK(algorithm.name == "small");
  CHECK(algorithm.protocol == Protocol::LL);
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
  // Gpu 1's own chunk has another name: chunk 0 of its input is chunk 1 of the buffer.
  const std::string xml = with(algo.text(), "srcbuf=\"o\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\"",
                               "srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\"");
  const MscclAlgorithm algorithm = read_msccl(xml, "a.xml");
  CHECK(algorithm.steps[1][0][0].source == Slice{Area::Input, 0, 1});
  CHECK(placed_steps(algorithm, MscclPlacement::InPlace)[1][0][0].source ==
        Slice{Area::Input, 1, 1});
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
    CHECK(step.source == (row.source ? std::optional(Slice{Area::Output, 0, 1}) : std::nullopt));
    CHECK(step.target == (row.target ? std::optional(Slice{Area::Output, 1, 1}) : std::nullopt));
    CHECK(step.combine == row.combine);
  }
}

TEST_CASE("MSCCL: a dependency names a step of another thread block of the gpu") {
  AlgoText algo = two_gather();
  algo.scratch = 1;
  algo.gpus[0] += BlockText{7, -1, -1, {StepText{0, "cpy", "o0", "s0", 1, 0, 1}.text()}}.text();
  const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
  CHECK(algorithm.steps[0][1][0].after == StepRef{Node(0), Channel(0), 1});
  CHECK(algorithm.blocks[0][0].id == 0);
  CHECK(algorithm.blocks[0][1].id == 7);
  CHECK(algorithm.blocks[0][1].steps[0].line == 8);
}

TEST_CASE("MSCCL: a dependency on an earlier step of the same thread block adds nothing") {
  const std::string xml =
      with(two_gather().text(), "dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\"",
           "dstoff=\"1\" cnt=\"1\" depid=\"0\" deps=\"0\"");
  CHECK_FALSE(read_msccl(xml, "a.xml").steps[0][0][1].after.has_value());
}

TEST_CASE("MSCCL: steps are numbered in the order of the file, whatever number they state") {
  const MscclAlgorithm algorithm =
      read_msccl(with(two_gather().text(), "<step s=\"0\"", "<step s=\"7\""), "a.xml");
  CHECK(algorithm.steps[0][0][0].to == Node(1));  // still the send
  const std::vector<MscclStepText>& steps = algorithm.blocks[0][0].steps;
  CHECK(steps[0].number == 0);
  CHECK(steps[0].stated == 7);
  CHECK(steps[1].stated == 1);
  REQUIRE(algorithm.notes.size() == 1);
  CHECK(algorithm.notes[0] ==
        "gpu 0 tb 0 step 0 (line 4) has s=\"7\": runtimes run the steps of a thread block in the "
        "order of the file and number them so, and deps names that number (1 step with another s)");
  CHECK(errors(with(two_gather().text(), "<step s=\"0\"", "<step s=\"-1\"")) ==
        "a.xml:4:1: /algo/gpu/0/tb/0/step/0/s: expected a whole number from 0 to 2147483647, got "
        "\"-1\"");
}

TEST_CASE("MSCCL: errors name their position") {
  const std::string good = two_gather().text();
  CHECK(errors(good) == "none");
  CHECK(errors("<algo") == "a.xml:1:5: the file ends within this element");
  CHECK(errors(good.substr(0, good.find(" deps"))).find("the file ends within this element") !=
        std::string::npos);
  CHECK(errors("<algo name=1></algo>") ==
        "a.xml:1:12: this is no XML: Error parsing element attribute");
  CHECK(errors("<xml/>") == "a.xml:1:1: expected an MSCCL algorithm, <algo>, got <xml>");
  CHECK(errors(with(good, "coll=\"allgather\"", "coll=\"gossip\"")) ==
        "a.xml:1:1: /algo/coll: expected allreduce, allgather, alltoall, reduce_scatter, "
        "broadcast, reduce, gather, scatter or custom, got \"gossip\"");
  CHECK(errors(with(good, " inplace", " inplce")) ==
        "a.xml:1:1: /algo/inplce: unknown attribute; did you mean \"inplace\"?\n"
        "a.xml:1:1: /algo: attribute \"inplace\" is missing");
  CHECK(errors(with(good, "ngpus=\"2\"", "ngpus=\"3\"")) ==
        "a.xml:1:1: /algo/ngpus: expected 2, as the file has 2 gpus, got 3");
  CHECK(errors(with(good, "nchunksperloop=\"2\"", "nchunksperloop=\"3\"")) ==
        "a.xml:1:1: /algo/nchunksperloop: expected a multiple of ngpus (2), got 3");
  CHECK(errors(with(good, "nchunksperloop=\"2\"", "nchunksperloop=\"02\"")) ==
        "a.xml:1:1: /algo/nchunksperloop: expected a whole number without a leading 0, which the "
        "runtimes read as octal, got \"02\"");
  CHECK(errors(with(good, " depid", " dpeid")) ==
        "a.xml:4:1: /algo/gpu/0/tb/0/step/0/dpeid: unknown attribute; did you mean \"depid\"?\n"
        "a.xml:4:1: /algo/gpu/0/tb/0/step/0: attribute \"depid\" is missing");
  CHECK(errors(with(good, "o_chunks=\"2\"", "o_chunks=\"3\"")) ==
        "a.xml:2:1: /algo/gpu/0/o_chunks: expected 2 (allgather over 2 gpus with nchunksperloop "
        "2), got 3");
  CHECK(errors(with(good, "send=\"1\"", "send=\"5\"")) ==
        "a.xml:3:1: /algo/gpu/0/tb/0/send: expected a whole number from -1 to 1, got \"5\"");
  CHECK(errors(with(good, "type=\"r\"", "type=\"rx\"")) ==
        "a.xml:5:1: /algo/gpu/0/tb/0/step/1/type: expected s, r, rcs, rrs, rrc, rrcs, cpy, re or "
        "nop, "
        "got \"rx\"");
  CHECK(errors(with(good, "dstoff=\"1\"", "dstoff=\"2\"")) ==
        "a.xml:5:1: /algo/gpu/0/tb/0/step/1/dstoff: expected chunks of buffer o, which has chunks "
        "0 to 1, got chunk 2");
  CHECK(errors(with(good, "depid=\"-1\"", "depid=\"4\"")) ==
        "a.xml:4:1: /algo/gpu/0/tb/0/step/0/depid: gpu 0 has no thread block 4");
}

TEST_CASE("MSCCL: what XML parsers let pass is an error with its position") {
  const std::string good = two_gather().text();
  CHECK(errors(good + "<algo/>") == "a.xml:15:1: expected one <algo> in a file, got a second one");
  CHECK(errors(good + "and more") ==
        "a.xml:15:1: expected an MSCCL algorithm, <algo>, and nothing else, got text");
  CHECK(errors("x" + good) ==
        "a.xml:1:1: expected an MSCCL algorithm, <algo>, and nothing else, got text");
  CHECK(errors("") == "a.xml:1:1: expected an MSCCL algorithm, <algo>, got no element");
  CHECK(errors(with(good, "<tb id=\"0\"", "here <tb id=\"0\"")) ==
        "a.xml:3:1: /algo/gpu/0: expected <tb>, got text");
  CHECK(errors(with(good, "ngpus=\"2\"", "ngpus=\"2\" ngpus=\"3\"")) ==
        "a.xml:1:1: /algo/ngpus: expected the attribute once, got it again");
  CHECK(errors(with(good, "name=\"small\"", "name=\"" + std::string(1025, 'n') + "\"")) ==
        "a.xml:1:1: /algo/name: expected at most 1024 B in a text, got 1025 B (--limit "
        "text=SIZE allows more)");
}

TEST_CASE("MSCCL: protocols and channels that there are not") {
  const std::string good = two_gather().text();
  CHECK(errors(with(good, "proto=\"LL\"", "proto=\"LL12\"")) ==
        "a.xml:1:1: /algo/proto: expected Simple, LL or LL128, got \"LL12\"");
  CHECK(errors(with(good, "chan=\"0\"", "chan=\"1\"")) ==
        "a.xml:3:1: /algo/gpu/0/tb/0/chan: expected a channel below nchannels (1), got 1");
  CHECK(errors(with(good, "minBytes=\"0\" maxBytes=\"0\"", "minBytes=\"9\" maxBytes=\"8\"")) ==
        "a.xml:1:1: /algo/maxBytes: expected at least minBytes, 9, or 0 for no limit, got 8");
}

TEST_CASE("MSCCL: attributes that nothing reads are taken, with one note each") {
  AlgoText algo = two_gather();
  algo.sizes = " minBytes=\"8\" maxBytes=\"0\"";
  algo.more = " maxcount=\"1\" nthreadblocks=\"24\"";
  std::string text = algo.text();
  for (int times = 0; times < 2; ++times)
    text = with(text, "hasdep=\"1\"/>", "hasdep=\"1\" dep=\"0\" />");
  const MscclAlgorithm algorithm = read_msccl(text, "a.xml");
  // "dep" is like "deps", which exists.
  CHECK(algorithm.notes ==
        std::vector<std::string>{"maxcount of <algo> is not read: the runtimes ignore it",
                                 "nthreadblocks of <algo> is not read: the runtimes ignore it",
                                 "dep of <step> is not read: the runtimes ignore it"});
  CHECK(algorithm.least_size == Bytes(8));
  CHECK_FALSE(algorithm.most_size.has_value());
  CHECK(read_msccl(two_gather().text(), "a.xml").notes.empty());
}

TEST_CASE("MSCCL: both spellings of a reduce-scatter are read") {
  AlgoText scatter;
  scatter.input = 2;
  scatter.output = 0;
  scatter.gpus = {BlockText{0, -1, -1, {}}.text(), BlockText{0, -1, -1, {}}.text()};
  for (const char* const word : {"reducescatter", "reduce_scatter"}) {
    scatter.coll = word;
    const MscclAlgorithm algorithm = read_msccl(scatter.text(), "a.xml");
    CHECK(algorithm.collective == MscclCollective::ReduceScatter);
    CHECK(algorithm.notes.empty());
  }
}

TEST_CASE("MSCCL: a file that no call uses, and one that writes its caller's input, have a note") {
  AlgoText algo = two_gather();
  algo.in_place = algo.out_of_place.emplace(false);
  algo.input = 1;
  CHECK(read_msccl(algo.text(), "a.xml").notes ==
        std::vector<std::string>{
            "inplace and outofplace are both 0: no call would use it; it is judged out of place"});
  algo.out_of_place = true;
  CHECK(read_msccl(algo.text(), "a.xml").notes.empty());
  algo.gpus[0] += BlockText{1, -1, -1, {StepText{0, "cpy", "o0", "i0"}.text()}}.text();
  CHECK(read_msccl(algo.text(), "a.xml").notes ==
        std::vector<std::string>{"gpu 0 tb 1 step 0 (cpy, line 8) writes buffer i, which out of "
                                 "place is the caller's input"});
  algo.in_place = true;
  algo.out_of_place = false;
  algo.input = 0;
  CHECK(read_msccl(algo.text(), "a.xml").notes.empty());
}

TEST_CASE("MSCCL: with inplace and outofplace both 1 the file may be called either way") {
  AlgoText algo = ring_gather(2, 1);
  algo.in_place = true;
  algo.out_of_place = true;
  CHECK(placements(read_msccl(algo.text(), "a.xml")) ==
        std::vector{MscclPlacement::OutOfPlace, MscclPlacement::InPlace});
  algo.out_of_place = false;
  CHECK(placements(read_msccl(algo.text(), "a.xml")) == std::vector{MscclPlacement::InPlace});
  algo.in_place = false;
  CHECK(placements(read_msccl(algo.text(), "a.xml")) == std::vector{MscclPlacement::OutOfPlace});
}

std::vector<size_t> chains(const std::vector<ParsedStep>& steps) {
  std::vector<size_t> sizes;
  for (const Transfer& transfer : transfers_of(steps).transfers)
    sizes.push_back(transfer.steps.size());
  return sizes;
}

TEST_CASE("MSCCL: a chain of re ends with the sixteenth re of its thread block") {
  ParsedStep re{"re", false, false, Slice{Area::Scratch, 0, 1}, Slice{Area::Output, 0, 1}};
  CHECK(chains(std::vector(15, re)) == std::vector<size_t>{15});
  CHECK(chains(std::vector(20, re)) == std::vector<size_t>{16, 4});
  std::vector<ParsedStep> after(20, re);
  for (ParsedStep& first : std::span(after).first(3))
    first.sets_flag = true;
  CHECK(chains(after) == std::vector<size_t>{1, 1, 1, 13, 4});
  // Another place, buffer or type ends a chain; other chunks of the source do not.
  ParsedStep other = re;
  other.source->first = 7;
  CHECK(chains({re, other}) == std::vector<size_t>{2});
  other.source->area = Area::Input;
  CHECK(chains({re, other}) == std::vector<size_t>{1, 1});
  other = re;
  other.target->first = 1;
  CHECK(chains({re, other, re}) == std::vector<size_t>{1, 1, 1});
  other.type = "cpy";
  CHECK(chains({re, other, re}) == std::vector<size_t>{1, 1, 1});
}

TEST_CASE(
    "MSCCL: what follows from a wrong number of a thread block or gpu is no error of its own") {
  // Each of the three chunks that go round is added, stored and sent on.
  AlgoText ring = three_ring();
  ring.scratch = 1;
  ring.gpus[1] += BlockText{1, -1, -1, {StepText{0, "cpy", "i0", "s0"}.text()}}.text();
  const std::string good = ring.text();
  for (const char* const peer : {"send", "recv"})
    for (const char* const wrong : {"x", "99"}) {
      const std::string attribute = std::string(peer) + "=\"";
      const size_t at = good.find(attribute) + attribute.size();
      std::string text = good;
      text.replace(at, 1, wrong);
      CHECK(errors(text) == "a.xml:3:1: /algo/gpu/0/tb/0/" + std::string(peer) +
                                ": expected a whole number from -1 to 2, got \"" + wrong + "\"");
    }
  CHECK(
      errors(with(good, "send=\"1\"", "send=\"-1\"")) ==
      "a.xml:4:1: /algo/gpu/0/tb/0/step/0/type: s sends, and the thread block has no send peer\n"
      "a.xml:5:1: /algo/gpu/0/tb/0/step/1/type: rrs sends, and the thread block has no send "
      "peer\n"
      "a.xml:6:1: /algo/gpu/0/tb/0/step/2/type: rrcs sends, and the thread block has no send "
      "peer\n"
      "a.xml:7:1: /algo/gpu/0/tb/0/step/3/type: rcs sends, and the thread block has no send peer");
  // Two thread blocks have the same peer, and one of the blocks has no channel.
  ring.gpus[0] += BlockText{1, 1, 2, {}, 1}.text();
  ring.channels = 2;
  CHECK(
      errors(with(ring.text(), "chan=\"1\"", "chan=\"x\"")) ==
      "a.xml:10:1: /algo/gpu/0/tb/1/chan: expected a whole number from 0 to 2147483647, got \"x\"");
  CHECK(
      errors(with(good, "id=\"1\" i_chunks=\"3\" o_chunks=\"0\" s_chunks=\"1\"",
                  "id=\"1\" i_chunks=\"3\" o_chunks=\"0\" s_chunks=\"x\"")) ==
      "a.xml:11:1: /algo/gpu/1/s_chunks: expected a whole number from 0 to 2147483647, got \"x\"");
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
