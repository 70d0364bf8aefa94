#include "sys/text_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/unique_fd.h"
#include "sys/clock.h"

namespace sockhop::sys {
namespace {

Status write_all(const UniqueFd& file, const std::string& text, const std::string& path) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(file.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno_error("write", path);
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::size_t limit) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno_error("open", path);
  std::string text;
  char part[16384];
  while (true) {
    const ssize_t got = ::read(file.get(), part, sizeof(part));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read", path);
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > limit) return Error{EFBIG, "read", path};
  }
}

Result<std::string> read_input(std::chrono::milliseconds patience, std::size_t limit) {
  const std::int64_t deadline = monotonic_ns() + patience.count() * 1'000'000;
  std::string text;
  char part[16384];
  while (true) {
    const std::int64_t left = deadline - monotonic_ns();
    if (left <= 0) return Error{ETIMEDOUT, "read", "standard input does not end"};
    pollfd waiting{STDIN_FILENO, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(left / 1'000'000) + 1) <= 0) continue;
    const ssize_t got = ::read(STDIN_FILENO, part, sizeof(part));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read", "standard input");
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > limit) return Error{EFBIG, "read", "standard input"};
  }
}

Status replace_text_file(const std::string& path, const std::string& text) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return errno_error("stat", path);
  const std::string beside = path + ".sockhop";
  ::unlink(beside.c_str());  // of a run that was killed
  const UniqueFd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return errno_error("open", beside);
  auto written = write_all(file, text, beside);
  if (written && ::fchmod(file.get(), found.st_mode & 07777) != 0) {
    written = errno_error("fchmod", beside);
  }
  if (written && ::rename(beside.c_str(), path.c_str()) != 0) written = errno_error("rename", path);
  if (!written) ::unlink(beside.c_str());
  return written;
}

Status append_text(const std::string& path, const std::string& text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file) return errno_error("open", path);
  return write_all(file, text, path);
}

}  // namespace sockhop::sys
