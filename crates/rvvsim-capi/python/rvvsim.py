"""A RISC-V Linux process, step by step, with its registers, their validity, and its memory.

    from rvvsim import Machine
    machine = Machine("prog.elf", vlen=256, sanitize=True)
    while machine.step():
        value, undefined = machine.register("a0")

The library is found by RVVSIM_CAPI, or beside this file.
"""

import ctypes
import os

_NAME = "librvvsim_capi.so"
_lib = ctypes.CDLL(os.environ.get("RVVSIM_CAPI") or os.path.join(os.path.dirname(os.path.abspath(__file__)), _NAME))

_size, _u64, _machine, _text = ctypes.c_size_t, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_char_p
for _name, _result, _arguments in [
    ("open", _machine, [_text, ctypes.c_uint32, ctypes.c_int32, _text, _size]),
    ("close", None, [_machine]),
    ("step", ctypes.c_int32, [_machine, _u64]),
    ("status", ctypes.c_int32, [_machine]),
    ("retired", _u64, [_machine]),
    ("read", ctypes.c_int32, [_machine, _text, ctypes.POINTER(_u64), ctypes.POINTER(_u64)]),
    ("write", ctypes.c_int32, [_machine, _text, _u64]),
    ("read_vector", _size, [_machine, ctypes.c_uint8, _text, _text, _size]),
    ("read_memory", _size, [_machine, _u64, _text, _size]),
    ("write_memory", _size, [_machine, _u64, _text, _size]),
    ("stdout", _size, [_machine, _text, _size]),
    ("findings", _size, [_machine]),
]:
    _function = getattr(_lib, "rvvsim_" + _name)
    _function.restype, _function.argtypes = _result, _arguments


class Machine:
    """A program that has not ended. Use it in one thread at a time."""

    def __init__(self, path, vlen=128, sanitize=False):
        error = ctypes.create_string_buffer(1024)
        self._machine = _lib.rvvsim_open(os.fsencode(path), vlen, sanitize, error, len(error))
        if not self._machine:
            raise ValueError(error.value.decode(errors="replace"))

    def __del__(self):
        if getattr(self, "_machine", None):
            _lib.rvvsim_close(self._machine)
            self._machine = None

    def step(self, instructions=1):
        """Executes at most so many instructions; False if the program has ended."""
        return _lib.rvvsim_step(self._machine, instructions) == 0

    def run(self):
        """Executes the rest; the exit status, or -signal."""
        while self.step(1 << 40):
            pass
        return self.status

    @property
    def status(self):
        """The exit status or -signal; None as long as there is none."""
        status = _lib.rvvsim_status(self._machine)
        return None if status == -2000 else status

    @property
    def retired(self):
        """Instructions retired."""
        return _lib.rvvsim_retired(self._machine)

    @property
    def findings(self):
        """At how many places an undefined value has decided something."""
        return _lib.rvvsim_findings(self._machine)

    def register(self, name):
        """The value of a register (a0, fa0, pc, vl, vtype, vstart, vlenb), and which bits nothing defines."""
        value, undefined = _u64(), _u64()
        if not _lib.rvvsim_read(self._machine, name.encode(), ctypes.byref(value), ctypes.byref(undefined)):
            raise KeyError(name)
        return value.value, undefined.value

    def set_register(self, name, value):
        """Writes pc, an integer or a floating-point register."""
        if not _lib.rvvsim_write(self._machine, name.encode(), value & (1 << 64) - 1):
            raise KeyError(name)

    def vector(self, number):
        """The bytes of a vector register, and which of their bits nothing defines."""
        if not 0 <= number < 32:
            raise IndexError(number)
        size = _lib.rvvsim_read_vector(self._machine, number, None, None, 0)
        value, undefined = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
        _lib.rvvsim_read_vector(self._machine, number, value, undefined, size)
        return value.raw, undefined.raw

    def read(self, address, size):
        """Memory; fewer bytes if some cannot be read."""
        data = ctypes.create_string_buffer(size)
        got = _lib.rvvsim_read_memory(self._machine, address, data, size)
        return data.raw[:got]

    def write(self, address, data):
        """Writes memory; how many bytes could be written."""
        return _lib.rvvsim_write_memory(self._machine, address, bytes(data), len(data))

    @property
    def stdout(self):
        """What the program has printed."""
        size = _lib.rvvsim_stdout(self._machine, None, 0)
        data = ctypes.create_string_buffer(size)
        _lib.rvvsim_stdout(self._machine, data, size)
        return data.raw
