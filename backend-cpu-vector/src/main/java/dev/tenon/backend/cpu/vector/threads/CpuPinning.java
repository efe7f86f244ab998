package dev.tenon.backend.cpu.vector.threads;

import dev.tenon.api.config.Setting;
import dev.tenon.api.error.BackendException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps each thread of a team on a processor of its own.
///
/// Workers are bound for good. The caller of a step is bound while the step runs and gets its own
/// mask back; a virtual thread is not bound, because it may change its carrier within a step. What
/// the system refuses is logged once and changes nothing else.
public final class CpuPinning {
    /// The setting.
    public static final Setting PIN = Setting.flag(
            "threads.pin",
            false,
            "Keeps each thread on a processor of its own (Linux, at most as many threads as processors); not for two"
                    + " models that compute at the same time, as both would take the same processors.");

    private static final Logger LOG = LoggerFactory.getLogger(CpuPinning.class);
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private final Affinity affinity;
    private final int[] cpus;
    private final MemorySegment[] masks;
    private final MemorySegment saved;

    /// Selects processors among those that the calling thread may use.
    ///
    /// @param affinity the system's functions
    /// @param threads size of the team
    /// @throws BackendException (`BACKEND-001`) if there are more threads than processors, or the
    ///     system refuses
    CpuPinning(Affinity affinity, int threads) {
        this.affinity = affinity;
        Arena arena = Arena.ofAuto();
        saved = affinity.mask(arena);
        affinity.get(saved);
        int[] allowed = Affinity.processors(saved);
        if (threads > allowed.length) {
            throw Affinity.refused(
                    "there are more threads (" + threads + ") than processors that this process may use ("
                            + allowed.length + "). Lower `threads`",
                    0,
                    null);
        }
        cpus = Arrays.copyOf(byCore(allowed, CpuPinning::siblings), threads);
        masks = new MemorySegment[threads];
        Arrays.setAll(masks, i -> affinity.mask(arena, cpus[i]));
    }

    /// {@return the pinning that settings ask for; empty if they do not, or if it cannot be, which
    /// is logged once}
    ///
    /// @param settings the backend's settings
    /// @param threads size of the team
    /// @throws dev.tenon.api.error.TenonException (`CFG-001`) if the setting is neither on nor off
    public static Optional<CpuPinning> of(Map<String, String> settings, int threads) {
        if (!PIN.isOn(settings)) {
            return Optional.empty();
        }
        try {
            return Optional.of(new CpuPinning(new Affinity(System.getProperty("os.name", "")), threads));
        } catch (BackendException e) {
            tell(e);
            return Optional.empty();
        }
    }

    private static void tell(BackendException e) {
        if (TOLD.add(e.getMessage())) {
            LOG.warn("{}", e.getMessage());
        }
    }

    /// {@return the processor of each thread, the caller's first}
    public int[] processors() {
        return cpus.clone();
    }

    /// Binds the calling thread for good.
    ///
    /// @param thread its index in the team
    void pin(int thread) {
        try {
            affinity.set(masks[thread]);
        } catch (BackendException e) {
            tell(e);
        }
    }

    /// Binds the caller of a step. One caller at a time.
    ///
    /// @return whether [#leave()] has to be called after the step
    boolean enter() {
        if (Thread.currentThread().isVirtual()) {
            return false;
        }
        try {
            affinity.get(saved);
            affinity.set(masks[0]);
            return true;
        } catch (BackendException e) {
            tell(e);
            return false;
        }
    }

    /// Restores the mask that the caller had at [#enter()].
    void leave() {
        try {
            affinity.set(saved);
        } catch (BackendException e) {
            tell(e);
        }
    }

    /// {@return processors ordered so that each core comes once before any comes twice}
    ///
    /// @param allowed processors, ascending
    /// @param siblings names the core of a processor: equal texts, equal cores
    static int[] byCore(int[] allowed, IntFunction<String> siblings) {
        String[] cores = IntStream.of(allowed).mapToObj(siblings).toArray(String[]::new);
        int[] turn = new int[allowed.length];
        for (int i = 0; i < allowed.length; i++) {
            for (int before = 0; before < i; before++) {
                turn[i] += cores[before].equals(cores[i]) ? 1 : 0;
            }
        }
        return IntStream.range(0, allowed.length)
                .boxed()
                .sorted(Comparator.comparingInt(i -> turn[i])) // stable: ascending within a turn
                .mapToInt(i -> allowed[i])
                .toArray();
    }

    private static String siblings(int cpu) {
        Path list = Path.of("/sys/devices/system/cpu/cpu" + cpu + "/topology/thread_siblings_list");
        try {
            return Files.readString(list).strip();
        } catch (IOException | SecurityException e) {
            // Not readable in this container: every processor then counts as a core of its own.
            return "cpu " + cpu;
        }
    }
}
