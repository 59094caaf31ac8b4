# The extension module that cffi builds has no type annotations. Only quoit._c uses it.
from typing import Any

ffi: Any
lib: Any
