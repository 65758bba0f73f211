"""The demo, step by step. `python3 test_rvvsim.py DEMO.elf`, with RVVSIM_CAPI as the library."""

import sys
from rvvsim import Machine

demo = sys.argv[1]

# Step by step it does what it does at once.
whole = Machine(demo, vlen=256)
assert whole.run() == 0 and whole.stdout and whole.status == 0
parts = Machine(demo, vlen=256)
while parts.step(1000):
    assert parts.status is None
assert (parts.retired, parts.stdout) == (whole.retired, whole.stdout)
assert Machine(demo, vlen=1024).run() == 0

# Registers, with validity: no vector register is defined before it is written.
machine = Machine(demo, vlen=256, sanitize=True)
assert machine.register("vlenb") == (32, 0)
pc, undefined = machine.register("pc")
assert pc and undefined == 0
value, undefined = machine.vector(8)
assert len(value) == 32 and undefined == b"\xff" * 32
machine.set_register("a0", -1)
assert machine.register("a0")[0] == (1 << 64) - 1
written = set()
machine = Machine(demo, vlen=256, sanitize=True)
while machine.step(997):
    written |= {r for r in range(32) if machine.vector(r)[1] != b"\xff" * 32}
assert written, "some vector register is defined at some time"
assert machine.status == 0 and machine.findings == 0
assert machine.stdout == whole.stdout

# Memory.
machine = Machine(demo)
sp = machine.register("sp")[0]
assert machine.write(sp, b"rvvsim") == 6 and machine.read(sp, 6) == b"rvvsim"
assert machine.read(8, 4) == b"", "nothing is there"

# What is wrong is an exception.
for wrong, kind in [
    (lambda: Machine("no/such/file"), ValueError),
    (lambda: Machine(demo, vlen=100), ValueError),
    (lambda: machine.register("a99"), KeyError),
    (lambda: machine.set_register("vl", 1), KeyError),
    (lambda: machine.vector(32), IndexError),
]:
    try:
        wrong()
    except kind as error:
        assert str(error)
    else:
        raise AssertionError("no exception")
print("ok")
