package dev.tenon.platform.core.gguf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.HexFormat;
import java.util.Locale;

/// A handler of SIGBUS, in machine code: looks for the address in a table, and makes the whole range
/// of its entry zeros; any other address goes to the JVM's handler, as if this one were not there. It
/// calls nothing but `mmap`, and takes no lock. Once installed it stays to the end of the process,
/// and serves all copies of this class.
///
/// The code for both processors does the same; `h` is its start:
///
/// ```
/// h      branch to start
/// h+4    "tenon-pages1"              // by which another copy of this class knows it
/// h+16   address of the table
/// h+24   the JVM's handler
/// start  a = info.si_addr
///        for each of the 1024 entries e of the table:
///            if e.start <= a < e.end:
///                e.faulted = 1
///                if mmap(e.start, e.end - e.start, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) works:
///                    return          // the instruction that failed is executed again
///                jump to h[24], with the arguments
///        jump to h[24], with the arguments
/// ```
enum FaultHandler {
    /// For x86-64.
    X86_64(
            9,
            10,
            13,
            "eb1e909074656e6f6e2d706167657331" + "00000000000000000000000000000000"
                    // mov rax,[rsi+16]; mov r8,table; mov ecx,1024
                    + "488b46104c8b05e5ffffffb900040000"
                    // next: cmp rax,[r8]; jb skip; cmp rax,[r8+8]; jb found
                    + "493b007206493b4008720e"
                    // skip: add r8,24; dec ecx; jnz next; chain: jmp old
                    + "4983c018ffc975edff25cfffffff"
                    // found: push rdi; push rsi; push rdx; mov qword [r8+16],1
                    + "57565249c7401001000000"
                    // mov rdi,[r8]; mov rsi,[r8+8]; sub rsi,rdi; mov edx,1; mov r10d,0x32; mov r8,-1; xor r9d,r9d
                    + "498b38498b70084829feba0100000041ba3200000049c7c0ffffffff4531c9"
                    // mov eax,9; syscall; pop rdx; pop rsi; pop rdi; cmp rax,-4095; jae chain; ret
                    + "b8090000000f055a5e5f483d01f0ffff73bec3"),
    /// For aarch64.
    AARCH64(
            222,
            226,
            134,
            "0800001474656e6f6e2d706167657331" + "00000000000000000000000000000000"
                    // ldr x9,[x1,16]; ldr x10,table; mov w11,1024
                    + "290840f96affff580b808052"
                    // next: ldp x12,x13,[x10]; cmp x9,x12; b.lo skip; cmp x9,x13; b.lo found
                    + "4c3540a93f010ceb630000543f010debc3000054"
                    // skip: add x10,x10,24; subs w11,w11,1; b.ne next; chain: ldr x16,old; br x16
                    + "4a6100916b05007121ffff5470feff5800021fd6"
                    // found: mov x14,x0; mov x15,x1; mov x17,x2; mov x11,1; str x11,[x10,16]
                    + "ee0300aaef0301aaf10302aa2b0080d24b0900f9"
                    // mov x0,x12; sub x1,x13,x12; mov x2,1; mov x3,0x32; mov x4,-1; mov x5,0
                    + "e0030caaa1010ccb220080d2430680d204008092050080d2"
                    // mov x8,222; svc 0; cmn x0,4095; mov x0,x14; mov x1,x15; mov x2,x17; b.hs chain; ret
                    + "c81b80d2010000d41ffc3fb1e0030eaae1030faae20311aaa2fdff54c0035fd6");

    /// Entries of the table.
    static final int ENTRIES = 1024;
    /// Longs of an entry: start, end, whether reading failed.
    static final int FIELDS = 3;

    private static final long TABLE_BYTES = (long) ENTRIES * FIELDS * Long.BYTES;
    private static final int TABLE_AT = 16;
    private static final int OLD_AT = 24;

    private static final long SIGBUS = 7;
    /// The kernel's `struct sigaction`: handler, flags, restorer, and 8 bytes of mask.
    private static final long ACTION_BYTES = 32;

    private static final long MASK_BYTES = 8;
    private static final long PROT_READ_WRITE = 3;
    private static final long PROT_READ_EXEC = 5;
    private static final long MAP_PRIVATE_ANONYMOUS = 0x22;
    /// A page is not larger anywhere.
    private static final long CODE_BYTES = 1 << 16;

    private final long mmap;
    private final long mprotect;
    private final long sigaction;
    private final byte[] code;

    FaultHandler(long mmap, long mprotect, long sigaction, String code) {
        this.mmap = mmap;
        this.mprotect = mprotect;
        this.sigaction = sigaction;
        this.code = HexFormat.of().parseHex(code);
    }

    /// Installs the handler, if that has not been done in this process.
    ///
    /// @return the table, for good: [#ENTRIES] times [#FIELDS] longs
    /// @throws UnsupportedOperationException why there can be none here
    static MemorySegment install() {
        if (!System.getProperty("os.name").equals("Linux")) {
            throw new UnsupportedOperationException("the system is not Linux");
        }
        if (!FaultHandler.class.getModule().isNativeAccessEnabled()) {
            throw new UnsupportedOperationException("native access is not allowed (--enable-native-access)");
        }
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        FaultHandler handler = switch (arch) {
            case "amd64", "x86_64" -> X86_64;
            case "aarch64" -> AARCH64;
            default -> throw new UnsupportedOperationException("there is no handler for " + arch);
        };
        try (Arena arena = Arena.ofConfined()) {
            return handler.install(new SystemCall(), arena.allocate(ACTION_BYTES, Long.BYTES));
        }
    }

    private MemorySegment install(SystemCall system, MemorySegment action) {
        system.call(sigaction, SIGBUS, 0, action.address(), MASK_BYTES, 0, 0);
        long old = action.get(JAVA_LONG, 0);
        if (old == 0 || old == 1) {
            throw new UnsupportedOperationException("the JVM does not handle SIGBUS");
        }
        MemorySegment there = MemorySegment.ofAddress(old).reinterpret(OLD_AT);
        if (MemorySegment.mismatch(there, 0, TABLE_AT, MemorySegment.ofArray(code), 0, TABLE_AT) < 0) {
            return MemorySegment.ofAddress(there.get(JAVA_LONG, TABLE_AT)).reinterpret(TABLE_BYTES);
        }
        MemorySegment table = Arena.global().allocate(TABLE_BYTES, Long.BYTES);
        long address = system.call(mmap, 0, CODE_BYTES, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0);
        MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(code.length);
        MemorySegment.copy(code, 0, memory, JAVA_BYTE, 0, code.length);
        memory.set(JAVA_LONG, TABLE_AT, table.address());
        memory.set(JAVA_LONG, OLD_AT, old);
        // The system makes data and instruction caches agree when a new page becomes executable.
        system.call(mprotect, address, CODE_BYTES, PROT_READ_EXEC, 0, 0, 0);
        action.set(JAVA_LONG, 0, address);
        system.call(sigaction, SIGBUS, action.address(), 0, MASK_BYTES, 0, 0);
        return table;
    }

    /// The C library's `syscall`: one signature for all.
    private static final class SystemCall {
        private final MethodHandle handle;

        SystemCall() {
            Linker linker = Linker.nativeLinker();
            MemorySegment function = linker.defaultLookup()
                    .find("syscall")
                    .orElseThrow(() -> new UnsupportedOperationException("the C library has no syscall"));
            handle = linker.downcallHandle(
                    function,
                    FunctionDescriptor.of(
                            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        }

        long call(long number, long a, long b, long c, long d, long e, long f) {
            long result;
            try {
                result = (long) handle.invokeExact(number, a, b, c, d, e, f);
            } catch (Throwable thrown) {
                throw new IllegalStateException(thrown);
            }
            if (result == -1) {
                throw new UnsupportedOperationException("system call " + number + " failed");
            }
            return result;
        }
    }
}
