// System calls of Linux on x86-64. Numbers and structures of the kernel's interface are its documented, stable ones; the
// headers' own (stat, itimerval, stack_t, timespec) are the same there.
#pragma once

namespace tipstaff::hook::linux_x86_64 {

inline int last_error;
inline char** environment;

enum Number : long {
  read_call = 0, write_call = 1, close_call = 3, fstat_call = 5, mmap_call = 9, mprotect_call = 10,
  lseek_call = 8, munmap_call = 11, rt_sigaction_call = 13, pread_call = 17, pwrite_call = 18, access_call = 21, pipe_call = 22,
  nanosleep_call = 35, setitimer_call = 38, getpid_call = 39, fork_call = 57, execve_call = 59, exit_call = 60, wait4_call = 61, kill_call = 62,
  flock_call = 73, getcwd_call = 79, rename_call = 82, mkdir_call = 83, unlink_call = 87, readlink_call = 89, setsid_call = 112,
  getrlimit_call = 97, geteuid_call = 107, sigaltstack_call = 131, arch_prctl_call = 158, sched_setaffinity_call = 203,
  sched_getaffinity_call = 204, clock_gettime_call = 228, getdents64_call = 217, exit_group_call = 231,
  openat_call = 257, newfstatat_call = 262, getcpu_call = 309,
  poll_call = 7, ioctl_call = 16, dup2_call = 33, fsync_call = 74, ftruncate_call = 77, rmdir_call = 84, link_call = 86, statfs_call = 137,
  lgetxattr_call = 192, llistxattr_call = 195, pipe2_call = 293, utimensat_call = 280, copy_file_range_call = 326, statx_call = 332,
};

inline long call(Number number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
  long result;
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(static_cast<long>(number)), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}

template <class Pointer>
inline long number(Pointer* pointer) noexcept {
  return reinterpret_cast<long>(pointer);
}

// What the kernel returned; of an error -1, and `last_error` is set.
inline long checked(long result) noexcept {
  if (result >= 0 || result < -4095) return result;
  last_error = static_cast<int>(-result);
  return -1;
}

}  // namespace tipstaff::hook::linux_x86_64
