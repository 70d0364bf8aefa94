import os
import subprocess
import sys
import unittest

from bench import processes

# Burns CPU in a thread that is not the main one, says so, and waits to be ended.
BUSY_THREAD = """
import threading, time, sys
def burn():
    end = time.thread_time() + 0.2
    while time.thread_time() < end: pass
    print("burnt", flush=True)
    sys.stdin.read()
thread = threading.Thread(target=burn)
thread.start()
"""


class ProcessesTest(unittest.TestCase):
    def start(self, argv):
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        return process

    def test_cpu_of_every_thread_counts(self):
        process = self.start([sys.executable, "-c", BUSY_THREAD])
        process.stdout.readline()
        self.assertGreater(processes.cpu_seconds([process.pid]), 0.2)

    def test_family_holds_descendants_of_any_depth_and_no_one_else(self):
        process = self.start(["sh", "-c", 'exec 3<&0; sh -c "cat <&3 & echo \\$! \\$\\$; wait"; :'])
        grandchild, child = map(int, process.stdout.readline().split())
        self.assertEqual(set(processes.family(process.pid)), {process.pid, child, grandchild})
        self.assertNotIn(os.getpid(), processes.family(process.pid))

    def test_memory_is_in_megabytes(self):
        resident = processes.resident_megabytes(os.getpid())
        dirty = processes.dirty_megabytes(os.getpid())
        self.assertGreater(resident, 2)
        self.assertLess(resident, 500)
        self.assertGreater(dirty, 0.5)
        self.assertLess(dirty, resident)

    def test_name_is_the_programs(self):
        process = self.start(["cat"])
        process.stdin.write("once it answers it has been executed\n")
        process.stdin.flush()
        process.stdout.readline()
        self.assertEqual(processes.name_of(process.pid), "cat")


if __name__ == "__main__":
    unittest.main()
