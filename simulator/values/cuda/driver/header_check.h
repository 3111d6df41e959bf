#pragma once

// This file compares our declarations with a header of NVIDIA's, for cuda_h_check.cc and
// cublaslt_h_check.cc. They use it in orrery::cuda.

#include <cstddef>
#include <type_traits>

namespace orrery::cuda {
namespace {

/// Theirs is the type of their header that one of our types stands for. It is our type itself,
/// unless one of the lists names another.
template <class Ours>
struct Theirs {
  using Type = Ours;
};
template <class Ours>
using TheirsOf = typename Theirs<Ours>::Type;

template <class Ours>
struct Theirs<Ours*> {
  using Type = TheirsOf<Ours>*;
};
template <class Ours>
struct Theirs<const Ours> {
  using Type = const TheirsOf<Ours>;
};
template <class Result, class... Ours>
struct Theirs<Result(Ours...)> {
  using Type = TheirsOf<Result>(TheirsOf<Ours>...);
};

}  // namespace
}  // namespace orrery::cuda

#define ORRERY_STANDS_FOR(name) \
  template <>                   \
  struct Theirs<name> {         \
    using Type = ::name;        \
  };                            \
  static_assert(sizeof(name) == sizeof(::name) && alignof(name) == alignof(::name))

// Handles are pointers to types that are never defined.
#define ORRERY_HANDLE(name)                     \
  template <>                                   \
  struct Theirs<std::remove_pointer_t<name>> {  \
    using Type = std::remove_pointer_t<::name>; \
  }

// This checks that a member has its type and its place.
#define ORRERY_SAME_MEMBER(type, member)                                                      \
  static_assert(std::is_same_v<TheirsOf<decltype(type::member)>, decltype(::type::member)> && \
                offsetof(type, member) == offsetof(::type, member))
