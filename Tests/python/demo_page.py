"""The demo's page, as a test reads it."""

import http.client
import json
import re
import signal


def asked_documents(process):
    """Returns the names and texts of the documents that a program serves, and ends it."""
    try:
        url = process.stdout.readline().strip()
        port, key = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]+)/", url).groups()
        connection = http.client.HTTPConnection("127.0.0.1", int(port))
        connection.request("GET", f"/{key}/")
        token = re.search(r'name="token" content="([^"]+)"', connection.getresponse().read().decode())[1]

        def value(name, **request):
            headers = {
                "Origin": f"http://127.0.0.1:{port}",
                "Content-Type": "application/json",
                "X-Bertqa-Token": token,
            }
            connection.request("POST", f"/{key}/{name}", json.dumps({"page": "x", **request}), headers)
            return json.loads(connection.getresponse().read())

        names = value("documents")["names"]
        found = [(name, value("document", index=index)["text"]) for index, name in enumerate(names)]
    finally:
        process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    return found
