// Prints the calls of texts as JSON, one answer a text: `calls_printer FOLDER HOME [dash|zsh] < TEXTS`; texts and answers each
// end with NUL. Nothing but HOME is in the environment. As hosts do, it knows a few programs that run others.
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tipstaff/eval/call.hpp"

namespace {

using namespace tipstaff::eval;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  static const char* const kDigits = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (byte < 0x20) {
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

struct Printer {
  std::string out;
  std::vector<Word> words;
};

bool is_assignment(std::string_view word) { return word.find('=') != std::string_view::npos && word[0] != '-'; }

Answer on_call(void* self, Store& store, const Call& call) noexcept {
  auto* printer = static_cast<Printer*>(self);
  Answer answer;
  if (call.count == 0) return answer;
  std::string& out = printer->out;
  if (out.size() > (1u << 22)) return answer;
  out += out.empty() ? "[" : ",[";
  out += quoted(store.text(call.folder)) + ",[";
  for (std::uint32_t i = 0; i < call.count; ++i) {
    if (i != 0) out += ',';
    out += '[' + quoted(store.text(call.words[i].text)) + ',' + std::to_string((call.words[i].many ? 1 : 0) + (call.words[i].glob ? 2 : 0)) + ']';
  }
  out += "]," + std::to_string(call.via) + ']';
  const std::string_view name = store.text(call.words[0].text);
  const auto word = [&](std::uint32_t i) { return i < call.count ? store.text(call.words[i].text) : std::string_view(); };
  if (name == "nohup" || name == "nice") {
    answer.kind = Answer::child;
    answer.first = 1;
  } else if (name == "timeout") {
    answer.kind = Answer::child;
    answer.first = 2;
  } else if (name == "env") {
    answer.kind = Answer::child;
    answer.first = 1;
    while (answer.first < call.count && is_assignment(word(answer.first))) ++answer.first;
    answer.assignments = answer.first - 1;
  } else if (name == "xargs") {
    // What is read stands at the end.
    printer->words.assign(call.words + 1, call.words + call.count);
    printer->words.push_back({kOther, 0, true, false});
    answer.kind = Answer::child;
    answer.words = printer->words.data();
    answer.word_count = static_cast<std::uint32_t>(printer->words.size());
  } else if (name == "find") {
    std::uint32_t i = 1;
    while (i < call.count && word(i) != "-exec") ++i;
    printer->words.clear();
    for (++i; i < call.count && word(i) != ";" && word(i) != "+"; ++i)
      printer->words.push_back(word(i) == "{}" ? Word{kOther, 0, true, false} : call.words[i]);
    if (!printer->words.empty()) answer.kind = Answer::child;
    answer.words = printer->words.data();
    answer.word_count = static_cast<std::uint32_t>(printer->words.size());
  } else if (name == "sh" || name == "bash" || name == "dash") {
    std::uint32_t i = 1;
    while (i < call.count && word(i).size() > 1 && word(i)[0] == '-' && word(i) != "-c") ++i;
    answer.kind = word(i) == "-c" ? Answer::shell_text : i == call.count ? Answer::shell_input : Answer::plain;
    answer.first = i + 1;
    if (name != "bash") answer.shell = tipstaff::syntax::Shell::dash;
    if (name == "sh") answer.perhaps = tipstaff::syntax::Shell::bash;
    if (name == "dash") answer.perhaps = tipstaff::syntax::Shell::dash;
  }
  return answer;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::string_view shell = count > 3 ? arguments[3] : "bash";
  Start start;
  start.folder = arguments[1];
  start.home = arguments[2];
  start.closed_environment = true;
  start.options.shell = shell == "dash" ? tipstaff::syntax::Shell::dash : shell == "zsh" ? tipstaff::syntax::Shell::zsh : tipstaff::syntax::Shell::bash;
  const std::string all((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\0', at);
    const std::string text = all.substr(at, end == std::string::npos ? end : end - at);
    at = end == std::string::npos ? all.size() : end + 1;
    const std::size_t bytes = memory_for(text.size());
    static std::unique_ptr<unsigned char[]> memory;
    static std::size_t room = 0;
    if (room < bytes) {
      memory.reset(new unsigned char[bytes]);
      room = bytes;
    }
    Printer printer;
    const unsigned unresolved = evaluate(text, start, {&printer, on_call}, memory.get(), bytes);
    std::cout << "{\"calls\":[" << printer.out << "],\"unresolved\":" << unresolved << '}' << '\0';
  }
  return 0;
}
