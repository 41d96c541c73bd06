"""Runs the program against stores that are not ours; see scripts/test-stores.

    main.py PROGRAM MOTO [AZURITE]
"""

import concurrent.futures
import signal
import sys
import tempfile
import time

import every_store
from common import Program, Proxy, server
from s3 import S3, Google


def main(program, moto, azurite=None):
    of_moto = [moto, "-H", "127.0.0.1", "-p", "0"]
    of_azurite = [azurite, "--blobPort", "0", "--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck"]
    tests = [
        ("S3, by moto", of_moto, of_s3),
        ("Google Cloud Storage, by moto", of_moto, of_google),
        ("Azure, by Azurite", of_azurite, of_azure),
    ]
    # Most of the time is spent waiting.
    with concurrent.futures.ThreadPoolExecutor(len(tests)) as pool:
        begun = [pool.submit(test, program, *it) for it in tests[: 3 if azurite else 2]]
        for it in begun:
            print(it.result(), flush=True)


def test(program, name, command, of_store):
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as work, server(*command) as endpoint:
        of_store(program, work, endpoint)
    return f"{name}: all tests passed in {time.monotonic() - begun:.0f} s"


def of_s3(program, work, endpoint):
    credentials = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}
    run = Program(program, work, credentials | {"AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": "true"})
    proxy = Proxy(endpoint)
    every_store.everything(run, S3(endpoint), proxy, {"AWS_ENDPOINT_URL": proxy.url})
    # Credentials and the endpoint from the files of the AWS tools.
    (run.work / ".aws").mkdir()
    keys = "aws_access_key_id = testing\naws_secret_access_key = testing\n"
    (run.work / ".aws/credentials").write_text(f"[crawl]\n{keys}")
    (run.work / ".aws/config").write_text(f"[profile crawl]\nregion = us-east-1\nendpoint_url = {endpoint}\n")
    found = run("dedup", "s3://bucket/many/", env={"AWS_PROFILE": "crawl"}, without=[*credentials, "AWS_ENDPOINT_URL"])
    assert found[0].startswith("http://h/0\n")


def of_google(program, work, endpoint):
    # moto refuses what has no name; Google's store and its emulators do not.
    proxy = Proxy(endpoint, headers={"Authorization": "Bearer somebody"})
    run = Program(program, work, {"STORAGE_EMULATOR_HOST": proxy.url})
    every_store.everything(run, Google(endpoint), proxy, {})
    without = ["STORAGE_EMULATOR_HOST"]
    for variables in [
        {"STORAGE_EMULATOR_HOST": proxy.url.removeprefix("http://")},
        {"GOOGLE_BASE_URL": proxy.url, "GOOGLE_SKIP_SIGNATURE": "true"},
        {"GOOGLE_BASE_URL": proxy.url, "GOOGLE_BEARER_TOKEN": "testing"},
    ]:
        run("dedup", "gs://bucket/many/0001", "-o", "gs://bucket/own", env=variables, without=without)
        assert run("dedup", "gs://bucket/own", env=variables, without=without)[0] == "http://h/1\n", variables


def of_azure(program, work, endpoint):
    import azure_store

    run = Program(program, work, {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": endpoint})
    proxy = Proxy(endpoint)
    every_store.everything(run, azure_store.Azure(endpoint), proxy, {"AZURITE_BLOB_STORAGE_URL": proxy.url})
    azure_store.ways(run, endpoint)


if __name__ == "__main__":
    # Servers are ended in any case.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main(*sys.argv[1:])
