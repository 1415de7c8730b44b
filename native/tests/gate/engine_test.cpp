// The engine without an image's rules: what it says of what it cannot know, of sizes, of tools; and flow states.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/tool_edits.hpp"

using namespace tipstaff::gate;

namespace {

int failures = 0;
void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "engine: %s\n", what);
  ++failures;
}

struct Bench {
  std::vector<unsigned char> memory = std::vector<unsigned char>(4 << 20);
  Tree tree{memory.data(), memory.size()};
  std::unique_ptr<Verdict> verdict = std::make_unique<Verdict>();
  Image image;
  Settings settings;
  Surroundings around;

  Decision run(std::string_view tool, const std::vector<Field>& fields, FlowState* flow = nullptr) {
    Event event;
    event.tool = tool;
    event.fields = fields.data();
    event.field_count = static_cast<std::uint32_t>(fields.size());
    tree.clear();
    evaluate(image, settings, event, around, tree, flow, verdict.get());
    return verdict->decision;
  }
};

Field field(std::string_view name, std::string_view text) {
  Field made;
  made.name = name;
  made.text = text;
  return made;
}

}  // namespace

int main() {
  Bench bench;
  bench.settings.config = {0b101, 10, 15, 2, 3, 2, 0, 0, 0, 0};
  bench.around.cwd = bench.around.repository = "/home/dev/proj";

  check(bench.run("", {field("command", "ls -la")}) == Decision::allow, "a plain command without rules is allowed");
  check(bench.run("", {field("command", "eval \"$X\"")}) == Decision::confirm, "what is not known is never silence");
  bench.settings.unattended = true;
  check(bench.run("", {field("command", "eval \"$X\"")}) == Decision::block, "and is blocked where nobody is there");
  bench.settings.unattended = false;

  std::string lines;
  for (int i = 0; i < 11; ++i) lines += "x\n";
  check(bench.run("Write", {field("file_path", "a"), field("content", lines)}) == Decision::warn, "eleven lines are more than ten");
  check(bench.run("Read", {field("content", lines)}) == Decision::allow, "a tool that reads changes nothing");
  FlowState flow;
  const std::string_view nine = std::string_view(lines).substr(0, 18);
  check(bench.run("Write", {field("content", nine)}, &flow) == Decision::allow, "nine lines are fine");
  check(bench.run("Write", {field("content", nine)}, &flow) == Decision::warn, "eighteen in one run are not");
  check(flow.changed_lines == 18, "a run's lines are counted");

  flow.remember("./a.sh", Decision::block);
  check(flow.find("a.sh") != nullptr && flow.find("b.sh") == nullptr, "scripts are known by their paths");
  for (int i = 0; i < 200; ++i) flow.remember(std::to_string(i), Decision::allow);
  check(flow.find("a.sh") == nullptr && flow.find("199") != nullptr, "the oldest gives way");
  check(flow.valid(), "a state is valid");
  std::memset(&flow.magic, 0, sizeof flow.magic);
  check(!flow.valid(), "other bytes are not a flow");

  check(tools::classify("mcp__server__delete_file") == ToolClass::remove, "the server's name is not the tool's");
  check(tools::classify("Bash") == ToolClass::shell, "Bash is a shell");
  check(tools::classify("TodoWrite") == ToolClass::note, "a list of things to do writes no file");
  check(tools::starts_like_sql("DROP TABLE t") && !tools::starts_like_sql("drop it") && !tools::starts_like_sql("truncate -s 0 f"),
        "statements are distinguished from prose and programs");
  check(tools::edited_lines("a\nb\nc\n", "a\nx\nc\n") == 2 && tools::edited_lines("a", "a") == 0, "only what differs counts");
  check(tool_allowed("mcp__*_read", "mcp__x_read") && !tool_allowed("**", ""), "globs of tools");
  return failures == 0 ? 0 : 1;
}
