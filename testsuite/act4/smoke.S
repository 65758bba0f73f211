// A test in the form of the framework: the macros print, raise interrupts and end it.
#include "rvmodel_macros.h"
.section .text.init
.globl rvtest_entry_point
rvtest_entry_point:
  la a0, text
  RVMODEL_IO_WRITE_STR(t0, t1, t2, a0)
  RVMODEL_SET_MSW_INT(t0, t1)
  csrr t2, mip
  andi t2, t2, 8
  beqz t2, fails
  RVMODEL_CLR_MSW_INT(t0, t1)
  RVMODEL_SET_SSW_INT(t0, t1)
  csrr t2, mip
  andi t2, t2, 2
  beqz t2, fails
  RVMODEL_HALT_PASS
fails:
  RVMODEL_HALT_FAIL
.section .data
text: .asciz "RVCP-SUMMARY: TEST PASSED\n"
RVMODEL_DATA_SECTION
