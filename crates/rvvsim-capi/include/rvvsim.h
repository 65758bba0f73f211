/* rvvsim: a RISC-V Linux process, step by step. `cargo build --release -p rvvsim-capi` makes librvvsim_capi.so.
 * A machine is used by one thread at a time. */
#ifndef RVVSIM_H
#define RVVSIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RvvsimMachine rvvsim_machine;

/* Loads a program; NULL and a message if that cannot be. With sanitize, undefined values are followed. */
rvvsim_machine *rvvsim_open(const char *path, uint32_t vlen, int32_t sanitize, char *error, size_t size);
void rvvsim_close(rvvsim_machine *machine);

/* Executes at most so many instructions: 0 if it may go on, 1 if the program has ended. */
int32_t rvvsim_step(rvvsim_machine *machine, uint64_t instructions);
/* The exit status, -signal, -1000 for another end, -2000 for none yet. */
int32_t rvvsim_status(const rvvsim_machine *machine);
uint64_t rvvsim_retired(const rvvsim_machine *machine);

/* Registers by name: a0, fa0, pc, vl, vtype, vstart, vlenb. Set bits of `undefined` are defined by nothing; they
 * are 0 without sanitize. 0 if there is no such register. */
int32_t rvvsim_read(const rvvsim_machine *machine, const char *name, uint64_t *value, uint64_t *undefined);
int32_t rvvsim_write(rvvsim_machine *machine, const char *name, uint64_t value);
/* v0 to v31: the bytes that a register has. */
size_t rvvsim_read_vector(const rvvsim_machine *machine, uint8_t number, uint8_t *bytes, uint8_t *undefined,
                          size_t size);

/* Memory: how many bytes could be read or written. */
size_t rvvsim_read_memory(rvvsim_machine *machine, uint64_t address, uint8_t *bytes, size_t size);
size_t rvvsim_write_memory(rvvsim_machine *machine, uint64_t address, const uint8_t *bytes, size_t size);

/* What the program has printed: how many bytes that are. */
size_t rvvsim_stdout(const rvvsim_machine *machine, uint8_t *bytes, size_t size);
/* At how many places an undefined value has decided something. */
size_t rvvsim_findings(const rvvsim_machine *machine);

#ifdef __cplusplus
}
#endif

#endif
