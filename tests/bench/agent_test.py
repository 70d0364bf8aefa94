import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from bench import agent

SOURCE = Path(agent.__file__)


class AgentTest(unittest.TestCase):
    """The agent's real program, on a socket of its own below a temporary root."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.mkdir(f"{folder.name}/run")
        program = SOURCE.read_text().replace('SOCKET = "', f'SOCKET = "{folder.name}')
        process = subprocess.Popen([sys.executable, "-c", program])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.agent = agent.Agent(folder.name)
        self.agent.wait()

    def test_output_and_exit_code_come_back(self):
        done = self.agent.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("out\n", "err\n", 3))

    def test_a_program_that_is_not_there_is_no_end_of_the_agent(self):
        self.assertEqual(self.agent.run(["/no/such/program"]).returncode, 127)
        self.assertEqual(self.agent.run(["true"]).returncode, 0)

    def test_a_program_that_hangs_is_ended_after_its_time(self):
        self.assertEqual(self.agent.run(["sleep", "60"], timeout=0.2).returncode, 127)
        self.assertEqual(self.agent.run(["true"]).returncode, 0)

    def test_a_server_goes_on_while_other_programs_run(self):
        self.agent.start(["sleep", "60"])
        self.assertEqual(self.agent.run(["true"]).returncode, 0)


if __name__ == "__main__":
    unittest.main()
