#pragma once

// Helpers that take functions: FunctionRef is for a parameter, Overloaded for std::visit,
// run_in_threads for work of several threads.

#include <memory>
#include <type_traits>
#include <utility>

namespace orrery {

/// A FunctionRef is a reference to a callable, for parameters. It allocates nothing and owns
/// nothing. Never store it beyond the call.
template <class Signature>
class FunctionRef;

template <class R, class... Arguments>
class FunctionRef<R(Arguments...)> {
 public:
  // NOLINTBEGIN(google-explicit-constructor): a lambda converts where it is passed
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<R, F&, Arguments...>) FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Arguments... arguments) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(
              std::forward<Arguments>(arguments)...);
        }) {}
  // NOLINTEND(google-explicit-constructor)

  R operator()(Arguments... arguments) const {
    return call_(object_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* object_;
  R (*call_)(void*, Arguments...);
};

/// An Overloaded is one visitor of a std::variant, made of a lambda for each alternative.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// Calls `work` in so many threads, of which the caller's is one, and waits until all have
/// returned. If the system has no more threads, fewer do the work. `work` throws nothing.
void run_in_threads(unsigned threads, FunctionRef<void()> work);

}  // namespace orrery
