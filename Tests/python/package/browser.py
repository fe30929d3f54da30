"""Chromium, headless, over the DevTools protocol on a pipe: https://chromedevtools.github.io/devtools-protocol/."""

import base64
import collections
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: Seconds until a browser that says nothing counts as broken.
PATIENCE = 60
_KEYS = {"Tab": 9, "Enter": 13, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, " ": 32}


class Browser:
    """One page of a fresh profile. `requests` are the addresses it has asked for, `messages` what it has logged."""

    def __init__(self):
        self._profile = tempfile.mkdtemp()
        (read, theirs_write), (theirs_read, write) = os.pipe(), os.pipe()
        # The browser reads from 3 and writes to 4; neither may be one of the pipes' own numbers.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_read, theirs_write)]
        for end in theirs_read, theirs_write:
            os.close(end)
        command = [PROGRAM, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                   "--window-size=1200,800", f"--user-data-dir={self._profile}", "about:blank"]  # fmt: skip
        script = f'exec "$@" 3<&{high[0]} 4>&{high[1]}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "browser", *command], pass_fds=high,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        for end in high:
            os.close(end)
        self._read, self._write = read, write
        self._buffer, self._number = b"", 0
        self.requests, self.messages = [], []
        self._session = None
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self):
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Network", "Accessibility", "Log":
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while True:
            reply = self._message()
            if reply.get("id") == self._number:
                assert "error" not in reply, (method, reply["error"])
                return reply["result"]

    def _message(self):
        while b"\0" not in self._buffer:
            assert select.select([self._read], [], [], PATIENCE)[0], "the browser does not answer"
            data = os.read(self._read, 1 << 16)
            assert data, "the browser has ended"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        elif message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
            self.messages.append(message["params"])
        return message

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")

    def run(self, expression):
        """Returns the value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait(self, condition):
        """Waits until the condition holds, and returns its value."""
        end = time.monotonic() + PATIENCE
        while True:
            value = self.run(condition)
            if value:
                return value
            assert time.monotonic() < end, f"never came true: {condition}"
            time.sleep(0.02)

    def press(self, key):
        common = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        text = {"Enter": "\r", " ": " "}.get(key)
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def accessible(self):
        """Counts (role, name) of everything that a screen reader sees."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return collections.Counter(
            (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]
        )

    def scheme(self, name):
        feature = {"name": "prefers-color-scheme", "value": name}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        os.close(self._write)  # the browser ends with its pipe
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)
