#include "tests/support/oci_filter.h"

#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "base/unique_fd.h"

namespace sockhop::test {
namespace {

namespace json = boost::json;

struct ReleaseContext {
  void operator()(void* context) const { seccomp_release(context); }
};
using Context = std::unique_ptr<void, ReleaseContext>;

void check(int result, const std::string& what) {
  if (result < 0) throw std::runtime_error(what + ": " + std::strerror(-result));
}

std::uint32_t action_of(const json::object& object, const char* key) {
  const std::string name(object.at(key).as_string());
  if (name == "SCMP_ACT_ALLOW") return SCMP_ACT_ALLOW;
  if (name == "SCMP_ACT_LOG") return SCMP_ACT_LOG;
  if (name == "SCMP_ACT_NOTIFY") return SCMP_ACT_NOTIFY;
  if (name == "SCMP_ACT_KILL") return SCMP_ACT_KILL;
  if (name != "SCMP_ACT_ERRNO") throw std::runtime_error("action " + name);
  const json::value* error = object.if_contains("errnoRet");
  return SCMP_ACT_ERRNO(error != nullptr ? error->to_number<unsigned>() : EPERM);
}

scmp_compare op_of(const json::value& op) {
  static const std::map<std::string_view, scmp_compare> ops{
      {"SCMP_CMP_NE", SCMP_CMP_NE},
      {"SCMP_CMP_LT", SCMP_CMP_LT},
      {"SCMP_CMP_LE", SCMP_CMP_LE},
      {"SCMP_CMP_EQ", SCMP_CMP_EQ},
      {"SCMP_CMP_GE", SCMP_CMP_GE},
      {"SCMP_CMP_GT", SCMP_CMP_GT},
      {"SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ}};
  return ops.at(op.as_string());
}

std::vector<scmp_arg_cmp> comparisons_of(const json::object& rule) {
  std::vector<scmp_arg_cmp> out;
  const json::value* args = rule.if_contains("args");
  if (args == nullptr) return out;
  for (const json::value& arg : args->as_array()) {
    const json::value* second = arg.as_object().if_contains("valueTwo");
    out.push_back({arg.at("index").to_number<unsigned>(), op_of(arg.at("op")),
                   arg.at("value").to_number<scmp_datum_t>(),
                   second != nullptr ? second->to_number<scmp_datum_t>() : 0});
  }
  return out;
}

void add_rule(const Context& context, std::uint32_t action, const std::string& name,
              const std::vector<scmp_arg_cmp>& comparisons) {
  const int number = seccomp_syscall_resolve_name(name.c_str());
  if (number == __NR_SCMP_ERROR) return;
  check(seccomp_rule_add_array(context.get(), action, number,
                               static_cast<unsigned>(comparisons.size()), comparisons.data()),
        "rule for " + name);
}

void add_rules(const Context& context, const json::object& rule, std::uint32_t default_action) {
  const std::uint32_t action = action_of(rule, "action");
  if (action == default_action) return;
  const std::vector<scmp_arg_cmp> comparisons = comparisons_of(rule);
  std::set<unsigned> indices;
  for (const scmp_arg_cmp& each : comparisons) indices.insert(each.arg);
  for (const json::value& name : rule.at("names").as_array()) {
    if (indices.size() == comparisons.size()) {
      add_rule(context, action, std::string(name.as_string()), comparisons);
      continue;
    }
    for (const scmp_arg_cmp& each : comparisons) {
      add_rule(context, action, std::string(name.as_string()), {each});
    }
  }
}

void add_architectures(const Context& context, const json::object& section) {
  static const std::map<std::string_view, std::uint32_t> known{
      {"SCMP_ARCH_X86_64", SCMP_ARCH_X86_64},
      {"SCMP_ARCH_X86", SCMP_ARCH_X86},
      {"SCMP_ARCH_X32", SCMP_ARCH_X32}};
  const json::value* architectures = section.if_contains("architectures");
  if (architectures == nullptr) return;
  for (const json::value& name : architectures->as_array()) {
    const int added = seccomp_arch_add(context.get(), known.at(name.as_string()));
    if (added != -EEXIST) check(added, "architecture");
  }
}

std::vector<sock_filter> exported(const Context& context) {
  const UniqueFd file(memfd_create("filter", MFD_CLOEXEC));
  check(seccomp_export_bpf(context.get(), file.get()), "seccomp_export_bpf");
  const off_t size = lseek(file.get(), 0, SEEK_CUR);
  std::vector<sock_filter> out(static_cast<std::size_t>(size) / sizeof(sock_filter));
  if (pread(file.get(), out.data(), static_cast<std::size_t>(size), 0) != size) {
    throw std::runtime_error("the exported filter could not be read back");
  }
  return out;
}

}  // namespace

std::vector<sock_filter> build_filter(std::string_view config) {
  const json::value document = json::parse(config);
  const json::object& section = document.at("linux").at("seccomp").as_object();
  const std::uint32_t default_action = action_of(section, "defaultAction");
  const Context context(seccomp_init(default_action));
  if (!context) throw std::runtime_error("seccomp_init");
  add_architectures(context, section);
  if (const json::value* rules = section.if_contains("syscalls")) {
    for (const json::value& rule : rules->as_array()) {
      add_rules(context, rule.as_object(), default_action);
    }
  }
  return exported(context);
}

}  // namespace sockhop::test
