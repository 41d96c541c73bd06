"""What the tests of all stores share: the program, servers that are not ours, and a proxy that fails on demand."""

import contextlib
import http.client
import http.server
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

# Variables that would lead the program elsewhere.
FOREIGN = re.compile(r"AWS_|AZURE_|AZURITE_|GOOGLE_|STORAGE_EMULATOR_HOST|(HTTPS?|ALL|NO)_PROXY", re.IGNORECASE)


class Program:
    """Runs the program in a directory of its own, with the variables of a store."""

    def __init__(self, path, work, variables):
        clean = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
        # No files of credentials of whoever runs the tests.
        clean |= {"HOME": str(work), "AWS_EC2_METADATA_DISABLED": "true"}
        self.path, self.work, self.environment = path, pathlib.Path(work), clean | variables

    def start(self, *args, env={}):
        return subprocess.Popen(
            [self.path, *args],
            cwd=self.work,
            env=self.environment | env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __call__(self, *args, code=0, env={}, without=()):
        """What the program prints and reports."""
        environment = {name: value for name, value in self.environment.items() if name not in without} | env
        done = subprocess.run([self.path, *args], cwd=self.work, env=environment, capture_output=True, timeout=300)
        assert done.returncode == code, (args, done)
        return done.stdout.decode(), done.stderr.decode()


@contextlib.contextmanager
def server(*command):
    """Starts a server on a free port, which it prints, and yields its URL."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            until, found = time.monotonic() + 60, None
            while not found:
                assert time.monotonic() < until and process.poll() is None, f"{command[0]} does not start: {text}"
                time.sleep(0.1)
                log.seek(0)
                text = log.read()
                found = re.search(r"http://127\.0\.0\.1:[1-9][0-9]*", text)
            yield found[0]
        finally:
            process.terminate()
            process.wait()


class Proxy(http.server.ThreadingHTTPServer):
    """Passes requests on to `origin`, but for those that one of its `rules` [method, part of the path, how many, fault]
    selects. `headers` are added where a request lacks them, and `seen` are the methods and paths of all requests."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, origin, headers={}):
        super().__init__(("127.0.0.1", 0), Handler)
        self.origin, self.headers, self.rules, self.lock = origin, headers, [], threading.Lock()
        self.seen = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def fault(self, method, path):
        with self.lock:
            self.seen.append((method, urllib.parse.unquote(path)))
            for rule in self.rules:
                if rule[0] == method and rule[1] in urllib.parse.unquote(path) and rule[2] > 0:
                    rule[2] -= 1
                    return rule[3]

    def handle_error(self, request, client_address):
        # A program that has ended does not wait for an answer.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.server.fault(self.command, self.path)
        if fault in ("403", "503"):
            self.answer(int(fault), [], b"<Error><Code>Injected</Code></Error>")
            return
        status, headers, data = self.ask(body)
        if fault == "slow":
            time.sleep(0.5)
        self.answer(status, headers, data, cut=fault == "cut")

    def ask(self, body):
        """What the origin answers."""
        origin = http.client.HTTPConnection(self.server.origin.removeprefix("http://"))
        added = {name: value for name, value in self.server.headers.items() if name not in self.headers}
        origin.request(self.command, self.path, body, added | dict(self.headers))
        response = origin.getresponse()
        data = response.read()
        origin.close()
        dropped = ("connection", "keep-alive", "transfer-encoding", "date", "server")
        return response.status, [it for it in response.getheaders() if it[0].lower() not in dropped], data

    def answer(self, status, headers, data, cut=False):
        self.send_response(status)
        if not any(name.lower() == "content-length" for name, _ in headers):
            headers.append(("Content-Length", str(len(data))))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = cut

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request

    def log_message(self, *args):
        pass
