// The hook's parts that know no gates: JSON in and out, events, replies, SHA-256 and HMAC.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tipstaff/hook/approvals.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/reply.hpp"
#include "tipstaff/hook/sha256.hpp"

namespace {

using namespace tipstaff::hook;
using tipstaff::gate::Decision;
namespace gate = tipstaff::gate;

int failures = 0;
int checks = 0;

void expect(bool holds, const std::string& what) {
  ++checks;
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
}

struct Read {
  explicit Read(const std::string& text, std::uint32_t room = 4096)
      : bytes(text.begin(), text.end()), nodes(room), json(nodes.data(), room) {
    whole = json.parse(bytes.data(), bytes.size());
  }
  std::vector<char> bytes;
  std::vector<JsonNode> nodes;
  Json json;
  bool whole = false;
};

std::string written(const Json& json, std::uint32_t index = 0) {
  std::vector<char> room(1 << 20);
  Writer out(room.data(), room.size());
  write_json(json, index, out);
  expect(!out.full(), "there is room");
  return std::string(out.view());
}

void json_reads() {
  const struct {
    const char* text;
    const char* back;
  } good[] = {
      {"{}", "{}"}, {" [ ] ", "[]"}, {"\xef\xbb\xbf{}", "{}"}, {"0", "0"}, {"-0.5e+10", "-0.5e+10"}, {"null", "null"},
      {"[true,false,null]", "[true,false,null]"}, {"{\"a\":{\"b\":[1,2,{\"c\":\"d\"}]}}", "{\"a\":{\"b\":[1,2,{\"c\":\"d\"}]}}"},
      {"\"\\u0041\\n\\t\\/\\\\\\\"\"", "\"A\\n\\t/\\\\\\\"\""}, {"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""},
      {"\"\\ud83d\"", "\"\xef\xbf\xbd\""}, {"\"\\ude00\"", "\"\xef\xbf\xbd\""}, {"\"\\ud83d\\u0041\"", "\"\xef\xbf\xbd" "A\""},
      {"\"\\u0000\"", "\"\\u0000\""}, {"\"\\b\\f\\r\"", "\"\\u0008\\u000c\\r\""}, {"\"\\u007f\"", "\"\\u007f\""},
      {"\"\xff\"", "\"\xef\xbf\xbd\""}, {"\"\xc3\xa9\"", "\"\xc3\xa9\""}, {"\"\xed\xa0\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
      {"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"},
  };
  for (const auto& one : good) {
    Read read(one.text);
    expect(read.whole, std::string("reads ") + one.text);
    if (read.whole) expect(written(read.json) == one.back, std::string("writes ") + one.text + ": " + written(read.json));
  }
  for (const char* text : {"", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
                           "{a:1}", "{1:1}", "{'a':1}", "01", "1.", ".5", "-", "+1", "1e", "1e+", "0x1", "tru", "nul", "True", "NaN",
                           "\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\n\"", "\"\t\"", "1 1", "{}{}", "[] x", "// c\n{}", "\x01"}) {
    expect(!Read(text).whole, std::string("refuses ") + text);
  }
  std::string deep(64, '['), deeper(66, '[');
  expect(Read(deep + std::string(64, ']')).whole, "reads 64 levels");
  expect(!Read(deeper + std::string(66, ']')).whole, "refuses 66 levels");
  expect(!Read("[1,2,3]", 3).whole, "refuses more values than there is room for");
  Read twice("{\"a\":1,\"b\":2,\"a\":\"last\"}");
  expect(twice.json.text(0, "a") == "last", "the last of two members counts");
  expect(twice.json.find(0, "c") == kNoNode && twice.json.text(0, "b").empty(), "what is missing or no text is empty");
}

void writer_bounds() {
  char room[8];
  Writer out(room, sizeof room);
  out.raw("12345").raw("6789");
  expect(out.full() && out.view() == "12345", "what does not fit is left out");
  out.clear();
  out.number(18446744073709551615u);
  expect(out.full() && out.size() == 0, "nor half a number");
  out.clear();
  out.number(0).hex(1);
  expect(out.full() && out.view() == "0", "nor half a hash");
  out.truncate(0);
  expect(!out.full() && out.size() == 0, "what is cut off makes room");
}

std::string hex_of(const Digest& digest) {
  char text[64];
  write_hex(digest, text);
  return std::string(text, sizeof text);
}

void hashes() {
  const auto sha = [](const std::string& text, std::size_t step) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += step) hash.update(std::string_view(text).substr(at, step));
    return hex_of(hash.finish());
  };
  // FIPS 180-4, examples of the standard.
  const struct {
    std::string text;
    const char* digest;
  } known[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const auto& one : known)
    for (std::size_t step : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{1000}})
      expect(sha(one.text, step) == one.digest, "SHA-256 of " + one.text.substr(0, 10));
  // RFC 4231, test cases 1 to 4, 6 and 7.
  const std::string long_key(131, '\xaa');
  std::string counting;
  for (char i = 1; i <= 25; ++i) counting += i;
  const struct {
    std::string key, text;
    const char* digest;
  } macs[] = {
      {std::string(20, '\x0b'), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {std::string(20, '\xaa'), std::string(50, '\xdd'), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {counting, std::string(50, '\xcd'), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {long_key, "Test Using Larger Than Block-Size Key - Hash Key First", "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {long_key,
       "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being "
       "used by the HMAC algorithm.",
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  };
  for (const auto& one : macs) expect(hex_of(hmac_sha256(one.key, one.text)) == one.digest, "HMAC of " + one.text.substr(0, 20));
  expect(equal_secretly("abc", "abc") && !equal_secretly("abc", "abd") && !equal_secretly("abc", "ab"), "comparing");
}

struct ReadEvent {
  explicit ReadEvent(const std::string& text, Host host = Host::unknown, std::string_view name = {}) : read(text), fields(64) {
    event.fields = fields.data();
    event.field_room = static_cast<std::uint32_t>(fields.size());
    known = read.whole && events::read_event(read.json, host, name, &event);
  }
  Read read;
  std::vector<gate::Field> fields;
  HookEvent event;
  bool known = false;
};

void events_are_read() {
  const struct {
    const char* text;
    Host host;
    Phase phase;
  } cases[] = {
      {R"({"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"transcript_path":"/t"})", Host::claude, Phase::before_tool},
      {R"({"hook_event_name":"PreToolUse","turn_id":"t","tool_name":"Bash","tool_input":{"command":"ls"}})", Host::codex, Phase::before_tool},
      {R"({"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}})", Host::gemini, Phase::before_tool},
      {R"({"hook_event_name":"SessionStart","timestamp":"x","transcript_path":"/t","source":"startup"})", Host::gemini, Phase::session_start},
      {R"({"hook_event_name":"beforeShellExecution","conversation_id":"c","command":"ls"})", Host::cursor, Phase::before_tool},
      {R"({"sessionId":"s","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"})", Host::copilot, Phase::before_tool},
      {R"({"sessionId":"s","toolName":"bash","toolArgs":{},"toolResult":{}})", Host::copilot, Phase::after_tool},
      {R"({"sessionId":"s","prompt":"hello"})", Host::copilot, Phase::prompt},
      {R"({"hook_event_name":"PreToolUse","timestamp":"x","tool_name":"Bash","tool_input":{"command":"ls"}})", Host::copilot, Phase::before_tool},
      {R"({"hook_event_name":"PreCompact","session_id":"s"})", Host::claude, Phase::before_compaction},
      {R"({"hook_event_name":"Newest","session_id":"s"})", Host::claude, Phase::other},
  };
  for (const auto& one : cases) {
    ReadEvent given(one.text);
    expect(given.known && given.event.host == one.host && given.event.phase == one.phase, one.text);
  }
  expect(!ReadEvent("[]").known && !ReadEvent("{\"a\":1}").known && !ReadEvent("3", Host::claude).known, "JSON that is not an event is not taken for one");
  ReadEvent nested(R"({"sessionId":"s","toolName":"bash","toolArgs":"{\"command\":\"ls\",\"x\":[\"y\"]}"})");
  expect(nested.event.field_count == 2 && nested.event.fields[0].text == "ls" && nested.event.fields[1].element == 0, "nested texts are fields");
  ReadEvent broken(R"({"sessionId":"s","toolName":"bash","toolArgs":"{\"command\":\"l\\u0073"})");
  expect(!broken.event.readable && broken.event.fields[0].text == "{\"command\":\"l\\u0073", "a broken document stays as it was");
  ReadEvent folder(R"({"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","workdir":"/w"},"cwd":"/c"})");
  expect(folder.event.folder == "/w" && folder.event.cwd == "/c", "a call names its folder");
  ReadEvent many("{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"X\",\"tool_input\":[" + [] {
    std::string list = "\"a\"";
    for (int i = 0; i < 100; ++i) list += ",\"a\"";
    return list;
  }() + "]}");
  expect(many.event.field_count == 64 && !many.event.readable, "what has no room is reported");
}

std::string reply_of(const ReadEvent& given, Decision decision, bool unattended = false) {
  std::vector<char> room(1 << 16);
  Writer out(room.data(), room.size());
  Reply reply;
  reply.decision = decision;
  reply.unattended = unattended;
  if (decision != Decision::allow) reply.reason = "a \"reason\"\n\x1b[1m";
  replies::write(given.event, reply, out);
  return std::string(out.view());
}

void replies_are_documents() {
  const char* const calls[] = {
      R"({"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}})",
      R"({"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"}})",
      R"({"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":{}})",
      R"({"hook_event_name":"UserPromptSubmit","prompt":"x"})",
      R"({"hook_event_name":"beforeShellExecution","command":"ls"})",
      R"({"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}})",
      R"({"toolName":"bash","toolArgs":{"command":"ls"}})",
      R"({"hook_event_name":"Newest"})",
  };
  for (Host host : {Host::claude, Host::codex, Host::gemini, Host::cursor, Host::copilot}) {
    for (const char* call : calls) {
      ReadEvent given(call, host);
      for (Decision decision : {Decision::allow, Decision::warn, Decision::confirm, Decision::block}) {
        for (bool unattended : {false, true}) {
          const std::string text = reply_of(given, decision, unattended);
          const std::string what = std::string(name_of(host)) + " " + call + ": " + text;
          expect(text.empty() || Read(text).whole, what);
          expect(text.find('\x1b') == std::string::npos && text.find('\n') == std::string::npos, what);
          if (host == Host::codex) expect(text.find("\"ask\"") == std::string::npos && text.find("\"allow\"") == std::string::npos, what);
          if (unattended) expect(text.find("\"ask\"") == std::string::npos, what);
          if (given.event.phase != Phase::before_tool || decision < Decision::confirm) continue;
          expect(text.find("\"deny\"") != std::string::npos || text.find("\"ask\"") != std::string::npos, what);
          if (decision == Decision::block) expect(text.find("\"deny\"") != std::string::npos, what);
        }
      }
    }
  }
}

void subjects_differ() {
  const auto code = [](const char* text, const char* cwd) {
    ReadEvent given(text, Host::claude);
    ReadFiles files;
    return std::string(subject_of(hash_of(given.read.json, given.event, cwd), files).hex_view());
  };
  const std::string base = code(R"({"tool_name":"Bash","tool_input":{"command":"x"}})", "/a");
  expect(base == code(R"({"session_id":"other","tool_input":{"command":"x","description":"d","timeout":3},"tool_name":"Bash"})", "/a"), "the same call");
  for (const char* other : {R"({"tool_name":"Bash","tool_input":{"command":"x "}})", R"({"tool_name":"Bash","tool_input":{"command":"x","n":1}})",
                            R"({"tool_name":"Bash2","tool_input":{"command":"x"}})", R"({"tool_name":"Bash","tool_input":{"comman":"dx"}})",
                            R"({"tool_name":"Bash","tool_input":{"command":["x"]}})", R"({"tool_name":"Bash","tool_input":{"a":{"command":"x"}}})"}) {
    expect(code(other, "/a") != base, other);
  }
  expect(code(R"({"tool_name":"Bash","tool_input":{"command":"x"}})", "/b") != base, "another folder");
  expect(code(R"({"tool_name":"T","tool_input":{"n":1}})", "/") != code(R"({"tool_name":"T","tool_input":{"n":2}})", "/"), "numbers");
  expect(code(R"({"tool_name":"T","tool_input":{"n":"1"}})", "/") != code(R"({"tool_name":"T","tool_input":{"n":1}})", "/"), "kinds");
}

}  // namespace

int main() {
  json_reads();
  writer_bounds();
  hashes();
  events_are_read();
  replies_are_documents();
  subjects_differ();
  std::printf("%d checks, %d wrong\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
