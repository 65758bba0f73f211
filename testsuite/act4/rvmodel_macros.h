// What the tests do through the bare-metal platform of rvvsim: HTIF, CLINT and PLIC, where Spike has them.
#ifndef RVMODEL_MACROS_H
#define RVMODEL_MACROS_H

#define RVMODEL_DATA_SECTION                    \
  .pushsection .tohost, "aw", @progbits;        \
  .align 6; .global tohost; tohost: .dword 0;   \
  .align 6; .global fromhost; fromhost: .dword 0; \
  .popsection

// HTIF: 1 is success, any other odd value a failure.
#define RVMODEL_HALT_WITH(_VALUE)               \
  la t0, tohost;                                \
  li t1, _VALUE;                                \
  98: sd t1, 0(t0);                             \
  j 98b;

#define RVMODEL_HALT_PASS RVMODEL_HALT_WITH(1)
#define RVMODEL_HALT_FAIL RVMODEL_HALT_WITH(3)

// HTIF's console, device 1: a byte at a time.
#define RVMODEL_IO_WRITE_STR(_R1, _R2, _R3, _STR_PTR) \
  li _R3, 0x0101000000000000;                   \
  la _R2, tohost;                               \
  96: lbu _R1, 0(_STR_PTR);                     \
  beqz _R1, 97f;                                \
  or _R1, _R1, _R3;                             \
  sd _R1, 0(_R2);                               \
  addi _STR_PTR, _STR_PTR, 1;                   \
  j 96b;                                        \
  97:

// Nothing is there.
#define RVMODEL_ACCESS_FAULT_ADDRESS 0x00000000

#define RVMODEL_CLINT 0x02000000
#define RVMODEL_MSIP_ADDRESS (RVMODEL_CLINT + 0x0)
#define RVMODEL_MTIMECMP_ADDRESS (RVMODEL_CLINT + 0x4000)
#define RVMODEL_MTIME_ADDRESS (RVMODEL_CLINT + 0xbff8)
#define RVMODEL_TIMER_INT_SOON_DELAY 100
// Interrupts are looked at between blocks of instructions.
#define RVMODEL_INTERRUPT_LATENCY 100

#define RVMODEL_SET_MSW_INT(_R1, _R2)           \
  li _R1, 1;                                    \
  li _R2, RVMODEL_MSIP_ADDRESS;                 \
  sw _R1, 0(_R2);
#define RVMODEL_CLR_MSW_INT(_R1, _R2)           \
  li _R2, RVMODEL_MSIP_ADDRESS;                 \
  sw zero, 0(_R2);

// A program cannot raise what devices raise; S-mode's software interrupt is a bit of mip.
#define RVMODEL_SET_MEXT_INT(_R1, _R2)
#define RVMODEL_CLR_MEXT_INT(_R1, _R2)
#define RVMODEL_SET_SEXT_INT(_R1, _R2)
#define RVMODEL_CLR_SEXT_INT(_R1, _R2)
#define RVMODEL_SET_SSW_INT(_R1, _R2)           \
  csrsi mip, 2;
#define RVMODEL_CLR_SSW_INT(_R1, _R2)           \
  csrci mip, 2;

#endif
