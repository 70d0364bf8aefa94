// Small files of /proc, read whole and bounded.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

/// At most `limit` bytes of a file that has no size (procfs). Error: errno of open or read.
Result<std::string> read_proc_file(const std::string& path, std::size_t limit = 65536);
/// From the start of an open file, whatever was read before.
Result<std::string> read_again(FdRef file, std::size_t limit = 65536);

/// The owner of a process that is not dumpable shows as root on its files; its status says who it
/// is.
Result<uid_t> real_uid_of(pid_t pid);
Result<pid_t> parent_of(pid_t pid);
/// Its pid in each pid namespace that it is in, ours first (NSpid of proc_pid_status(5)).
Result<std::vector<pid_t>> nested_pids_of(pid_t pid);
/// Has it a seccomp filter?
bool has_seccomp_filter(pid_t pid);
/// Every process.
Result<std::vector<pid_t>> all_processes();
/// Processes whose real uid is `uid`.
Result<std::vector<pid_t>> processes_of_user(uid_t uid);
/// Arguments of a process; empty for a zombie or kernel thread.
Result<std::vector<std::string>> command_line_of(pid_t pid);
/// The name the kernel shows (at most 15 bytes).
Result<std::string> command_name_of(pid_t pid);

}  // namespace sockhop::sys
