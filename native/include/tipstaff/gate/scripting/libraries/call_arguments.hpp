// What the arguments of a library's call say of it: whom it reaches, and whether it does anything.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/scripting/libraries/verbs.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate::program {

constexpr std::uint32_t kArgumentBytes = 400;  // more is not looked at

// Of long arguments, whether they lead to this machine or hold what a service asks for.
inline std::string_view summary_of(std::string_view inside) noexcept {
  inside = inside.substr(0, kArgumentBytes);
  if (inside.find("localhost") != std::string_view::npos || inside.find("127.0.0.1") != std::string_view::npos) return "localhost";
  for (const std::string_view sign : {"://", "token", "Token", "key", "Key", "KEY", "TOKEN", "password", "secret", "credential", "Credential", "host", "environ", "process.env", "ENV", "endpoint", "region", "account"})
    if (inside.find(sign) != std::string_view::npos) return "...credentials";
  return "...";
}

// Whether a name puts stand-ins in the place of services: with mock_aws(), @responses.activate, nock(url).
inline bool mocks(std::string_view from, std::string_view name) noexcept {
  if (from == "moto") return ascii::starts_with(name, "mock_");
  return ascii::one_of(from, "responses requests_mock httpretty respx aioresponses pytest_httpx pook nock msw/node aws-sdk-client-mock");
}

// Whether the arguments ask that nothing is done: DryRun=True, dry_run="All", { dryRun: true }, noop: true.
inline bool is_dry(std::string_view arguments) noexcept {
  for (const std::string_view name : {std::string_view("dryrun"), std::string_view("dry_run"), std::string_view("noop"), std::string_view("validate_only"), std::string_view("validateonly")}) {
    const std::size_t at = find_folded(arguments, name);
    if (at == std::string_view::npos) continue;
    std::string_view value = arguments.substr(at + name.size());
    while (!value.empty() && !ascii::is_name(value[0])) value.remove_prefix(1);
    if (ascii::starts_with(value, "true") || ascii::starts_with(value, "all")) return true;
  }
  return false;
}

}  // namespace tipstaff::gate::program
