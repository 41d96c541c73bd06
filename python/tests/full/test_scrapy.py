"""The example for Scrapy, in a crawl of a site in this process."""

import http.server
import importlib.util
import pathlib
import subprocess
import sys
import threading

import pytest

import uriscan

pytest.importorskip("scrapy", reason="Scrapy is not installed: pip install -r python/requirements-full.txt")

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "scrapy_seen.py"


@pytest.fixture(name="example")
def _example():
    spec = importlib.util.spec_from_file_location("scrapy_seen", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_fingerprints(example):
    from scrapy import Request
    from scrapy.settings import Settings

    plain = example.Fingerprinter(Settings())
    crawl = example.Fingerprinter(Settings({"URISCAN_KEYWORDS": {"preset": "crawl"}}))

    def same(fingerprinter, *requests):
        return len({fingerprinter.fingerprint(request) for request in requests}) == 1

    assert same(plain, Request("http://h/%7ea"), Request("HTTP://H:80/~a"))
    assert not same(plain, Request("http://h/?b=1&a=2"), Request("http://h/?a=2&b=1"))
    assert not same(plain, Request("http://h/"), Request("http://h/?utm_source=x"))
    assert same(crawl, Request("http://h/"), Request("http://h/?utm_source=x"))
    assert not same(plain, Request("http://h/"), Request("http://h/", method="POST"))
    assert not same(plain, Request("http://h/", method="POST", body=b"a"), Request("http://h/", method="POST", body=b"b"))
    assert len(plain.fingerprint(Request("http://h/"))) == 20


def test_what_was_seen_stays_seen(example, tmp_path):
    from scrapy import Request
    from scrapy.settings import Settings

    settings = Settings({"URISCAN_KEYWORDS": {"preset": "crawl"}, "URISCAN_SET": str(tmp_path / "seen.set")})
    fingerprinter = example.Fingerprinter(settings)
    first = example.SeenFilter(settings, fingerprinter)
    assert [first.request_seen(Request(url)) for url in ["http://h/", "http://h/?utm_source=x", "http://h/a"]] == [
        False, True, False,
    ]  # fmt: skip
    post = Request("http://h/", method="POST", body=b"x")
    assert [first.request_seen(post), first.request_seen(post)] == [False, True]
    first.close("finished")
    again = example.SeenFilter(settings, fingerprinter)
    assert [again.request_seen(Request(url)) for url in ["HTTP://h", "http://h/a#b", "http://h/b"]] == [True, True, False]
    assert not again.request_seen(post)
    again.close("finished")
    assert len(uriscan.Set.open(tmp_path / "seen.set", preset="crawl")) == 3


SPIDER = """
import scrapy, sys
from scrapy.crawler import CrawlerProcess

class Links(scrapy.Spider):
    name = "links"
    start_urls = [sys.argv[1]]
    def parse(self, response):
        print("fetched", response.url.split("/", 3)[3], flush=True)
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)

process = CrawlerProcess({
    "REQUEST_FINGERPRINTER_CLASS": "scrapy_seen.Fingerprinter", "DUPEFILTER_CLASS": "scrapy_seen.SeenFilter",
    "URISCAN_KEYWORDS": {"preset": "crawl"}, "URISCAN_SET": sys.argv[2], "LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False,
})
process.crawl(Links)
process.start()
"""


def test_a_crawl(tmp_path):
    pages = b'<a href="/a?utm_source=x">1</a><a href="/a#top">2</a><a href="/./b/../a">3</a><a href="/%7Eb">4</a><a href="/~b">5</a>'

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(pages)

        def log_message(self, *_):
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    command = [sys.executable, "-c", SPIDER, f"http://127.0.0.1:{site.server_port}/start", str(tmp_path / "seen.set")]
    try:
        runs = [
            subprocess.run(command, cwd=EXAMPLE.parent, capture_output=True, text=True, timeout=120) for _ in range(2)
        ]
    finally:
        site.shutdown()
    fetched = [sorted(line.split()[1] for line in run.stdout.splitlines() if line.startswith("fetched")) for run in runs]
    # Start pages are not filtered; nothing else is fetched twice.
    assert fetched == [["a?utm_source=x", "start", "~b"], ["start"]] or fetched == [
        ["%7Eb", "a?utm_source=x", "start"], ["start"],
    ], (fetched, runs[0].stderr[-2000:])  # fmt: skip
