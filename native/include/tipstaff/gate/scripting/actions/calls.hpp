// Which calls of which language do what.
#pragma once

#include "tipstaff/gate/scripting/actions/values.hpp"
#include "tipstaff/gate/tree/word_table.hpp"

namespace tipstaff::gate::program {

enum class Action : std::uint8_t {
  none,
  shell,            // a text for a shell, or a list
  run,              // a list, or a program and a list, or a program's name
  run_each,         // a program and its arguments, each an argument here
  exec_list,        // path, argument zero, arguments ...
  exec_vector,      // path, [argument zero, arguments ...]
  spawn_list,       // mode, then as exec_list
  spawn_vector,
  remove_tree,
  remove_file,
  remove_by_options,  // recursive and forced as its options say
  remove_directory,
  empty_directory,
  write,
  append,
  read,
  open,             // by its mode
  move,
  copy,
  change_mode,      // path, mode
  change_mode_first,  // mode, path ...
  change_owner,
  kill,             // process, signal
  kill_first,       // signal, process ...
  truncate,
  link,
  send,             // what is given leaves for the network
  send_file,        // the first argument is a file that leaves
  fetch,            // comes from the network
  request,          // sends or fetches as its options say
  connect,
  evaluate,
  load,             // a text or a file whose objects are code while they are made: pickle.loads
  load_file,        // a path of Python that is run: runpy.run_path
  save,             // an address and a path: what comes from the network is a file then
  decode_base64,
  decode_hex,
  reverse,
  code_point,
  join_path,
  home,
  expand,
  working,
  temporary,
  environment,
  same,             // its argument
  glob,
  names,            // of what a folder holds
  entries,          // their paths
  walk,
  join_text,        // a separator, and a list or texts
  byte_list,        // numbers, or its argument
  import,
  get_member,
  sql,
  parse_arguments,  // a text cut at blanks
  end,              // not an action
};

struct Call {
  Action action;
  std::string_view names;  // in lower case, dotted, one space between
};

// Members of modules are said with dots in every language: File::Path::rmtree is file.path.rmtree.
inline constexpr Call kPython[] = {
    {Action::shell,
     "os.system os.popen os.popen2 os.popen3 os.popen4 posix.system posix.popen nt.system commands.getoutput "
     "commands.getstatusoutput subprocess.getoutput subprocess.getstatusoutput popen2.popen2 popen2.popen3 popen2.popen4 "
     "asyncio.create_subprocess_shell pexpect.run pexpect.runu pexpect.spawn invoke.run fabric.local fabric.connection.run fabric.connection.sudo fabric.connection.local delegator.run envoy.run sarge.run sarge.capture_stdout os.startfile _posixsubprocess.system get_ipython.system get_ipython.getoutput get_ipython.system_piped get_ipython.system_raw"},
    {Action::run,
     "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.popen pty.spawn trio.run_process "
     "anyio.run_process ansible_runner.run_command sp.run sp.call sp.check_call sp.check_output sp.popen"},
    {Action::run_each, "asyncio.create_subprocess_exec"},
    {Action::exec_list, "os.execl os.execle os.execlp os.execlpe posix.execl"},
    {Action::exec_vector, "os.execv os.execve os.execvp os.execvpe os.posix_spawn os.posix_spawnp posix.execv posix.execve"},
    {Action::spawn_list, "os.spawnl os.spawnle os.spawnlp os.spawnlpe"},
    {Action::spawn_vector, "os.spawnv os.spawnve os.spawnvp os.spawnvpe"},
    {Action::remove_tree, "shutil.rmtree plumbum.path.utils.delete send2trash.send2trash aioshutil.rmtree distutils.dir_util.remove_tree setuptools.distutils.dir_util.remove_tree rmtree"},
    {Action::remove_file, "os.remove os.unlink aiofiles.os.remove aiofiles.os.unlink posix.remove posix.unlink pathlib.path.unlink"},
    {Action::remove_directory, "os.rmdir os.removedirs posix.rmdir"},
    {Action::open, "open io.open smart_open.open codecs.open builtins.open gzip.open bz2.open lzma.open"},
    {Action::move, "os.rename os.replace os.renames shutil.move posix.rename"},
    {Action::copy, "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree distutils.dir_util.copy_tree aioshutil.copytree plumbum.path.utils.copy"},
    {Action::change_mode, "os.chmod os.lchmod posix.chmod"},
    {Action::change_owner, "os.chown os.lchown shutil.chown posix.chown"},
    {Action::kill, "os.kill os.killpg posix.kill signal.pidfd_send_signal"},
    {Action::truncate, "os.truncate os.ftruncate posix.ftruncate"},
    {Action::link, "os.symlink os.link"},
    {Action::send, "smtplib.smtp.sendmail urllib2.urlopen_post"},
    {Action::fetch, "requests.get httpx.get urllib.urlopen urllib2.urlopen"},
    {Action::save, "urllib.request.urlretrieve urllib.urlretrieve wget.download"},
    {Action::load, "pickle.loads pickle.load _pickle.loads cpickle.loads cpickle.load dill.loads dill.load cloudpickle.loads cloudpickle.load joblib.load marshal.loads marshal.load "
                   "yaml.unsafe_load yaml.full_load jsonpickle.decode jsonpickle.loads pandas.read_pickle pd.read_pickle"},
    {Action::load_file, "runpy.run_path importlib.util.spec_from_file_location imp.load_source importlib.machinery.sourcefileloader"},
    {Action::request,
     "requests.post requests.put requests.patch requests.request httpx.post httpx.put httpx.patch httpx.request httpx.stream "
     "urllib.request.urlopen urllib.request.request urllib3.request aiohttp.request"},
    {Action::connect, "socket.socket socket.create_connection"},
    {Action::evaluate, "eval exec compile execfile builtins.eval builtins.exec builtins.compile __builtins__.eval __builtins__.exec timeit.timeit timeit.repeat cprofile.run cprofile.runctx profile.run pdb.run pdb.runeval trace.trace.run"},
    {Action::decode_base64, "base64.b64decode base64.standard_b64decode base64.urlsafe_b64decode base64.decodebytes binascii.a2b_base64 b64decode"},
    {Action::decode_hex, "bytes.fromhex bytearray.fromhex binascii.unhexlify binascii.a2b_hex base64.b16decode"},
    {Action::reverse, "reversed"},
    {Action::code_point, "chr unichr"},
    {Action::join_path, "os.path.join path.join posixpath.join ntpath.join pathlib.path pathlib.posixpath pathlib.purepath path pathlib.windowspath plumbum.local.path plumbum.localpath plumbum.path.localpath py.path.local upath.upath path.path unipath.path twisted.python.filepath.filepath etils.epath.path anyio.path trio.path aiopath.asyncpath"},
    {Action::home, "pathlib.path.home path.home pwd.getpwuid"},
    {Action::expand, "os.path.expanduser os.path.expandvars"},
    {Action::working, "os.getcwd os.getcwdb pathlib.path.cwd path.cwd"},
    {Action::temporary, "tempfile.mkdtemp tempfile.mkstemp tempfile.mktemp tempfile.temporarydirectory tempfile.namedtemporaryfile tempfile.gettempdir tempfile.temporaryfile"},
    {Action::environment, "os.getenv os.environ.get environ.get"},
    {Action::byte_list, "bytes bytearray"},
    {Action::same, "str os.path.abspath os.path.realpath os.path.normpath os.fspath os.fsencode os.fsdecode repr sqlalchemy.text text list tuple sorted set frozenset iter filter itertools.chain shlex.quote"},
    {Action::glob, "glob.glob glob.iglob"},
    {Action::names, "os.listdir"},
    {Action::entries, "os.scandir"},
    {Action::walk, "os.walk os.fwalk"},
    {Action::import, "__import__ importlib.import_module"},
    {Action::get_member, "getattr operator.attrgetter object.__getattribute__ type.__getattribute__"},
    {Action::parse_arguments, "shlex.split"},
};

inline constexpr Call kNode[] = {
    {Action::shell, "child_process.exec cp.exec childprocess.exec shelljs.exec shell.exec execa.execacommand execacommand execa.command execa.commandsync"},
    {Action::run,
     "child_process.spawn child_process.execfile child_process.fork cp.spawn cp.execfile childprocess.spawn childprocess.execfile "
     "execa execa.execa execa.sync cross-spawn cross-spawn.spawn spawn spawnsync execfile deno.command deno.run bun.spawn"},
    {Action::remove_by_options, "fs.rm deno.remove fsp.rm fs.rmdir fsp.rmdir fspromises.rm fspromises.rmdir"},
    {Action::remove_file, "fs.unlink fsp.unlink fs-extra.unlink fspromises.unlink"},
    {Action::remove_tree, "fs-jetpack.remove trash trash.default trash.sync fs-extra.remove fse.remove fs-extra.rm rimraf rimraf.sync rimraf.rimraf rimraf.native rimraf.manual del del.del del.delete del.deleteasync deleteasync fs.remove"},
    {Action::empty_directory, "std/fs.emptydir emptydir fs-extra.emptydir fse.emptydir fs.emptydir"},
    {Action::write,
     "fs.writefile fs.createwritestream fs-extra.writefile fs-extra.outputfile fse.outputfile deno.writetextfile deno.writefile deno.create bun.write fsp.writefile fspromises.writefile"},
    {Action::append, "fs.appendfile fs-extra.appendfile fsp.appendfile fspromises.appendfile"},
    {Action::read,
     "fs.readfile fs.createreadstream fs-extra.readfile fs-extra.readjson deno.readtextfile deno.readfile bun.file fsp.readfile fspromises.readfile"},
    {Action::open, "fs.open fsp.open"},
    {Action::move, "fs.rename fs-extra.move fse.move deno.rename fsp.rename fs-extra.rename"},
    {Action::copy, "fs.cp fs.copyfile fs-extra.copy fse.copy deno.copyfile fsp.cp"},
    {Action::change_mode, "fs.chmod deno.chmod fsp.chmod"},
    {Action::change_owner, "fs.chown deno.chown fsp.chown"},
    {Action::kill, "process.kill deno.kill"},
    {Action::truncate, "fs.truncate deno.truncate fsp.truncate"},
    {Action::link, "fs.symlink fs.link deno.symlink"},
    {Action::request,
     "fetch axios axios.request http.request https.request undici.request undici.fetch node-fetch node-fetch.default got got.stream needle superagent globalthis.fetch"},
    {Action::send, "axios.post axios.put axios.patch got.post got.put got.patch needle.post superagent.post superagent.put request.post ky.post"},
    {Action::fetch, "axios.get http.get https.get got.get needle.get superagent.get ky.get"},
    {Action::connect, "net.connect net.createconnection net.socket tls.connect deno.connect bun.connect"},
    {Action::evaluate, "worker_threads.worker eval function vm.runinthiscontext vm.runinnewcontext vm.runincontext vm.script globalthis.eval settimeout setinterval"},
    {Action::decode_base64, "atob"},
    {Action::join_path, "path.join path.resolve path.posix.join path.win32.join join"},
    {Action::home, "os.homedir homedir"},
    {Action::working, "process.cwd deno.cwd"},
    {Action::temporary, "os.tmpdir fs.mkdtemp deno.maketempdir fsp.mkdtemp"},
    {Action::environment, "deno.env.get"},
    {Action::same, "string path.normalize path.dirname_ sql sql.raw sequelize.literal prisma.sql"},
    {Action::code_point, "string.fromcharcode string.fromcodepoint"},
    {Action::names, "fs.readdir fsp.readdir fspromises.readdir deno.readdir fs-extra.readdir"},
    {Action::glob, "fs.glob fsp.glob glob.sync glob glob.glob globby globby.sync fast-glob fast-glob.sync"},
    {Action::import, "require import module.require process.mainmodule.require process.binding process.getbuiltinmodule"},
};

inline constexpr Call kPerl[] = {
    {Action::shell, "system exec readpipe core.system core.exec ipc.run.run ipc.system.simple.system ipc.system.simple.systemx ipc.system.simple.capturex systemx capturex"},
    {Action::remove_tree, "rmtree remove_tree file.remove.remove file.remove.rm file.remove.trash file.path.rmtree file.path.remove_tree pathrmdir"},
    {Action::remove_file, "unlink core.unlink"},
    {Action::remove_directory, "rmdir"},
    {Action::open, "open sysopen"},
    {Action::move, "rename move file.copy.move mv"},
    {Action::copy, "copy file.copy.copy cp file.copy.recursive.dircopy"},
    {Action::change_mode_first, "chmod"},
    {Action::change_owner, "chown"},
    {Action::kill_first, "kill"},
    {Action::truncate, "truncate"},
    {Action::link, "symlink link"},
    {Action::evaluate, "eval"},
    {Action::decode_base64, "decode_base64 mime.base64.decode_base64 mime.base64.decode"},
    {Action::reverse, "reverse"},
    {Action::code_point, "chr"},
    {Action::join_path, "path.tiny.path path.class.dir path.class.file mojo.file.path path dir io file.spec.catfile file.spec.catdir catfile catdir"},
    {Action::home, "file.homedir.my_home"},
    {Action::connect, "socket io.socket.inet.new"},
    {Action::temporary, "tempdir tempfile file.temp.tempdir"},
    {Action::glob, "glob core.glob file.glob.bsd_glob bsd_glob"},
    {Action::names, "opendir readdir"},
    {Action::join_text, "join"},
    {Action::same, "lc uc ucfirst quotemeta"},
    {Action::fetch, "lwp.simple.get get"},
    {Action::sql, "dbi_do"},
};

inline constexpr Call kRuby[] = {
    {Action::shell, "system exec spawn io.popen open3.capture2 open3.capture2e open3.capture3 open3.popen3 open3.popen2 open3.popen2e open3.pipeline "
                    "process.spawn process.exec pty.spawn"},
    {Action::remove_tree,
     "fileutils.rm_rf fileutils.rm_r fileutils.rmtree fileutils.remove_dir fileutils.remove_entry fileutils.remove_entry_secure rm_rf rm_r fileutils.remove_tree"},
    {Action::remove_file, "fileutils.rm fileutils.rm_f fileutils.remove file.delete file.unlink fileutils.safe_unlink rm_f"},
    {Action::remove_directory, "dir.rmdir dir.delete dir.unlink fileutils.rmdir"},
    {Action::write, "file.write io.write file.binwrite io.binwrite"},
    {Action::read, "file.read io.read file.binread file.readlines io.readlines file.foreach"},
    {Action::open, "file.open file.new open"},
    {Action::move, "fileutils.mv fileutils.move file.rename"},
    {Action::copy, "fileutils.cp fileutils.cp_r fileutils.copy"},
    {Action::change_mode_first, "fileutils.chmod fileutils.chmod_r file.chmod"},
    {Action::change_owner, "fileutils.chown fileutils.chown_r file.chown"},
    {Action::kill_first, "process.kill"},
    {Action::truncate, "file.truncate"},
    {Action::link, "file.symlink fileutils.ln_s file.link"},
    {Action::send, "net.http.post net.http.post_form faraday.post httparty.post restclient.post excon.post"},
    {Action::fetch, "net.http.get uri.open open-uri.open httparty.get faraday.get restclient.get"},
    {Action::connect, "tcpsocket.open tcpsocket.new socket.tcp"},
    {Action::evaluate, "eval instance_eval class_eval module_eval kernel.eval binding.eval"},
    {Action::decode_base64, "base64.decode64 base64.strict_decode64 base64.urlsafe_decode64"},
    {Action::join_path, "file.join pathname.new pathname"},
    {Action::home, "dir.home etc.getpwuid"},
    {Action::expand, "file.expand_path file.absolute_path file.realpath"},
    {Action::working, "dir.pwd dir.getwd"},
    {Action::temporary, "dir.mktmpdir dir.tmpdir tempfile.new tempfile.create"},
    {Action::environment, "env.fetch"},
    {Action::glob, "dir.glob"},
    {Action::names, "dir.children dir.each_child dir.entries dir.foreach"},
    {Action::walk, "find.find"},
    {Action::same, "string arel.sql"},
};

inline constexpr Call kPhp[] = {
    {Action::shell, "system exec shell_exec passthru process.fromshellcommandline popen proc_open pcntl_exec_shell wp_exec"},
    {Action::exec_vector, "pcntl_exec_"},
    {Action::run, "pcntl_exec process"},
    {Action::remove_file, "unlink"},
    {Action::remove_directory, "rmdir"},
    {Action::write, "file_put_contents"},
    {Action::read, "file_get_contents readfile file highlight_file show_source fpassthru"},
    {Action::open, "fopen"},
    {Action::move, "rename move_uploaded_file"},
    {Action::copy, "copy"},
    {Action::change_mode, "chmod"},
    {Action::change_owner, "chown chgrp"},
    {Action::kill, "posix_kill"},
    {Action::link, "symlink link"},
    {Action::evaluate, "eval assert create_function"},
    {Action::decode_base64, "base64_decode"},
    {Action::decode_hex, "hex2bin"},
    {Action::reverse, "strrev"},
    {Action::code_point, "chr"},
    {Action::environment, "getenv"},
    {Action::working, "getcwd"},
    {Action::temporary, "sys_get_temp_dir tempnam tmpfile"},
    {Action::glob, "glob"},
    {Action::names, "scandir readdir opendir"},
    {Action::walk, "recursivedirectoryiterator"},
    {Action::entries, "directoryiterator filesystemiterator globiterator"},
    {Action::join_text, "implode join"},
    {Action::same, "strval strtolower array_filter array_values array_unique array_reverse escapeshellarg escapeshellcmd realpath trim recursiveiteratoriterator iteratoriterator iterator_to_array"},
    {Action::connect, "fsockopen pfsockopen stream_socket_client socket_connect"},
    {Action::sql, "mysqli_query mysqli_multi_query mysql_query pg_query pg_send_query sqlite_exec sqlite_query odbc_exec sqlsrv_query"},
};

// Methods of what is not known, or of a path, in every language that has them.
inline constexpr Call kMethods[] = {
    {Action::shell, "exec_command run_command execcommand run_cmd run_ps send_command execute_command exec_cmd run_shell_command system exec! exec_run"},
    {Action::remove_tree, "rmtree rm_rf rm_r remove_tree removesync_"},
    {Action::sql,
     "execute executescript executemany executeraw execute_sql exec_driver_sql query queryrawunsafe executerawunsafe $executerawunsafe "
     "$queryrawunsafe $executeraw $queryraw raw exec_query execute_query sql run_sql prepare do exec read_sql read_sql_query execute_batch unsafe multi_query exec_params run_query runquery execute_immediate executeimmediate executequery executeupdate execute_dml"},
    {Action::send_file, "upload_file upload_fileobj_ storbinary put_file sendfile upload_from_filename fput upload_blob_from_path"},
    {Action::connect, "connect"},
};

// The names of calls by their hash: code names many, and few of them are here.
template <std::uint32_t Slots, std::size_t N>
class CallTable {
 public:
  constexpr explicit CallTable(const Call (&calls)[N]) : table_(N, Names{calls}) {}
  Action find(const Call (&calls)[N], std::string_view name) const noexcept {
    const std::uint32_t found = table_.find(name, Names{calls});
    return found == table_.kNowhere ? Action::none : calls[found].action;
  }

 private:
  struct Names {
    const Call* calls;
    constexpr std::string_view operator()(std::uint32_t list) const noexcept { return calls[list].names; }
  };
  WordTable<Slots> table_;
};

template <std::uint32_t Slots, std::size_t N>
constexpr CallTable<Slots, N> call_table(const Call (&calls)[N]) {
  return CallTable<Slots, N>(calls);
}
inline constexpr auto kPythonTable = call_table<512>(kPython);
inline constexpr auto kNodeTable = call_table<512>(kNode);
inline constexpr auto kPerlTable = call_table<128>(kPerl);
inline constexpr auto kRubyTable = call_table<256>(kRuby);
inline constexpr auto kPhpTable = call_table<256>(kPhp);
inline constexpr auto kMethodTable = call_table<128>(kMethods);

// Whether a function that is handed over does harm when it runs.
constexpr bool does_harm(Action action) noexcept {
  return (action >= Action::shell && action <= Action::empty_directory) || action == Action::truncate || action == Action::evaluate;
}

inline Action find_call(Language language, std::string_view name) noexcept {
  switch (language) {
    case Language::python: return kPythonTable.find(kPython, name);
    case Language::node: return kNodeTable.find(kNode, name);
    case Language::perl: return kPerlTable.find(kPerl, name);
    case Language::ruby: return kRubyTable.find(kRuby, name);
    case Language::php: return kPhpTable.find(kPhp, name);
  }
  return Action::none;
}

}  // namespace tipstaff::gate::program
