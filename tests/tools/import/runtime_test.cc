// How runtimes cut and carry messages, and their limits.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "tests/tools/import/xml.h"
#include "tools/import/message_cut.h"
#include "tools/import/prove.h"

namespace orrery::test {
namespace {

const Check& named(const AlgorithmProof& proof, const std::string& name) {
  for (const Check& each : proof.checks)
    if (each.name == name)
      return each;
  FAIL("no check " << name);
  return proof.checks.front();
}

bool has_note(const AlgorithmProof& proof, const std::string& text) {
  return std::any_of(proof.notes.begin(), proof.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

TEST_CASE("runtimes: the slots that RCCL's and MSCCL's headers give") {
  const Runtime& rccl = *runtime_named("rccl");
  const Runtime& msccl = *runtime_named("msccl");
  // Simple: 4 MiB in 8 steps, four a message.
  CHECK(rccl.form(MscclProtocol::Simple).slot == Bytes(2 << 20));
  CHECK(msccl.form(MscclProtocol::Simple).slot == Bytes(2 << 20));
  // LL: 8 lines of 16 B a thread, half of which are data; 256 threads in RCCL, 512 in MSCCL.
  CHECK(rccl.form(MscclProtocol::LL).slot == Bytes(16 << 10));
  CHECK(msccl.form(MscclProtocol::LL).slot == Bytes(32 << 10));
  // LL128: 28 words of 8 B for 256 threads, 7 of 8 data; 120 for 640 threads, 15 of 16 data.
  CHECK(rccl.form(MscclProtocol::LL128).slot == Bytes(50'176));
  CHECK(msccl.form(MscclProtocol::LL128).slot == Bytes(576'000));
  CHECK(runtime_named("nccl") == nullptr);
}

TEST_CASE("runtimes: a message has the chunks that fit a slot, or a slot of one chunk") {
  const MscclAlgorithm algorithm = read_msccl(two_gather().text(), "a.xml");  // LL
  const auto cut = [&](int64_t chunk_bytes) {
    return message_cut(algorithm, *runtime_named("rccl"), chunk_bytes / 4, Bytes(4));
  };
  CHECK(cut(16 << 10).chunks == 1);  // just one slot
  CHECK(cut(16 << 10).elements == 4096);
  CHECK(cut((16 << 10) + 4).chunks == 1);
  CHECK(cut((16 << 10) + 4).elements == 4096);  // and one element in a second iteration
  CHECK(cut(8 << 10).chunks == 2);
  CHECK(cut((8 << 10) + 4).chunks == 1);
  CHECK(cut((8 << 10) + 4).elements == 2049);
  CHECK(cut(4).chunks == 71);  // MSCCL_MAX_COUNT - 1
  CHECK(message_cut(algorithm, *runtime_named("none"), 1 << 20, Bytes(4)).elements == 1 << 20);
}

/// Two gpus exchange four chunks each, in one message.
AlgoText four_at_once() {
  AlgoText algo;
  algo.chunks = 8;
  algo.output = 8;
  algo.gpus = {
      BlockText{
          0, 1, 1, {StepText{0, "s", "o0", "o0", 4}.text(), StepText{1, "r", "o4", "o4", 4}.text()}}
          .text(),
      BlockText{
          0, 0, 0, {StepText{0, "s", "o4", "o4", 4}.text(), StepText{1, "r", "o0", "o0", 4}.text()}}
          .text()};
  return algo;
}

TEST_CASE("runtimes: a message of several slots needs as many where both sides send first") {
  const MscclAlgorithm algorithm = read_msccl(four_at_once().text(), "a.xml");
  ProofRequest request;
  const auto least = [&](int64_t chunk_bytes) {
    request.size = Bytes(8 * chunk_bytes);
    return prove_algorithm(algorithm, request).least_slots;
  };
  CHECK(least(4 << 10) == 1);   // four chunks fit a slot of 16 KiB
  CHECK(least(8 << 10) == 2);   // two do
  CHECK(least(16 << 10) == 4);  // one does
  CHECK(least(1 << 20) == 4);   // 64 iterations: each ends before it waits for the next one
  request.runtime = runtime_named("none");
  CHECK(least(1 << 20) == 1);
}

TEST_CASE("runtimes: how messages are cut is said") {
  const MscclAlgorithm algorithm = read_msccl(four_at_once().text(), "a.xml");
  CHECK(has_note(prove_algorithm(algorithm, {8U, Bytes(8 << 13)}),
                 "a message has at most 2 chunks of 8 KiB"));
  CHECK(has_note(prove_algorithm(algorithm, {8U, Bytes(8 << 20)}),
                 "a chunk of 1 MiB is cut, and all steps run 64 times"));
  CHECK(has_note(prove_algorithm(algorithm, {8U, Bytes(8 << 12)}),
                 "LL in rccl: a slot holds 16 KiB of data"));
}

TEST_CASE("runtimes: messages of any number of chunks do not take memory for each piece") {
  AlgoText algo = four_at_once();
  algo.chunks = algo.output = 2'000'000'000;
  for (std::string& gpu : algo.gpus)
    for (const char* const count : {"cnt=\"4\"", "cnt=\"4\""})
      gpu.replace(gpu.find(count), 7, "cnt=\"1000000000\"");
  const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
  CHECK_THROWS_WITH_AS(
      prove_algorithm(algorithm, {}),
      "a.xml: /algo: expected at most 2097152 steps with messages of at most 1 chunk, got "
      "4000000000 (--size SIZE judges one size)",
      InputError);
  ProofRequest request;
  request.runtime = runtime_named("none");
  CHECK(prove_algorithm(algorithm, request).least_slots == 1);
}

TEST_CASE("runtimes: a size outside the file's is said, and the default is inside") {
  AlgoText algo = two_gather();
  algo.sizes = " minBytes=\"64\" maxBytes=\"4100\"";
  const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
  CHECK(has_note(prove_algorithm(algorithm, {2, Bytes(8192)}),
                 "8 KiB is more than the file is for: from 64 B to 4100 B"));
  CHECK(has_note(prove_algorithm(algorithm, {2, Bytes(8)}), "8 B is less than the file is for"));
  CHECK_FALSE(has_note(prove_algorithm(algorithm, {2, Bytes(64)}), "than the file is for"));
  CHECK(prove_algorithm(algorithm, {}).size == Bytes(4096));  // whole elements of 8 B
  // Two chunks of whole f32 elements. What was asked for is inside, though what is judged is not.
  const AlgorithmProof rounded = prove_algorithm(algorithm, {2, Bytes(4097)});
  CHECK(has_note(rounded, "4097 B is rounded up to 4104 B: 2 chunks of whole f32 elements"));
  CHECK_FALSE(has_note(rounded, "than the file is for"));
  algo.sizes = " minBytes=\"65\" maxBytes=\"65\"";
  CHECK(has_note(prove_algorithm(read_msccl(algo.text(), "a.xml"), {}),
                 "no size from 65 B to 65 B divides into 2 chunks"));
  algo.sizes = " minBytes=\"2097152\" maxBytes=\"0\"";
  CHECK(prove_algorithm(read_msccl(algo.text(), "a.xml"), {}).size == Bytes(2 << 20));
  CHECK(prove_algorithm(read_msccl(two_gather().text(), "a.xml"), {}).size == Bytes(1 << 20));
}

TEST_CASE("runtimes: LL takes twice as long on a link as Simple, and LL128 8/7 as long in RCCL") {
  // 7,000 B at 7 GB/s: 1 us. The other half of the buffer goes the other way.
  const Cluster cluster{
      "ring of 2", ring_fabric(2, {BytesPerSecond(7'000'000'000), Duration(0)}), {}};
  const auto took = [&](const std::string& protocol, const char* runtime) {
    AlgoText algo = two_gather();
    algo.protocol = protocol;
    ProofRequest request{2, Bytes(14'000), &cluster, runtime_named(runtime)};
    const AlgorithmProof proof = prove_algorithm(read_msccl(algo.text(), "a.xml"), request);
    REQUIRE(proof.time.has_value());
    return (proof.time->completion.makespan - Instant()).count();
  };
  CHECK(took("Simple", "rccl") == 1'000'000);
  CHECK(took("LL", "rccl") == 2'000'000);
  CHECK(took("LL128", "rccl") == 1'142'858);  // 7,000 B at 6.125 GB/s, rounded up
  CHECK(took("LL", "none") == 1'000'000);
}

TEST_CASE("runtimes: the iterations of cut messages come one after another") {
  // Three iterations of 1,000 B each way, 1 us each, and 10 us of latency. A gpu sends in an
  // iteration only after it has received in the one before.
  const Cluster cluster{
      "ring of 2", ring_fabric(2, {BytesPerSecond(1'000'000'000), Duration(10'000'000)}), {}};
  Runtime small = *runtime_named("none");
  small.limits = runtime_named("rccl")->limits;
  for (MessageForm& form : small.forms)
    form.slot = Bytes(1000);
  const MscclAlgorithm algorithm = read_msccl(two_gather().text(), "a.xml");
  const auto took = [&](uint32_t slots, const Runtime& runtime) {
    const AlgorithmProof proof =
        prove_algorithm(algorithm, {slots, Bytes(6000), &cluster, &runtime});
    REQUIRE(proof.time.has_value());
    return (proof.time->completion.makespan - Instant()).count();
  };
  CHECK(took(2, small) == 33'000'000);
  CHECK(took(2, *runtime_named("none")) == 13'000'000);
}

TEST_CASE("runtimes: what is beyond a limit is named, and --runtime none asks for no limits") {
  AlgoText algo = two_gather();
  algo.scratch = 1;
  std::vector<std::string> steps;
  for (int s = 0; s < 65; ++s)
    steps.push_back(StepText{s, "cpy", "o0", "s0"}.text());
  const auto proof = [&](const char* runtime, size_t count) {
    AlgoText with = algo;
    with.gpus[0] +=
        BlockText{1, -1, -1, {steps.begin(), steps.begin() + static_cast<int>(count)}}.text();
    ProofRequest request;
    request.runtime = runtime_named(runtime);
    return prove_algorithm(read_msccl(with.text(), "a.xml"), request);
  };
  CHECK(proof("rccl", 64).holds);
  CHECK(proof("msccl", 65).holds);
  CHECK(proof("none", 65).holds);
  CHECK(proof("none", 65).checks.size() == 3);
  const AlgorithmProof beyond = proof("rccl", 65);
  CHECK_FALSE(beyond.holds);
  const Check& check = named(beyond, "RUNTIME.LIMITS");
  REQUIRE(check.witness.size() == 1);
  CHECK(check.witness[0] ==
        std::pair<std::string, std::string>("steps", "gpu 0 tb 1 has 65, at most 64"));
  CHECK(named(beyond, "DEADLOCK.FREE").holds());
}

TEST_CASE("runtimes: counts and ids of thread blocks have limits too") {
  AlgoText algo = two_gather();
  algo.scratch = 72;
  algo.chunks = 144;
  algo.output = 144;
  algo.gpus[0] += BlockText{5, -1, -1, {StepText{0, "cpy", "o0", "s0", 72}.text()}}.text();
  const Check check =
      named(prove_algorithm(read_msccl(algo.text(), "a.xml"), {}), "RUNTIME.LIMITS");
  REQUIRE(check.witness.size() == 2);
  CHECK(check.witness[0].second ==
        "gpu 0 has 2 thread blocks and one of them the id 5: expected ids from 0 to 1");
  CHECK(check.witness[1].second == "gpu 0 tb 5 step 0 (line 8) has 72 chunks, at most 71");
}

/// RUNTIME.LIMITS of two_gather() after `change` of its text.
Check limits_of(const std::string& from, const std::string& to, const char* runtime = "rccl") {
  std::string text = two_gather().text();
  text.replace(text.find(from), from.size(), to);
  ProofRequest request;
  request.runtime = runtime_named(runtime);
  return named(prove_algorithm(read_msccl(text, "a.xml"), request), "RUNTIME.LIMITS");
}

using Row = std::pair<std::string, std::string>;

TEST_CASE("runtimes: what a parser does not read of <algo> is named") {
  CHECK(limits_of("small", "small").holds());
  CHECK(limits_of("small", "small", "msccl").holds());
  CHECK(limits_of(" minBytes=\"0\"", "").witness.front() == Row("algo", "it needs minBytes"));
  CHECK(limits_of(" outofplace=\"0\" minBytes=\"0\" maxBytes=\"0\"", "").witness.front() ==
        Row("algo", "it needs minBytes, maxBytes, outofplace"));
  CHECK(limits_of(" outofplace=\"0\" minBytes=\"0\" maxBytes=\"0\"", "", "msccl").holds());
  // Only the first 16 attributes are read.
  std::string many;
  for (char c = 'a'; c <= 'h'; ++c)
    many += std::string(" more_") + c + "=\"\"";
  CHECK(limits_of(" outofplace", many + " outofplace").witness.front().second ==
        "it needs minBytes, maxBytes");
}

TEST_CASE("runtimes: each spells its collectives, and a file goes to the one that reads it") {
  AlgoText algo;
  algo.input = 2;
  algo.output = 0;
  algo.gpus = {
      BlockText{0, 1, 1, {StepText{0, "s", "i1"}.text(), StepText{1, "rrc", "i0", "i0"}.text()}}
          .text(),
      BlockText{0, 0, 0, {StepText{0, "s", "i0"}.text(), StepText{1, "rrc", "i1", "i1"}.text()}}
          .text()};
  const auto proof = [&](const char* coll, const char* runtime) {
    algo.coll = coll;
    ProofRequest request;
    request.runtime = runtime == nullptr ? nullptr : runtime_named(runtime);
    return prove_algorithm(read_msccl(algo.text(), "a.xml"), request);
  };
  CHECK(proof("reducescatter", "rccl").holds);
  CHECK(proof("reduce_scatter", "msccl").holds);
  CHECK(named(proof("reduce_scatter", "rccl"), "RUNTIME.LIMITS").witness.front().second ==
        "coll=\"reduce_scatter\" is none of its collectives, it is \"reducescatter\" there");
  CHECK(named(proof("reducescatter", "msccl"), "RUNTIME.LIMITS").witness.front().second ==
        "coll=\"reducescatter\" is none of its collectives, it is \"reduce_scatter\" there");
  const AlgorithmProof unasked = proof("reduce_scatter", nullptr);
  CHECK(unasked.holds);
  CHECK(
      has_note(unasked, "judged for msccl: rccl does not read the file (coll=\"reduce_scatter\""));
  CHECK_FALSE(has_note(proof("reducescatter", nullptr), "judged for"));
}

TEST_CASE("runtimes: the steps' attributes that parsers need and this reader does not") {
  // A send has no target.
  CHECK(limits_of(" dstbuf=\"o\"", "").witness.front() ==
        Row("dstbuf", "gpu 0 tb 0 step 0 (line 4) lacks it"));
  CHECK(limits_of(" dstbuf=\"o\"", " dstbuf=\"x\"").witness.front() ==
        Row("dstbuf", "gpu 0 tb 0 step 0 (line 4) has \"x\", not i, o or s"));
  CHECK(limits_of(" dstbuf=\"o\"", "", "msccl").verdict == Verdict::Fails);
}

TEST_CASE("runtimes: a buffer that the file declares as empty must not be used") {
  // In place, i and o are one buffer, and this file declares o.
  CHECK(limits_of("srcbuf=\"o\"", "srcbuf=\"i\"").witness.front() ==
        Row("i_chunks",
            "gpu 0 tb 0 step 0 (line 4) uses chunk 0 of buffer i, and i_chunks of gpu 0 is 0"));
}

TEST_CASE("runtimes: MSCCL's custom collectives have nchunksperloop chunks of a buffer, or none") {
  AlgoText algo;
  algo.coll = "custom";
  algo.in_place = false;
  algo.chunks = 2;
  algo.gpus = {BlockText{0, -1, -1, {StepText{0, "cpy", "i0", "o0"}.text()}}.text()};
  const auto limits = [&](int input, int output) {
    algo.input = input;
    algo.output = output;
    const MscclAlgorithm algorithm = read_msccl(algo.text(), "a.xml");
    const ChunkDefinition definition =
        read_definition(R"({"outputs": [[0, 0, [[0, 0]]]]})", "d.json", algorithm);
    ProofRequest request;
    request.definition = &definition;
    return named(prove_algorithm(algorithm, request), "RUNTIME.LIMITS");
  };
  CHECK(limits(2, 2).holds());
  CHECK(limits(1, 2).witness.front() ==
        Row("i_chunks", "gpu 0 has 1: expected nchunksperloop (2) or 0"));
  CHECK(limits(2, 3).witness.front() ==
        Row("o_chunks", "gpu 0 has 3: expected nchunksperloop (2) or 0"));
}

TEST_CASE("runtimes: channels have a limit") {
  CHECK(limits_of("nchannels=\"1\"", "nchannels=\"128\"").holds());
  CHECK(limits_of("nchannels=\"1\"", "nchannels=\"129\"").witness.front() ==
        Row("channels", "nchannels is 129, at most 128"));
  CHECK(limits_of("nchannels=\"1\"", "nchannels=\"33\"", "msccl").witness.front() ==
        Row("channels", "nchannels is 33, at most 32"));
}

TEST_CASE("runtimes: XML that their parsers do not read") {
  CHECK(limits_of("<gpu", "\t<gpu").witness.front() ==
        Row("text", "line 2 has a tab before an element"));
  CHECK(limits_of("<gpu ", "<gpu\t").witness.front().second ==
        "line 2 has a tab within an element");
  CHECK(limits_of("<gpu ", "<gpu\n").witness.front().second ==
        "line 2 has attributes that are not divided by a space");
  CHECK(limits_of("\"LL\"", "'LL'").witness.front().second ==
        "line 1 has an attribute without double quotes");
  CHECK(limits_of("<algo", "<?xml version=\"1.0\"?><algo").witness.front().second ==
        "line 1 has a declaration");
  CHECK(limits_of("<algo", "<!--a=b--><algo").witness.front().second ==
        "line 1 has a comment whose first word has a =");
  CHECK(limits_of("small", std::string(255, 'n')).witness.front().second ==
        "line 1 has an attribute of more than 254 letters");
  CHECK(limits_of("small", std::string(254, 'n')).holds());
  CHECK(limits_of("coll=\"all", "coll=\"&#97;ll").witness.front().second ==
        "line 1 has an entity (&..;), which is not decoded");
  CHECK(limits_of("small", "a &amp; b").holds());  // the name is not read
  // A space that no attribute follows is taken for one, and 16 are kept.
  CHECK(limits_of("<gpu id", "<gpu            id").holds());
  CHECK(limits_of("<gpu id", "<gpu              id").witness.front().second ==
        "line 2 has spaces that leave no room for attributes");
  CHECK(limits_of("<algo", "<!-- a=b\n-->\r\n <algo").holds());
  CHECK(limits_of("hasdep=\"1\"/>", "hasdep=\"1\" ></step >").witness.front().second ==
        "line 4 has a space in a closing tag");
  CHECK(limits_of("hasdep=\"1\"/>", "hasdep=\"1\" ></step>").holds());
}

TEST_CASE("runtimes: a gpu reads at most 4,095 XML elements") {
  // <algo>, two <gpu>, the first thread block with its two steps, and others of 64 steps.
  AlgoText algo = two_gather();
  algo.scratch = 1;
  const auto limits = [&](int steps_of_last) {
    AlgoText with = algo;
    for (int b = 1; b <= 63; ++b) {
      BlockText block{b, -1, -1, {}};
      for (int s = 0; s < (b == 63 ? steps_of_last : 64); ++s)
        block.steps.push_back(StepText{s, "nop"}.text());
      with.gpus[0] += block.text();
    }
    return named(prove_algorithm(read_msccl(with.text(), "a.xml"), {}), "RUNTIME.LIMITS");
  };
  const int rest = 4095 - (1 + 2 + 1 + 2 + 62 * 65 + 1);
  CHECK(limits(rest).holds());
  CHECK(limits(rest + 1).witness.front() ==
        Row("XML elements",
            "gpu 0 reads 4096 (<algo>, every <gpu>, its <tb> and <step>), at most 4095"));
}

TEST_CASE("runtimes: thread blocks with a peer are counted, whether they have steps or not") {
  AlgoText algo = two_gather();
  algo.gpus.assign(40, "");
  algo.chunks = algo.output = 40;
  const auto limits = [&](int blocks) {
    algo.gpus[0].clear();
    for (int b = 0; b < blocks; ++b)
      algo.gpus[0] += BlockText{b, -1, b + 1, {}}.text();
    return named(prove_algorithm(read_msccl(algo.text(), "a.xml"), {}), "RUNTIME.LIMITS");
  };
  CHECK(limits(32).holds());
  CHECK(limits(33).witness.front() ==
        Row("peers", "gpu 0 has 33 thread blocks with a recv peer on channel 0, at most 32"));
}

TEST_CASE("runtimes: that rccl reads fused steps and has no kernel for them is noted") {
  const auto note = [](const char* runtime) {
    ProofRequest request;
    request.runtime = runtime_named(runtime);
    return has_note(prove_algorithm(read_msccl(three_ring().text(), "a.xml"), request),
                    "rccl reads the file but has no kernel for rcs, rrs, rrc and rrcs (line 5 has "
                    "rrs): a call of it would be an error");
  };
  CHECK(note("rccl"));
  CHECK_FALSE(note("msccl"));
  CHECK_FALSE(has_note(prove_algorithm(read_msccl(two_gather().text(), "a.xml"), {}), "no kernel"));
}

}  // namespace
}  // namespace orrery::test
