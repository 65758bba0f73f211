//! The RISC-V instruction table: decoder, encoder and disassembler, all made from `isa/`.
