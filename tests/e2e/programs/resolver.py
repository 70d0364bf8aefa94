"""A name server that answers every question with its own address, and a client that asks it.

    resolver.py serve ADDRESS
    resolver.py ask ADDRESS COUNT

COUNT times each: by unconnected UDP, by connected UDP with a large answer (EDNS), truncated and then
by TCP, and by libc's getaddrinfo. The addresses that come back must be the server's.
"""

import ctypes
import socket
import struct
import sys
import threading

PORT = 53


def question(number, name):
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack(">HHHHHH", number, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", 1, 1)


def answer(asked, address, room):
    end = asked.index(b"\0", 12) + 5
    wants_much = asked[12:end].startswith(b"\x04many")
    kind = struct.unpack(">H", asked[end - 4:end - 2])[0]
    count = 0 if kind != 1 else 60 if wants_much else 1
    record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + socket.inet_aton(address)
    fits = len(asked[:end]) + count * len(record) <= room
    flags = 0x8180 if fits else 0x8380
    head = asked[:2] + struct.pack(">HHHHH", flags, 1, count if fits else 0, 0, 0)
    return head + asked[12:end] + (record * count if fits else b"")


def addresses(said, number):
    assert struct.unpack(">H", said[:2])[0] == number, "an answer to another question"
    count = struct.unpack(">H", said[6:8])[0]
    return {socket.inet_ntoa(said[len(said) - 4 - 16 * i:len(said) - 16 * i]) for i in range(count)}


def serve(address):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((address, PORT))
    tcp = socket.create_server((address, PORT), backlog=64)

    def serve_tcp():
        while True:
            connection, _ = tcp.accept()
            with connection:
                asked = connection.recv(512)[2:]
                said = answer(asked, address, 65535)
                connection.sendall(struct.pack(">H", len(said)) + said)
    threading.Thread(target=serve_tcp, daemon=True).start()
    while True:
        asked, who = udp.recvfrom(512)
        udp.sendto(answer(asked, address, 4096 if asked[12:17] == b"\x04many" and asked[17] == 4 else 512),
                   who)


def by_udp(server, number, name, connected):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(10)
        if connected:
            asking.connect((server, PORT))
            asking.send(question(number, name))
        else:
            asking.sendto(question(number, name), (server, PORT))
        return asking.recv(4096)


def by_tcp(server, number, name):
    with socket.create_connection((server, PORT), 10) as asking:
        asked = question(number, name)
        asking.sendall(struct.pack(">H", len(asked)) + asked)
        with asking.makefile("rb") as stream:
            return stream.read(struct.unpack(">H", stream.read(2))[0])


def ask(server, count):
    with open("/etc/resolv.conf", "w") as file:
        file.write(f"nameserver {server}\noptions timeout:10\n")
    ctypes.CDLL(None).__res_init()
    found = []
    for number in range(1, count + 1):
        found.append(addresses(by_udp(server, number, f"one{number}.example", False), number))
        found.append(addresses(by_udp(server, number, "many.edns.example", True), number))
        cut = by_udp(server, number, "many.other.example", True)
        assert cut[2] & 2, "a truncated answer"
        found.append(addresses(by_tcp(server, number, "many.other.example"), number))
        found.append({one[4][0] for one in socket.getaddrinfo(f"n{number}.example", 80, socket.AF_INET)})
    wrong = [one for one in found if one != {server}]
    assert not wrong, wrong[:5]
    print(len(found), "answers of", server)


if sys.argv[1] == "serve":
    serve(sys.argv[2])
else:
    ask(sys.argv[2], int(sys.argv[3]))
