package dev.tenon.kernels.x86.attention;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.AttentionRows;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.call.CodeMemory;
import dev.tenon.kernels.x86.call.NativeCall;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/// The `attention` kernel in generated machine code for pages of one element type, with AVX2 or
/// AVX-512.
///
/// Code is generated at the first call with other lengths (a few milliseconds) and freed by
/// [#close], after running calls have returned; calls after that throw [BackendException] with
/// [ErrorCode#CLOSED]. Safe for any thread.
public final class MachineAttention implements AttentionKernel, AutoCloseable {
    /// Rows from which on F16 pages are made float32 before they are multiplied.
    static final int MANY_ROWS = 12;

    private static final int ALIGNMENT = 64;

    private record Code(AttentionShape shape, CodeMemory memory, MemorySegment attend) {}

    private final AttentionShape.Type type;
    private final FeatureSet set;
    private final String name;
    private final Map<AttentionShape, Code> known = new HashMap<>();
    private volatile Code last;
    private volatile boolean closed;

    /// Creates the kernel; no code is generated yet.
    ///
    /// @param type element type of pages
    /// @param set which instructions may be used
    public MachineAttention(AttentionShape.Type type, FeatureSet set) {
        this.type = type;
        this.set = set;
        this.name = "attention." + type.name().toLowerCase(Locale.ROOT) + "." + set.id;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String format() {
        return type.name();
    }

    @Override
    public String toString() {
        return name;
    }

    @Override
    public boolean accepts(KvType keyType, KvType valueType, int keyLength, int valueLength) {
        return keyType.name().equals(type.name()) && valueType == keyType && fits(keyLength) && fits(valueLength);
    }

    private static boolean fits(int length) {
        return length > 0 && length <= AttentionShape.MOST && length % AttentionShape.MULTIPLE == 0;
    }

    @Override
    public long scratchBytes(int keyLength, int valueLength) {
        return shape(keyLength, valueLength).scratchBytes();
    }

    @Override
    public void attend(
            MemorySegment page,
            long keysAt,
            long valuesAt,
            int keyLength,
            int valueLength,
            AttentionRows rows,
            MemorySegment scratch) {
        Code code = last;
        if (code == null || code.shape.keyLength() != keyLength || code.shape.valueLength() != valueLength || closed) {
            code = code(shape(keyLength, valueLength));
        }
        requireMemory("keys", page, keysAt, code.shape.headBytes(keyLength));
        requireMemory("values", page, valuesAt, code.shape.headBytes(valueLength));
        requireScratch(scratch, code.shape.scratchBytes());
        int runCount = rows.runCount();
        int count = requireRuns(rows, runCount);
        requireRows(rows, runCount, keyLength, valueLength);
        boolean floats = type == AttentionShape.Type.Q8_0 || type == AttentionShape.Type.F16 && count >= MANY_ROWS;
        NativeCall.attention(code.attend, page, keysAt, valuesAt, rows, scratch, floats);
    }

    /// {@return the number of rows}
    private int requireRuns(AttentionRows rows, int runCount) {
        if (runCount < 1 || (long) runCount * RUN > rows.runLength()) {
            throw argument(runCount + " runs in an array of " + rows.runLength() + "; at least one is needed, " + RUN
                    + " numbers each");
        }
        int count = 0;
        int from = 0;
        int to = 1;
        for (int i = 0; i < runCount * RUN; i += RUN) {
            int many = rows.run(i + 1);
            int nextFrom = rows.run(i + 2);
            int nextTo = rows.run(i + 3);
            if (rows.run(i) < 0
                    || many < 1
                    || nextFrom < from
                    || nextTo < to
                    || nextFrom >= nextTo
                    || nextTo > TOKENS) {
                throw argument("run " + i / RUN + " has " + many + " rows from " + rows.run(i)
                        + " on, which see positions " + nextFrom + " to " + nextTo
                        + "; at least a row and a position are needed, positions from " + from + " and to " + to
                        + " to "
                        + TOKENS);
            }
            count += many;
            from = nextFrom;
            to = nextTo;
        }
        return count;
    }

    private void requireRows(AttentionRows rows, int runCount, int keyLength, int valueLength) {
        long end = 0;
        for (int i = 0; i < runCount * RUN; i += RUN) {
            end = Math.max(end, (long) rows.run(i) + rows.run(i + 1));
        }
        long q = rows.q().byteSize() / Float.BYTES;
        long max = rows.max().byteSize() / Float.BYTES;
        long sum = rows.sum().byteSize() / Float.BYTES;
        long acc = rows.acc().byteSize() / Float.BYTES;
        if (end * keyLength > q || end > max || end > sum || end * valueLength > acc) {
            throw argument("row " + (end - 1) + " of keys of " + keyLength + " and values of " + valueLength
                    + " elements, in arrays of " + q + " (q), " + max + " (max), " + sum + " (sum) and " + acc
                    + " (acc)");
        }
    }

    private AttentionShape shape(int keyLength, int valueLength) {
        if (!fits(keyLength) || !fits(valueLength)) {
            throw argument("keys of " + keyLength + " and values of " + valueLength + " elements; multiples of "
                    + AttentionShape.MULTIPLE + " up to " + AttentionShape.MOST + " are needed");
        }
        return new AttentionShape(type, keyLength, valueLength);
    }

    private synchronized Code code(AttentionShape shape) {
        if (closed) {
            throw new BackendException(
                    ErrorCode.CLOSED, "Kernel " + name + " was closed when its bundle stopped. Load the model again.");
        }
        Code code = known.get(shape);
        if (code == null) {
            Assembler a = new Assembler(set.wide);
            AttentionCode.emit(a, shape);
            CodeMemory memory = new CodeMemory(name, a.assemble());
            code = new Code(shape, memory, memory.entry(0));
            known.put(shape, code);
        }
        last = code;
        return code;
    }

    /// Frees the code after running calls have returned.
    @Override
    public synchronized void close() {
        closed = true;
        known.values().forEach(code -> code.memory.close());
    }

    private void requireMemory(String what, MemorySegment page, long at, long bytes) {
        if (!page.isNative() || at < 0 || at > page.byteSize() - bytes) {
            throw argument(what + " of " + bytes + " bytes from byte " + at + " on in a page of " + page.byteSize()
                    + (page.isNative() ? "" : " on the heap; it must be off-heap"));
        }
    }

    private void requireScratch(MemorySegment scratch, long bytes) {
        if (!scratch.isNative() || scratch.byteSize() < bytes || scratch.address() % ALIGNMENT != 0) {
            throw argument("scratch has " + scratch.byteSize() + " bytes"
                    + (scratch.isNative()
                            ? " at an address that is " + scratch.address() % ALIGNMENT + " mod " + ALIGNMENT
                            : " on the heap")
                    + "; " + bytes + " off-heap bytes aligned to " + ALIGNMENT + " are needed");
        }
    }

    private BackendException argument(String text) {
        return new BackendException(ErrorCode.ARGUMENT, "Kernel " + name + " cannot run: " + text + ".");
    }
}
