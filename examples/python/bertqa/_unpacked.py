"""The library of a package that was imported out of a zip archive, where the system cannot load it."""

import os
import shutil
import tempfile
import zipfile
import zipimport

#: The library, and the models of bertqa-models, if the archive has them.
_FILES = "bertqa/lib/", "bertqa_models/"


def unpack_library(directory: str) -> None:
    """Has this process load the library and the models of its archive, unpacked once into a directory that they stay
    in; several processes may do so at once. Nothing to do for a package in a directory, or where BERTQA_LIBRARY names
    the library.
    """
    loader = globals().get("__loader__")
    if not isinstance(loader, zipimport.zipimporter) or os.environ.get("BERTQA_LIBRARY"):
        return
    about = os.stat(loader.archive)
    target = os.path.join(os.path.abspath(directory), f"bertqa-{about.st_size}-{about.st_mtime_ns}")
    if not os.path.isdir(target):
        _unpack(loader.archive, target)
    os.environ["BERTQA_LIBRARY"] = os.path.join(target, _FILES[0], "libbertqa.so.1")


def _unpack(archive: str, target: str) -> None:
    part = tempfile.mkdtemp(prefix=".bertqa-", dir=os.path.dirname(target))
    try:
        with zipfile.ZipFile(archive) as file:
            names = [name for name in file.namelist() if name.startswith(_FILES)]
            if not any(name.startswith(_FILES[0]) for name in names):
                raise ImportError(f"{archive} holds no library: make it of the wheel, not of the sources")
            file.extractall(part, names)
        os.rename(part, target)
    except OSError:
        if not os.path.isdir(target):  # else another process was faster
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
