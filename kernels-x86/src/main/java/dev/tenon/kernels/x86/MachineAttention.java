package dev.tenon.kernels.x86;

import dev.tenon.api.device.AttentionKernel;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/// The `attention` kernel in generated machine code for pages of one element type, with AVX-512.
///
/// Code is generated at the first call with other lengths (a few milliseconds) and freed by [#close], after
/// running calls have returned; calls after that throw [BackendException] with [ErrorCode#CLOSED]. Safe for any
/// thread.
final class MachineAttention implements AttentionKernel, AutoCloseable {
    /// Rows from which on F16 pages are made float32 before they are multiplied.
    static final int MANY_ROWS = 12;

    private static final int ALIGNMENT = 64;

    private record Code(AttentionShape shape, CodeMemory memory, MemorySegment attend) {}

    private final AttentionShape.Type type;
    private final String name;
    private final Map<AttentionShape, Code> known = new HashMap<>();
    private volatile Code last;
    private volatile boolean closed;

    /// Creates the kernel; no code is generated yet.
    ///
    /// @param type element type of pages
    MachineAttention(AttentionShape.Type type) {
        this.type = type;
        this.name = "attention." + type.name().toLowerCase(Locale.ROOT) + "." + FeatureSet.AVX512.id;
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
        return length > 0 && length <= AttentionShape.MOST && length % AttentionShape.STEP == 0;
    }

    @Override
    public long scratchBytes(int keyLength, int valueLength) {
        return shape(keyLength, valueLength).scratchBytes();
    }

    @Override
    public void attend(
            MemorySegment keys,
            MemorySegment values,
            int keyLength,
            int valueLength,
            float[] q,
            float[] max,
            float[] sum,
            float[] acc,
            int[] runs,
            int runCount,
            MemorySegment scratch) {
        Code code = last;
        if (code == null || code.shape.keyLength() != keyLength || code.shape.valueLength() != valueLength || closed) {
            code = code(shape(keyLength, valueLength));
        }
        requireMemory("keys", keys, code.shape.headBytes(keyLength), 1);
        requireMemory("values", values, code.shape.headBytes(valueLength), 1);
        requireMemory("scratch", scratch, code.shape.scratchBytes(), ALIGNMENT);
        int rows = requireRuns(runs, runCount);
        long end = rowEnd(runs, runCount);
        if (end * keyLength > q.length || end > max.length || end > sum.length || end * valueLength > acc.length) {
            throw argument("row " + (end - 1) + " of keys of " + keyLength + " and values of " + valueLength
                    + " elements, in arrays of " + q.length + " (q), " + max.length + " (max), " + sum.length
                    + " (sum) and " + acc.length + " (acc)");
        }
        boolean floats = type == AttentionShape.Type.Q8_0 || type == AttentionShape.Type.F16 && rows >= MANY_ROWS;
        int lastRun = (runCount - 1) * RUN;
        CodeMemory.Call.attention(
                code.attend,
                keys,
                values,
                scratch,
                MemorySegment.ofArray(q),
                MemorySegment.ofArray(max),
                MemorySegment.ofArray(sum),
                MemorySegment.ofArray(acc),
                MemorySegment.ofArray(runs),
                runCount,
                floats ? runs[2] : 0,
                floats ? runs[lastRun + 3] : 0);
    }

    /// {@return the number of rows}
    private int requireRuns(int[] runs, int runCount) {
        if (runCount < 1 || (long) runCount * RUN > runs.length) {
            throw argument(runCount + " runs in an array of " + runs.length + "; at least one is needed, " + RUN
                    + " numbers each");
        }
        int rows = 0;
        int from = 0;
        int to = 1;
        for (int i = 0; i < runCount * RUN; i += RUN) {
            if (runs[i] < 0
                    || runs[i + 1] < 1
                    || runs[i + 2] < from
                    || runs[i + 3] < to
                    || runs[i + 2] >= runs[i + 3]
                    || runs[i + 3] > TOKENS) {
                throw argument("run " + i / RUN + " has " + runs[i + 1] + " rows from " + runs[i]
                        + " on, which see positions " + runs[i + 2] + " to " + runs[i + 3]
                        + "; at least a row and a position are needed, positions from " + from + " and to " + to
                        + " to "
                        + TOKENS);
            }
            rows += runs[i + 1];
            from = runs[i + 2];
            to = runs[i + 3];
        }
        return rows;
    }

    private static long rowEnd(int[] runs, int runCount) {
        long end = 0;
        for (int i = 0; i < runCount * RUN; i += RUN) {
            end = Math.max(end, (long) runs[i] + runs[i + 1]);
        }
        return end;
    }

    private AttentionShape shape(int keyLength, int valueLength) {
        if (!fits(keyLength) || !fits(valueLength)) {
            throw argument("keys of " + keyLength + " and values of " + valueLength + " elements; multiples of "
                    + AttentionShape.STEP + " up to " + AttentionShape.MOST + " are needed");
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
            Assembler a = new Assembler(true);
            AttentionCode.emit(a, shape);
            CodeMemory memory = new CodeMemory(a.assemble());
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

    private void requireMemory(String what, MemorySegment memory, long bytes, int alignment) {
        if (!memory.isNative() || memory.byteSize() < bytes || memory.address() % alignment != 0) {
            throw argument(what + " has " + memory.byteSize() + " bytes"
                    + (memory.isNative()
                            ? " at an address that is " + memory.address() % ALIGNMENT + " mod " + ALIGNMENT
                            : " on the heap")
                    + "; " + bytes + " off-heap bytes aligned to " + alignment + " are needed");
        }
    }

    private BackendException argument(String text) {
        return new BackendException(ErrorCode.ARGUMENT, "Kernel " + name + " cannot run: " + text + ".");
    }
}
