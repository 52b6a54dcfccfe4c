"""The client against the real binary: PALISADE names it. Run: python3 -m unittest."""

import asyncio
import os
import subprocess
import tempfile
import threading
import time
import unittest

from palisade import AsyncSandbox, Error, Sandbox

BINARY = os.environ.get("PALISADE", "palisade")


class Client(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = os.path.realpath(self.folder.name)
        open(os.path.join(self.root, "Cargo.toml"), "w").close()
        self.sandbox = Sandbox(self.root, binary=BINARY)

    def tearDown(self):
        self.sandbox.close()
        self.folder.cleanup()

    def test_a_command_runs_and_a_refusal_is_an_outcome(self):
        outcome = self.sandbox.run(["echo", "hi"])
        self.assertEqual((outcome.exit_code, outcome.stdout, outcome.ok), (0, "hi\n", True))
        self.assertEqual(outcome.argv[-1], "hi")
        refused = self.sandbox.run(["rm", "-rf", "/etc"])
        self.assertEqual((refused.exit_code, refused.denied, refused.ok), (-100, True, False))
        self.assertIn("outside", refused.reason)
        self.assertEqual(self.sandbox.run("exit 7", shell=True).exit_code, 7)
        self.assertEqual(self.sandbox.run(["cat"], stdin=b"\xff\x00a").stdout_bytes, b"\xff\x00a")

    def test_the_five_names_of_the_runner_hold(self):
        with Sandbox(self.root, 64, 0.5, ["cp"], ["python3"], binary=BINARY) as sandbox:
            self.assertTrue(sandbox.run(["cp", "a", "b"]).denied)
            self.assertTrue(sandbox.run(["python3", "-c", "1"]).denied)
            self.assertTrue(sandbox.run(["seq", "1000"]).truncated)
            slow = sandbox.run(["sleep", "5"])
            self.assertEqual((slow.timed_out, slow.exit_code), (True, -101))

    def test_output_comes_as_it_is_written_and_input_goes_in(self):
        heard = []
        run = self.sandbox.start(["cat"], stdin_pipe=True, on_output=lambda *it: heard.append(it))
        run.write("é")
        until(lambda: heard)
        run.write(b"\xff")
        run.close_stdin()
        self.assertEqual(run.wait(60).exit_code, 0)
        self.assertEqual(b"".join(data for _, data in heard), "é".encode() + b"\xff")

    def test_a_run_can_be_cancelled(self):
        run = self.sandbox.start(["sleep", "600"])
        time.sleep(0.3)
        self.assertTrue(run.cancel())
        self.assertEqual(run.wait(60).raw["signal"], 9)
        self.assertFalse(run.cancel())

    def test_many_run_at_once_without_loss(self):
        outcomes = []
        lock = threading.Lock()

        def one(number):
            outcome = self.sandbox.run(["echo", str(number)])
            with lock:
                outcomes.append(outcome.stdout.strip())

        threads = [threading.Thread(target=one, args=(number,)) for number in range(40)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(sorted(outcomes, key=int), [str(number) for number in range(40)])

    def test_deciding_runs_nothing(self):
        self.assertTrue(self.sandbox.check(["ls"]).allowed)
        self.assertEqual(self.sandbox.check("rm -rf /etc", shell=True).verdict, "deny")
        tool = self.sandbox.check(tool="write_file", arguments={"path": "/etc/x", "content": ""})
        self.assertEqual(tool.verdict, "deny")

    def test_what_cannot_be_is_an_error_with_a_code(self):
        with Sandbox(os.path.join(self.root, "nowhere"), binary=BINARY) as sandbox:
            with self.assertRaises(Error) as caught:
                sandbox.run(["ls"])
            self.assertTrue(caught.exception.code)
        with self.assertRaises(Error):
            Sandbox(binary="/nowhere/palisade")
        with self.assertRaises(Error):
            self.sandbox.run("ls")

    def test_a_server_that_is_killed_is_told(self):
        run = self.sandbox.start(["sleep", "600"])
        self.sandbox._wire._process.kill()
        with self.assertRaises(Error):
            run.wait(60)
        with self.assertRaises(Error):
            self.sandbox.run(["ls"])

    def test_two_clients_of_one_socket_do_not_end_each_others_runs(self):
        path = os.path.join(self.root, "s")
        server = subprocess.Popen([BINARY, "serve", "--socket", path], stderr=subprocess.DEVNULL)
        try:
            until(lambda: os.path.exists(path) and os.stat(path).st_mode & 0o777 == 0o600)
            time.sleep(0.1)
            with Sandbox(self.root, socket=path) as one, Sandbox(self.root, socket=path) as two:
                slow = one.start(["sleep", "1"])
                other = two.start(["sleep", "600"])
                self.assertEqual(slow._number, other._number)
                self.assertTrue(other.cancel())
                self.assertEqual(slow.wait(60).exit_code, 0)
        finally:
            server.kill()
            server.wait()

    def test_asyncio(self):
        async def go():
            async with AsyncSandbox(self.root, binary=BINARY) as sandbox:
                many = await asyncio.gather(*(sandbox.run(["echo", str(n)]) for n in range(10)))
                self.assertEqual([it.stdout.strip() for it in many], [str(n) for n in range(10)])
                self.assertTrue((await sandbox.check(["ls"])).allowed)
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(sandbox.run(["sleep", "600"]), 0.5)

        asyncio.run(go())


def until(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("it does not come to hold")
        time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
