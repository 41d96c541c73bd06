"""Rows for the tests of learning: of sites with rules, and hostile ones."""

import random

SITES = ["shop.example", "a.github.io", "b.github.io", "10.0.0.1", "b\u00fccher.example", "one.example.co.uk"]


def rows(pages=90, seed=1):
    """Rows of a URL, a digest, a canonical URL and the target of a redirect, in any order; some are invalid or say nothing."""
    made = [(None, "x", None, None), ("no URI", "x", None, None), ("mailto:a@h", "1", None, None), (" ", "1", None, None)]
    for site, host in enumerate(SITES):
        for page in range(pages):
            url, digest = f"http://{host}/p{page}", f"{site}-{page}"
            made += [(url, digest, None, None), (f"{url}?ref=x", digest, None, None), (f"{url}?page={page}", None, None, None)]
            made.append((f"HTTP://{host}:80/old/{page}", None, None, f"/p{page}"))
            if site == 0:
                made += [(f"http://www.{host}/p{page}/", None, url, None), (f"{url}?sort=up", "", None, None)]
    random.Random(seed).shuffle(made)
    return made


NAMES = [
    b"a.example", b"A.Example", b"www.a.example.", b".example", b"a..example", b"*.example", b"a_b.example", b"%61.example", b"a%2Fb.example",
    b"b\xc3\xbccher.example", b"B\xc3\x9cCHER.example", b"xn--bcher-kva.example", b"xn--a.example", b"b\xff.example", b"co.uk", b"www.b.co.uk",
    b"10.0.0.1", b"10.1", b"[::1]", b"[v1.x]", b"localhost", b"a.example:80", b"u@a.example", b"a@b@c.example", b"a.github.io", b"",
]  # fmt: skip
STARTS = [b"http://", b"https://", b"HTTP://", b" http://", b"http:/", b"ftp://", b"//", b"http://user:p@"]
ENDS = [b"", b"?ref=x", b"/", b"#f", b" ", b"\n", b"%zz", b"?a\tb", b"?\xff"]


def hostile(count=3000, seed=1):
    """Rows, as those of :func:`rows`, as bytes, of names that differ in little, or cannot be read."""
    made, random_of = [], random.Random(seed)
    for _ in range(count):
        page = b"/p%d" % random_of.randrange(40)
        url = random_of.choice(STARTS) + random_of.choice(NAMES) + page + random_of.choice(ENDS)
        target = made and random_of.random() < 0.1 and random_of.choice(made)[0]
        made.append((url, page if random_of.random() < 0.9 else None, target or None, b"/p1" if random_of.random() < 0.1 else None))
    return [*made, (None, b"x", None, None)]
