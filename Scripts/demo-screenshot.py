#!/usr/bin/env python3
"""Makes docs/images/demo.png: the page of bertqa.demo with an answer, in chromium.

usage: demo-screenshot.py OUT.png    (with examples/python and Tests/python in PYTHONPATH)
"""

import json
import pathlib
import sys
import threading

import browser
from bertqa.demo._server import Server
from bertqa.demo._tasks import Tasks


def main():
    with Server(Tasks([], {})) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        page = browser.Browser()
        page.call("Emulation.setDeviceMetricsOverride", width=1000, height=620, deviceScaleFactor=1, mobile=False)
        page.scheme("light")
        page.open(server.url)
        page.wait("at('suggested').children.length")
        page.run("document.documentElement.style.setProperty('scroll-behavior', 'auto')")
        page.run(f"at('question').value = {json.dumps('Who found the comet in 1758?')}; answer()")
        page.wait("at('answers').children.length")
        page.screenshot(pathlib.Path(sys.argv[1]))
        page.close()
        server.shutdown()
        thread.join()


if __name__ == "__main__":
    main()
