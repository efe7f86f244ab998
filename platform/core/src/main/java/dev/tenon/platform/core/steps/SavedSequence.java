package dev.tenon.platform.core.steps;

import dev.tenon.api.device.HostCopies;
import dev.tenon.api.device.KvPages;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StateSlots;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.WindowPages;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.tuned.TunedIdentity;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UTFDataFormatException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;

/// A sequence as bytes: its tokens, and what a plan computed of them.
///
/// ```
/// long magic | int version | text model | text layout | int adapters, float each
/// int tokens | int ran | int computed | int each token | the rows, from version 2 on
/// each page of the computed tokens | each window page that the next one sees, if the plan has such
/// their state, if the plan has states | long CRC-32C of all before
/// ```
///
/// Numbers are big-endian, texts as [DataOutputStream#writeUTF] has them. Where nothing is computed, or
/// the backend cannot bring it to the host, `computed` is 0 and the layout is empty. Version 1 has no rows,
/// but may have computed tokens that stand for some.
public final class SavedSequence {
    private static final long MAGIC = 0x74656E6F6E736573L;
    private static final int VERSION = 1;
    private static final int WITH_ROWS = 2;
    private static final int CHUNK = 1 << 16;

    private final String model;
    private final int vocabularySize;
    private final int contextLength;
    private final Consumer<RowBlock> rowCheck;
    private final byte[] chunk = new byte[CHUNK];

    /// @param model tells models apart, a digest
    /// @param vocabularySize of the model
    /// @param contextLength most tokens
    /// @param rowCheck fails for rows that the model cannot read
    public SavedSequence(String model, int vocabularySize, int contextLength, Consumer<RowBlock> rowCheck) {
        this.model = model;
        this.vocabularySize = vocabularySize;
        this.contextLength = contextLength;
        this.rowCheck = rowCheck;
    }

    /// {@return what tells models apart, a digest}
    String model() {
        return model;
    }

    /// {@return what tells other things apart besides}
    ///
    /// @param what as a text
    SavedSequence with(String what) {
        return new SavedSequence(TunedIdentity.digest(List.of(model, what)), vocabularySize, contextLength, rowCheck);
    }

    /// Writes a sequence, while no step runs.
    ///
    /// @param plan has what was computed; null if there is none
    /// @param left how many of its first pages are left out
    /// @param to buffered
    void write(TokenSequence sequence, Plan plan, int left, OutputStream to) throws IOException {
        CheckedOutputStream checked = new CheckedOutputStream(to, new CRC32C());
        DataOutputStream out = new DataOutputStream(checked);
        String layout = plan == null || sequence.computed() == 0 ? "" : layout(plan);
        int computed = layout.isEmpty() ? 0 : sequence.computed();
        out.writeLong(MAGIC);
        out.writeInt(sequence.hasRows() ? WITH_ROWS : VERSION);
        out.writeUTF(model);
        out.writeUTF(layout);
        out.writeInt(sequence.adapters().length);
        for (float scale : sequence.adapters()) {
            out.writeFloat(scale);
        }
        out.writeInt(sequence.length());
        out.writeInt(sequence.ran());
        out.writeInt(computed);
        for (int i = 0; i < sequence.length(); i++) {
            out.writeInt(sequence.token(i));
        }
        if (sequence.hasRows()) {
            SavedRows.write(sequence.rows(), out);
        }
        if (computed > 0) {
            KvPages pages = plan.kvPages();
            for (int i = left; i < Math.ceilDiv(computed, pages.tokensPerPage()); i++) {
                write(pages.hostCopies().orElseThrow(), pages.pageBytes(), sequence.pageTable()[i], out);
            }
            if (plan.windowPages().isPresent()) {
                WindowPages windows = plan.windowPages().get();
                for (int i = firstSeen(windows, computed); i < Math.ceilDiv(computed, pages.tokensPerPage()); i++) {
                    write(
                            windows.pages().hostCopies().orElseThrow(),
                            windows.pages().pageBytes(),
                            sequence.window().table()[i],
                            out);
                }
            }
            if (plan.states().isPresent()) {
                StateSlots states = plan.states().get();
                write(states.hostCopies().orElseThrow(), states.slotBytes(), sequence.slot(), out);
            }
        }
        out.writeLong(checked.getChecksum().getValue());
        out.flush();
    }

    /// {@return how the bytes of a plan's pages and slots lie; empty if it cannot bring them to the host}
    static String layout(Plan plan) {
        Optional<HostCopies> pages = plan.kvPages().hostCopies();
        Optional<HostCopies> states = plan.states().flatMap(StateSlots::hostCopies);
        Optional<KvPages> windowPages = plan.windowPages().map(WindowPages::pages);
        Optional<HostCopies> windows = windowPages.flatMap(KvPages::hostCopies);
        if (pages.isEmpty()
                || plan.states().isPresent() && states.isEmpty()
                || windowPages.isPresent() && windows.isEmpty()) {
            return "";
        }
        return "pages of " + plan.kvPages().tokensPerPage() + " in "
                + plan.kvPages().pageBytes() + ": "
                + pages.get().layout()
                + windows.map(copies -> "; windows in " + windowPages.get().pageBytes() + ": " + copies.layout())
                        .orElse("")
                + states.map(copies -> "; states in " + plan.states().get().slotBytes() + ": " + copies.layout())
                        .orElse("");
    }

    private static int firstSeen(WindowPages windows, int computed) {
        return windows.firstSeen().applyAsInt(computed) / windows.pages().tokensPerPage();
    }

    private void write(HostCopies copies, long bytes, int index, DataOutputStream out) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment piece = arena.allocate(Math.max(1, bytes));
            copies.read(index, piece);
            for (long at = 0; at < bytes; at += CHUNK) {
                int length = (int) Math.min(CHUNK, bytes - at);
                MemorySegment.ofArray(chunk).copyFrom(piece.asSlice(at, length));
                out.write(chunk, 0, length);
            }
        }
    }

    /// Reads a sequence into an empty one, while no step runs.
    ///
    /// @param placed has the memory for what was computed; where it is short, that is not used
    /// @param left how many of its first pages were left out; where they are not shared, nothing is used
    /// @param from buffered
    /// @throws TenonException (`STATE-005`) if the bytes are not of a sequence of this model and plan; the sequence
    ///     is empty then, with the adapters that it had
    void read(TokenSequence sequence, PlacedSequences placed, int left, InputStream from) throws IOException {
        float[] before = sequence.adapters();
        boolean done = false;
        try {
            readAll(sequence, placed, left, from);
            done = true;
        } catch (EOFException | UTFDataFormatException e) {
            throw refused("is damaged: it ends too early, or holds no text where one is expected", e);
        } finally {
            if (!done) {
                placed.truncate(sequence, 0);
                sequence.useAdapters(before);
            }
        }
    }

    private void readAll(TokenSequence sequence, PlacedSequences placed, int left, InputStream from)
            throws IOException {
        CheckedInputStream checked = new CheckedInputStream(from, new CRC32C());
        DataInputStream in = new DataInputStream(checked);
        if (in.readLong() != MAGIC) {
            throw refused("is none: it begins otherwise", null);
        }
        int version = in.readInt();
        if (version != VERSION && version != WITH_ROWS) {
            throw refused("has version " + version + "; expected " + VERSION + " or " + WITH_ROWS, null);
        }
        if (!in.readUTF().equals(model)) {
            throw refused("is of another model, or other adapters", null);
        }
        String layout = in.readUTF();
        float[] scales = new float[count(in, 0, sequence.adapters().length, "adapters")];
        if (scales.length < sequence.adapters().length) {
            throw refused("has the scales of " + scales.length + " adapters", null);
        }
        for (int i = 0; i < scales.length; i++) {
            scales[i] = in.readFloat();
        }
        int length = count(in, 0, Integer.MAX_VALUE, "tokens");
        if (length > contextLength) {
            throw new OutOfResourcesException(
                    ErrorCode.CONTEXT_LENGTH,
                    "The saved session has " + length + " tokens; the context holds " + contextLength
                            + ". Load the model with a larger context (-c).",
                    length,
                    0,
                    contextLength);
        }
        int ran = count(in, 0, length, "tokens that ran");
        int computed = count(in, 0, ran, "computed tokens");
        sequence.useAdapters(scales);
        readTokens(sequence, version, length, computed, in);
        boolean used = computed > 0 && readCache(sequence, computed, layout, placed, left, in);
        long sum = checked.getChecksum().getValue();
        if (in.readLong() != sum) {
            throw refused("is damaged: its checksum is wrong", null);
        }
        sequence.restored(used ? computed : 0, ran);
        placed.trim(sequence);
    }

    /// {@return whether there was memory for it; if not, it is read over}
    private boolean readCache(
            TokenSequence sequence, int computed, String layout, PlacedSequences placed, int left, DataInputStream in)
            throws IOException {
        if (placed.placement() == null) {
            throw refused("needs a backend, and none runs the model now", null);
        }
        Plan plan = placed.placement().plan();
        String expected = layout(plan);
        if (expected.isEmpty() || !layout.equals(expected)) {
            throw refused(
                    "was computed by another backend or for another cache (" + layout + "); expected " + expected,
                    null);
        }
        KvPages pages = plan.kvPages();
        boolean fits = placed.pool().cache().take(sequence, left, placed.pool())
                && placed.supply().supplyAfter(sequence, 0, 0) >= 0;
        for (int i = left; i < Math.ceilDiv(computed, pages.tokensPerPage()); i++) {
            int page = fits ? sequence.pageTable()[i] : StepInput.NO_SLOT;
            read(pages.hostCopies().orElseThrow(), pages.pageBytes(), page, computed, in);
        }
        if (plan.windowPages().isPresent()) {
            WindowPages windows = plan.windowPages().get();
            if (fits) {
                placed.pool().windows().restore(sequence, computed);
            }
            for (int i = firstSeen(windows, computed); i < Math.ceilDiv(computed, pages.tokensPerPage()); i++) {
                int page = fits ? sequence.window().table()[i] : StepInput.NO_SLOT;
                read(windows.pages().hostCopies().orElseThrow(), windows.pages().pageBytes(), page, computed, in);
            }
        }
        if (plan.states().isPresent()) {
            placed.states().prepare(sequence, 1);
            StateSlots states = plan.states().get();
            read(states.hostCopies().orElseThrow(), states.slotBytes(), sequence.slot(), computed, in);
        }
        return fits;
    }

    private void read(HostCopies copies, long bytes, int index, int tokens, DataInputStream in) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment piece = arena.allocate(Math.max(1, bytes));
            for (long at = 0; at < bytes; at += CHUNK) {
                int length = (int) Math.min(CHUNK, bytes - at);
                in.readFully(chunk, 0, length);
                MemorySegment.copy(MemorySegment.ofArray(chunk), 0, piece, at, length);
            }
            if (index >= 0) {
                copies.write(index, tokens, piece);
            }
        }
    }

    private void readTokens(TokenSequence sequence, int version, int length, int computed, DataInputStream in)
            throws IOException {
        int[] tokens = new int[length];
        for (int i = 0; i < length; i++) {
            tokens[i] = in.readInt();
        }
        SequenceRows rows = sequence.rows();
        if (version == WITH_ROWS) {
            SavedRows.read(in, tokens, contextLength, rows);
            rows.blocks().forEach(placed -> rowCheck.accept(placed.block()));
        }
        for (int i = 0; i < length; i++) {
            // Below 0 it stands for a row, which is there, or need not run.
            if (tokens[i] >= vocabularySize || tokens[i] < 0 && i >= computed && rows.row(i) == null) {
                throw refused("is of another model: it has token " + tokens[i] + " of " + vocabularySize, null);
            }
            sequence.append(tokens[i]);
        }
    }

    static int count(DataInputStream in, int least, int most, String what) throws IOException {
        int count = in.readInt();
        if (count < least || count > most) {
            throw refused(
                    "is damaged, or of another model: " + count + " " + what + "; expected " + least + " to " + most,
                    null);
        }
        return count;
    }

    static TenonException refused(String why, Throwable cause) {
        return new TenonException(
                ErrorCode.SAVED_SESSION,
                "The saved session " + why + ". Load what it was saved with, or begin a new one.",
                cause);
    }
}
