#include <riscv_vector.h>

extern uint16_t in0[128];
extern uint8_t in1[128];
extern union { uint64_t bits[384]; double f[384]; } in2;
extern uint8_t in3[128];
extern union { uint64_t bits[128]; double f[128]; } in4;
extern uint8_t in5[128];
extern uint64_t in6[128];
extern union { uint64_t bits[128]; double f[128]; } out0;
extern uint16_t in7[128];
extern uint8_t in8[128];
extern uint8_t in9[128];
extern int8_t in10[128];
extern uint8_t in11[128];
extern uint16_t out1[512];
extern uint64_t in12[128];
extern union { uint16_t bits[384]; _Float16 f[384]; } in13;
extern uint32_t in14[128];
extern union { uint16_t bits[128]; _Float16 f[128]; } out2;

void program(int32_t p0)
{
    size_t s1;
    vuint16m2_t v2, v3, v10;
    vbool8_t m4, m5, m12, m14;
    vfloat64m8_t v6, v7;
    vuint8m1_t v8, v11, v16;
    vuint64m8_t v9, v17;
    vint8m1_t v13;
    vuint16m2x4_t t15;
    vfloat16m2x3_t t18;
    vfloat16m2_t v19, v20;
    vuint32m4_t v21;
    s1 = __riscv_vsetvlmax_e64m8();
    v3 = __riscv_vle16_v_u16m2(&in0[0], s1);
    m4 = __riscv_vlm_v_b8(&in1[0], s1);
    m5 = __riscv_vlm_v_b8(&in3[0], s1);
    v6 = __riscv_vle64_v_f64m8(&in4.f[0], s1);
    v7 = __riscv_vlse64_v_f64m8(&in2.f[381], (ptrdiff_t)-24, s1);
    v8 = __riscv_vle8_v_u8m1(&in5[0], s1);
    v9 = __riscv_vle64_v_u64m8(&in6[0], s1);
    v10 = __riscv_vle16_v_u16m2(&in7[0], s1);
    v11 = __riscv_vle8_v_u8m1(&in8[0], s1);
    m12 = __riscv_vlm_v_b8(&in9[0], s1);
    v13 = __riscv_vle8_v_i8m1(&in10[0], s1);
    v16 = __riscv_vle8_v_u8m1(&in11[0], s1);
    v17 = __riscv_vle64_v_u64m8(&in12[0], s1);
    t18 = __riscv_vlseg3e16_v_f16m2x3(&in13.f[0], s1);
    v21 = __riscv_vle32_v_u32m4(&in14[0], s1);
    if (p0 != (int32_t)1) {
    } else {
        v7 = v6;
    }
    m14 = __riscv_vmsle_vx_i8m1_b8(v13, (int8_t)-111, s1);
    v2 = __riscv_vwsll_vv_u16m2(v8, v11, s1);
    t15 = __riscv_vcreate_v_u16m2x4(v10, v3, v2, v3);
    v19 = __riscv_vget_v_f16m2x3_f16m2(t18, 1);
    v20 = __riscv_vfnmacc_vv_f16m2(v19, v19, v19, s1);
    __riscv_vsuxei64_v_f64m8(&out0.f[0], v9, v7, s1);
    __riscv_vsoxseg4ei8_v_u16m2x4(&out1[0], v16, t15, s1);
    __riscv_vsoxei32_v_f16m2_m(m14, &out2.f[0], v21, v20, s1);
}
