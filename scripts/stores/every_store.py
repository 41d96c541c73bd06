"""What has to work with every store. A store knows its objects by a client that is not ours:

    url                      what the names of its objects begin with
    put(key, data), get(key), keys(prefix), parts(key)
    unfinished(prefix)       uploads that were begun; `forgets`: whether aborting removes them at once
    completes                the method and a part of the path of the request that makes an object of its parts
    faults                   what passes by on the way while directories are written
"""

import concurrent.futures
import gzip
import pathlib
import signal
import time


def everything(run, store, proxy, by_proxy):
    """All that follows; `by_proxy` are the variables by which the program reaches the store through `proxy`."""
    lists(run, store)
    several_parts(run, store)
    tables(run, store)
    missing(run, store)
    datasets(run, store)
    requests(run, store, proxy, by_proxy)
    folders(run, store, proxy, by_proxy)
    signals(run, store, proxy, by_proxy)


def below(store, prefix):
    """The objects below a prefix, without that, and their bytes."""
    return {key[len(prefix):]: store.get(key) for key in store.keys(prefix)}


def put_all(store, objects):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda it: store.put(*it), objects))


def lists(run, store):
    """A compressed list, a name with characters that are encoded on the way, and a listing of several pages."""
    store.put("in/a b+c%20ä.txt.gz", gzip.compress(b"http://h\nHTTP://H/\nhttp://i/\n"))
    run("dedup", f"{store.url}in/a b+c%20ä.txt.gz", "-o", f"{store.url}out/é.txt")
    assert store.get("out/é.txt") == b"http://h\nhttp://i/\n"
    put_all(store, [(f"many/{n:04}", f"http://h/{n}\n".encode()) for n in range(1_100)])
    assert run("dedup", f"{store.url}many/")[0] == "".join(f"http://h/{n}\n" for n in range(1_100))


def several_parts(run, store):
    """An object of several parts, whole or not at all."""
    text = "".join(f"http://example.com/a/rather/long/path/of/a/page/number/{n:08}\n" for n in range(550_000)).encode()
    store.put("large", text)
    run("normalize", f"{store.url}large", "-o", f"{store.url}large.out")
    assert store.get("large.out") == text
    assert store.parts("large.out") > 1
    store.put("bad", text + b"no uri\n")
    message = run("normalize", "--on-invalid", "error", f"{store.url}bad", "-o", f"{store.url}bad.out", code=2)[1]
    assert f"{store.url}bad" in message, message
    assert not store.keys("bad.out") and not (store.forgets and store.unfinished(""))


def tables(run, store):
    """Tables of every format give the rows that files give."""
    rows = "".join(f"{n},HTTP://h/{n % 500}\n" for n in range(1_000))
    (run.work / "t.csv").write_text("id,url\n" + rows)
    for to in ["csv", "parquet", "arrow", "jsonl"]:
        run("dedup", "--column", "url", "t.csv", "-o", f"local.{to}")
        store.put(f"t.{to}", (run.work / f"local.{to}").read_bytes())
        run("normalize", "--column", "url", f"{store.url}t.{to}", "-o", f"{store.url}n.{to}")
        run("normalize", "--column", "url", f"local.{to}", "-o", f"n.{to}")
        assert store.get(f"n.{to}") == (run.work / f"n.{to}").read_bytes(), to


def missing(run, store):
    url = f"{store.url}none"
    message = run("dedup", url, code=2)[1]
    assert f"{url}: there is no such object, or no such bucket (HTTP status 404" in message, message
    url = store.url.replace("bucket", "no-such-bucket") + "none"
    message = run("dedup", url, code=2)[1]
    assert f"{url}: there is no such" in message and "(HTTP status 404" in message, message
    for args in [["-o", url], ["--rows-per-file", "9", "-o", f"{url}/"]]:
        message = run("dedup", "--column", "url", "t.csv", *args, code=2)[1]
        assert "there is no such bucket" in message and url in message, message


def datasets(run, store):
    """Those of a directory, with markers of directories and hidden names."""
    rows = {}
    for day in range(3):
        for number in range(40):
            name = f"dt=2026-11-{day:02}/lang=a%2Fb/{number:04}.csv"
            rows[name] = f"url,n\nhttp://h{number}.com/{day},{number}\n"
    rows |= {"_SUCCESS": "", "_log/0.csv": "x", ".x.csv.crc": "x", "dt=2026-11-00/note.txt": "x"}
    for name, text in rows.items():
        path = run.work / "crawl" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    put_all(store, [(f"crawl/{name}", text.encode()) for name, text in rows.items()])
    for marker in ["", "dt=2026-11-00/", "dt=2026-11-00/lang=a%2Fb/", "empty.csv/"]:
        store.put(f"crawl/{marker}", b"")
    store.put("crawl/empty.csv/x.txt", b"x")
    for pattern in ["", "dt=*/", "dt=2026-11-0[12]/**/*7.csv", "**/lang=*/0??0.csv"]:
        local = run("dedup", "--column", "url", "--keep", "max:n", f"crawl/{pattern}")[0]
        stored = run("dedup", "--column", "url", "--keep", "max:n", f"{store.url}crawl/{pattern}")[0]
        assert stored == local and len(local.splitlines()) > 5, pattern
    for pattern in ["x*", "dt=2026-11-00/*.txt"]:
        local = run("dedup", "--column", "url", "--to", "csv", f"crawl/{pattern}", code=2)[1]
        stored = run("dedup", "--column", "url", "--to", "csv", f"{store.url}crawl/{pattern}", code=2)[1]
        assert stored == local.replace("crawl/", f"{store.url}crawl/") and "no table was found" in local, stored


def requests(run, store, proxy, by_proxy):
    """What a listing says is not asked for again, and of a short table everything comes at once."""
    data = (run.work / "local.parquet").read_bytes()
    put_all(store, [(f"short/{n:02}.parquet", data) for n in range(40)])
    for keep in ["first", "last"]:
        proxy.seen.clear()
        run("dedup", "--column", "url", "--keep", keep, f"{store.url}short/", "-o", "short.csv", env=by_proxy)
        assert len((run.work / "short.csv").read_text().splitlines()) == 501
        assert not [it for it in proxy.seen if it[0] == "HEAD"], proxy.seen
        gets = [path for method, path in proxy.seen if method == "GET" and ".parquet" in path]
        assert len(gets) == len(set(gets)) == 40, gets


CUT = ["normalize", "--column", "url", "large.csv", "--rows-per-file", "250000"]
SPLIT = ["normalize", "--column", "url", "large.csv", "--partition-by", "domain,k", "--to", "parquet"]


def folders(run, store, proxy, by_proxy):
    """Directories of results: the files that a local one has, whatever passes by on the way."""
    with open(run.work / "large.csv", "w") as file:
        file.write("url,k\n")
        file.writelines(f"http://www.h{n % 100}.com/a/rather/long/path/of/a/page/{n:08},{n % 2}\n" for n in range(600_000))
    for number, args in enumerate([CUT, SPLIT]):
        run(*args, "-o", f"out{number}/")
        local = pathlib.Path(run.work, f"out{number}")
        expected = {path.relative_to(local).as_posix(): path.read_bytes() for path in local.rglob("*.*") if path.is_file()}
        assert len(expected) == [3, 100][number], len(expected)
        for fault in store.faults:
            prefix = f"out/{number}/{fault}/"
            proxy.rules[:] = [[method, "/bucket", 3, fault] for method in ["GET", "PUT", "POST"] if fault]
            run(*args, "-o", f"{store.url}{prefix}", env=by_proxy)
            assert below(store, prefix) == expected, (number, fault)
            assert fault in (None, "slow") or all(rule[2] == 0 for rule in proxy.rules if rule[0] != "POST"), proxy.rules
        # What cannot be written leaves nothing.
        method, part = ("PUT", "h7.com") if number else store.completes
        proxy.rules[:] = [[method, part, 1_000, "403"]]
        message = run(*args, "-o", f"{store.url}none/", code=2, env=by_proxy)[1]
        assert "access denied" in message and "could not be removed" not in message, message
        assert not store.keys("none/") and not (store.forgets and store.unfinished("none/"))
    message = run(*CUT, "-o", f"{store.url}out/0", code=2)[1]
    assert f"{store.url}out/0/: is not empty" in message, message
    proxy.rules[:] = [[method, "bucket", 2, fault] for method in ["GET", "HEAD"] for fault in ["503", "slow"]]
    top = ["top", "--by", "host", "-n", "1", "--column", "url"]
    assert run(*top, f"{store.url}out/1/None/", env=by_proxy)[0] == run(*top, "out1/")[0]


def signals(run, store, proxy, by_proxy):
    """A signal leaves nothing."""
    proxy.rules[:] = [["PUT", "signal", 1_000, "slow"]]
    child = run.start(*CUT, "-o", f"{store.url}signal/", env=by_proxy)
    until = time.monotonic() + 60
    while not store.unfinished("signal/"):
        assert time.monotonic() < until and child.poll() is None, "no upload was begun"
        time.sleep(0.01)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)
    assert child.returncode != 0
    assert not store.keys("signal/") and not (store.forgets and store.unfinished("signal/"))
    proxy.rules[:] = []
