"""A Chromium without a window, driven by its DevTools protocol over a pair of pipes. PYTHIA_AXE: axe.min.js of axe-core, with which
views are checked (else that of `./dev setup`; where neither is there, nothing is checked)."""
import base64
import fcntl
import json
import os
import shutil
import subprocess

import rig

AXE = os.environ.get("PYTHIA_AXE") or os.path.expanduser("~/.cache/pythia/axe/node_modules/axe-core/axe.min.js")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def find():
    return shutil.which("chromium")


class PageLeft(AssertionError):
    """The page was left while a script ran in it."""


class Browser:
    """One page. What the page writes to its console, and what its policy refused, is in `messages`."""

    def __init__(self, test, width=1280, height=900):
        out, self.to = os.pipe()
        self.come, back = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (out, back)]  # above 3 and 4, which become theirs
        os.close(out)
        os.close(back)
        folder = rig.make_folder(test)
        command = [find(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
                   "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
                   f"--user-data-dir={folder}", f"--window-size={width},{height}", "about:blank"]
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "bash", *command],
                                        pass_fds=ends, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=rig.die_with_parent, env={**os.environ, "HOME": folder})
        for end in ends:
            os.close(end)
        test.addCleanup(self.end)
        self.bytes, self.number, self.messages, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.come)

    def _read(self):
        while b"\0" not in self.bytes:
            more = os.read(self.come, 1 << 20)
            if not more:
                raise AssertionError("Chromium has ended")
            self.bytes += more
        line, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.number += 1
        order = {"id": self.number, "method": method, "params": params}
        if self.session:
            order["sessionId"] = self.session
        os.write(self.to, json.dumps(order).encode() + b"\0")
        while True:
            got = self._read()
            if got.get("id") == self.number:
                if "error" in got:
                    left = "navigated" in got["error"].get("message", "")
                    raise (PageLeft if left else AssertionError)(f"{method}: {got['error']}")
                return got["result"]
            if got.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled",
                                     "Page.javascriptDialogOpening"):
                self.messages.append(json.dumps(got["params"]))

    def run(self, script):
        """The value of an expression; of a promise, what it is resolved with."""
        got = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise AssertionError(f"{script}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def open(self, url):
        self.call("Page.navigate", url=url)
        rig.until(lambda: self.run(f"location.href === {json.dumps(url)} && document.readyState === 'complete'"), 30)

    def wait(self, expression, seconds=30):
        """Wait until an expression is something: what it is."""
        return rig.until(lambda: self.run(expression), seconds, lambda: f"not so: {expression}\n{self.text()}")

    def text(self):
        """What the page shows; nothing while it gives way to the next one."""
        try:
            return self.run("document.body ? document.body.innerText : ''")
        except PageLeft:
            return ""

    def shows(self, *texts):
        """Wait until the page shows all of these."""
        def missing():
            shown = " ".join(self.text().split())
            return [text for text in texts if text not in shown]
        rig.until(lambda: not missing(), 30, lambda: f"{missing()} is not in:\n{self.text()}")

    def click(self, selector):
        """Press and release the mouse in the middle of the first element, as a person does: once nothing covers it."""
        x, y = self.wait(f"(() => {{const e = document.querySelector({json.dumps(selector)}); e?.scrollIntoView({{block: 'center'}});"
                         "const r = e?.getBoundingClientRect(), at = r && [r.x + r.width / 2, r.y + r.height / 2];"
                         "return at && e.contains(document.elementFromPoint(...at)) && at})()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key, text=None):
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowLeft": 37}
        more = {"text": text or ("\r" if key == "Enter" else "")} if text or key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=codes.get(key, 0), **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=codes.get(key, 0))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def look(self, width, dark=False, motion=True):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "no-preference" if motion else "reduce"}])

    def screenshot(self, path):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        with open(path, "wb") as to:
            to.write(base64.b64decode(picture))

    def violations(self):
        """What axe-core objects to in the page as it stands: rule, and the first three elements that break it."""
        if not os.path.exists(AXE):
            return []
        if not self.run("!!window.axe"):
            with open(AXE, encoding="utf-8") as source:
                self.run(source.read() + ";0")
        return self.run(f"axe.run(document, {{runOnly: {RULES}, resultTypes: ['violations']}}).then(result => result.violations.map("
                        "v => [v.id, v.nodes.map(n => n.target.join(' ') + ': ' + n.failureSummary).slice(0, 3)]))")

    def look_at(self, path, widths):
        """Take a picture of the page at each width, light and dark, as PATH-WIDTH-SCHEME.png. Returns the faults: views that need a
        horizontal scroll bar, and violations."""
        faults = []
        for width in widths:
            for scheme in ("light", "dark"):
                self.look(width, scheme == "dark")
                view = f"{os.path.basename(path)}-{width}-{scheme}"
                if self.run("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
                    faults.append((view, "is wider than the window"))
                self.screenshot(f"{path}-{width}-{scheme}.png")
                faults += [(view, *violation) for violation in self.violations()]
        return faults
