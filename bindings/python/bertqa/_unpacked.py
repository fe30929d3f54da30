"""Support for packages imported from a zip archive, from which the system cannot load a library."""

import os
import shutil
import tempfile
import zipfile
import zipimport

#: The library, and the models of bertqa-models if the archive has them.
_FILES = "bertqa/lib/", "bertqa_models/"


def unpack_library(directory: str) -> None:
    """Unpacks the library and the models of the process's zip archive once into a directory, where they stay, and loads
    them from there. Several processes can do so at the same time. Does nothing for a package in a directory, or if
    BERTQA_LIBRARY names the library.
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
                raise ImportError(f"{archive} has no library: make it from the wheel, not the sources")
            file.extractall(part, names)
        os.rename(part, target)
    except OSError:
        if not os.path.isdir(target):  # another process was faster
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
