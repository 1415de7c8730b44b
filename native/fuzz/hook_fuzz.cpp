// Reads any bytes as an event of each host: what is read can be written and read again, and every reply is a document.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tipstaff/hook/approvals.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/reply.hpp"

namespace {

using namespace tipstaff::hook;
namespace gate = tipstaff::gate;

constexpr std::uint32_t kNodes = 4096;

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

std::string write_again(const Json& json, std::size_t bytes) {
  std::vector<char> room(6 * bytes + 64);
  Writer out(room.data(), room.size());
  write_json(json, 0, out);
  must(!out.full(), "what was read has room to be written");
  return std::string(out.view());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::vector<JsonNode> nodes(kNodes), more(kNodes);
  static std::vector<gate::Field> fields(256);
  for (Host host : {Host::unknown, Host::claude, Host::codex, Host::gemini, Host::cursor, Host::copilot}) {
    std::vector<char> bytes(data, data + size);  // reading unescapes in place
    Json json(nodes.data(), kNodes);
    if (!json.parse(bytes.data(), bytes.size())) {
      must(json.error_at() <= size, "a fault has a place");
      return 0;
    }
    std::string text = write_again(json, size);
    std::vector<char> copy(text.begin(), text.end());
    Json again(more.data(), kNodes);
    must(again.parse(copy.data(), copy.size()), "what was written can be read");
    must(write_again(again, text.size()) == text, "and is the same");

    HookEvent event;
    event.fields = fields.data();
    event.field_room = static_cast<std::uint32_t>(fields.size());
    if (!events::read_event(json, host, {}, &event)) continue;
    must(event.field_count <= event.field_room, "fields have room");
    static ReadFiles files;
    (void)subject_of(hash_of(json, event, event.cwd), files);
    for (gate::Decision decision : {gate::Decision::allow, gate::Decision::warn, gate::Decision::confirm, gate::Decision::block}) {
      std::vector<char> room(6 * size + 65536);
      Writer out(room.data(), room.size());
      Reply reply;
      reply.decision = decision;
      reply.reason = event.field_count != 0 ? event.fields[0].text : "reason";
      reply.context = event.prompt;
      replies::write(event, reply, out);
      must(!out.full(), "a reply has room");
      std::string written(out.view());
      Json read(more.data(), kNodes);
      must(written.empty() || read.parse(written.data(), written.size()), "a reply is a document");
    }
  }
  return 0;
}
