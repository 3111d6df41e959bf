// Tests which files a runtime accepts, and to which runtime a file goes.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "models/base/diagnostics.h"
#include "tests/tools/import/proof_parts.h"
#include "tests/tools/import/xml.h"
#include "tools/import/prove.h"

namespace orrery::test {
namespace {
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

/// Returns the check RUNTIME.LIMITS of two_gather() with `from` replaced by `to` in its text.
Check limits_of(const std::string& from, const std::string& to, const char* runtime = "rccl") {
  std::string text = two_gather().text();
  text.replace(text.find(from), from.size(), to);
  ProofRequest request;
  request.runtime = runtime_named(runtime);
  return named(prove_algorithm(read_msccl(text, "a.xml"), request), "RUNTIME.LIMITS");
}

using Row = std::pair<std::string, std::string>;

TEST_CASE("runtimes: a step states any number below the most steps of a thread block") {
  CHECK(limits_of("<step s=\"0\"", "<step s=\"63\"").holds());
  CHECK(limits_of("<step s=\"0\"", "<step s=\"64\"").witness.front() ==
        Row("s", "gpu 0 tb 0 step 0 (line 4) has 64, at most 63"));
  CHECK(limits_of("<step s=\"0\"", "<step s=\"255\"", "msccl").holds());
  CHECK(limits_of("<step s=\"0\"", "<step s=\"256\"", "msccl").witness.front() ==
        Row("s", "gpu 0 tb 0 step 0 (line 4) has 256, at most 255"));
}

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

TEST_CASE("runtimes: MSCCL refuses sizes from above their end, and reads nthreads") {
  const std::string none = " minBytes=\"0\" maxBytes=\"0\"";
  CHECK(limits_of(none, " minBytes=\"8\" maxBytes=\"0\"", "msccl").witness.front() ==
        Row("algo", "minBytes is 8, above maxBytes, 0"));
  CHECK(limits_of(none, " minBytes=\"8\" maxBytes=\"0\"", "rccl").holds());  // 0: no limit
  // Without maxBytes, the limit is 128 MiB.
  CHECK(limits_of(none, " minBytes=\"134217729\"", "msccl").witness.front() ==
        Row("algo", "minBytes is 134217729, above maxBytes, 134217728"));
  CHECK(limits_of(none, none + " nthreads=\"96\"", "msccl").holds());
  CHECK(limits_of(none, none + " nthreads=\"100\"", "msccl").witness.front() ==
        Row("algo", "nthreads is 100: it needs a multiple of 32"));
  CHECK(limits_of(none, none + " nthreads=\"100\"", "rccl").holds());
}

TEST_CASE("runtimes: MSCCL uses a file below maxBytes, and in place alone where inplace is 1") {
  AlgoText algo = two_gather();
  algo.out_of_place = true;
  const auto proof = [&](const std::string& sizes, const char* runtime) {
    algo.sizes = sizes;
    ProofRequest request;
    request.runtime = runtime_named(runtime);
    return prove_algorithm(read_msccl(algo.text(), "a.xml"), request);
  };
  const auto sizes = [&](const std::string& given, const char* runtime) {
    const std::string message = named(proof(given, runtime), "DEADLOCK.FREE").message;
    return message.substr(message.find(" at every size"), message.find(';') - message.find(" at "));
  };
  const std::string given = R"( minBytes="64" maxBytes="4096")";
  CHECK(sizes(given, "msccl") == " at every size from 64 B to below 4 KiB");
  CHECK(sizes(given, "rccl") == " at every size from 64 B to 4 KiB");
  CHECK(sizes("", "msccl") == " at every size up to below 128 MiB");
  CHECK(has_note(proof(R"( minBytes="0" maxBytes="0")", "msccl"),
                 "no size is below maxBytes, 0: msccl uses the file only where it is registered"));
  CHECK(proof(given, "msccl").checks.size() == 4);  // of one placement
  CHECK(proof(given, "rccl").checks.size() == 6);
}

TEST_CASE("runtimes: a file without a name is for RCCL") {
  CHECK(limits_of(" name=\"small\"", "", "rccl").holds());
  CHECK(limits_of(" name=\"small\"", "", "msccl").witness.front() == Row("algo", "it needs name"));
}

TEST_CASE("runtimes: offsets and ids of thread blocks to wait for have few bits") {
  const auto witness = [](int offset, int waited) {
    AlgoText algo = two_gather();
    algo.scratch = 40000;
    const std::string at = "s" + std::to_string(offset);
    algo.gpus[0] += BlockText{1, -1, -1, {StepText{0, "cpy", "o0", at}.text()}}.text();
    for (int id = 2; id <= 128; ++id)
      algo.gpus[0] +=
          BlockText{id, -1, -1, {StepText{0, "cpy", "o0", "s" + std::to_string(id)}.text()}}.text();
    algo.gpus[0] +=
        BlockText{129, -1, -1, {StepText{0, "cpy", "o0", "s500", 1, waited, 0}.text()}}.text();
    ProofRequest request;
    request.runtime = runtime_named("msccl");
    return named(prove_algorithm(read_msccl(algo.text(), "a.xml"), request), "RUNTIME.LIMITS")
        .witness;
  };
  CHECK(witness(32767, 127).empty());
  const auto beyond = witness(32768, 128);
  REQUIRE(beyond.size() == 2);
  CHECK(beyond[0].first == "dstoff");
  CHECK(beyond[0].second.find(" has 32768, at most 32767 (16 bits with a sign)") !=
        std::string::npos);
  CHECK(beyond[1].first == "depid");
  CHECK(beyond[1].second.find(" waits for tb 128, at most 127 (8 bits with a sign)") !=
        std::string::npos);
}

TEST_CASE("runtimes: texts that RCCL's parser does not read") {
  std::string junk;
  for (char c = 'a'; c <= 'p'; ++c)
    junk += std::string(" more_") + c + "=\"\"";
  CHECK(limits_of("<tb id", "<tb" + junk + " id").witness.front() ==
        Row("id", "gpu 0 tb 0 (line 3) has 16 attributes before it, and no more are read"));
  CHECK(limits_of("<gpu id", "<gpu" + junk + " id").witness.front() ==
        Row("id", "gpu 0 (line 2) has 16 attributes before it, and no more are read"));
  CHECK(limits_of("hasdep=\"1\"/>", "hasdep=\"1\"><x/></step>").witness.front() ==
        Row("step", "gpu 0 tb 0 step 0 (line 4) has an element in it"));
  const auto comment = [](size_t letters) {
    return "<!--" + std::string(letters, '-') + "-->\n<algo";
  };
  CHECK(limits_of("<algo", comment(249)).holds());  // !-- and -- count too
  CHECK(limits_of("<algo", comment(250)).witness.front().second ==
        "line 1 has a comment whose first word has more than 251 letters");
}

TEST_CASE("runtimes: each spells its collectives, and a file goes to the one that reads it") {
  AlgoText algo = two_reduce_scatter();
  const auto proof = [&](const char* coll, const char* runtime) {
    algo.coll = coll;
    ProofRequest request;
    request.runtime = runtime == nullptr ? nullptr : runtime_named(runtime);
    return prove_algorithm(read_msccl(algo.text(), "a.xml"), request);
  };
  CHECK(named(proof("reducescatter", "rccl"), "RUNTIME.LIMITS").witness.front().first == "type");
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
  const auto text = [](const std::string& from, const std::string& to) {
    const Check limits = limits_of(from, to);
    REQUIRE(limits.witness.size() == 1);
    return limits.witness.front();
  };
  CHECK(text("<algo", "\xEF\xBB\xBF<algo") ==
        Row("text", "line 1 has a byte order mark (BOM); expected <"));
  CHECK(text("<gpu", "\t<gpu").second ==
        "line 2 has a tab before an element; expected spaces or line breaks");
  CHECK(text("<algo", "<?xml version=\"1.0\"?><algo").second ==
        "line 1 has a declaration (<? or <!); expected an element");
  CHECK(text("\"LL\"", "'LL'").second ==
        "line 1 has single quotes; expected double quotes around a value");
  // The space is between the attributes of the first step.
  for (const auto& [between, name] : {std::pair("\t", "a tab"), std::pair("\n", "a line break"),
                                      std::pair("\r\n", "a line break")}) {
    const std::string found = std::string("line 4 has ") + name;
    const std::string type = "type=\"s\"";
    CHECK(text(" " + type, between + type).second ==
          found + " within an element; expected a space before each attribute");
    CHECK(text("<step ", std::string("<step") + between).second ==
          found + " within an element; expected a space before each attribute");
    CHECK(text(type, std::string("type=") + between + "\"s\"").second ==
          found + " after =; expected a double quote");
    CHECK(text(type, std::string("type") + between + "=\"s\"").second ==
          found + " before =; expected the = right after the name");
  }
  CHECK(text("type=\"s\"", "type= \"s\"").second ==
        "line 4 has a space after =; expected a double quote");
  // The parser reads these as a name without a value, and a value without a name.
  CHECK(text("type=\"s\"", "type =\"s\"").second ==
        "line 4 has a space before =; expected the = right after the name");
  CHECK(limits_of("name=", "name =").holds());  // the name is not read
  CHECK(text("hasdep=\"1\"/>", "hasdep=\"1\"\n/>").second ==
        "line 4 has a line break within an element; expected a space before each attribute");
  CHECK(limits_of("<algo", "<!--a=b--><algo").witness.front().second ==
        "line 1 has a comment whose first word has a =");
  CHECK(limits_of("small", std::string(255, 'n')).witness.front().second ==
        "line 1 has an attribute of more than 254 letters");
  CHECK(limits_of("small", std::string(254, 'n')).holds());
  CHECK(limits_of("coll=\"all", "coll=\"&#97;ll").witness.front().second ==
        "line 1 has an entity (&..;), which is not decoded");
  CHECK(limits_of("small", "a &amp; b").holds());  // the name is not read
  // A space without an attribute after it counts as one, and 16 are kept.
  CHECK(limits_of("<gpu id", "<gpu            id").holds());
  CHECK(limits_of("<gpu id", "<gpu              id").witness.front().second ==
        "line 2 has spaces that leave no room for attributes; expected one before each");
  CHECK(limits_of("<algo", "<!-- a=b\n-->\r\n <algo").holds());
  CHECK(limits_of("hasdep=\"1\"/>", "hasdep=\"1\" ></step >").witness.front().second ==
        "line 4 has white space in a closing tag; expected >");
  CHECK(limits_of("hasdep=\"1\"/>", "hasdep=\"1\" ></step>").holds());
}

TEST_CASE("runtimes: a gpu reads at most 4,095 XML elements") {
  // The file has <algo>, two <gpu>, the first thread block with its two steps, and others of 64
  // steps.
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

AlgorithmProof fused(const char* runtime) {
  ProofRequest request;
  request.runtime = runtime == nullptr ? nullptr : runtime_named(runtime);
  return prove_algorithm(read_msccl(three_ring().text(), "a.xml"), request);
}

TEST_CASE("runtimes: rccl reads fused steps and refuses the call") {
  const AlgorithmProof proof = fused("rccl");
  CHECK_FALSE(proof.holds);
  const Check& limits = named(proof, "RUNTIME.LIMITS");
  REQUIRE(limits.witness.size() == 1);
  CHECK(limits.witness.front() ==
        Row("type",
            "gpu 0 tb 0 step 1 (line 5) has rrs: rccl's kernels are built without rcs, rrs, rrc "
            "and rrcs, so mscclSetupKernel returns ncclInternalError on gpu 0"));
  CHECK(named(proof, "DEADLOCK.FREE").holds());
  CHECK(fused("msccl").holds);
  CHECK(fused("none").holds);
}

TEST_CASE("runtimes: each of rcs, rrs, rrc and rrcs is refused by rccl, and no other step") {
  const auto refused = [](const char* type) {
    AlgoText algo = two_gather();
    algo.gpus = {BlockText{0, 1, 1, {StepText{0, type}.text()}}.text(), ""};
    ProofRequest request;
    request.runtime = runtime_named("rccl");
    return !named(prove_algorithm(read_msccl(algo.text(), "a.xml"), request), "RUNTIME.LIMITS")
                .holds();
  };
  for (const char* const type : {"rcs", "rrs", "rrc", "rrcs"})
    CHECK(refused(type));
  for (const char* const type : {"s", "r", "cpy", "re", "nop"})
    CHECK_FALSE(refused(type));
}

TEST_CASE("runtimes: without --runtime a file with fused steps is judged for one that runs them") {
  const AlgorithmProof proof = fused(nullptr);
  CHECK(proof.holds);
  CHECK(has_note(proof,
                 "judged for msccl: rccl does not run the file (gpu 0 tb 0 step 1 (line 5) has "
                 "rrs: "));
  // If no runtime runs the file, it is judged for the first one that reads it.
  AlgoText algo = two_reduce_scatter();
  algo.coll = "reducescatter";
  const AlgorithmProof neither = prove_algorithm(read_msccl(algo.text(), "a.xml"), {});
  CHECK_FALSE(neither.holds);
  CHECK_FALSE(has_note(neither, "judged for"));
  CHECK(named(neither, "RUNTIME.LIMITS").message.starts_with("rccl refuses the file"));
}

}  // namespace
}  // namespace orrery::test
