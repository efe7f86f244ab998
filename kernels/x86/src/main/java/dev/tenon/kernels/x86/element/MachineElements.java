package dev.tenon.kernels.x86.element;

import dev.tenon.api.error.BackendException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.graph.Activation;
import dev.tenon.api.kernel.cpu.ElementKernel;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.call.CodeMemory;
import dev.tenon.kernels.x86.call.NativeCall;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import java.lang.foreign.MemorySegment;

/// The `elements` kernel in generated machine code.
///
/// Code is generated at the first call (less than a millisecond) and freed by [#close], after
/// running calls have returned; calls after that throw [BackendException] with [ErrorCode#CLOSED].
/// A call holds off the garbage collector, and so takes rows of some [#MOST] elements at once.
/// Allocates nothing. Safe for any thread.
public final class MachineElements implements ElementKernel, AutoCloseable {
    /// Elements of a call: some tens of microseconds.
    private static final int MOST = 1 << 16;

    private record Code(
            CodeMemory memory, MemorySegment silu, MemorySegment gelu, MemorySegment norm, MemorySegment add) {}

    private final FeatureSet set;
    private final String name;
    private volatile Code code;
    private volatile boolean closed;

    /// Creates the kernel; no code is generated yet.
    ///
    /// @param set which instructions may be used
    public MachineElements(FeatureSet set) {
        this.set = set;
        this.name = "elements." + set.id;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String toString() {
        return name;
    }

    @Override
    public boolean accepts(Activation activation) {
        return activation == Activation.SILU || activation == Activation.GELU_TANH;
    }

    @Override
    public void gate(
            Activation activation, int rows, int n, MemorySegment gate, MemorySegment up, long at, long stride) {
        if (!accepts(activation)) {
            throw argument("the activation is " + activation + "; SILU and GELU_TANH are computed");
        }
        require("up", up, at, rows, n, stride);
        requireWritable("gate", gate, at, rows, n, stride);
        Code c = code();
        run(activation == Activation.SILU ? c.silu : c.gelu, rows, n, gate, up, at, stride);
    }

    @Override
    public void add(int rows, int n, MemorySegment x, MemorySegment out, long at, long stride) {
        require("x", x, at, rows, n, stride);
        requireWritable("out", out, at, rows, n, stride);
        run(code().add, rows, n, out, x, at, stride);
    }

    /// Changes rows by others at the same place.
    private static void run(
            MemorySegment function, int rows, int n, MemorySegment out, MemorySegment other, long at, long stride) {
        if (n == 0) {
            return;
        }
        int most = Math.max(1, MOST / n);
        for (int r = 0; r < rows; r += most) {
            long from = (at + r * stride) * Float.BYTES;
            NativeCall.brief(
                    function,
                    out,
                    other,
                    out,
                    Math.min(most, rows - r),
                    n,
                    stride * Float.BYTES,
                    from,
                    from,
                    from,
                    stride * Float.BYTES,
                    0);
        }
    }

    @Override
    public void norm(
            int rows, MemorySegment x, long xAt, MemorySegment weight, float eps, MemorySegment out, long outAt) {
        long n = weight.byteSize() / Float.BYTES;
        if (n < 1 || n > Integer.MAX_VALUE) {
            throw argument("the weight has " + n + " elements; 1 to " + Integer.MAX_VALUE + " are needed");
        }
        require("x", x, xAt, rows, (int) n, n);
        requireWritable("out", out, outAt, rows, (int) n, n);
        MemorySegment function = code().norm;
        int most = (int) Math.max(1, MOST / n);
        for (int r = 0; r < rows; r += most) {
            NativeCall.brief(
                    function,
                    x,
                    weight,
                    out,
                    Math.min(most, rows - r),
                    n,
                    (xAt + r * n) * Float.BYTES,
                    (outAt + r * n) * Float.BYTES,
                    Double.doubleToRawLongBits(n),
                    Double.doubleToRawLongBits(eps),
                    0,
                    0);
        }
    }

    private Code code() {
        Code c = code;
        return c != null && !closed ? c : generate();
    }

    private synchronized Code generate() {
        if (closed) {
            throw new BackendException(
                    ErrorCode.CLOSED, "Kernel " + name + " was closed when its bundle stopped. Load the model again.");
        }
        if (code == null) {
            Assembler a = new Assembler(set.wide);
            ElementCode elements = new ElementCode(a);
            elements.emitGate(Activation.SILU);
            int gelu = next(a);
            elements.emitGate(Activation.GELU_TANH);
            int norm = next(a);
            elements.emitNorm();
            int add = next(a);
            elements.emitAdd();
            CodeMemory memory = new CodeMemory(name, a.assemble());
            code = new Code(memory, memory.entry(0), memory.entry(gelu), memory.entry(norm), memory.entry(add));
        }
        return code;
    }

    private static int next(Assembler a) {
        a.align(64);
        return a.size();
    }

    /// Frees the code after running calls have returned.
    @Override
    public synchronized void close() {
        closed = true;
        if (code != null) {
            code.memory.close();
        }
    }

    private void requireWritable(String what, MemorySegment rowsOf, long at, int rows, int n, long stride) {
        if (rowsOf.isReadOnly()) {
            throw argument(what + " is read-only");
        }
        require(what, rowsOf, at, rows, n, stride);
    }

    private void require(String what, MemorySegment rowsOf, long at, int rows, int n, long stride) {
        long size = rowsOf.byteSize() / Float.BYTES;
        if (rows < 0
                || n < 0
                || at < 0
                || stride < 0
                || rows > 0 && (at > size - n || rows > 1 && stride > (size - n - at) / (rows - 1))) {
            throw argument(rows + " rows of " + n + " elements from " + at + " on, " + stride + " apart, in " + what
                    + ", which has " + size);
        }
    }

    private BackendException argument(String text) {
        return new BackendException(ErrorCode.ARGUMENT, "Kernel " + name + " cannot run: " + text + ".");
    }
}
