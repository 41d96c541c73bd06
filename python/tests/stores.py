"""Object storage for tests: in memory, with faults on demand, and the S3 of moto, a server that is not ours."""

import contextlib
import io
import urllib.request
import warnings

import pyarrow
import pyarrow.fs as fs
import pytest

_MADE = []


class Memory(fs.FileSystemHandler):
    """Objects by their names. ``hook`` is called with what is about to be done, and the name; what it raises fails."""

    def __init__(self):
        self.objects, self.hook = {}, lambda what, name: None
        _MADE.append(self)

    def __reduce__(self):
        # As a client of a server: what is pickled has the same objects.
        return _again, (_MADE.index(self),)

    def get_type_name(self):
        return "memory"

    def _info(self, name):
        if name in self.objects:
            return fs.FileInfo(name, fs.FileType.File, size=len(self.objects[name]))
        is_prefix = any(each.startswith(f"{name}/") for each in self.objects)
        return fs.FileInfo(name, fs.FileType.Directory if is_prefix else fs.FileType.NotFound)

    def get_file_info(self, names):
        for name in names:
            self.hook("info", name)
        return [self._info(name) for name in names]

    def get_file_info_selector(self, selector):
        self.hook("list", selector.base_dir)
        below = [name for name in self.objects if name.startswith(f"{selector.base_dir}/")]
        if not selector.recursive:
            start = len(selector.base_dir) + 1
            below = {name[: name.find("/", start)] if "/" in name[start:] else name for name in below}
        return [self._info(name) for name in sorted(below)]

    def delete_file(self, name):
        self.hook("delete", name)
        del self.objects[name]

    def delete_dir(self, name):
        self.hook("delete", name)
        for each in [each for each in self.objects if each.startswith(f"{name}/")]:
            del self.objects[each]

    def open_input_stream(self, name):
        self.hook("read", name)
        if name not in self.objects:
            raise FileNotFoundError(name)
        return pyarrow.PythonFile(io.BytesIO(self.objects[name]), mode="r")

    def open_output_stream(self, name, metadata):
        self.hook("write", name)
        return pyarrow.PythonFile(_Object(self, name), mode="w")

    def normalize_path(self, path):
        return path

    def _refuse(self, *args):
        raise NotImplementedError

    create_dir = delete_dir_contents = delete_root_dir_contents = move = copy_file = _refuse
    open_input_file = open_append_stream = _refuse


def _again(number):
    return _MADE[number]


class _Object(io.BytesIO):
    """An object that is there once it is closed."""

    def __init__(self, store, name):
        super().__init__()
        self.store, self.name = store, name

    def close(self):
        if self.closed:
            return
        text = self.getvalue()
        super().close()
        self.store.hook("put", self.name)
        self.store.objects[self.name] = text
        self.store.hook("answer", self.name)


@contextlib.contextmanager
def s3():
    """The end of a URI of the S3 of moto, which ends with this block, and a file system of it; there is the bucket ``bucket``."""
    try:
        from moto.server import ThreadedMotoServer
    except ImportError:
        why = "moto is not installed: pip install -r python/requirements-full.txt"
        warnings.warn(f"OBJECT STORAGE IS NOT TESTED: {why}", stacklevel=2)
        pytest.skip(why)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        address = "{}:{}".format(*server.get_host_and_port())
        # All servers of a process have the same objects: those of a test before.
        urllib.request.urlopen(urllib.request.Request(f"http://{address}/moto-api/reset", method="POST")).close()
        keywords = {"access_key": "testing", "secret_key": "testing", "scheme": "http", "region": "us-east-1"}
        store = fs.S3FileSystem(endpoint_override=address, allow_bucket_creation=True, **keywords)
        store.create_dir("bucket")
        yield f"?endpoint_override={address}&scheme=http&region=us-east-1", store
    finally:
        server.stop()
