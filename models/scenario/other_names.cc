#include "models/scenario/other_names.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "models/program/rules.h"
#include "models/scenario/program_reader.h"

namespace orrery {

namespace {

struct OtherName {
  std::string_view word;
  std::string_view op;
  std::string_view how = {};  // where the op alone does not say it
};

constexpr std::string_view kOfZero =
    "relu is the \"max\" of x and a scalar 0 (\"full\" of shape [])";
constexpr std::string_view kOfZeroAndSix =
    "relu6 is the \"min\" of a scalar 6 and the \"max\" of x and a scalar 0 (\"full\" of shape [])";
constexpr std::string_view kOfBounds =
    "it is the \"min\" of an upper bound and the \"max\" of x and a lower one";
constexpr std::string_view kPairs = "its \"perm\" lists who sends to whom";

// NCCL's, MPI's, XLA's, PyTorch's and NumPy's, in lower case with underscores.
constexpr std::array kOtherNames = {
    OtherName{"allreduce", "psum"},
    OtherName{"all_reduce", "psum"},
    OtherName{"all_reduce_sum", "psum"},
    OtherName{"all_reduce_max", "pmax"},
    OtherName{"all_reduce_min", "pmin"},
    OtherName{"all_reduce_mean", "pmean"},
    OtherName{"allgather", "all_gather"},
    OtherName{"reducescatter", "psum_scatter"},
    OtherName{"reduce_scatter", "psum_scatter"},
    OtherName{"alltoall", "all_to_all"},
    OtherName{"bcast", "pbroadcast"},
    OtherName{"broadcast", "pbroadcast"},
    OtherName{"collective_broadcast", "pbroadcast"},
    OtherName{"collective_permute", "ppermute"},
    OtherName{"send", "ppermute", kPairs},
    OtherName{"recv", "ppermute", kPairs},
    OtherName{"sendrecv", "ppermute", kPairs},
    OtherName{"send_recv", "ppermute", kPairs},
    OtherName{"wait", "done"},
    OtherName{"matmul", "dot_general"},
    OtherName{"dot", "dot_general"},
    OtherName{"gemm", "dot_general"},
    OtherName{"einsum", "dot_general"},
    OtherName{"relu", "max", kOfZero},
    OtherName{"relu6", "max", kOfZeroAndSix},
    OtherName{"clip", "max", kOfBounds},
    OtherName{"clamp", "max", kOfBounds},
    OtherName{"sigmoid", "logistic"},
    OtherName{"maximum", "max"},
    OtherName{"minimum", "min"},
    OtherName{"subtract", "sub"},
    OtherName{"multiply", "mul"},
    OtherName{"divide", "div"},
    OtherName{"negative", "neg"},
    OtherName{"where", "select_n"},
    OtherName{"select", "select_n"},
    OtherName{"cast", "convert_element_type"},
    OtherName{"astype", "convert_element_type"},
    OtherName{"convert", "convert_element_type"},
    OtherName{"sum", "reduce_sum"},
    OtherName{"amax", "reduce_max"},
    OtherName{"amin", "reduce_min"},
    OtherName{"constant", "full"},
    OtherName{"zeros", "full"},
    OtherName{"ones", "full"},
    OtherName{"fill", "full"},
    OtherName{"arange", "iota"},
    OtherName{"gather", "take"},
    OtherName{"concat", "concatenate"},
    OtherName{"cat", "concatenate"},
    OtherName{"for", kLoopOp},
    OtherName{"while", kLoopOp},
    OtherName{"while_loop", kLoopOp},
    OtherName{"scan", kLoopOp},
};

// Of several ops. "compute" takes their place where only the cost counts.
constexpr std::array<std::string_view, 14> kSeveralOps = {
    "gelu",       "silu",     "swish",      "tanh",      "softmax",  "log_softmax", "elu",
    "leaky_relu", "softplus", "layer_norm", "layernorm", "rms_norm", "rmsnorm",     "attention"};

constexpr std::string_view kStart = "_start";

}  // namespace

std::string op_of_other_name(std::string_view word) {
  std::string plain = in_lower_case(word);
  std::replace(plain.begin(), plain.end(), '-', '_');
  if (std::find(kSeveralOps.begin(), kSeveralOps.end(), plain) != kSeveralOps.end())
    return "write it out in other ops, or give its flops and bytes with \"compute\"";
  const bool start = plain.ends_with(kStart);
  if (start)
    plain.erase(plain.size() - kStart.size());
  for (const OtherName& other : kOtherNames) {
    if (other.word != plain)
      continue;
    const std::string op = fmt::format("{}{}", other.op, start ? kStart : "");
    if (start && !op_named(op))
      return "";
    return fmt::format("did you mean \"{}\"?{}{}", op, other.how.empty() ? "" : " ", other.how);
  }
  return "";
}

}  // namespace orrery
