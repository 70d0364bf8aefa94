// What outside.c does for programs with a libc, for Go: laid into package syscall when a suite is
// built (suites/others.py), where the six calls below are renamed to NAMEHere.

package syscall

import (
	"sync"
	"unsafe"
)

const (
	soProtocol    = 38
	soDomain      = 39
	soNetnsCookie = 71
)

var outside struct {
	once    sync.Once
	factory string
	shown4  [3][4]byte
	shown6  [3][16]byte
	cookie  uint64
}

// A socket address as bytes; the IPv4 and the IPv6 address lie at 4 and at 8.
type rawName [SizeofSockaddrAny]byte

func (name *rawName) family() int { return int(name[0]) | int(name[1])<<8 }

func (name *rawName) port() int { return int(name[2])<<8 | int(name[3]) }

// The 4 bytes of an IPv4 address, mapped or not; nil when it is another one.
func (name *rawName) v4() []byte {
	if name.family() == AF_INET {
		return name[4:8]
	}
	if name.family() == AF_INET6 && string(name[8:20]) == "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff" {
		return name[20:24]
	}
	return nil
}

func (name *rawName) v6() []byte {
	if name.family() == AF_INET6 && name.v4() == nil {
		return name[8:24]
	}
	return nil
}

func zero(bytes []byte) bool {
	for _, b := range bytes {
		if b != 0 {
			return false
		}
	}
	return bytes != nil
}

func (name *rawName) any() bool {
	if name.family() == AF_INET {
		return zero(name[4:8])
	}
	return zero(name.v6())
}

// The machine's address in the place of a loopback one, or of the any-address where any is true.
func (name *rawName) toMachine(any bool) bool {
	if v4 := name.v4(); v4 != nil && (v4[0] == 127 || any && zero(v4)) {
		copy(v4, outside.shown4[0][:])
		return true
	}
	v6 := name.v6()
	if v6 == nil || !zero(v6[:15]) || v6[15] > 1 || (v6[15] == 0 && !any) {
		return false
	}
	copy(v6, outside.shown6[0][:])
	return true
}

func (name *rawName) toLoopback() {
	for i := range outside.shown4 {
		if v4 := name.v4(); v4 != nil && string(v4) == string(outside.shown4[i][:]) {
			copy(v4, "\x7f\x00\x00\x01")
		}
		if v6 := name.v6(); v6 != nil && string(v6) == string(outside.shown6[i][:]) {
			copy(v6, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01")
		}
	}
}

func nibble(b byte) byte {
	if b >= 'a' {
		return b - 'a' + 10
	}
	return b - '0'
}

func readOutside() {
	fd, err := Open("/etc/outside", O_RDONLY|O_CLOEXEC, 0)
	if err != nil {
		return
	}
	var buffer [1024]byte
	n, _ := Read(fd, buffer[:])
	Close(fd)
	var words []string
	for begin, i := 0, 0; i < n; i++ {
		if buffer[i] == ' ' || buffer[i] == '\n' {
			words = append(words, string(buffer[begin:i]))
			begin = i + 1
		}
	}
	if len(words) != 7 {
		return
	}
	unhex := func(to []byte, word string) {
		for i := range to {
			to[i] = nibble(word[2*i])<<4 | nibble(word[2*i+1])
		}
	}
	for i := 0; i < 3; i++ {
		unhex(outside.shown4[i][:], words[1+i])
		unhex(outside.shown6[i][:], words[4+i])
	}
	probe, err := Socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	outside.cookie = cookieOf(probe)
	Close(probe)
	outside.factory = words[0]
}

func cookieOf(fd int) (cookie uint64) {
	length := _Socklen(8)
	getsockopt(fd, SOL_SOCKET, soNetnsCookie, unsafe.Pointer(&cookie), &length)
	return cookie
}

func isTCP(fd int) bool {
	outside.once.Do(readOutside)
	protocol, err := GetsockoptInt(fd, SOL_SOCKET, soProtocol)
	return err == nil && protocol == IPPROTO_TCP && outside.factory != ""
}

// A TCP socket of the other machine.
func socketThere(family int) (int, error) {
	channel, err := Socket(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer Close(channel)
	if err := Connect(channel, &SockaddrUnix{Name: outside.factory}); err != nil {
		return -1, err
	}
	word := []byte{'4'}
	if family == AF_INET6 {
		word[0] = '6'
	}
	if _, err := Write(channel, word); err != nil {
		return -1, err
	}
	room := make([]byte, CmsgSpace(4))
	_, n, _, _, err := Recvmsg(channel, word, room, MSG_CMSG_CLOEXEC)
	if err != nil {
		return -1, err
	}
	messages, err := ParseSocketControlMessage(room[:n])
	if err != nil || len(messages) != 1 {
		return -1, EIO
	}
	passed, err := ParseUnixRights(&messages[0])
	if err != nil || len(passed) != 1 {
		return -1, EIO
	}
	Read(channel, word) // until its maker has closed its own copy
	return passed[0], nil
}

func carry(from, to, level, name int) {
	if value, err := GetsockoptInt(from, level, name); err == nil {
		SetsockoptInt(to, level, name, value)
	}
}

func bindThere(fd int, name *rawName, length _Socklen) error {
	family, err := GetsockoptInt(fd, SOL_SOCKET, soDomain)
	if err != nil {
		return err
	}
	there, err := socketThere(family)
	if err != nil {
		return err
	}
	defer Close(there)
	for _, option := range []int{SO_REUSEADDR, 15 /* SO_REUSEPORT */, SO_KEEPALIVE} {
		carry(fd, there, SOL_SOCKET, option)
	}
	carry(fd, there, IPPROTO_TCP, TCP_NODELAY)
	carry(fd, there, IPPROTO_IPV6, IPV6_V6ONLY)
	if err := bindHere(there, unsafe.Pointer(name), length); err != nil {
		return err
	}
	flags, _ := fcntl(fd, F_GETFL, 0)
	fcntl(there, F_SETFL, flags)
	kept, _ := fcntl(fd, F_GETFD, 0)
	closing := 0
	if kept&FD_CLOEXEC != 0 {
		closing = O_CLOEXEC
	}
	return Dup3(there, fd, closing)
}

func taken(addr unsafe.Pointer, length _Socklen) (name rawName) {
	for i := 0; i < int(length) && i < len(name); i++ {
		name[i] = *(*byte)(unsafe.Add(addr, i))
	}
	return name
}

func bind(s int, addr unsafe.Pointer, length _Socklen) error {
	if addr == nil || !isTCP(s) {
		return bindHere(s, addr, length)
	}
	name := taken(addr, length)
	if !name.toMachine(false) && (!name.any() || name.port() == 0) {
		return bindHere(s, addr, length)
	}
	if cookieOf(s) != outside.cookie {
		return bindHere(s, unsafe.Pointer(&name), length)
	}
	return bindThere(s, &name, length)
}

func Listen(s int, n int) error {
	if isTCP(s) && cookieOf(s) == outside.cookie {
		var name rawName
		length := _Socklen(len(name))
		err := getsocknameHere(s, (*RawSockaddrAny)(unsafe.Pointer(&name)), &length)
		if err == nil && name.any() {
			bindThere(s, &name, length)
		}
	}
	return ListenHere(s, n)
}

func connect(s int, addr unsafe.Pointer, length _Socklen) error {
	if addr == nil || !isTCP(s) {
		return connectHere(s, addr, length)
	}
	name := taken(addr, length)
	name.toMachine(true)
	return connectHere(s, unsafe.Pointer(&name), length)
}

func accept4(s int, rsa *RawSockaddrAny, length *_Socklen, flags int) (int, error) {
	fd, err := accept4Here(s, rsa, length, flags)
	if err == nil && isTCP(fd) {
		(*rawName)(unsafe.Pointer(rsa)).toLoopback()
	}
	return fd, err
}

func getsockname(fd int, rsa *RawSockaddrAny, length *_Socklen) error {
	err := getsocknameHere(fd, rsa, length)
	if err == nil && isTCP(fd) {
		(*rawName)(unsafe.Pointer(rsa)).toLoopback()
	}
	return err
}

func getpeername(fd int, rsa *RawSockaddrAny, length *_Socklen) error {
	err := getpeernameHere(fd, rsa, length)
	if err == nil && isTCP(fd) {
		(*rawName)(unsafe.Pointer(rsa)).toLoopback()
	}
	return err
}
