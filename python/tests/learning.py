"""Rows of sites with rules, for the tests of learning."""

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
