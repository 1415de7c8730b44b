// Programs that are given code of another dialect: interpreters, database clients, plain connections to a database.
#pragma once

#include "tipstaff/gate/shell/programs/carriers.hpp"
#include "tipstaff/gate/shell/programs/trials.hpp"

namespace tipstaff::gate::shell {

// Option letters of an interpreter that introduce code, and those that only take a value.
struct InterpreterOptions {
  string_view code_letters, code_names, value_letters, value_names;
};

inline const InterpreterOptions& options_of(Dialect dialect) noexcept {
  static constexpr InterpreterOptions kPython{"c", "", "WX", "--check-hash-based-pycs"};
  static constexpr InterpreterOptions kNode{"ep", "--eval --print", "rCI",
                                            "--require --import --loader --experimental-loader --conditions --env-file "
                                            "--input-type --title --config --import-map --cwd --preload"};
  static constexpr InterpreterOptions kPerl{"eE", "", "", ""};
  static constexpr InterpreterOptions kRuby{"e", "", "CEIr", ""};
  static constexpr InterpreterOptions kPhp{"rRBE", "--run --process-code --process-begin --process-end", "cdfzStF", "--file"};
  switch (dialect) {
    case Dialect::node: return kNode;
    case Dialect::perl: return kPerl;
    case Dialect::ruby: return kRuby;
    case Dialect::php: return kPhp;
    default: return kPython;
  }
}

// python -m timeit CODE, python -m cProfile SCRIPT: modules that run what follows; the others have their own arguments.
inline void ShellReader::run_module(Invocation& in, std::uint32_t at) noexcept {
  const bool apart = text_of(in, at).size() == 2;
  const string_view module = apart ? at + 1 < in.count ? text_of(in, at + 1) : string_view() : text_of(in, at).substr(2);
  const std::uint32_t from = at + (apart ? 2 : 1);
  Nested options;
  if (module == "timeit") {
    Word setup;
    if (find_option(in, 's', "--setup", &setup) != kNone) code_word(in, setup, options, Dialect::python);
    for (std::uint32_t i = after_options(in, from, "nrsu", "--number --repeat --setup --unit"); i < in.count; ++i) {
      code_word(in, argument(in, i), options, Dialect::python);
    }
  } else if (apart && one_of(module, "django flask alembic aerich celery dvc prefect mlflow IPython ipython")) {  // tools of the same name
    run_inner(in, at + 1, 0);
  } else if (one_of(module, "code asyncio") && in.input.kind != Stream::none) {
    nested_stream(in, in.input, options, Dialect::python);
  } else if (one_of(module, "cProfile profile trace pdb coverage viztracer pyinstrument memory_profiler line_profiler kernprof scalene runpy debugpy")) {
    for (std::uint32_t i = from; i < in.count; ++i) {
      if (!ends_with(text_of(in, i), ".py")) continue;
      run_script(in, i, Dialect::python, 0);
      return;
    }
  }
}

inline void ShellReader::run_interpreter(Invocation& in, Dialect dialect) noexcept {
  const InterpreterOptions& options = options_of(dialect);
  Nested nested_options;
  bool code_seen = false;
  std::uint32_t i = 1;
  const string_view program = tree_.command(in.command).program;
  if (program == "deno" || program == "bun") {
    if (i < in.count) {
      const string_view verb = text_of(in, i);
      if (verb == "eval" || (program == "bun" && verb == "-e")) {
        i = after_options(in, i + 1, "", "--ext --config");
        if (i < in.count) code_word(in, argument(in, i), nested_options, dialect);
        return;
      }
      if (program == "bun" && one_of(verb, "run install i add")) run_package_script(in);
      if (program == "bun" && verb == "run" && i + 1 < in.count && one_of(text_of(in, i + 1), "prisma drizzle-kit knex sequelize-cli sequelize typeorm mikro-orm wrangler supabase firebase convex")) {
        return run_inner(in, i + 1, 0);
      }
      if (verb == "run" || verb == "test") {
        ++i;
      } else if (program == "bun" && one_of(verb, "x exec")) {
        return verb == "x" ? run_inner(in, i + 1, 0)
                           : code_word(in, i + 1 < in.count ? argument(in, i + 1) : Word{}, nested_options, Dialect::shell);
      } else if (one_of(verb, "install add remove task init create build upgrade fmt lint check compile cache info repl "
                              "publish update link unlink pm doc bench serve deploy")) {
        return;
      }
    }
  }
  for (; i < in.count; ++i) {
    const Word word = argument(in, i);
    const string_view text = word.text;
    if (text.size() < 2 || text[0] != '-') break;
    if (text == "--") {
      ++i;
      break;
    }
    const std::size_t equals = text.find('=');
    if (one_of(text.substr(0, equals), options.code_names)) {
      Word code = word;
      if (equals != string_view::npos) code.text.remove_prefix(equals + 1);
      else if (++i < in.count) code = argument(in, i);
      else return;
      if (dialect == Dialect::python && !code.text.empty() && holds("!%", code.text[0])) {  // IPython: !rm x, %rm x
        code.text.remove_prefix(1);
        code_word(in, code, nested_options, Dialect::shell);
        return;
      }
      code_word(in, code, nested_options, dialect);
      code_seen = true;
      continue;
    }
    if (dialect == Dialect::node && one_of(text.substr(0, equals), "--import --loader --experimental-loader --require -r")) {  // --import data:text/javascript,CODE
      Word code = word;
      if (equals != string_view::npos) code.text.remove_prefix(equals + 1);
      else if (i + 1 < in.count) code = argument(in, i + 1);
      constexpr string_view kData = "data:text/javascript,";
      if (starts_with(code.text, kData)) {
        code.text.remove_prefix(kData.size());
        code_word(in, code, nested_options, dialect);
      }
    }
    if (text[1] == '-') {
      if (one_of(text, options.value_names)) ++i;
      if (text == "--version" || text == "--help") return;
      continue;
    }
    if (dialect == Dialect::python && text[1] == 'm') return run_module(in, i);
    for (std::size_t k = 1; k < text.size(); ++k) {
      const char letter = text[k];
      if (holds(options.code_letters, letter)) {
        Word code = word;
        // -e of these three takes the rest of the word; node's does not.
        if (k + 1 < text.size() && dialect != Dialect::node) {
          code.text.remove_prefix(k + 1);
        } else if (i + 1 < in.count) {
          code = argument(in, ++i);
        } else {
          return;
        }
        const bool magic = dialect == Dialect::python && !code.text.empty() && holds("!%", code.text[0]);  // IPython: !rm x, %rm x
        if (magic) code.text.remove_prefix(1);
        code_word(in, code, nested_options, magic ? Dialect::shell : dialect);
        code_seen = true;
        break;
      }
      if (holds(options.value_letters, letter)) {
        if (k + 1 == text.size()) ++i;
        break;
      }
      // perl -i.bak, -MModule, -Idir and -l015 take what follows.
      if ((dialect == Dialect::perl && holds("iMmIFCxdD0", letter)) ||
          (dialect == Dialect::ruby && holds("iFxKT0W", letter))) {
        break;
      }
    }
    if (code_seen && dialect == Dialect::python) return;
  }
  if (code_seen) return;
  if (i < in.count && text_of(in, i) != "-" && text_of(in, i) != "/dev/stdin") {
    // Scripts that are tools of their own: php artisan, python manage.py.
    if (!run_tool_file(in, i) && one_of(base_name(text_of(in, i)), "artisan manage.py wp drush django-admin console magento occ craft yii spark cake")) run_inner(in, i, 0);
    run_script(in, i, dialect, 0);
    return;
  }
  nested_options.via = via::kEvaluated;
  if (in.input.kind != Stream::none) nested_stream(in, in.input, nested_options, dialect);
}

inline void ShellReader::run_awk(Invocation& in) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text == "--") continue;
    if (starts_with(text, "-f") || text == "--file") {
      if (text == "-f" || text == "--file") {
        if (i + 1 < in.count) run_script(in, i + 1, Dialect::awk, 0);
      }
      return;
    }
    if (one_of(text, "-F -v -l --field-separator --assign --load")) {
      ++i;
      continue;
    }
    if ((text == "-e" || text == "--source") && i + 1 < in.count) {
      code_word(in, argument(in, ++i), Nested{}, Dialect::awk);
      continue;
    }
    if (!text.empty() && text[0] == '-') continue;
    return code_word(in, argument(in, i), Nested{}, Dialect::awk);
  }
}

// sqlite3 :memory: ...: what it drops is gone anyway when it ends, as long as nothing reaches a file or a shell.
inline bool ShellReader::only_in_memory(const Invocation& in) noexcept {
  const auto reaches_out = [](string_view text) noexcept {
    for (const string_view word : {"attach", ".sh", ".sy", ".o", ".read", ".import", "writefile", "copy", ".save", ".backup", ".clone"}) {
      for (std::size_t at = 0; at + word.size() <= text.size(); ++at)
        if (ascii::starts_with(text.substr(at, word.size()), word)) return true;
    }
    return false;
  };
  bool memory = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    if (word.has(word_flag::kUnknown) || reaches_out(word.text)) return false;
    if (one_of(word.text, "-init -cmd")) return false;
    if (!memory && (word.text.empty() || word.text[0] != '-')) {
      memory = word.text == ":memory:" || word.text.empty();
      if (!memory) return false;
    }
  }
  return memory && (in.input.kind == Stream::none || (in.input.kind == Stream::known && !reaches_out(in.input.text)));
}

inline void ShellReader::run_sql(Invocation& in, const Program& program) noexcept {
  const string_view name = program.name;
  Word url;
  // Each client has its own words for "this is SQL" and "this file is".
  string_view code = "-c --command -e --execute -q -Q --query --sql", file = "-f --file -i --input-file";
  if (name == "psql" || name == "pgcli") code = "-c --command --init-command";
  else if (name == "mysql" || name == "mariadb" || name == "mycli") code = "-e --execute --init-command --init-command-add", file = "";
  else if (name == "sqlite3" || name == "sqlite") code = "-cmd", file = "-init";
  else if (name == "sqlcmd") code = "-q -Q --query --initial-query", file = "-i --input-file";
  else if (name == "duckdb") code = "-c -s -cmd", file = "-f -init";
  else if (name == "clickhouse-client" || name == "clickhouse") code = "-q --query", file = "--queries-file";
  else if (name == "cockroach") code = "-e --execute";
  else if (name == "snowsql" || name == "beeline" || name == "hive" || name == "spark-sql") code = "-q -e --query";
  else if (name == "impala-shell") code = "-q --query", file = "-f --query_file";
  else if (name == "cqlsh" || name == "trino" || name == "presto") code = "-e --execute";
  const bool in_memory = name == "cockroach" && in.count > 1 && text_of(in, 1) == "demo" && find_option(in, '\0', "--url", &url) == kNone;
  const bool trial = in_memory || is_trial_database(in) || speaks_to_started(in, in.count);
  in.via = trial ? in.via | via::kTrial : in.via & ~via::kTrial;  // no framework's variable is read by it
  if (name == "bq") {
    for (std::uint32_t i = 1; i < in.count; ++i) {
      if (text_of(in, i) != "query") continue;
      for (std::uint32_t k = i + 1; k < in.count; ++k) {
        if (!text_of(in, k).empty() && text_of(in, k)[0] != '-') code_word(in, argument(in, k), Nested{}, Dialect::sql);
      }
      if (in.input.kind != Stream::none) nested_stream(in, in.input, Nested{}, Dialect::sql);
    }
    return;
  }
  if ((name == "sqlite3" || name == "sqlite" || name == "duckdb") && only_in_memory(in)) return;
  bool given = false;
  std::uint32_t operands = 0;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    const string_view text = word.text;
    if (text.size() > 1 && text[0] == '-') {
      const std::size_t equals = text.find('=');
      const string_view option = text.substr(0, equals);
      Word value = word;
      bool has_value = false;
      if (equals != string_view::npos && text[1] == '-') {
        value.text.remove_prefix(equals + 1);
        has_value = true;
      } else if (i + 1 < in.count) {
        value = argument(in, i + 1);
        has_value = true;
      }
      const bool next_word = equals == string_view::npos || text[1] != '-';
      if (one_of(option, code) && has_value) {
        if (next_word) ++i;
        given = true;
        code_word(in, value, Nested{}, Dialect::sql);
      } else if (!file.empty() && one_of(option, file) && has_value) {
        if (next_word) ++i;
        given = true;
        if (value.text == "-" || value.text == "/dev/stdin") {
          nested_stream(in, in.input, Nested{}, Dialect::sql);
        } else {
          Stream source;
          source.kind = value.has(word_flag::kUnknown) ? Stream::unknown : Stream::file;
          source.text = value.text;
          source.span = value.span;
          nested_stream(in, source, Nested{}, Dialect::sql);
        }
      } else if (text[1] != '-' && text.size() > 2 && one_of(text.substr(0, 2), code) && name != "sqlite3" &&
                 name != "sqlite" && name != "duckdb") {
        // -e'DROP ...', written without a blank.
        value = word;
        value.text.remove_prefix(2);
        given = true;
        code_word(in, value, Nested{}, Dialect::sql);
      } else if (text[1] != '-' && text.size() > 2 && name == "psql" && text.back() == 'c' && i + 1 < in.count &&
                 text.find_first_not_of("AaEeHnqSstwXx1c", 1) == string_view::npos) {
        given = true;
        code_word(in, argument(in, ++i), Nested{}, Dialect::sql);  // -tAc CODE
      } else if (next_word && (one_of(text, program.long_values) ||
                               (text[1] != '-' && text.size() == 2 && holds(program.short_values, text[1])))) {
        ++i;
      }
      continue;
    }
    ++operands;
    if (name == "sqlplus" && text.size() > 1 && text[0] == '@') {  // a script, which may be named without its ending
      Stream source;
      source.kind = word.has(word_flag::kUnknown) ? Stream::unknown : Stream::file;
      source.text = text.substr(1);
      source.span = word.span;
      given = true;
      nested_stream(in, source, Nested{}, Dialect::sql);
    }
    if ((name == "sqlite3" || name == "sqlite" || name == "duckdb") && operands >= 2) {
      given = true;
      code_word(in, word, Nested{}, Dialect::sql);
    }
  }
  if (given || in.input.kind == Stream::none) return;
  // What comes in is SQL; where nothing is known of it, a client is as harmless as its file: rules see @read.
  if (in.input.kind == Stream::unknown) {
    uncertain(Unresolved::code, in.span, in.command);
    return;
  }
  nested_stream(in, in.input, Nested{}, Dialect::sql);
}

inline void ShellReader::run_redis(Invocation& in) noexcept {
  const std::uint32_t at = after_options(in, 1, "hpaunrid", "--user --pass --eval --pipe-timeout --sni --cacert --cert --key");
  if (is_trial_store(in, at)) in.via |= via::kTrial;
  if (speaks_to_started(in, at)) in.via |= via::kTrial | via::kFresh;
  Nested options;
  if (at < in.count) return code_word(in, rest_of(in, at), options, Dialect::redis);
  nested_stream(in, in.input, options, Dialect::redis);
}

inline void ShellReader::run_mongo(Invocation& in) noexcept {
  const auto leaves = [](string_view text) noexcept {
    for (const string_view word : {"getSiblingDB", "getSisterDB", "getDB(", "getMongo", "Mongo(", "connect(", "use "})
      if (text.find(word) != string_view::npos) return true;
    return false;
  };
  bool trial = (is_trial_database(in) || speaks_to_started(in, in.count)) && !leaves(in.input.text);
  for (std::uint32_t i = 1; trial && i < in.count; ++i) trial = !leaves(text_of(in, i)) && !ends_with(text_of(in, i), ".js");
  if (trial) in.via |= via::kTrial;
  bool given = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    Word word = argument(in, i);
    if (word.text == "--eval" && i + 1 < in.count) {
      word = argument(in, ++i);
    } else if (starts_with(word.text, "--eval=")) {
      word.text.remove_prefix(7);
    } else if (ends_with(word.text, ".js") && word.text[0] != '-') {
      given = true;
      Stream source;
      source.kind = Stream::file;
      source.text = word.text;
      source.span = word.span;
      nested_stream(in, source, Nested{}, Dialect::mongo);
      continue;
    } else {
      continue;
    }
    given = true;
    code_word(in, word, Nested{}, Dialect::mongo);
  }
  if (given || in.input.kind == Stream::none) return;
  Stream input = in.input;
  if (input.kind == Stream::known && starts_with(trim(input.text), "use ")) {
    // `use NAME` is the prompt's own word, and no statement.
    const std::size_t end = input.text.find_first_of(";\n");
    input.text = end == string_view::npos ? string_view() : input.text.substr(end + 1);
  }
  nested_stream(in, input, Nested{}, Dialect::mongo);
}

// The commands in what Redis is sent: lines of words, or the protocol's own form, in which *N begins a command and $N
// is before each of its words.
inline string_view redis_lines(Tree& tree, string_view text) noexcept {
  if (text.find('*') == string_view::npos) return text;
  std::size_t room = 0;
  char* out = tree.draft(&room);
  if (room < text.size() + 1) {
    tree.set_full();
    return {};
  }
  std::size_t n = 0;
  bool framed = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == string_view::npos) end = text.size();
    const string_view line = trim(text.substr(at, end - at));
    at = end + 1;
    const bool counts = line.size() > 1 && is_digit(line[1]);
    if (counts && line[0] == '$') continue;
    if (n > 0 && out[n - 1] != '\n') out[n++] = framed && !(counts && line[0] == '*') ? ' ' : '\n';
    if (counts && line[0] == '*') {
      framed = true;
      continue;
    }
    for (const char c : line) out[n++] = c;
  }
  return tree.keep(n);
}

// nc, ncat, telnet, socat: what goes in is read as what the other side takes, where its port tells.
inline void ShellReader::run_socket(Invocation& in) noexcept {
  if (in.input.kind != Stream::known) return;
  bool redis = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text.empty() || text[0] == '-') continue;
    redis = redis || one_of(text, "6379 6380") || ends_with(text, ":6379") || ends_with(text, ":6380");
  }
  if (!redis) return;
  other_dialect(in, Dialect::redis, redis_lines(tree_, in.input.text), in.input.span, 0);
}

}  // namespace tipstaff::gate::shell
