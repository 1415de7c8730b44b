// Feeds the hook events, as main.cpp reads them, and checks that each is answered by a document that says no less than the
// verdict.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/rules/open_image.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/judge.hpp"
#include "tipstaff/hook/reply.hpp"

namespace {

using namespace tipstaff::hook;
namespace gate = tipstaff::gate;

constexpr std::uint32_t kNodes = 1 << 12;

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// The bytes of a file, on a boundary of eight.
struct File {
  std::vector<std::uint64_t> memory;
  std::size_t bytes = 0;

  explicit File(const char* path) : memory(4 << 20) {
    std::FILE* file = std::fopen(path, "rb");
    must(file != nullptr, path);
    bytes = std::fread(memory.data(), 1, memory.size() * 8, file);
    std::fclose(file);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const File policy(TIPSTAFF_PACKS "/policy.bin"), table(TIPSTAFF_PACKS "/secrets.bin");
  static gate::Image image;
  static const bool open = gate::open_image(reinterpret_cast<const unsigned char*>(policy.memory.data()), policy.bytes, &image) ==
                           gate::ImageFault::none;
  must(open, "the policy opens");
  static std::vector<JsonNode> nodes(kNodes), more(kNodes);
  static std::vector<gate::Field> fields(kNodes);
  static std::vector<unsigned char> room(4 << 20);
  static const auto judgement = std::make_unique<Judgement>();
  for (const Host host : {Host::unknown, Host::claude, Host::codex, Host::gemini, Host::cursor, Host::copilot}) {
    std::vector<char> bytes(data, data + size);  // reading unescapes in place
    Json json(nodes.data(), kNodes);
    if (!json.parse(bytes.data(), bytes.size())) return 0;
    HookEvent event;
    event.fields = fields.data();
    event.field_room = kNodes;
    if (!events::read_event(json, host, {}, &event)) continue;
    *judgement = Judgement{};
    const Path state;  // nowhere: nothing is kept
    Situation situation;
    situation.json = &json;
    situation.image = &image;
    situation.state = &state;
    situation.secrets = {reinterpret_cast<const char*>(table.memory.data()), table.bytes};
    situation.cwd = situation.folder = situation.repository = "/nowhere/proj";
    situation.input_bytes = size;
    gate::Tree tree(room.data(), room.size());
    judge(event, situation, tree, judgement.get());
    const Reply& reply = judgement->reply;
    if (event.phase == Phase::before_tool) {
      must(reply.decision >= judgement->verdict.decision, "a reply is no milder than the verdict");
      must(reply.decision == gate::Decision::allow || !reply.reason.empty(), "what is not allowed has a reason");
    }
    std::vector<char> text(6 * (reply.output.size() + reply.replacement.size() + reply.context.size() + size) + 65536);
    Writer out(text.data(), text.size());
    replies::write(event, reply, out);
    must(!out.full(), "a reply has room");
    std::string written(out.view());
    Json read(more.data(), kNodes);
    must(written.empty() || read.parse(written.data(), written.size()), "a reply is a document");
  }
  return 0;
}
