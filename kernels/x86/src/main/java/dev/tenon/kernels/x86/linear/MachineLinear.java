package dev.tenon.kernels.x86.linear;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.kernel.cpu.HostFloats;
import dev.tenon.api.kernel.cpu.LinearCall;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.kernels.x86.call.NativeCall;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.linear.rows.RowLoop;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;

/// A `linear` kernel in generated machine code: what all of them check before machine code runs,
/// when their code is made and when it is freed.
///
/// The code is generated at the first call (a few milliseconds) and freed by [#close], after
/// running calls have returned; calls after that throw [BackendException] with [ErrorCode#CLOSED].
/// Safe for any thread.
public abstract class MachineLinear implements LinearKernel, AutoCloseable {
    private static final int ALIGNMENT = 64;
    /// Rows of results that are kept in scratch memory before they are copied out.
    static final int STREAM_ROWS = 256;
    /// The same where several groups of tokens share the rows.
    static final int STREAM_ROWS_SHARED = 32;
    /// Least tokens for which machine code writes to the array of results itself.
    static final int DIRECT_TOKENS = 24;

    /// Which instructions may be used.
    final FeatureSet set;

    private final String format;
    private final int blockSize;
    private final String name;
    private volatile LinearCode code;
    private volatile boolean closed;

    /// Creates the kernel; no code is generated yet.
    ///
    /// @param format the format as ggml spells it
    /// @param blockSize elements that a row's length must be a multiple of
    /// @param set which instructions may be used
    MachineLinear(String format, int blockSize, FeatureSet set) {
        this.format = format;
        this.blockSize = blockSize;
        this.set = set;
        this.name = format.toLowerCase(Locale.ROOT) + "." + set.id;
    }

    /// {@return bytes of a weight row}
    abstract long weightBytes(int n);

    /// {@return new code, owned by the caller}
    abstract LinearCode generateCode();

    /// Packs a row; the arguments have been checked.
    ///
    /// @param packedOffset where the packed row goes, in bytes
    abstract void packChecked(LinearCode k, HostFloats x, int xOffset, int n, MemorySegment packed, long packedOffset);

    /// Multiplies; the arguments have been checked, there is at least one row and one token.
    abstract void runChecked(LinearCode k, LinearCall call);

    /// {@return the length of a row as the functions for rows take it}
    ///
    /// @param n elements
    abstract long rowLength(int n);

    /// {@return where scales begin in a packed row, in bytes; 0 where there are none}
    ///
    /// @param n elements
    abstract long scalesOffset(int n);

    @Override
    public String name() {
        return name;
    }

    @Override
    public String format() {
        return format;
    }

    @Override
    public String toString() {
        return name;
    }

    @Override
    public boolean accepts(int n) {
        return n > 0 && n % blockSize == 0;
    }

    @Override
    public long scratchBytes(int n, int tokens) {
        requireLength(n);
        if (tokens < 1) {
            throw argument("tokens is " + tokens + ", at least 1 is needed");
        }
        return (long) RowLoop.MAX_TOKENS * STREAM_ROWS * Float.BYTES;
    }

    @Override
    public void pack(HostFloats x, int xOffset, int n, MemorySegment packed) {
        pack(x, xOffset, n, packed, 0);
    }

    /// Packs without a view of the packed row, which would be an object a call wherever C2 does not
    /// inline this.
    @Override
    public void pack(HostFloats x, int xOffset, int n, MemorySegment packed, int token) {
        requireLength(n);
        if (token < 0) {
            throw argument("token is " + token + ", at least 0 is needed");
        }
        if (xOffset < 0 || (long) xOffset + n > x.length()) {
            throw argument("elements " + xOffset + " to " + ((long) xOffset + n) + " of x, which has " + x.length());
        }
        long bytes = packedBytes(n);
        long packedOffset = token * bytes;
        requireMemory("packed", packed, packedOffset + bytes);
        packChecked(code(), x, xOffset, n, packed, packedOffset);
    }

    @Override
    public void run(LinearCall call) {
        MemorySegment weights = call.weights;
        long rowBytes = call.rowBytes;
        int firstRow = call.firstRow;
        int rows = call.rows;
        int n = call.n;
        int tokens = call.tokens;
        HostFloats out = call.out;
        int outOffset = call.outOffset;
        int outStride = call.outStride;
        requireLength(n);
        if (rows < 0 || firstRow < 0 || tokens < 0) {
            throw argument("firstRow " + firstRow + ", rows " + rows + ", tokens " + tokens + "; none may be negative");
        }
        if (rows == 0 || tokens == 0) {
            return;
        }
        if (rowBytes < weightBytes(n)) {
            throw argument("rowBytes is " + rowBytes + ", a row of " + n + " elements takes " + weightBytes(n));
        }
        if (!weights.isNative()
                || rowBytes > weights.byteSize()
                || (firstRow + (long) rows - 1) > (weights.byteSize() - weightBytes(n)) / rowBytes) {
            throw argument("rows " + firstRow + " to " + (firstRow + (long) rows) + " of " + rowBytes
                    + " bytes in weights of " + weights.byteSize() + " bytes"
                    + (weights.isNative() ? "" : " on the heap; they must be off-heap"));
        }
        requireMemory("packed", call.packed, Math.multiplyExact(tokens, packedBytes(n)));
        requireMemory("scratch", call.scratch, scratchBytes(n, tokens));
        if (outOffset < 0
                || tokens > 1 && outStride < rows
                || outOffset + (tokens - 1L) * outStride + rows > out.length()) {
            throw argument(tokens + " times " + rows + " results at " + outOffset + ", " + outStride
                    + " apart, in an array of " + out.length());
        }
        runChecked(code(), call);
    }

    /// Streams weight rows, up to four tokens a pass.
    ///
    /// @param from the first of the call's rows that is multiplied; those after it are, too
    final void runRows(LinearCode k, LinearCall call, int from) {
        int block = call.tokens > RowLoop.MAX_TOKENS ? STREAM_ROWS_SHARED : STREAM_ROWS;
        for (int r = from; r < call.rows; r += block) {
            int count = Math.min(block, call.rows - r);
            for (int t = 0; t < call.tokens; t += RowLoop.MAX_TOKENS) {
                int group = Math.min(RowLoop.MAX_TOKENS, call.tokens - t);
                runGroup(call, k.rows[group - 1], r, count, t, group, block);
            }
        }
    }

    /// Multiplies some rows with as many tokens as a function takes, and copies the results out.
    ///
    /// @param row the first row
    /// @param firstToken the first token
    /// @param block rows of results that fit between two tokens' in scratch memory
    final void runGroup(
            LinearCall call, MemorySegment function, int row, int rows, int firstToken, int tokens, int block) {
        long tokenBytes = (long) block * Float.BYTES;
        long packedStride = packedBytes(call.n);
        NativeCall.plain(
                function,
                call.weights,
                call.packed,
                call.scratch,
                call.rowAt(row),
                call.rowBytes,
                rows,
                packedStride,
                scalesOffset(call.n),
                tokenBytes,
                rowLength(call.n),
                firstToken * packedStride);
        copyOut(call, 0, tokenBytes, firstToken, tokens, row, rows);
    }

    /// Copies results from scratch memory to where they are wanted.
    ///
    /// @param at byte of scratch memory where the first result is
    /// @param tokenBytes bytes from one token's results to the next one's
    /// @param firstToken the first token that there are results of
    /// @param count how many tokens there are results of
    /// @param row the first row, counted from the first row of the call
    /// @param rowCount results of each token
    static void copyOut(LinearCall call, long at, long tokenBytes, int firstToken, int count, int row, int rowCount) {
        for (int t = 0; t < count; t++) {
            MemorySegment.copy(
                    call.scratch,
                    ValueLayout.JAVA_FLOAT,
                    at + t * tokenBytes,
                    call.out.array(),
                    call.outOffset + (firstToken + t) * call.outStride + row,
                    rowCount);
        }
    }

    private LinearCode code() {
        LinearCode c = code;
        return c != null ? c : generate();
    }

    private synchronized LinearCode generate() {
        if (closed) {
            throw new BackendException(
                    ErrorCode.CLOSED, "Kernel " + name + " was closed when its bundle stopped. Load the model again.");
        }
        if (code == null) {
            code = generateCode();
        }
        return code;
    }

    /// Frees the code after running calls have returned.
    @Override
    public synchronized void close() {
        closed = true;
        LinearCode last = code;
        code = null; // no new calls, while the running ones are waited for
        if (last != null) {
            last.close();
        }
    }

    final void requireLength(int n) {
        if (!accepts(n)) {
            throw argument("a row of " + n + " elements; a positive multiple of " + blockSize + " is needed");
        }
    }

    private void requireMemory(String what, MemorySegment memory, long bytes) {
        if (!memory.isNative() || memory.byteSize() < bytes || memory.address() % ALIGNMENT != 0) {
            throw argument(what + " has " + memory.byteSize() + " bytes"
                    + (memory.isNative()
                            ? " at an address that is " + memory.address() % ALIGNMENT + " mod 64"
                            : " on the heap")
                    + "; " + bytes + " off-heap bytes aligned to 64 are needed");
        }
    }

    private BackendException argument(String text) {
        return new BackendException(ErrorCode.ARGUMENT, "Kernel " + name + " cannot run: " + text + ".");
    }
}
