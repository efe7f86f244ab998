package dev.tenon.platform.core.steps;

import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StateSlots;
import dev.tenon.platform.core.files.Leftovers;
import dev.tenon.platform.core.files.OutputFile;
import dev.tenon.platform.core.files.OwnerOnly;
import dev.tenon.platform.core.placement.Placement;
import dev.tenon.platform.core.steps.PrefixCache.Page;
import dev.tenon.platform.core.tuned.CodeDigest;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The most recently used prefixes of a model in a file, from when it is closed until it is loaded again.
///
/// ```
/// long magic | int version | text code
/// each, the least recently used one first: byte 1 | text group | int left | a saved sequence
/// byte 0
/// ```
///
/// A [SavedSequence] lacks the `left` first pages where one before it has them. Its model is that of the file with
/// code, group and `left`, so that none of these can be changed without being noticed. The code is that of all bundles
/// that the model runs with. What cannot be read is left out, and the log says why. Used with the loop's lock held.
public final class KeptPrefixes {
    private static final Logger LOG = LoggerFactory.getLogger(KeptPrefixes.class);
    private static final long MAGIC = 0x74656E6F6E707265L;
    private static final int VERSION = 1;
    private static final String ENDING = ".prefixes";
    private static final int NAME_DIGITS = 24;
    /// Models whose prefixes stay.
    private static final int MOST_FILES = 8;
    private static final int MORE = 1;
    private static final int BUFFER = 1 << 16;

    private final Path file;
    private final long budget;
    private final SavedSequence form;
    private final int adapters;

    /// @param folder where the file is; made if it is not there
    /// @param budget most bytes of pages and states
    /// @param form how a sequence of the model is saved
    /// @param adapters how many the model has
    public KeptPrefixes(Path folder, long budget, SavedSequence form, int adapters) {
        this.file = folder.resolve(form.model().substring(0, NAME_DIGITS) + ENDING);
        this.budget = budget;
        this.form = form;
        this.adapters = adapters;
    }

    private static String code(Placement placement) {
        return CodeDigest.of(placement.services());
    }

    private SavedSequence form(String code, String group, int left) {
        return form.with(code + " " + left + " " + group);
    }

    /// Writes the prefixes of a placement, of which nobody uses a page, in place of the file; none if there are none.
    void write(PlacedSequences placed) {
        Path temporary = Leftovers.temporary(file);
        try {
            List<Page> ends = placed.placement() == null ? List.of() : ends(placed);
            if (ends.isEmpty()) {
                return;
            }
            OwnerOnly.folder(file.toAbsolutePath().getParent());
            Leftovers.sweep(file);
            try (FileChannel channel = FileChannel.open(
                            temporary,
                            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                            OwnerOnly.file(temporary));
                    DataOutputStream out =
                            new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER))) {
                write(ends, placed, out);
            }
            OutputFile.move(temporary, file);
            prune();
            LOG.debug("{} prefixes are kept in {}", ends.size(), file);
        } catch (IOException | RuntimeException e) {
            LOG.warn("Prefixes are not kept in {}, and run again: {}", file, e.toString());
            if (Files.exists(temporary)) {
                Leftovers.delete(temporary);
            }
        }
    }

    /// {@return the last pages of the prefixes that the budget has room for, the least recently used one first}
    private List<Page> ends(PlacedSequences placed) {
        Plan plan = placed.placement().plan();
        SequenceStates states = placed.states();
        WindowPool windows = placed.pool().windows();
        long stateBytes = plan.states().map(StateSlots::slotBytes).orElse(0L);
        long left = SavedSequence.layout(plan).isEmpty() ? 0 : budget;
        Set<Page> kept = new HashSet<>();
        Set<Page> continued = new HashSet<>();
        List<Page> ends = new ArrayList<>();
        for (Page end : placed.pool().cache().recent()) {
            if ((!states.any() || states.inMemory(end)) && windows.goesOnAfter(end)) {
                long bytes = stateBytes + windows.bytesSeenAfter(end);
                bytes += (windows.any() ? end.depth() : missing(end, kept))
                        * plan.kvPages().pageBytes();
                if (bytes > left) {
                    break;
                }
                left -= bytes;
                ends.addFirst(end);
                continued.add(end.before());
                for (Page page = end; page != null && kept.add(page); ) {
                    page = page.before();
                }
            }
        }
        ends.removeIf(end -> !states.any() && continued.contains(end));
        return ends;
    }

    /// {@return how many pages up to one are not among others}
    private static int missing(Page end, Set<Page> among) {
        int missing = 0;
        for (Page page = end; page != null && !among.contains(page); page = page.before()) {
            missing++;
        }
        return missing;
    }

    private void write(List<Page> ends, PlacedSequences placed, DataOutputStream out) throws IOException {
        String code = code(placed.placement());
        Set<Page> written = new HashSet<>();
        out.writeLong(MAGIC);
        out.writeInt(VERSION);
        out.writeUTF(code);
        for (Page end : ends) {
            TokenSequence sequence = end.sequence();
            // Where a window is part of it, a sequence has all its pages.
            int left = placed.pool().windows().any() ? 0 : end.depth() - missing(end, written);
            out.writeByte(MORE);
            out.writeUTF(sequence.group());
            out.writeInt(left);
            try {
                placed.pool().cache().take(sequence, end.depth(), placed.pool());
                sequence.advance(sequence.length());
                placed.states().goOn(sequence);
                placed.pool().windows().goOn(sequence);
                form(code, sequence.group(), left)
                        .write(sequence, placed.placement().plan(), left, out);
            } finally {
                placed.release(sequence);
            }
            for (Page page = end; page != null && written.add(page); ) {
                page = page.before();
            }
        }
        out.writeByte(0);
    }

    /// Removes files of models that were not loaded for long.
    private void prune() throws IOException {
        List<Path> all = new ArrayList<>();
        try (DirectoryStream<Path> found =
                Files.newDirectoryStream(file.toAbsolutePath().getParent(), "*" + ENDING)) {
            found.forEach(all::add);
        }
        all.sort(Comparator.comparingLong(each -> -each.toFile().lastModified()));
        all.stream().skip(MOST_FILES).forEach(Leftovers::delete);
    }

    /// Reads the prefixes into the pages of a placement.
    void read(PlacedSequences placed) {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file), BUFFER))) {
            String code = code(placed.placement());
            if (in.readLong() != MAGIC || in.readInt() != VERSION) {
                throw new IOException("it is none of this version");
            }
            if (!in.readUTF().equals(code)) {
                throw new IOException("other versions of bundles computed them");
            }
            while (in.readByte() == MORE) {
                read(placed, code, in);
            }
            LOG.debug("Prefixes of {} were taken back", file);
        } catch (NoSuchFileException e) {
            LOG.debug("no prefixes are kept in {}", file);
        } catch (IOException | RuntimeException e) {
            LOG.warn("Prefixes in {} are left out, and run again: {}", file, e.toString());
        }
    }

    private void read(PlacedSequences placed, String code, DataInputStream in) throws IOException {
        String group = in.readUTF();
        int left = in.readInt();
        TokenSequence sequence = new TokenSequence(new float[adapters]);
        sequence.group(group);
        try {
            form(code, group, left).read(sequence, placed, left, in);
            if (placed.head() != null) {
                placed.head().fill(sequence);
            }
            placed.pool().cache().enter(sequence, placed.pool());
            placed.states().keep(sequence);
        } finally {
            placed.release(sequence);
        }
    }
}
