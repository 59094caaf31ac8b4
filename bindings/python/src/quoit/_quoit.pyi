# What cffi makes has no types of its own: quoit._c is the only module that sees it.
from typing import Any

ffi: Any
lib: Any
