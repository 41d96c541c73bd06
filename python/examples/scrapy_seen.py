"""For Scrapy: fingerprints by RFC 3986, and a filter that knows the pages of earlier runs by a set on disk.

In the settings of a project, with this file on its path:

    REQUEST_FINGERPRINTER_CLASS = "scrapy_seen.Fingerprinter"
    DUPEFILTER_CLASS = "scrapy_seen.SeenFilter"     # optional: pages of earlier runs are not fetched again
    URISCAN_KEYWORDS = {"preset": "crawl"}          # which URLs are equivalent; {} by default
    URISCAN_SET = "seen.set"                        # of SeenFilter: made when it is not there

A set that a spider is adding to is written when the spider closes; until then the new keys are in memory, 16 bytes and Python's
overhead each. `uriscan dedup --seen seen.set` and `uriscan set` read it, with the same preset.
"""

import hashlib
import os

from scrapy.dupefilters import BaseDupeFilter

import uriscan


def _keywords(settings):
    return dict(settings.getdict("URISCAN_KEYWORDS"))


class Fingerprinter:
    """The fingerprint of a request: of its method, the key of its URL, and its body. Scrapy's own sorts the query and drops the
    fragment; here `URISCAN_KEYWORDS` decide which URLs are equivalent."""

    def __init__(self, settings):
        self._key = uriscan.Key(**_keywords(settings))

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings)

    def fingerprint(self, request):
        parts = [request.method.encode(), self._key(request.url), request.body or b""]
        # Each with its length, so that no two requests give the same bytes.
        text = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return hashlib.sha256(text).digest()[:20]


class SeenFilter(BaseDupeFilter):
    """Lets a URL pass once, ever: what the set holds was seen in an earlier run. Requests with a body or another method than
    GET are compared by their fingerprints, within this run."""

    def __init__(self, settings, fingerprinter):
        keywords, path = _keywords(settings), settings.get("URISCAN_SET", "seen.set")
        exists = os.path.isdir(path) and os.listdir(path)
        self._set = (uriscan.Set.open if exists else uriscan.Set.create)(path, **keywords)
        self._set.hold()
        self._key = uriscan.Key(hash=self._set.hash, **keywords)
        self._fingerprinter, self._new, self._others = fingerprinter, set(), set()

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings, crawler.request_fingerprinter)

    def request_seen(self, request):
        if request.method != "GET" or request.body:
            mark = self._fingerprinter.fingerprint(request)
            is_new = mark not in self._others
            self._others.add(mark)
            return not is_new
        key = self._key(request.url)
        if key in self._new or self._set.contains_keys([key])[0]:
            return True
        self._new.add(key)
        return False

    def close(self, reason):
        if self._new:
            with self._set.adding() as more:
                more.add_keys(list(self._new))
            self._new.clear()
