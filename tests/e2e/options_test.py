"""Every option that Linux lets one read of a TCP socket: the same after connect() as without sockhop."""

from harness import Lab, main
from harness.cases import Cases

SOCKET, IP, TCP, IPV6 = 1, 0, 6, 41
# Not the application's: they tell of the connection, the path or the moment.
OF_THE_MOMENT = {
    (SOCKET, 4): "SO_ERROR is taken by who reads it",
    (SOCKET, 7): "SO_SNDBUF grows with the window, unless it was set",
    (SOCKET, 8): "SO_RCVBUF grows with the path, unless it was set",
    (SOCKET, 49): "SO_INCOMING_CPU: the processor that the last packet came to",
    (SOCKET, 55): "SO_MEMINFO",
    (SOCKET, 56): "SO_INCOMING_NAPI_ID",
    (SOCKET, 57): "SO_COOKIE: another socket",
    (SOCKET, 71): "SO_NETNS_COOKIE: of another namespace",
    (IP, 14): "IP_MTU of the path",
    (IP, 52): "IP_PROTOCOL shows the source port of a TCP socket",
    (IPV6, 24): "IPV6_MTU of the path",
    (IPV6, 61): "IPV6_PATHMTU of the path",
    (IP, 9): "IP_PKTOPTIONS of the last packet",
    (IPV6, 6): "IPV6_2292PKTOPTIONS of the last packet",
    (TCP, 2): "TCP_MAXSEG of the path, unless it was set",
    (TCP, 10): "TCP_WINDOW_CLAMP follows the path, unless it was set",
    (TCP, 11): "TCP_INFO",
    (TCP, 24): "TCP_TIMESTAMP: a clock with an offset for each connection",
    (TCP, 26): "TCP_CC_INFO",
}
# Shown by the path, or by what came over it, also where it was set.
OF_THE_PATH = {
    (SOCKET, 49): "SO_INCOMING_CPU",
    (TCP, 2): "TCP_MAXSEG: less the options of the connection; README tells of a failed connect()",
}
# With one of these set, a socket stays: a host socket could not have it, or would mean another thing.
STAYS = {
    (SOCKET, 36): "SO_MARK",
    (SOCKET, 62): "SO_BINDTOIFINDEX",
    (IP, 4): "IP_OPTIONS",
    (IP, 15): "IP_FREEBIND",
    (IP, 19): "IP_TRANSPARENT",
    (IP, 50): "IP_UNICAST_IF",
    (IPV6, 33): "IPV6_FLOWINFO_SEND",
    (IPV6, 75): "IPV6_TRANSPARENT",
    (IPV6, 76): "IPV6_UNICAST_IF",
    (IPV6, 78): "IPV6_FREEBIND",
    (TCP, 30): "TCP_FASTOPEN_CONNECT",
}


def walk(cases, name, *words):
    """{(level, option, "default" or "set"): (before, after, side)}"""
    lines = [line.split() for line in cases.run(name, *words).splitlines()]
    return {(int(line[0]), int(line[1]), line[2]): tuple(line[3:]) for line in lines}


def differences(plain, ours, hops):
    """What is not as in the container without sockhop, as text."""
    for key in sorted(plain | ours):
        option, how = key[:2], key[2]
        if key not in plain or key not in ours:
            yield f"{key}: only here: {plain.get(key)} {ours.get(key)}"
            continue
        stayed = ours[key][2] == "stay"
        if hops and how == "set" and stayed != (option in STAYS):
            yield f"{key}: {ours[key]} on the wrong side"
        if how == "default" and option in OF_THE_MOMENT:
            continue
        if option in OF_THE_PATH:
            continue
        if plain[key][:2] != ours[key][:2]:
            yield f"{key}: plain {plain[key][:2]} ours {ours[key][:2]}"


def check(family, to):
    """`to`: "good", or "refused": then what was set must have come back to a fresh socket."""
    with Lab(ipv6=True) as lab:
        cases = Cases(lab, "option_walk.c", arms=("plain", "sockhop"))
        plain, ours = (walk(cases, name, f"family={family}", f"to={to}") for name in cases.arms)
        wrong = list(differences(plain, ours, hops=to == "good"))
        assert not wrong, "\n".join([f"{len(wrong)} of {len(plain)} differ", *wrong])
        assert len([key for key in plain if key[2] == "set"]) > 70
        default = ours[(SOCKET, 9, "default")]
        assert default[2] == ("hop" if to == "good" else "stay")


def test_ipv4():
    check(4, "good")


def test_ipv6():
    check(6, "good")


def test_ipv4_refused():
    check(4, "refused")


def test_ipv6_refused():
    check(6, "refused")


if __name__ == "__main__":
    main(globals())
