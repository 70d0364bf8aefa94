// Bound sockets, devices, spellings of addresses, and sockets that are none of sockhop's business.
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netdb.h>

#include "cases.h"

static int bound(const char* address, int port) {
  const int fd = tcp(0);
  say("bind", bind4(fd, address, port));
  return fd;
}

static int port_of(int fd) {
  struct sockaddr_in name = {0};
  socklen_t size = sizeof name;
  getsockname(fd, (struct sockaddr*)&name, &size);
  return ntohs(name.sin_port);
}

static void connect_bound(const char* what, int fd) {
  const int before = port_of(fd);
  say("connect", to4(fd, &good4));
  say_own(what, fd, word("own4"));
  printf("  port kept %d\n", before == 0 || before == port_of(fd));
  talk("talk", fd, fd);
  close(fd);
}

static void binding(void) {
  connect_bound("own address", bound(word("own4"), 0));
  connect_bound("any address", bound("0.0.0.0", 0));
  connect_bound("any address, a port", bound("0.0.0.0", atoi(word("busy"))));
  const int fd = tcp(0);
  set_int(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
  say("own address, no port", bind4(fd, word("own4"), 0));
  connect_bound("own address, no port", fd);
  const int six = tcp6(0);
  const struct sockaddr_in6 any = {.sin6_family = AF_INET6};
  say("bind", bind(six, (const struct sockaddr*)&any, sizeof any));
  say("connect", to6(six, &good6));
  say_own("any address of v6", six, word("own6"));
  talk("talk", six, six);
  close(six);
  say("an address of nobody here", bind4(tcp(0), word("machine4"), 0));
}

// A source on loopback leaves no container (and no host): how it fails is the kernel's.
static void from_loopback(void) {
  const int fd = tcp(SOCK_NONBLOCK);
  say("bind", bind4(fd, "127.0.0.1", 0));
  say("connect", to4(fd, &good4));
  side("bound to loopback", fd, "stay");
  close(fd);
}

static void devices(void) {
  const char* device = word("device");
  int fd = tcp(0);
  say_inside("bind to the device",
             setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device)));
  say("connect", to4(fd, &good4));
  side("bound to a device", fd, "stay");
  talk("talk", fd, fd);
  close(fd);
  fd = tcp(0);
  say_inside("bind to a device of the host only",
             setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, word("foreign"),
                        (socklen_t)strlen(word("foreign"))));
  close(fd);
  fd = tcp(0);
  const struct sockaddr_in own = v4("127.0.0.1", 9);
  say_inside("bind to lo", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2));
  say("connect", to4(fd, &own));
  close(fd);
  fd = tcp(0);
  say("unicast interface",
      set_int(fd, IPPROTO_IP, IP_UNICAST_IF, (int)htonl(if_nametoindex(device))));
  say("connect", to4(fd, &good4));
  side("unicast interface", fd, "stay");
  talk("talk", fd, fd);
  close(fd);
  fd = tcp(0);
  char shown[IFNAMSIZ] = "?";
  socklen_t size = sizeof shown;
  say("connect", to4(fd, &good4));
  say("device", getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, shown, &size));
  printf("  none shown %d\n", size == 0);
  say_option("index", fd, SOL_SOCKET, SO_BINDTOIFINDEX);
  side("what it shows", fd, "hop");
  close(fd);
}

static void interfaces(void) {
  // Of a hopped socket as of any other: the container's.
  const int fd = tcp(0);
  char room[4096];
  struct ifconf list = {.ifc_len = sizeof room, .ifc_buf = room};
  say("connect", to4(fd, &good4));
  side("asked for interfaces", fd, "hop");
  say("SIOCGIFCONF", ioctl(fd, SIOCGIFCONF, &list));
  for (int i = 0; i < list.ifc_len / (int)sizeof(struct ifreq); ++i) {
    char text[64];
    const struct ifreq* one = &list.ifc_req[i];
    inet_ntop(AF_INET, &((const struct sockaddr_in*)&one->ifr_addr)->sin_addr, text, sizeof text);
    const int own = strcmp(text, word("own4")) == 0;
    printf("~ %s %s\n", one->ifr_name, own ? "own" : text);
  }
  struct ifreq one = {0};
  for (one.ifr_ifindex = 1; one.ifr_ifindex < 8; ++one.ifr_ifindex) {
    const long got = ioctl(fd, SIOCGIFNAME, &one);
    printf("~ %d %s\n", one.ifr_ifindex, got < 0 ? "none" : one.ifr_name);
  }
  strcpy(one.ifr_name, word("foreign"));
  say_inside("a device of the host", ioctl(fd, SIOCGIFFLAGS, &one));
  say_inside("namespace of the socket", ioctl(fd, 0x894C, &one));
  close(fd);
}

static void spellings(void) {
  int fd = tcp6(0);
  const struct sockaddr_in6 good = v6(mapped(word("machine4")), atoi(word("port")));
  say("mapped", to6(fd, &good));
  side("mapped", fd, "hop");
  say_own("mapped", fd, mapped(word("own4")));
  talk("talk", fd, fd);
  close(fd);
  fd = tcp6(0);
  set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  say("mapped on a v6 only socket", to6(fd, &good));
  close(fd);
  fd = tcp6(0);
  const struct sockaddr_in6 own = v6("::ffff:127.0.0.1", 9);
  say("own loopback, mapped", to6(fd, &own));
  side("own loopback", fd, "stay");
  close(fd);
  fd = tcp6(0);
  say("v4 name on a v6 socket", to4(fd, &good4));
  close(fd);
  fd = tcp(0);
  say("v6 name on a v4 socket", to6(fd, &good6));
  close(fd);
  fd = tcp6(0);
  const struct sockaddr_in6 any = v6("::ffff:0.0.0.0", 0);
  say("bind mapped", bind(fd, (const struct sockaddr*)&any, sizeof any));
  say("connect", to6(fd, &good));
  talk("talk", fd, fd);
  close(fd);
  fd = tcp6(0);
  struct sockaddr_in6 scoped = good6;
  scoped.sin6_scope_id = if_nametoindex(word("device"));
  say("scope of a global address", to6(fd, &scoped));
  talk("talk", fd, fd);
  close(fd);
}

static void multipath_tcp(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);
  say("socket", fd);
  say("connect", to4(fd, &good4));
  side("MPTCP", fd, "stay");
  say_option("protocol", fd, SOL_SOCKET, SO_PROTOCOL);
  talk("talk", fd, fd);
  close(fd);
}

static void fast_open(void) {
  int fd = tcp(0);
  const char word_to_say[4] = "fast";
  char heard[4] = "";
  say("sendto",
      sendto(fd, word_to_say, 4, MSG_FASTOPEN, (const struct sockaddr*)&good4, sizeof good4));
  side("fast open", fd, "stay");
  say("recv", recv(fd, heard, 4, MSG_WAITALL));
  printf("  same %d\n", memcmp(heard, word_to_say, 4) == 0);
  close(fd);
  fd = tcp(0);
  struct iovec part = {(void*)word_to_say, 4};
  struct msghdr message = {
      .msg_name = &good4, .msg_namelen = sizeof good4, .msg_iov = &part, .msg_iovlen = 1};
  say("sendmsg", sendmsg(fd, &message, MSG_FASTOPEN));
  say("recv", recv(fd, heard, 4, MSG_WAITALL));
  close(fd);
  fd = tcp(0);
  say("FASTOPEN_CONNECT", set_int(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1));
  say("connect", to4(fd, &good4));
  struct sockaddr_in peer;
  socklen_t size = sizeof peer;
  say("peer", getpeername(fd, (struct sockaddr*)&peer, &size));
  side("FASTOPEN_CONNECT", fd, "stay");
  talk("talk", fd, fd);
  close(fd);
}

// What a capability of the container allows makes a socket stay.
static void privileged(void) {
  static const struct {
    const char* name;
    int level, option;
  } all[] = {{"SO_MARK", SOL_SOCKET, SO_MARK},
             {"IP_TRANSPARENT", IPPROTO_IP, IP_TRANSPARENT},
             {"SO_PRIORITY", SOL_SOCKET, SO_PRIORITY},
             {"TCP_REPAIR", IPPROTO_TCP, TCP_REPAIR},
             {"SO_RCVBUFFORCE", SOL_SOCKET, SO_RCVBUFFORCE},
             {"SO_DEBUG", SOL_SOCKET, SO_DEBUG}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    const int fd = tcp(0);
    const int done = set_int(fd, all[i].level, all[i].option, 7);
    say_inside(all[i].name, done);
    say("connect", to4(fd, &good4));
    int kept = 0;
    if (done == 0) getsockopt(fd, all[i].level, all[i].option, &kept, &(socklen_t){sizeof kept});
    printf("~ still %d\n", kept);
    side(all[i].name, fd, done == 0 ? "stay" : "hop");
    talk("talk", fd, fd);
    close(fd);
  }
  const int fd = tcp(0);
  say("connect", to4(fd, &good4));
  for (size_t i = 3; i < sizeof all / sizeof *all; ++i)
    say_inside(all[i].name, set_int(fd, all[i].level, all[i].option, 7));
  close(fd);
}

static void try_all(const char* what, int fd, const void* name, socklen_t size) {
  int type = 0;
  socklen_t room = sizeof type;
  const int is_tcp = getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &room) == 0 &&
                     type == SOCK_STREAM && ((const struct sockaddr*)name)->sa_family == AF_INET;
  if (fd < 0) return say_inside(what, fd);
  printf("~ %s\n", what);
  say_inside("connect", connect(fd, name, size));
  say_inside("connect to an inet name", to4(fd, &good4));
  say_inside("bind", bind(fd, name, size));
  say_inside("listen", listen(fd, 1));
  say_inside("own name", getsockname(fd, (struct sockaddr*)&(struct sockaddr_storage){0},
                                     &(socklen_t){sizeof(struct sockaddr_storage)}));
  side(what, fd, is_tcp ? "hop" : "stay");
  close(fd);
}

static void families(void) {
  struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "/tmp/nobody"};
  struct sockaddr_un abstract = {.sun_family = AF_UNIX, .sun_path = "\0cases-nobody"};
  const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  const struct sockaddr_ll packet = {.sll_family = AF_PACKET, .sll_ifindex = 1};
  const struct sockaddr_vm machine = {.svm_family = AF_VSOCK, .svm_port = 9, .svm_cid = 77};
  const struct sockaddr_in local = v4("127.0.0.1", 9), everybody = v4("255.255.255.255", 9);
  const struct sockaddr_in nowhere = v4(word("machine4"), 0);
  try_all("unix stream", socket(AF_UNIX, SOCK_STREAM, 0), &path, sizeof path);
  unlink(path.sun_path);
  try_all("unix datagram", socket(AF_UNIX, SOCK_DGRAM, 0), &abstract, 20);
  try_all("unix packets", socket(AF_UNIX, SOCK_SEQPACKET, 0), &abstract, 21);
  try_all("netlink", socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), &kernel, sizeof kernel);
  try_all("packet", socket(AF_PACKET, SOCK_RAW, 0), &packet, sizeof packet);
  try_all("vsock", socket(AF_VSOCK, SOCK_STREAM, 0), &machine, sizeof machine);
  try_all("sctp", socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP), &local, sizeof local);
  try_all("dccp", socket(AF_INET, 6, 33), &local, sizeof local);
  try_all("ping", socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP), &local, sizeof local);
  try_all("raw", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), &local, sizeof local);
  try_all("udp lite", socket(AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE), &local, sizeof local);
  try_all("udp", socket(AF_INET, SOCK_DGRAM, 0), &everybody, sizeof everybody);
  try_all("tcp to everybody", tcp(0), &everybody, sizeof everybody);
  const int fd = tcp(0);
  say("tcp to port 0", to4(fd, &nowhere));
  close(fd);
}

// The host listens on the same abstract name; it is another one here.
static void abstract_name(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  const int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%s", word("abstract"));
  const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
  const int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
  say_inside("nobody here", connect(client, (struct sockaddr*)&name, size));
  say_inside("bind", bind(server, (struct sockaddr*)&name, size));
  say_inside("listen", listen(server, 1));
  say_inside("own server", connect(client, (struct sockaddr*)&name, size));
  const int accepted = accept4(server, NULL, NULL, SOCK_NONBLOCK);
  say_inside("accept", accepted);
  talk("talk", client, accepted);
  close(server), close(client), close(accepted);
}

static void netlink_links(void) {
  struct if_nameindex* all = if_nameindex();  // RTM_GETLINK
  for (struct if_nameindex* one = all; one != NULL && one->if_index != 0; ++one)
    printf("~ %u %s\n", one->if_index, one->if_name);
  if_freenameindex(all);
}

static const struct play plays[] = {
    {"binding", binding},       {"from-loopback", from_loopback}, {"devices", devices},
    {"interfaces", interfaces}, {"spellings", spellings},         {"multipath-tcp", multipath_tcp},
    {"fast-open", fast_open},   {"privileged", privileged},       {"families", families},
    {"netlink", netlink_links}, {"abstract-name", abstract_name}, {NULL, NULL}};

int main(int argc, char** argv) { return run_plays(plays, argc, argv); }
