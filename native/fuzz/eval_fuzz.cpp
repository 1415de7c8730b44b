// Feeds the evaluator of shell texts anything, with a host that carries texts on, and checks what it reports.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "tipstaff/eval/call.hpp"

namespace {

using namespace tipstaff::eval;

struct Counter {
  std::size_t calls = 0, bytes = 0;
};

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// What a name begins with decides what its program does.
Answer on_call(void* self, Store& store, const Call& call) noexcept {
  auto* counter = static_cast<Counter*>(self);
  ++counter->calls;
  for (std::uint32_t i = 0; i < call.count; ++i) counter->bytes += store.text(call.words[i].text).size();
  must(call.span.start <= call.span.end, "a call's span is one");
  Answer answer;
  if (call.count == 0) return answer;
  const std::string_view name = store.text(call.words[0].text);
  answer.first = 1;
  if (!name.empty() && name[0] == 'e') answer.kind = Answer::child;
  if (!name.empty() && name[0] == 's') answer.kind = call.count > 1 ? Answer::shell_text : Answer::shell_input;
  if (answer.kind == Answer::shell_text) answer.perhaps = tipstaff::syntax::Shell::dash;
  return answer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  std::unique_ptr<char[]> text(new char[size]);
  std::memcpy(text.get(), data + 1, size - 1);
  const std::size_t bytes = choice % 5 == 0 ? std::size_t{1} << 16 : std::size_t{1} << 21;
  static std::unique_ptr<unsigned char[]> memory(new unsigned char[std::size_t{1} << 21]);
  Start start;
  start.folder = choice % 2 != 0 ? "/home/dev/proj" : "";
  start.home = choice % 3 != 0 ? "/home/dev" : "";
  start.closed_environment = choice % 7 == 0;
  start.options.shell = static_cast<tipstaff::syntax::Shell>(choice / 16 % 3);
  Counter counter;
  evaluate({text.get(), size - 1}, start, {&counter, on_call}, memory.get(), bytes);
  must(counter.calls < (1u << 22), "a text makes no endless calls");
  return 0;
}
