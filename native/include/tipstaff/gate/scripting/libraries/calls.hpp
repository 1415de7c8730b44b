// Calls of libraries that by their name take something away, each with its whole chain: db.session.query(user).delete,
// client.volumes.prune, Repo.delete_all. They come out as `@call CHAIN ARGUMENTS --verb=delete --what=all --from=MODULE`; what a
// name means in which library is recognised by the packs. One pass over the tokens, whatever the program means; a variable is written as the chain that
// it was made from, so Python, whose comprehensions name their items after they use them, has a pass for names before.
#pragma once

#include "tipstaff/gate/scripting/libraries/call_arguments.hpp"
#include "tipstaff/gate/scripting/libraries/chain_names.hpp"
#include "tipstaff/gate/scripting/libraries/origins.hpp"
#include "tipstaff/gate/scripting/libraries/verbs.hpp"
#include "tipstaff/gate/scripting/quotes.hpp"

namespace tipstaff::gate::program {

class LibraryCalls {
 public:
  LibraryCalls(Reader& reader, const Code& code, const Frame& frame, Language language, Dialect dialect) noexcept
      : reader_(reader), code_(code), frame_(frame), lexer_(code.text, language), dialect_(dialect), language_(language),
        bare_(language == Language::ruby || language == Language::perl), variables_(language), origins_(language) {}

  void read() noexcept {
    if (code_.text.size() > kLongest) return reader_.tree->add_uncertainty(Unresolved::code, code_.origin, frame_.carrier);
    bool any = holds_taking(code_.text);
    for (const std::string_view sign : {std::string_view(".del"), std::string_view(".rm("), std::string_view(".push("), std::string_view(".to_sql("), std::string_view("'rm -"), std::string_view("olicy("), std::string_view(".put_"), std::string_view(".create_access"), std::string_view(".authorize_"), std::string_view("call_command"), std::string_view(".updateMany({}"), std::string_view(".synchronize("), std::string_view(".all().update("), std::string_view("objects.update("), std::string_view(".query.update("), std::string_view("DELETE"), std::string_view("scale"), std::string_view("force"), std::string_view("FLUSH"), std::string_view(".extract"), std::string_view("unpack_archive("), std::string_view("rmtree")})
      any = any || code_.text.find(sign) != std::string_view::npos;
    if (!any) return;
    mutates_ = code_.text.find("mutation") != std::string_view::npos;
    asks_ = code_.text.find("DELETE") != std::string_view::npos || code_.text.find("'delete'") != std::string_view::npos || code_.text.find("\"delete\"") != std::string_view::npos;
    if (language_ == Language::python && (code_.text.find(" for ") != std::string_view::npos || code_.text.find("lambda ") != std::string_view::npos)) {
      names_only_ = true;
      pass();
      names_only_ = false;
      lexer_ = Lexer(code_.text, language_);
      level_ = 0;
      restart(0);
      variables_.again();
    }
    pass();
  }

 private:
  static constexpr std::size_t kLongest = 1 << 20;
  static constexpr std::uint32_t kLevels = ChainVariables::kLevels, kMost = 512, kArguments = 40, kItem = 72;

  struct Chain {
    char text[176];
    std::string_view head;     // its first name, as it is written
    std::string_view from;     // the module that is imported from
    std::string_view written;  // its last name, as it is written
    std::string_view verb;     // the name of its last call that takes away
    std::uint32_t size = 0;
    std::uint32_t last = 0;    // where its last name begins
    std::size_t start = 0;     // in the code
    std::size_t opened = 0;    // after the bracket that follows it
    std::size_t first = 0, stop = 0;  // the arguments of its last call that takes away
    bool defines = false;      // the name of a function that begins here
    bool takes = false;        // it has such a call
    bool named = false;        // it ends with a name, and no bracket yet
    bool joins = false;        // a dot came last
    bool brackets = false;     // [ ... ] follows, not ( ... )
  };

  Chain& chain() noexcept { return chains_[level_]; }

  void pass() noexcept {
    for (Token token = lexer_.next(); token.kind != Kind::end && emitted_ < kMost; token = lexer_.next()) take(token);
    if (emitted_ == kMost) reader_.tree->add_uncertainty(Unresolved::code, code_.origin, frame_.carrier);
    end_chain();
  }

  void put(std::string_view text) noexcept {
    Chain& now = chain();
    for (const char c : text) {
      if (now.size == sizeof now.text) {  // of long ones the end counts
        const std::uint32_t half = sizeof now.text / 2;
        std::memmove(now.text, now.text + half, now.size - half);
        now.size -= half;
        now.last = now.last > half ? now.last - half : 0;
      }
      now.text[now.size++] = ascii::is_space(c) ? ' ' : ascii::lower(c);
    }
  }
  void restart(std::size_t start) noexcept {
    Chain& now = chain();
    now.size = now.last = 0;
    now.head = now.from = now.written = now.verb = {};
    now.named = now.joins = now.brackets = now.takes = now.defines = false;
    now.start = start;
  }

  void take(const Token& token) noexcept {
    if (token.kind == Kind::name) return name(token);
    if (token.kind == Kind::mark) return mark(token);
    end_chain();
    variables_.other(token, level_);
    restart(token.start);
    if (token.kind == Kind::text) put("''");
  }
  void name(const Token& token) noexcept {
    if (!chain().joins && begins_import(token)) return;
    const bool defined = defines_;
    static constexpr Words kDefining("def function sub fn func");
    defines_ = !chain().joins && token.is_one_of(kDefining);
    static constexpr Words kPrefixes("new await return yield");
    if (!chain().joins && !bare_ && token.is_one_of(kPrefixes)) {  // new (require("x").Client)(y)
      end_chain();
      return restart(token.stop);
    }
    if (chain().joins) {
      put(".");
      chain().joins = false;
    } else {
      end_chain();
      if (variables_.accepts() && !token.is_one_of("async function fn") && begins_call(lexer_)) variables_.refuse();  // map(client.delete)
      if (variables_.takes(token, std::string_view(chain().text, chain().size), chain().from, level_)) return restart(token.stop);
      restart(token.start);
      chain().head = chain().written = token.text;
      chain().defines = defined;
      if (const ChainNames::Bound* known = variables_.names().find(token.text)) {
        put(known->chain());
        chain().from = known->from;
        mocked_ = mocked_ || mocks(known->from, token.text);
        chain().named = true;
        return;
      }
      chain().from = origins_.find(token.text);
      mocked_ = mocked_ || mocks(chain().from, token.text);
      if (chain().from.empty() && has_classes_ && token.sigil == 0 && token.text[0] >= 'A' && token.text[0] <= 'Z') chain().from = token.text;
    }
    chain().written = token.text;
    chain().last = chain().size;
    put(token.text);
    chain().named = true;
  }
  // getattr(client, "delete_bucket") is client.delete_bucket. At its end.
  bool takes_member(std::string_view inside) noexcept {
    Chain& now = chain();
    if (!now.named || last_name() != "getattr" || inside.size() < 5) return false;
    const std::size_t comma = inside.rfind(',');
    if (comma == std::string_view::npos) return false;
    std::string_view name = ascii::trim(inside.substr(comma + 1));
    if (name.size() < 3 || (name[0] != '\'' && name[0] != '"') || name.back() != name[0]) return false;
    char joined[64];  // 'terminate' + '_instances'
    std::size_t size = 0;
    for (const char c : name)
      if (ascii::is_name(c) && size < sizeof joined) joined[size++] = c;
    if (name.find('+') != std::string_view::npos) name = reader_.tree->join(reader_.tree->join(reader_.tree->copy("'"), std::string_view(joined, size)), "'");
    now.size = now.last;
    now.brackets = false;
    put(ascii::trim(inside.substr(0, comma)));
    put(".");
    now.last = now.size;
    now.written = name.substr(1, name.size() - 2);
    put(now.written);
    return true;
  }
  // A statement that imports, or takes what a chain gives apart; read to its end, or to the chain.
  bool begins_import(const Token& token) noexcept {
    static constexpr Words kNode("import const let var"), kPython("import from");
    if (language_ == Language::node ? !token.is_one_of(kNode) : language_ != Language::python || !token.is_one_of(kPython)) return false;
    end_chain();
    restart(token.stop);
    if (origins_.read(token, code_.text, &lexer_)) return true;
    if (language_ != Language::node || token.is_name("import")) return false;
    return variables_.take_apart(&lexer_, level_);
  }
  // deleteAll(rows) { ... } in a class: what has no object and is followed by a brace defines; so does def delete_all(rows).
  bool is_definition() noexcept {
    Chain& now = chain();
    if (now.last != 0) return false;
    if (now.defines) return true;
    if (language_ != Language::node) return false;
    Lexer ahead = lexer_;
    return ahead.next().is("{");
  }
  static bool begins_call(Lexer ahead) noexcept {
    const Token next = ahead.next();
    return next.is(".") || next.is("(") || next.is("::");
  }
  void mark(const Token& token) noexcept {
    if (token.is("!") && chain().named && code_.text.substr(token.stop, 1) == "(") return;  // Elixir's File.rm_rf!(path)
    if (token.is(".") || token.is("->") || token.is("::") || token.is("?.")) {
      note_bare();
      chain().joins = chain().size != 0;
      chain().named = false;
    } else if (token.is("(") || token.is("[")) {
      if (level_ + 1 >= kLevels) return end_chain();
      const bool brackets = token.is("[");
      variables_.mark(token, {}, level_);
      if (!brackets && chain().named && chain().last != 0) variables_.begins_callback(std::string_view(chain().text, chain().last - 1), last_name(), chain().from);
      chain().brackets = brackets;
      chain().opened = token.stop;
      ++level_;
      restart(token.stop);
    } else if (token.is(")") || token.is("]")) {
      end_chain();
      variables_.mark(token, {}, level_);
      if (level_ == 0) return restart(token.stop);
      --level_;
      Chain& now = chain();
      if (now.size == 0 && token.is("]")) return put("[]");  // [User, Post].each(&:delete_all)
      if (now.size == 0) {  // (await f()).g
        const Chain& inner = chains_[level_ + 1];
        put(std::string_view(inner.text, inner.size));
        now.from = inner.from;
        return;
      }
      const std::string_view inside = token.start > now.opened ? code_.text.substr(now.opened, token.start - now.opened) : std::string_view();
      if (!now.brackets && now.named && !is_definition()) note(now.opened, token.start);
      if (!now.brackets && now.from.empty()) now.from = Origins::required(now.written, inside);
      if (takes_member(inside)) return;
      now.named = false;
      now.brackets = false;
      if (now.size != 0) {
        put(token.is("]") ? "[" : "(");
        const ChainNames::Bound* item = variables_.names().item_in(inside);
        put(item != nullptr ? item->ending(kItem) : inside.size() <= kArguments ? inside : summary_of(inside));
        put(token.is("]") ? "]" : ")");
      }
    } else {
      if (bare_ && token.is("{") && chain().named) note_block(token.stop);
      const std::string_view simple = chain().named && chain().last == 0 ? chain().head : std::string_view();
      end_chain();
      if (token.is("<") && !simple.empty() && code_.text.substr(token.stop, 2) == "- ") {  // R: name <- value
        Token sign = lexer_.next();
        sign.text = "=";
        variables_.mark(sign, simple, level_);
        return restart(sign.stop);
      }
      variables_.mark(token, simple, level_);
      if (token.is("{") && language_ == Language::ruby) variables_.begins_block(std::string_view(chain().text, chain().size), chain().from);
      restart(token.stop);
    }
  }
  // Ruby: each { |user| user.destroy }, its block as the argument.
  void note_block(std::size_t start) noexcept {
    Chain& now = chain();
    const std::string_view name = last_name();
    if (name != "each" && name != "find_each" && name != "map") return;
    const std::size_t stop = code_.text.substr(start, kArgumentBytes).find('}');
    if (stop == std::string_view::npos || !holds_taking(code_.text.substr(start, stop))) return;
    now.takes = true;
    now.verb = {};
    now.first = start;
    now.stop = start + stop;
  }
  std::string_view last_name() noexcept { return {chain().text + chain().last, chain().size - chain().last}; }
  // method="DELETE", { 'Action': 'DELETE' }, ("DELETE", url): an argument by which a server is asked to delete.
  bool asks_for_deletion(std::string_view arguments) const noexcept {
    if (!asks_) return false;
    arguments = arguments.substr(0, kArgumentBytes);
    for (std::size_t at = find_folded(arguments, "delete"); at != std::string_view::npos; at = find_folded(arguments, "delete", at + 1)) {
      const std::size_t stop = at + 6;
      if (at == 0 || stop >= arguments.size() || (arguments[at - 1] != '"' && arguments[at - 1] != '\'') || (arguments[stop] != arguments[at - 1] && arguments[stop] != ' ')) continue;
      std::size_t before = at - 1;
      while (before > 0 && ascii::is_space(arguments[before - 1])) --before;
      if (before == 0) return ascii::one_of(arguments.substr(at, 6), "DELETE");
      if (arguments[before - 1] != ':' && arguments[before - 1] != '=' && arguments[before - 1] != '>') continue;
      std::string_view key = ascii::trim(arguments.substr(0, before - 1));
      while (!key.empty() && !ascii::is_name(key.back())) key.remove_suffix(1);
      std::size_t start = key.size();
      while (start > 0 && ascii::is_name(key[start - 1])) --start;
      if (ascii::one_of(key.substr(start), "method verb action operation op http_method type request_method httpmethod requesttype")) return true;
    }
    return false;
  }
  // Whether a chain, or a variable that it gets, is a database in memory.
  bool in_memory(std::string_view chain, std::string_view arguments) const noexcept {
    if (chain.find(":memory:") != std::string_view::npos || arguments.find(":memory:") != std::string_view::npos) return true;
    std::size_t end = 0;
    while (end < arguments.size() && ascii::is_name(arguments[end])) ++end;
    const ChainNames::Bound* known = variables_.names().find(arguments.substr(0, end));
    return known != nullptr && known->chain().find(":memory:") != std::string_view::npos;
  }
  // Whether a call that by its name takes nothing away does so by its arguments.
  bool carries_taking(std::string_view name, std::string_view arguments) const noexcept {
    const auto has = [arguments](std::string_view text) noexcept { return arguments.find(text) != std::string_view::npos; };
    if (name == "synchronize") return has("true");
    if (name == "updatemany") return ascii::starts_with(arguments, "{}");
    if (name == "push" || name == "sync") return has("force") || has("'+") || has("\"+");
    if (name == "to_sql") return has("replace");
    if (ascii::starts_with(name, "put_") || ascii::starts_with(name, "attach_") || ascii::starts_with(name, "authorize_") || ascii::starts_with(name, "create_access") ||
        ascii::starts_with(name, "create_login") || ascii::starts_with(name, "modify_db") || name == "add_permission" || name == "set_iam_policy" || name == "add_user_to_group") {
      return true;
    }
    if (name == "update" || asks_for_deletion(arguments)) return true;
    static constexpr Words kCommands("sendcommand send_command execute_command command command! cmd exec!");
    if (kCommands.has(name)) return has("rm -") || holds_taking(arguments);
    if (mutates_ && find_folded(arguments.substr(0, kArgumentBytes), "mutation") != std::string_view::npos) return true;
    static constexpr Words kSends("send sendall write sendline execute_kw rpc invoke");
    if (kSends.has(name)) return has("flush_all") || has("FLUSH") || has("unlink") || has("delete");
    if (name == "new") return std::string_view(chains_[level_].text, chains_[level_].size).find("http.delete.") != std::string_view::npos;  // Net::HTTP::Delete.new
    if (name.find("scale") != std::string_view::npos) return has("0");
    if (ascii::starts_with(name, "checkout") || ascii::starts_with(name, "merge")) return find_folded(arguments, "force") != std::string_view::npos;
    if (name == "createindex" || name == "create_index" || name == "ensureindex") return has("expireAfterSeconds");
    if (ascii::starts_with(name, "extract") || name == "unpack_archive") return !arguments.empty();
    if (ascii::starts_with(name, "rmtree")) return bare_ || name.size() > 6;
    if (name == "raw") return has("clean") || has("reset") || has("force");
    if (name == "execute") return has(".delete()");
    if (name == "run" || name == "sudo") return has("rm -") || holds_taking(arguments);
    if (name == "call_command" || name == "execute_from_command_line" || name == "call") return holds_taking(arguments) || has("zero");
    return (name == "fetch" || name == "request" || name == "map" || name == "execute_query" || name.find("each") != std::string_view::npos) && holds_taking(arguments);
  }
  // Whether the last name of the chain takes something away; its arguments are [first, stop) of the code.
  void note(std::size_t first, std::size_t stop) noexcept {
    Chain& now = chain();
    const std::string_view name = last_name();
    const bool task = (name == "invoke" || name == "execute") && std::string_view(now.text, now.size).find("rake.task") != std::string_view::npos;  // Rake::Task["db:drop"].invoke
    if (!task && !holds_taking(name) && !carries_taking(name, code_.text.substr(first, stop - first))) return;
    const std::string_view arguments = ascii::trim(code_.text.substr(first, stop - first));
    now.takes = true;
    now.verb = ascii::starts_with(arguments, "&:") ? arguments.substr(2) : now.written;  // each(&:drop)
    now.first = first;
    now.stop = stop;
  }
  // map(client.delete_index, names), names.forEach(client.deleteIndex): a method that is handed over to be called.
  void note_handed_over() noexcept {
    Chain& now = chain();
    if (level_ == 0 || !now.named || now.last == 0 || bare_) return;
    const Chain& outer = chains_[level_ - 1];
    static constexpr Words kEach("map foreach each apply submit starmap imap imap_unordered map_async pmap run_in_executor to_thread partial thread "
        "each_with_index run_sync gather");
    if (!outer.named || outer.brackets || verb_of(now.written).verb.empty() ||
        !kEach.has(outer.written)) {
      return;
    }
    now.takes = true;
    now.verb = now.written;
    now.first = now.stop = now.start;
    put(".@each(");
  }
  // Ruby calls without brackets.
  void note_bare() noexcept {
    if (bare_ && chain().named && chain().last != 0) note(0, 0);
  }
  void end_chain() noexcept {
    note_bare();
    note_handed_over();
    Chain& now = chain();
    now.named = false;
    variables_.ended(std::string_view(now.text, now.size), now.from, level_);
    if (!now.takes) return;
    now.takes = false;
    if (names_only_ || mocked_) return;
    std::string_view arguments = code_.text.substr(now.first, now.stop - now.first);
    while (!arguments.empty() && ascii::is_space(arguments.front())) arguments.remove_prefix(1);
    while (!arguments.empty() && ascii::is_space(arguments.back())) arguments.remove_suffix(1);
    if (is_dry(arguments) || in_memory(std::string_view(now.text, now.size), arguments)) return;
    ++emitted_;
    const std::size_t stop = now.stop + 1 > now.start ? now.stop + 1 : now.start;
    const Span span = code_.at(now.start, stop < code_.text.size() ? stop : code_.text.size());
    CommandWriter writer(reader_, frame_, dialect_, "@call", span);
    const std::string_view text = reader_.tree->copy(std::string_view(now.text, now.size));
    for (const std::string_view one : {text, arguments.substr(0, kArgumentBytes)}) {
      const bool unknown = one.find(kUnknownPart) != std::string_view::npos;
      writer.word(one, span, static_cast<std::uint16_t>(word_flag::kPseudo | (unknown ? word_flag::kUnknown : 0)));
    }
    const Verb verb = verb_of(now.verb);
    note(writer, "--verb=", verb.verb);
    note(writer, "--what=", verb.what);
    note(writer, "--from=", now.from);
    if (now.from.empty() && origins_.lost()) reader_.tree->add_uncertainty(Unresolved::code, span, frame_.carrier);
    writer.end();
  }
  void note(CommandWriter& writer, std::string_view option, std::string_view value) noexcept {
    if (!value.empty()) writer.flag(reader_.tree->join(reader_.tree->copy(option), value));
  }

  Reader& reader_;
  const Code& code_;
  const Frame& frame_;
  Lexer lexer_;
  Dialect dialect_;
  Language language_;
  bool bare_, names_only_ = false, mocked_ = false, asks_ = false, mutates_ = false, defines_ = false;
  bool has_classes_ = language_ == Language::ruby || language_ == Language::php || language_ == Language::perl;
  ChainVariables variables_;
  Origins origins_;
  Chain chains_[kLevels];
  std::uint32_t level_ = 0, emitted_ = 0;
};

inline void read_library_calls(Reader& reader, const Code& code, const Frame& frame, Language language, Dialect dialect) noexcept {
  LibraryCalls(reader, code, frame, language, dialect).read();
}

}  // namespace tipstaff::gate::program
