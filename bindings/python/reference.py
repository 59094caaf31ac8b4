# SPDX-License-Identifier: Apache-2.0
"""Writes the API reference as HTML from the docstrings of the installed package.

python reference.py FOLDER      # needs Python 3.10 and pdoc: pip install pdoc
"""

import argparse
import importlib
import inspect
import pathlib
import sys
import warnings

import quoit


def hide_handles(value):
    """Hides constructors that take a handle of libquoit, because callers never use them."""
    if inspect.isclass(value) and "handle" in inspect.signature(value.__init__).parameters:
        value.__init__.__doc__ = "@private"


def public_modules():
    """Yields the names of the package and its public modules, after loading all their lazy names."""
    for name in ("quoit", *(f"quoit.{one}" for one in quoit._SUBMODULES)):
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            setattr(module, public, getattr(module, public))
            hide_handles(getattr(module, public))
        yield name


def return_verbs():
    """Gives the verbs of `Ledger` back to the modules that define them, where pdoc looks for the types of annotations."""
    for verbs in quoit.Ledger.__bases__:
        for value in vars(verbs).values():
            if inspect.isfunction(value):
                value.__module__ = verbs.__module__


def main():
    """Parses the arguments and writes the pages. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="reference.py", description="writes quoit's API reference as HTML")
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    try:
        import pdoc
    except ImportError:
        print("reference.py: pdoc is not installed: pip install pdoc", file=sys.stderr)
        return 1
    if sys.version_info < (3, 10):
        print("reference.py: expected Python 3.10 or newer, which reads the annotations", file=sys.stderr)
        return 1
    # An annotation can name a class of a package that is not installed here, such as JAX; pdoc then prints it
    # unresolved.
    warnings.filterwarnings(
        "ignore", message="(Failed to run TYPE_CHECKING code while parsing|Error parsing type annotation) jax"
    )
    pdoc.render.configure(docformat="google", show_source=False, footer_text=f"quoit {quoit.__version__}")
    return_verbs()
    pdoc.pdoc(*public_modules(), output_directory=folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
