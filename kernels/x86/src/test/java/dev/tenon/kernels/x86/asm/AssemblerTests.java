package dev.tenon.kernels.x86.asm;

import static dev.tenon.kernels.x86.asm.Operand.at;
import static dev.tenon.kernels.x86.asm.Operand.mem;
import static dev.tenon.kernels.x86.asm.Operand.xmm;
import static dev.tenon.kernels.x86.asm.Operand.ymm;
import static dev.tenon.kernels.x86.asm.Operand.zmm;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.kernels.x86.asm.Assembler.If;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AssemblerTests {
    /// An instruction, the text of it, and its bytes where they were worked out by hand.
    record Form(String text, boolean evex, String hex, Consumer<Assembler> emit) {
        @Override
        public String toString() {
            return text;
        }
    }

    private static Form any(String text, Consumer<Assembler> emit) {
        return new Form(text, false, null, emit);
    }

    private static Form vex(String text, Consumer<Assembler> emit) {
        return new Form(text, false, null, emit);
    }

    private static Form evex(String text, Consumer<Assembler> emit) {
        return new Form(text, true, null, emit);
    }

    private static Form hex(String text, boolean evex, String hex, Consumer<Assembler> emit) {
        return new Form(text, evex, hex, emit);
    }

    /// Bytes worked out from the manual's tables.
    static Stream<Form> byHand() {
        return Stream.of(
                hex("mov rax,rcx", false, "488bc1", a -> a.mov(Gpr.RAX, Gpr.RCX)),
                hex("mov r9,[rsp+0x8]", false, "4c8b4c2408", a -> a.mov(Gpr.R9, mem(Gpr.RSP, 8))),
                hex("mov [rdi],ebx", false, "891f", a -> a.mov32(mem(Gpr.RDI), Gpr.RBX)),
                hex("add r10,0x110", false, "4981c210010000", a -> a.add(Gpr.R10, 272)),
                hex("sub rcx,0x1", false, "4883e901", a -> a.sub(Gpr.RCX, 1)),
                hex("imul r11,rax,0x1c", false, "4c69d81c000000", a -> a.imul(Gpr.R11, Gpr.RAX, 28)),
                hex("push r12", false, "4154", a -> a.push(Gpr.R12)),
                hex("ret", false, "c3", Assembler::ret),
                hex("vzeroupper", false, "c5f877", Assembler::vzeroupper),
                hex("vpxor xmm3,xmm3,xmm3", false, "c5e1efdb", a -> a.zero(xmm(3))),
                hex("vpaddd ymm1,ymm2,ymm3", false, "c5edfecb", a -> a.vpaddd(ymm(1), ymm(2), ymm(3))),
                hex("vmovdqu ymm0,[rdi+0x22]", false, "c5fe6f4722", a -> a.vmovdqu(ymm(0), mem(Gpr.RDI, 34))),
                hex("vpsllvd ymm1,ymm2,ymm3", false, "c4e26d47cb", a -> a.vpsllvd(ymm(1), ymm(2), ymm(3))),
                hex("vpaddd zmm1,zmm2,zmm3", true, "62f16d48fecb", a -> a.vpaddd(zmm(1), zmm(2), zmm(3))),
                hex("vpdpbusd zmm0,zmm1,zmm2", true, "62f2754850c2", a -> a.vpdpbusd(zmm(0), zmm(1), zmm(2))),
                hex("vpdpbusd zmm16,zmm17,zmm18", true, "62a2754050c2", a -> a.vpdpbusd(zmm(16), zmm(17), zmm(18))),
                hex("vmovdqu32 zmm24,[rsi+0x80]", true, "62617e486f4602", a -> a.vmovdqu(zmm(24), mem(Gpr.RSI, 128))),
                hex(
                        "vpandd zmm1,zmm2,[rax]",
                        true,
                        "62f16d58db08",
                        a -> a.vpand(zmm(1), zmm(2), mem(Gpr.RAX).bcst())),
                hex("vpsrld zmm5,zmm6,0x4", true, "62f1554872d604", a -> a.vpsrld(zmm(5), zmm(6), 4)));
    }

    /// Every other form in use.
    static Stream<Form> all() {
        return Stream.concat(
                byHand(),
                Stream.of(
                        any("mov eax,[rdi+0x4]", a -> a.mov32(Gpr.RAX, mem(Gpr.RDI, 4))),
                        any("mov [rdi+r9*1+0x1000],r8", a -> a.mov(mem(Gpr.RDI, Gpr.R9, 1, 4096), Gpr.R8)),
                        any("mov rcx,0x8", a -> a.mov(Gpr.RCX, 8)),
                        any("lea r14,[r12+r12*2]", a -> a.lea(Gpr.R14, mem(Gpr.R12, Gpr.R12, 2, 0))),
                        any("lea rbx,[r13+r8*4+0x0]", a -> a.lea(Gpr.RBX, mem(Gpr.R13, Gpr.R8, 4, 0))),
                        any("mov rax,[rbp+0x0]", a -> a.mov(Gpr.RAX, mem(Gpr.RBP))),
                        any("mov rax,[r12]", a -> a.mov(Gpr.RAX, mem(Gpr.R12))),
                        any("add rdi,rdx", a -> a.add(Gpr.RDI, Gpr.RDX)),
                        any("add rax,[rsp+0x40]", a -> a.add(Gpr.RAX, mem(Gpr.RSP, 64))),
                        any("and rsp,0xffffffffffffffc0", a -> a.and(Gpr.RSP, -64)),
                        any("sub r9,rcx", a -> a.sub(Gpr.R9, Gpr.RCX)),
                        any("cmp rcx,r9", a -> a.cmp(Gpr.RCX, Gpr.R9)),
                        any("cmp rdx,0x7f", a -> a.cmp(Gpr.RDX, 127)),
                        any("cmp rdx,0x80", a -> a.cmp(Gpr.RDX, 128)),
                        any("cmovg rcx,r9", a -> a.cmov(If.GREATER, Gpr.RCX, Gpr.R9)),
                        any("shr rcx,0x3", a -> a.shr(Gpr.RCX, 3)),
                        any("shl rcx,0xd", a -> a.shl(Gpr.RCX, 13)),
                        any("push rbx", a -> a.push(Gpr.RBX)),
                        any("pop r15", a -> a.pop(Gpr.R15)),
                        any("cpuid", Assembler::cpuid),
                        any("xgetbv", Assembler::xgetbv),
                        any("prefetcht0 [r10+0x800]", a -> a.prefetchT0(mem(Gpr.R10, 2048))),
                        any("prefetcht1 [r10+0x1000]", a -> a.prefetchT1(mem(Gpr.R10, 4096))),
                        any("prefetcht0 [r10+0x7f]", a -> a.prefetchT0(mem(Gpr.R10, 127))),
                        vex("vmovdqu [r12+0x40],ymm9", a -> a.vmovdqu(mem(Gpr.R12, 64), ymm(9))),
                        vex("vmovss xmm1,[rax+r12*1]", a -> a.vmovss(xmm(1), mem(Gpr.RAX, Gpr.R12, 1, 0))),
                        vex("vmovss [rbx],xmm15", a -> a.vmovss(mem(Gpr.RBX), ymm(15))),
                        vex("vmovq [r8+0x40],xmm8", a -> a.vmovq(mem(Gpr.R8, 64), xmm(8))),
                        vex("vpinsrw xmm8,xmm8,[r10+0x22],0x1", a -> a.vpinsrw(ymm(8), ymm(8), mem(Gpr.R10, 34), 1)),
                        vex("vpinsrd xmm8,xmm8,[r10+0x22],0x1", a -> a.vpinsrd(ymm(8), ymm(8), mem(Gpr.R10, 34), 1)),
                        vex("vbroadcastss ymm1,xmm2", a -> a.vbroadcastss(ymm(1), xmm(2))),
                        vex("vbroadcastss ymm12,[rsp+0x84]", a -> a.vbroadcastss(ymm(12), mem(Gpr.RSP, 132))),
                        vex("vpbroadcastd ymm1,[rdi]", a -> a.vpbroadcastd(ymm(1), mem(Gpr.RDI))),
                        vex("vbroadcasti128 ymm8,[r10+0x2]", a -> a.vbroadcasti128(ymm(8), mem(Gpr.R10, 2))),
                        vex("vinserti128 ymm1,ymm2,xmm3,0x1", a -> a.vinserti128(ymm(1), ymm(2), xmm(3), 1)),
                        vex("vextracti128 xmm1,ymm2,0x1", a -> a.vextracti128(xmm(1), ymm(2), 1)),
                        vex("vpermd ymm1,ymm2,ymm3", a -> a.vpermd(ymm(1), ymm(2), ymm(3))),
                        vex("vpermps ymm12,ymm12,[rsp+0xa0]", a -> a.vpermps(ymm(12), ymm(12), mem(Gpr.RSP, 160))),
                        vex("vpshufd xmm1,xmm2,0x4e", a -> a.vpshufd(xmm(1), xmm(2), 0x4E)),
                        vex("vpunpcklqdq ymm8,ymm4,ymm5", a -> a.vpunpcklqdq(ymm(8), ymm(4), ymm(5))),
                        vex("vpunpckhqdq ymm8,ymm4,ymm5", a -> a.vpunpckhqdq(ymm(8), ymm(4), ymm(5))),
                        vex("vpand ymm1,ymm2,ymm3", a -> a.vpand(ymm(1), ymm(2), ymm(3))),
                        vex("vpmullw ymm1,ymm2,ymm3", a -> a.vpmullw(ymm(1), ymm(2), ymm(3))),
                        vex("vpsrlw ymm9,ymm8,0xb", a -> a.vpsrlw(ymm(9), ymm(8), 11)),
                        vex("vpaddw ymm1,ymm2,ymm3", a -> a.vpaddw(ymm(1), ymm(2), ymm(3))),
                        vex("vperm2i128 ymm10,ymm12,ymm14,0x31", a -> a.vperm2i128(ymm(10), ymm(12), ymm(14), 0x31)),
                        vex("vpdpwssd ymm1,ymm2,ymm3", a -> a.vpdpwssd(ymm(1), ymm(2), ymm(3))),
                        vex("vpor ymm1,ymm2,[rdi+0x20]", a -> a.vpor(ymm(1), ymm(2), mem(Gpr.RDI, 32))),
                        vex("vpminub ymm4,ymm4,[rdi+0x20]", a -> a.vpminub(ymm(4), ymm(4), mem(Gpr.RDI, 32))),
                        vex("vpmaxud ymm4,ymm4,ymm5", a -> a.vpmaxud(ymm(4), ymm(4), ymm(5))),
                        vex("vpcmpgtd ymm3,ymm1,[rdi+0x20]", a -> a.vpcmpgtd(ymm(3), ymm(1), mem(Gpr.RDI, 32))),
                        vex("vpsrld ymm9,ymm9,0x2", a -> a.vpsrld(ymm(9), ymm(9), 2)),
                        vex("vpsrad ymm9,ymm9,0x18", a -> a.vpsrad(ymm(9), ymm(9), 24)),
                        vex("vpslld ymm9,ymm9,0x4", a -> a.vpslld(ymm(9), ymm(9), 4)),
                        vex("vpsrlvd ymm1,ymm2,ymm3", a -> a.vpsrlvd(ymm(1), ymm(2), ymm(3))),
                        vex("vpsllvd ymm1,ymm2,[rdi+0x20]", a -> a.vpsllvd(ymm(1), ymm(2), mem(Gpr.RDI, 32))),
                        vex(
                                "vpmaddubsw ymm11,ymm8,[r11+r12*2+0x20]",
                                a -> a.vpmaddubsw(ymm(11), ymm(8), mem(Gpr.R11, Gpr.R12, 2, 32))),
                        vex("vpmaddwd ymm11,ymm11,ymm13", a -> a.vpmaddwd(ymm(11), ymm(11), ymm(13))),
                        vex("vpdpbusd ymm1,ymm2,ymm3", a -> a.vpdpbusd(ymm(1), ymm(2), ymm(3))),
                        vex("vpmovsxbw ymm8,[r10+0x12]", a -> a.vpmovsxbw(ymm(8), mem(Gpr.R10, 18))),
                        vex("vpmovsxbd ymm9,[r10+0xc0]", a -> a.vpmovsxbd(ymm(9), mem(Gpr.R10, 192))),
                        vex("vpmovzxbd ymm9,[r10]", a -> a.vpmovzxbd(ymm(9), mem(Gpr.R10))),
                        vex("vpmovzxwd ymm9,[r10]", a -> a.vpmovzxwd(ymm(9), mem(Gpr.R10))),
                        vex("vpmovzxdq ymm9,xmm9", a -> a.vpmovzxdq(ymm(9), xmm(9))),
                        vex("vmovq xmm8,[rdx+rcx*8]", a -> a.vmovq(ymm(8), mem(Gpr.RDX, Gpr.RCX, 8, 0))),
                        vex(
                                "vpinsrq xmm8,xmm8,[rdx+rcx*8],0x1",
                                a -> a.vpinsrq(ymm(8), ymm(8), mem(Gpr.RDX, Gpr.RCX, 8, 0), 1)),
                        vex("vpaddb ymm8,ymm8,ymm9", a -> a.vpaddb(ymm(8), ymm(8), ymm(9))),
                        vex("vpsubb ymm8,ymm8,[rsp+0x40]", a -> a.vpsubb(ymm(8), ymm(8), mem(Gpr.RSP, 64))),
                        vex("vpcmpeqb ymm8,ymm8,ymm9", a -> a.vpcmpeqb(ymm(8), ymm(8), ymm(9))),
                        vex("vpackssdw ymm0,ymm0,ymm1", a -> a.vpackssdw(ymm(0), ymm(0), ymm(1))),
                        vex("vpacksswb ymm0,ymm0,ymm2", a -> a.vpacksswb(ymm(0), ymm(0), ymm(2))),
                        vex("vcvtdq2ps ymm11,ymm11", a -> a.vcvtdq2ps(ymm(11), ymm(11))),
                        vex("vcvtps2dq ymm0,ymm0", a -> a.vcvtps2dq(ymm(0), ymm(0))),
                        vex("vcvtph2ps ymm8,xmm8", a -> a.vcvtph2ps(ymm(8), xmm(8))),
                        vex("vcvtph2ps ymm8,[rdi+0x10]", a -> a.vcvtph2ps(ymm(8), mem(Gpr.RDI, 16))),
                        vex("vaddps ymm1,ymm2,ymm3", a -> a.vaddps(ymm(1), ymm(2), ymm(3))),
                        vex("vmulps ymm1,ymm2,ymm3", a -> a.vmulps(ymm(1), ymm(2), ymm(3))),
                        vex("vmulss xmm1,xmm2,xmm3", a -> a.vmulss(xmm(1), xmm(2), xmm(3))),
                        vex("vdivps xmm1,xmm2,xmm3", a -> a.vdivps(xmm(1), xmm(2), xmm(3))),
                        vex("vcmpltps ymm5,ymm1,[rdi+0x20]", a -> a.vcmpltps(ymm(5), ymm(1), mem(Gpr.RDI, 32))),
                        vex("vblendvps ymm2,ymm2,ymm9,ymm6", a -> a.vblendvps(ymm(2), ymm(2), ymm(9), ymm(6))),
                        any("vcvtss2sd xmm0,xmm0,xmm0", a -> a.vcvtss2sd(xmm(0), xmm(0), xmm(0))),
                        any("vcvtsd2ss xmm1,xmm1,xmm9", a -> a.vcvtsd2ss(xmm(1), xmm(1), xmm(9))),
                        any("vaddsd xmm0,xmm0,[rsp+0x18]", a -> a.vaddsd(xmm(0), xmm(0), mem(Gpr.RSP, 24))),
                        any("vdivsd xmm1,xmm1,xmm0", a -> a.vdivsd(xmm(1), xmm(1), xmm(0))),
                        any("vsqrtsd xmm0,xmm0,xmm0", a -> a.vsqrtsd(xmm(0), xmm(0), xmm(0))),
                        vex("vfmadd231ss xmm1,xmm2,[r11+0x4]", a -> a.vfmadd231ss(xmm(1), xmm(2), mem(Gpr.R11, 4))),
                        vex("vfmadd213ps ymm1,ymm2,ymm3", a -> a.vfmadd213ps(ymm(1), ymm(2), ymm(3))),
                        vex("vfmadd231ps ymm1,ymm2,[rsp+0x40]", a -> a.vfmadd231ps(ymm(1), ymm(2), mem(Gpr.RSP, 64))),
                        evex("vmovdqu32 [r12+0x1000],zmm16", a -> a.vmovdqu(mem(Gpr.R12, 4096), zmm(16))),
                        evex("vmovdqu32 ymm12,[r10+0x46]", a -> a.vmovdqu(ymm(12), mem(Gpr.R10, 70))),
                        evex("vpxord xmm17,xmm17,xmm17", a -> a.zero(zmm(17))),
                        evex("vmovss xmm15,[rax+r12*2+0x20]", a -> a.vmovss(zmm(15), mem(Gpr.RAX, Gpr.R12, 2, 32))),
                        evex("vmovss [r12+0x1004],xmm8", a -> a.vmovss(mem(Gpr.R12, 4100), zmm(8))),
                        evex(
                                "vextractps [rdx+r13*2],xmm0,0x2",
                                a -> a.vextractps(mem(Gpr.RDX, Gpr.R13, 2, 0), zmm(0), 2)),
                        evex("vmovq [r8+0x40],xmm8", a -> a.vmovq(mem(Gpr.R8, 64), xmm(8))),
                        evex("vpminub zmm4,zmm14,zmm25", a -> a.vpminub(zmm(4), zmm(14), zmm(25))),
                        evex(
                                "vpinsrd xmm17,xmm17,[r10+0x24],0x2",
                                a -> a.vpinsrd(zmm(17), zmm(17), mem(Gpr.R10, 36), 2)),
                        evex(
                                "vpinsrw xmm13,xmm13,[r10+0x22],0x1",
                                a -> a.vpinsrw(zmm(13), zmm(13), mem(Gpr.R10, 34), 1)),
                        evex(
                                "vbroadcastss zmm26,[rbx+r8*1+0x24]",
                                a -> a.vbroadcastss(zmm(26), mem(Gpr.RBX, Gpr.R8, 1, 36))),
                        evex(
                                "vpbroadcastd zmm28,[rdi+r14*1+0x1c]",
                                a -> a.vpbroadcastd(zmm(28), mem(Gpr.RDI, Gpr.R14, 1, 28))),
                        evex("vbroadcasti32x4 ymm12,[r10+0x2]", a -> a.vbroadcasti128(ymm(12), mem(Gpr.R10, 2))),
                        evex("vbroadcasti64x4 zmm13,[r10+0x80]", a -> a.vbroadcasti64x4(zmm(13), mem(Gpr.R10, 128))),
                        evex(
                                "vinserti32x4 zmm3,zmm3,[rax+0x40],0x2",
                                a -> a.vinserti128(zmm(3), zmm(3), mem(Gpr.RAX, 64), 2)),
                        evex(
                                "vinserti64x4 zmm12,zmm12,[r10+0x24],0x1",
                                a -> a.vinserti64x4(zmm(12), zmm(12), mem(Gpr.R10, 36), 1)),
                        evex("vextracti64x4 ymm4,zmm4,0x1", a -> a.vextracti64x4(ymm(4), zmm(4), 1)),
                        evex("vextracti32x4 xmm13,ymm0,0x1", a -> a.vextracti128(xmm(13), ymm(0), 1)),
                        evex("vpermd zmm16,zmm21,zmm13", a -> a.vpermd(zmm(16), zmm(21), zmm(13))),
                        evex("vpermps zmm15,zmm17,zmm8", a -> a.vpermps(zmm(15), zmm(17), zmm(8))),
                        evex("vshufi64x2 zmm12,zmm12,zmm12,0x50", a -> a.vshufi64x2(zmm(12), zmm(12), zmm(12), 0x50)),
                        evex("vpshufd xmm13,xmm0,0x4e", a -> a.vpshufd(xmm(13), xmm(0), 0x4E)),
                        evex("vpunpckldq zmm4,zmm0,zmm1", a -> a.vpunpckldq(zmm(4), zmm(0), zmm(1))),
                        evex("vpunpckhdq zmm4,zmm0,zmm1", a -> a.vpunpckhdq(zmm(4), zmm(0), zmm(1))),
                        evex("vpunpcklqdq zmm4,zmm0,zmm1", a -> a.vpunpcklqdq(zmm(4), zmm(0), zmm(1))),
                        evex("vpunpckhqdq zmm4,zmm0,zmm1", a -> a.vpunpckhqdq(zmm(4), zmm(0), zmm(1))),
                        evex("vpandnd zmm12,zmm21,zmm10", a -> a.vpandn(zmm(12), zmm(21), zmm(10))),
                        evex("vpandd zmm12,zmm21,[r10+0x40]", a -> a.vpand(zmm(12), zmm(21), mem(Gpr.R10, 64))),
                        evex("vpord zmm1,zmm2,zmm3", a -> a.vpor(zmm(1), zmm(2), zmm(3))),
                        evex("vpternlogd zmm12,zmm13,zmm22,0xf8", a -> a.vpternlogd(zmm(12), zmm(13), zmm(22), 0xF8)),
                        evex("vpslld zmm13,zmm13,0x4", a -> a.vpslld(zmm(13), zmm(13), 4)),
                        evex("vpsrld zmm17,[r10+0x80],0x2", a -> a.vpsrld(zmm(17), mem(Gpr.R10, 128), 2)),
                        evex("vpermi2q zmm18,zmm16,zmm17", a -> a.vpermi2q(zmm(18), zmm(16), zmm(17))),
                        evex("vpsraw zmm9,zmm8,0x8", a -> a.vpsraw(zmm(9), zmm(8), 8)),
                        evex("vpermb zmm9,zmm8,[r10+0x80]", a -> a.vpermb(zmm(9), zmm(8), mem(Gpr.R10, 128))),
                        evex("vpmultishiftqb zmm9,zmm8,zmm18", a -> a.vpmultishiftqb(zmm(9), zmm(8), zmm(18))),
                        evex("vpmulhuw zmm9,zmm8,zmm18", a -> a.vpmulhuw(zmm(9), zmm(8), zmm(18))),
                        evex("vpmullw zmm9,zmm8,zmm18", a -> a.vpmullw(zmm(9), zmm(8), zmm(18))),
                        evex("vpsrlw zmm9,zmm8,0xb", a -> a.vpsrlw(zmm(9), zmm(8), 11)),
                        evex("vpsllw zmm8,zmm8,0x8", a -> a.vpsllw(zmm(8), zmm(8), 8)),
                        evex("vpmovdw ymm28,zmm29", a -> a.vpmovdw(ymm(28), zmm(29))),
                        evex("vsubps zmm18,zmm19,zmm2", a -> a.vsubps(zmm(18), zmm(19), zmm(2))),
                        evex("vmaxps zmm3,zmm24,zmm5", a -> a.vmaxps(zmm(3), zmm(24), zmm(5))),
                        evex("vcmpltps k2,zmm4,zmm1", a -> a.vcmpltps(2, zmm(4), zmm(1))),
                        evex("vcmpnltps k5,zmm3,zmm30", a -> a.vcmpnltps(5, zmm(3), zmm(30))),
                        evex(
                                "vpcmpltd k2,zmm1,[r12+0xc]",
                                a -> a.vpcmpltd(2, zmm(1), mem(Gpr.R12, 12).bcst())),
                        evex("vpcmpnltd k4{k4},zmm17,zmm9", a -> a.vpcmpnltd(4, zmm(17), zmm(9))),
                        evex("vblendmps zmm20{k1},zmm31,[rax]", a -> a.vblendmps(zmm(20), 1, zmm(31), mem(Gpr.RAX))),
                        evex("vpaddd zmm3{k7}{z},zmm28,zmm9", a -> a.vpaddd(zmm(3), 7, zmm(28), zmm(9))),
                        evex("vptestmb k1,zmm17,zmm22", a -> a.vptestmb(1, zmm(17), zmm(22))),
                        evex("vpsubb zmm16{k1},zmm17,zmm16", a -> a.vpsubb(zmm(16), 1, zmm(17), zmm(16))),
                        evex("vpopcntd ymm16,ymm17", a -> a.vpopcntd(ymm(16), ymm(17))),
                        evex("kmovq k1,[r10+0x22]", a -> a.kmovq(1, mem(Gpr.R10, 34))),
                        evex("kxnorw k2,k2,k2", a -> a.kxnorw(2, 2, 2)),
                        evex(
                                "vpgatherdd zmm16{k2},[rdx+zmm17*4]",
                                a -> a.vpgatherdd(zmm(16), 2, mem(Gpr.RDX, zmm(17), 4, 0))),
                        evex(
                                "vpgatherdd ymm3{k1},[r13+ymm4*4+0x8]",
                                a -> a.vpgatherdd(ymm(3), 1, mem(Gpr.R13, ymm(4), 4, 8))),
                        evex(
                                "vpgatherdq zmm8{k2},[rdx+ymm29*8]",
                                a -> a.vpgatherdq(zmm(8), 2, mem(Gpr.RDX, ymm(29), 8, 0))),
                        evex("vpaddb zmm16,zmm16,zmm21", a -> a.vpaddb(zmm(16), zmm(16), zmm(21))),
                        evex("vpmovzxdq zmm17,ymm17", a -> a.vpmovzxdq(zmm(17), ymm(17))),
                        evex("vmovq xmm17,[rdx+rcx*8]", a -> a.vmovq(zmm(17), mem(Gpr.RDX, Gpr.RCX, 8, 0))),
                        evex(
                                "vpinsrq xmm17,xmm17,[rdx+rcx*8],0x1",
                                a -> a.vpinsrq(zmm(17), zmm(17), mem(Gpr.RDX, Gpr.RCX, 8, 0), 1)),
                        evex("vpermi2d zmm18,zmm16,zmm17", a -> a.vpermi2d(zmm(18), zmm(16), zmm(17))),
                        evex("vpbroadcastw ymm29,[r10+0xd0]", a -> a.vpbroadcastw(ymm(29), mem(Gpr.R10, 208))),
                        evex("vpshufb zmm14,zmm14,zmm31", a -> a.vpshufb(zmm(14), zmm(14), zmm(31))),
                        evex("vshufps zmm15,zmm0,zmm1,0xdd", a -> a.vshufps(zmm(15), zmm(0), zmm(1), 0xDD)),
                        evex("vbroadcasti32x4 zmm14,[rbx+0xc0]", a -> a.vbroadcasti32x4(zmm(14), mem(Gpr.RBX, 192))),
                        evex("vpsrlvd zmm13,zmm13,zmm23", a -> a.vpsrlvd(zmm(13), zmm(13), zmm(23))),
                        evex("vprorvd zmm13,zmm13,zmm23", a -> a.vprorvd(zmm(13), zmm(13), zmm(23))),
                        evex(
                                "vpdpwssd zmm4,zmm20,[r11+r12*1+0x40]",
                                a -> a.vpdpwssd(zmm(4), zmm(20), mem(Gpr.R11, Gpr.R12, 1, 64))),
                        evex("vpmovsxbw zmm20,[r10+0x22]", a -> a.vpmovsxbw(zmm(20), mem(Gpr.R10, 34))),
                        evex("vpmovsxbd zmm16,[r10+0xc0]", a -> a.vpmovsxbd(zmm(16), mem(Gpr.R10, 192))),
                        evex("vpmovzxbd zmm13,[r10+0x8]", a -> a.vpmovzxbd(zmm(13), mem(Gpr.R10, 8))),
                        evex("vcvtdq2ps zmm14,zmm14", a -> a.vcvtdq2ps(zmm(14), zmm(14))),
                        evex("vcvtph2ps ymm13,xmm13", a -> a.vcvtph2ps(ymm(13), xmm(13))),
                        evex("vcvtph2ps zmm13,[rdi+0x20]", a -> a.vcvtph2ps(zmm(13), mem(Gpr.RDI, 32))),
                        evex("vmulss xmm15,xmm15,xmm16", a -> a.vmulss(zmm(15), zmm(15), zmm(16))),
                        evex(
                                "vfmadd213ps zmm3,zmm24,[rsp+0xc0]",
                                a -> a.vfmadd213ps(zmm(3), zmm(24), mem(Gpr.RSP, 192))),
                        evex("vfmadd231ps zmm0,zmm14,zmm15", a -> a.vfmadd231ps(zmm(0), zmm(14), zmm(15)))));
    }

    @ParameterizedTest
    @MethodSource("byHand")
    void bytesAreThoseOfTheManual(Form form) {
        Assembler a = new Assembler(form.evex);
        form.emit.accept(a);
        assertEquals(form.hex, HexFormat.of().formatHex(a.finish()), form.text);
    }

    @Test
    void aDisassemblerReadsWhatWasMeant(@TempDir Path folder) throws IOException, InterruptedException {
        Assembler a = new Assembler(false);
        List<Form> forms = all().toList();
        for (Form form : forms) {
            Assembler one = new Assembler(form.evex);
            form.emit.accept(one);
            for (byte b : one.finish()) {
                a.u8(b);
            }
        }
        Path file = folder.resolve("code.bin");
        Files.write(file, a.finish());
        List<String> lines = disassemble(file);
        for (int i = 0; i < forms.size(); i++) {
            assertEquals(forms.get(i).text, lines.get(i));
        }
        assertEquals(forms.size(), lines.size());
    }

    private static List<String> disassemble(Path file) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(
                            "objdump",
                            "-D",
                            "-b",
                            "binary",
                            "-m",
                            "i386:x86-64",
                            "-M",
                            "intel",
                            "--no-show-raw-insn",
                            file.toString())
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            assumeTrue(false, "objdump (binutils) is not installed: " + e.getMessage());
            return List.of();
        }
        List<String> lines;
        try (var reader = process.inputReader()) {
            lines = reader.lines()
                    .filter(l -> l.matches("\\s*[0-9a-f]+:\\t.*"))
                    .map(l -> l.substring(l.indexOf('\t') + 1)
                            .replaceAll("[A-Z]+ (PTR|BCST) |\\{1to16\\}|\\{e?vex\\} ", "")
                            .replaceAll("\\s+", " ")
                            .strip())
                    .toList();
        }
        assertEquals(0, process.waitFor());
        return lines;
    }

    @Test
    void labelsCountFromTheEndOfTheInstruction() {
        Assembler a = new Assembler(false);
        a.label("start");
        a.jmp("end");
        a.j(If.NOT_ZERO, "start");
        a.label("end");
        a.call("start");
        assertArrayEquals(HexFormat.of().parseHex("e906000000" + "0f85f5ffffff" + "e8f0ffffff"), a.finish());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void constantsAreFoundAlsoBehindAnImmediate(boolean evex) {
        Assembler a = new Assembler(evex);
        a.vpshufd(xmm(0), a.constant(i -> i), 0x4E);
        int end = a.size();
        byte[] code = a.assemble();
        int disp = code[end - 5] & 0xFF | (code[end - 4] & 0xFF) << 8;
        assertEquals(0, (end + disp) % 64);
        assertEquals(15, code[end + disp + 60]);
        assertEquals(end + disp + 64, code.length);
    }

    @Test
    void aLabelOperandKeepsItsDisplacement() {
        Assembler a = new Assembler(false);
        a.vmovdqu(ymm(0), at("data").plus(32));
        a.label("data");
        assertEquals("c5fe6f0520000000", HexFormat.of().formatHex(a.finish()));
    }

    @Test
    void equalConstantsShareAPlace() {
        Assembler a = new Assembler(true);
        assertEquals(a.constant(i -> 7), a.constant(i -> 7));
        assertEquals(64, a.assemble().length);
    }

    @Test
    void whatASetCannotEncodeIsRefused() {
        Assembler vex = new Assembler(false);
        assertThrows(IllegalArgumentException.class, () -> vex.vpaddd(zmm(0), zmm(1), zmm(2)));
        assertThrows(IllegalArgumentException.class, () -> vex.vpaddd(ymm(16), ymm(1), ymm(2)));
        assertThrows(
                IllegalArgumentException.class,
                () -> vex.vpaddd(ymm(0), ymm(1), mem(Gpr.RAX).bcst()));
        assertThrows(IllegalStateException.class, () -> vex.vprorvd(ymm(0), ymm(1), ymm(2)));
        assertThrows(IllegalArgumentException.class, () -> zmm(32));
        assertThrows(IllegalArgumentException.class, () -> mem(Gpr.RAX, Gpr.RSP, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> mem(Gpr.RAX, Gpr.RCX, 3, 0));
        Assembler dangling = new Assembler(false);
        dangling.jmp("nowhere");
        assertThrows(IllegalStateException.class, dangling::finish);
    }
}
