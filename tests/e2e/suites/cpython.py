"""CPython's own tests, of the distribution's package."""

import xml.etree.ElementTree as xml

from .suite import FAIL, OK, SKIP, Suite

FOUND = {"skipped": SKIP, "failure": FAIL, "error": FAIL}


class Python(Suite):
    packages = {"libpython3.11-testsuite": "3.11.2", "netbase": "6.4"}
    modules = ""
    short = ""  # the classes of a short run

    def script(self, whole):
        only = "" if whole else " ".join(f"-m {name}" for name in self.short.split())
        modules = " ".join(f"test_{name}" for name in self.modules.split())
        return ("cd /tmp/suite && python3 -m test -w -v --timeout 400 -i '*VSOCK*' "
                f"--junit-xml /tmp/suite/results.xml {only} {modules}")

    def results(self, arm, text):
        tree = xml.parse(f"{arm.container.bundle}/rootfs/tmp/suite/results.xml")
        results = {}
        for case in tree.iter("testcase"):
            kinds = [FOUND[child.tag] for child in case if child.tag in FOUND]
            results[case.get("name")] = kinds[0] if kinds else OK
        return results


class Socket(Python):
    name = "cpython-socket"
    modules = "socket"
    short = ("BasicTCPTest BasicTCPTest2 NonBlockingTCPTests TCPCloserTest InheritanceTest "
             "FileObjectClassTestCase UnbufferedFileObjectClassTestCase NetworkConnectionNoServer "
             "NetworkConnectionAttributesTest SendmsgTCPTest RecvmsgTCPTest RecvmsgIntoTCPTest "
             "SendfileUsingSendfileTest CreateServerTest CreateServerFunctionalTest")
    least = {False: (100, 60), True: (590, 150)}


class Asyncio(Python):
    name = "cpython-asyncio"
    modules = "asyncio"
    least = {True: (2250, 300)}


class Localhost(Python):
    name = "cpython-localhost"
    modules = ("ftplib httplib httpservers smtplib smtpd poplib imaplib telnetlib xmlrpc asyncore "
               "asynchat selectors select poll epoll eintr ssl socketserver urllib2_localnet "
               "wsgiref docxmlrpc robotparser logging")
    least = {True: (1500, 900)}
