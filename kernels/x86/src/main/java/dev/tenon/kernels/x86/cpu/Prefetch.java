package dev.tenon.kernels.x86.cpu;

import static dev.tenon.kernels.x86.asm.Operand.mem;

import dev.tenon.api.error.BackendException;
import dev.tenon.kernels.x86.asm.Assembler;
import dev.tenon.kernels.x86.asm.Operand.Gpr;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How far ahead of the multiplication weights are fetched. Results do not depend on it.
///
/// Through two levels, a prefetch into the second-level cache waits for memory, and one into the
/// first-level cache only for that. Directly, each line is fetched once, which holds one of the
/// first level's line buffers for as long as memory takes. Which is faster depends on the
/// processor: docs/performance.md has the gain.
///
/// The setting `tenon.kernels.x86.prefetch` (system property, or `TENON_KERNELS_X86_PREFETCH` in
/// the environment) is `auto`, `near` (directly) or `levels` (through two levels).
///
/// @param firstBytes how far ahead of its use a line is fetched into the first-level cache
/// @param secondBytes how far ahead into the second-level cache; 0 for not at all
/// @param apartBytes by how much more the next one of several streams is fetched ahead; see
/// [#stream]
public record Prefetch(int firstBytes, int secondBytes, int apartBytes) {
    /// The name of the setting.
    static final String SETTING = Settings.PREFIX + ".prefetch";

    /// Directly into the first-level cache.
    static final Prefetch NEAR = new Prefetch(1536, 0, 512);

    /// Through the second-level cache. Most of 1 KiB is within a page of 4 KiB, where it starts
    /// hardware prefetchers; 4 KiB ahead is slower by some percent.
    static final Prefetch LEVELS = new Prefetch(512, 1024, 0);

    /// Largest first-level cache of the processors that are fetched for directly: Intel's up to
    /// Cascade Lake.
    private static final int SMALL = 32 * 1024;

    private static final int LINE = 64;
    private static final Logger LOG = LoggerFactory.getLogger(Prefetch.class);

    private static final class Host {
        static final Prefetch IT = of(Settings.of(SETTING, "auto"), firstLevelBytes());

        private static int firstLevelBytes() {
            try {
                return CpuFeatures.known().firstLevelBytes();
            } catch (BackendException e) {
                // No code that is emitted here will ever run here, so any distance will do.
                LOG.debug("the first-level cache is not known: {}", e.getMessage());
                return 0;
            }
        }
    }

    /// {@return what this processor is given, or what the setting says}
    public static Prefetch here() {
        return Host.IT;
    }

    /// Chooses.
    ///
    /// @param setting the setting's value; what is not understood counts as `auto`, with a warning
    /// @param firstLevelBytes size of the processor's first-level data cache; 0 if not known
    /// @return the distances
    static Prefetch of(String setting, int firstLevelBytes) {
        return switch (setting.strip().toLowerCase(Locale.ROOT)) {
            case "near" -> NEAR;
            case "levels" -> LEVELS;
            case "auto" -> automatic(firstLevelBytes);
            default -> {
                LOG.warn("{} is '{}'; auto, near and levels are understood, auto is used. [CFG-001]", SETTING, setting);
                yield automatic(firstLevelBytes);
            }
        };
    }

    private static Prefetch automatic(int firstLevelBytes) {
        return firstLevelBytes > 0 && firstLevelBytes <= SMALL ? NEAR : LEVELS;
    }

    /// {@return how one of four streams is fetched}
    ///
    /// Streams that lie whole pages apart, as 64 rows of 2048 weights do in most formats, come to
    /// new pages together, which costs some percent (four addresses to translate at once,
    /// probably); so some are fetched further ahead than others.
    ///
    /// @param stream 0 to 3
    public Prefetch stream(int stream) {
        return apartBytes == 0 ? this : new Prefetch(firstBytes + (stream - 1) * apartBytes, secondBytes, 0);
    }

    /// Emits what fetches the bytes that will be used at this distance. A fetch past the end of the
    /// weights does nothing.
    ///
    /// @param a receives the instructions
    /// @param w points to the bytes that are used next
    /// @param bytes how many those are
    public void emit(Assembler a, Gpr w, int bytes) {
        for (int b = 0; b < bytes; b += LINE) {
            if (secondBytes > 0) {
                a.prefetchT1(mem(w, secondBytes + b));
            }
            a.prefetchT0(mem(w, firstBytes + b));
        }
    }
}
