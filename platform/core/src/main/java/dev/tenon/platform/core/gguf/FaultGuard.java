package dev.tenon.platform.core.gguf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps the JVM alive when mapped data cannot be read, as the file was cut short or its disk fails.
///
/// The system then sends SIGBUS to the thread that reads. The JVM turns it into an [InternalError] in
/// some code only: in machine code, in libraries and in compiled kernels of the Vector API it aborts.
/// With a guard the rest of the mapping becomes zeros, whoever reads goes on, and the range says so.
///
/// On Linux with x86-64 or aarch64, where native access is allowed; elsewhere nothing is guarded.
/// Safe for any thread.
final class FaultGuard {
    private static final Logger LOG = LoggerFactory.getLogger(FaultGuard.class);
    private static final VarHandle FIELD = ValueLayout.JAVA_LONG.arrayElementVarHandle();
    /// Fields of an entry of the table: an entry is free while its start is 0, and guards nothing while its end is.
    private static final int START = 0;

    private static final int END = 1;
    private static final int FAULTED = 2;

    /// Shared with other copies of this class in the process; null where there is none.
    private static final MemorySegment TABLE = table();

    private FaultGuard() {}

    /// A guarded range.
    static final class Range {
        private final long entry;

        private Range(long entry) {
            this.entry = entry;
        }

        /// {@return whether some of it could not be read}
        boolean faulted() {
            return (long) FIELD.getVolatile(TABLE, 0L, entry + FAULTED) != 0;
        }

        /// Ends the guard; called once, before the memory is unmapped.
        void release() {
            FIELD.setVolatile(TABLE, 0L, entry + END, 0L);
            FIELD.setVolatile(TABLE, 0L, entry + FAULTED, 0L);
            FIELD.setVolatile(TABLE, 0L, entry + START, 0L);
        }
    }

    /// Guards mapped memory.
    ///
    /// @param mapping a whole mapping of a file
    /// @return the range; null where nothing can be guarded
    static Range guard(MemorySegment mapping) {
        if (TABLE == null || mapping.byteSize() == 0) {
            return null;
        }
        for (int i = 0; i < FaultHandler.ENTRIES; i++) {
            long entry = (long) i * FaultHandler.FIELDS;
            if (FIELD.compareAndSet(TABLE, 0L, entry + START, 0L, mapping.address())) {
                FIELD.setVolatile(TABLE, 0L, entry + END, mapping.address() + mapping.byteSize());
                return new Range(entry);
            }
        }
        LOG.warn("More than {} files are mapped; one of them is not guarded", FaultHandler.ENTRIES);
        return null;
    }

    private static MemorySegment table() {
        try {
            return FaultHandler.install();
        } catch (UnsupportedOperationException e) {
            LOG.debug("Mapped files are not guarded: {}", e.getMessage());
            return null;
        }
    }
}
