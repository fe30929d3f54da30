"""Installs by the Makefile, and lists and builds against what is installed."""

import subprocess

from conftest import PREFIX, ROOT, clean_environment

# Of the scripts that pack what is staged.
ENVIRONMENT = clean_environment() | {"MAKEFLAGS": "", "BERTQA_PREFIX": str(PREFIX)}


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


# Debian's library directory, such as lib/x86_64-linux-gnu.
MULTIARCH = "lib/" + run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()


def make(target, prefix, destination, libdir=None, **others):
    """Runs a Makefile target for an installation under destination/prefix, without a build."""
    variables = [
        f"PREFIX={prefix}",
        f"DESTDIR={destination}",
        *(f"{name}={value}" for name, value in others.items()),
    ]
    if libdir:
        variables.append(f"LIBDIR={prefix}/{libdir}")
    run("make", "-s", "-o", "all", target, *variables, cwd=ROOT, env=clean_environment() | {"MAKEFLAGS": ""})


def files(directory):
    return {path.relative_to(directory) for path in directory.rglob("*") if path.is_symlink() or path.is_file()}


# A CMake project that finds an installation.
PROJECT = """
cmake_minimum_required(VERSION 3.12)
project(consumer LANGUAGES C CXX)
find_package(bertqa 0.1 REQUIRED)
find_package(bertqa REQUIRED)
add_executable(in_c {source})
add_executable(in_cxx in_cxx.cc)
foreach(program in_c in_cxx)
  target_link_libraries(${{program}} PRIVATE bertqa::bertqa)
endforeach()
"""
