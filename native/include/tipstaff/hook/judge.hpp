// One event of a host, judged: what the engine found, what a person allowed, what is reported about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/evidence.hpp"
#include "tipstaff/hook/approvals.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/redaction.hpp"
#include "tipstaff/hook/reply.hpp"
#include "tipstaff/hook/policy.hpp"

namespace tipstaff::hook {

struct Situation {
  Json* json = nullptr;
  const gate::Image* image = nullptr;
  PolicyFault fault = PolicyFault::none;
  bool compiles_again = false;  // what another version of this package compiled
  std::string_view version;     // of this package
  const Path* state = nullptr;
  std::string_view secrets;     // the scanner's table
  bool own_secrets = false;     // it is the program's own
  std::string_view cwd;         // of the session
  std::string_view folder;      // of the call; cwd where it names none
  std::string_view repository;  // around cwd
  std::string_view program;     // this one's own path; empty where it is not known
  std::uint64_t now_s = 0;
  char* input = nullptr;        // what the event was read into
  std::size_t input_bytes = 0;
  const void* stack_end = nullptr;  // null where it is not known
};

struct Judgement {
  static constexpr std::size_t kReasonBytes = 4096;
  static constexpr std::uint32_t kReported = 4;  // findings that the reason is about

  Reply reply;
  gate::Verdict verdict;
  gate::Evidence* evidence = nullptr;  // null where words judge alone
  Subject subject{};
  ReadFiles files;
  Original original;
  Redaction redaction;
  Redaction::Location secret;         // the first one that was found in the call
  std::uint32_t secrets = 0;       // how many
  std::uint32_t secret_field = 0;  // where the first one is; past the last field: in a name
  bool has_subject = false;
  bool approved = false;
  char reason[kReasonBytes];
  char context[48 * 1024];  // hosts cut what is longer
};

void judge(const HookEvent& event, const Situation& situation, gate::Tree& tree, Judgement* judgement) noexcept;

// Replaces with a sentence a tool's output that could not be searched for secrets.
void withhold(const HookEvent& event, const Json& json, Reply* reply) noexcept;

// Appends what was decided to the spool, for the ledger to take in. Texts of the call stay out of it: only what was
// decided, by which rules, and the hash of the call.
void record(const HookEvent& event, const Situation& situation, const Judgement& judgement, std::uint64_t us) noexcept;

}  // namespace tipstaff::hook
