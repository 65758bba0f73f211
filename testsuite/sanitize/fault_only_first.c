// undefined-branch: elements past the vl of a fault-only-first load are used
#include "fault.h"

int main(void) {
    char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    size_t got;
    vuint8m1_t v = __riscv_vle8ff_v_u8m1((uint8_t *)page + 4092, &got, 8);
    HIDEV(v);
    unsigned long c = __riscv_vcpop_m_b8(__riscv_vmseq_vx_u8m1_b8(v, 0, FAULT(8, got)), FAULT(8, got));
    DECIDE(c == 4); // HERE
    return 0;
}
