// This is the only place that tells bugs in Orrery from errors of the user.

#include <exception>
#include <new>
#include <ostream>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/base/quantity.h"
#include "tools/cli/commands.h"

namespace orrery {

Outcome execute(const Message& command, const Terminal& terminal) {
  (command.outcome == Outcome::Holds ? terminal.out : terminal.err) << command.text;
  return command.outcome;
}

Outcome run_command_line(std::vector<std::string> arguments, const Terminal& terminal) {
  const auto tell = [&](const std::string& text) {
    terminal.err << terminal.err_style.bad("orrery") << ": " << text << "\n";
  };
  std::string on_gpus = "--backend cuda";
  try {
    const Command command = parse_command_line(std::move(arguments));
    if (std::holds_alternative<CalibrateCudaCommand>(command))
      on_gpus = "calibrate cuda";
    return std::visit([&](const auto& chosen) { return execute(chosen, terminal); }, command);
  } catch (const InputError& error) {
    terminal.err << error.what() << "\n";
    return Outcome::WrongInput;
  } catch (const Overflow& error) {
    tell(fmt::format("a quantity of the input is too large: {}", error.what()));
    return Outcome::WrongInput;
  } catch (const NoGpus& error) {
    tell(fmt::format("{}: {}", on_gpus, error.what()));
    return Outcome::WrongInput;
  } catch (const NoFastDot& error) {
    tell(fmt::format("--fast-dot: {}", error.what()));
    return Outcome::WrongInput;
  } catch (const std::bad_alloc&) {
    tell("the input needs more memory than there is");
    return Outcome::WrongInput;
  } catch (const InternalError& error) {
    tell(fmt::format("this is a bug in orrery, please report it: {}", error.what()));
    return Outcome::OurBug;
  } catch (const std::exception& error) {
    tell(fmt::format("this is a bug in orrery, please report it: {}", error.what()));
    return Outcome::OurBug;
  }
}

}  // namespace orrery
