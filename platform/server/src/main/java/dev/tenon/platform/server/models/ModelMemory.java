package dev.tenon.platform.server.models;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

/// Shares a limit of memory out among models, those first that were asked for last. Has no state of its own.
///
/// @param limit bytes; 0 for none
/// @param all gives the models, those that leave too
record ModelMemory(long limit, Supplier<List<HostedModel>> all) {
    /// Unloads what was not asked for the longest, until another model fits the memory.
    ///
    /// @param wanted the other model
    /// @param needed bytes that it takes
    /// @throws TenonException (`LIMIT-003`) if it does not fit
    void makeRoom(HostedModel wanted, long needed) {
        while (limit > 0 && usedBeside(wanted, false) + needed > limit) {
            if (unloadOldest(wanted)) {
                continue;
            }
            if (wanted.pinned()) {
                return; // who named it wants it, whatever the limit
            }
            throw refusal(wanted, needed);
        }
    }

    /// Unloads the idle model that was not asked for the longest, if there is one.
    ///
    /// @return whether one was
    boolean unloadOldest(HostedModel wanted) {
        return loadedBeside(wanted).stream().anyMatch(HostedModel::unloadIfIdle);
    }

    /// {@return the loaded models that may leave, the one first that was not asked for the longest}
    List<HostedModel> loadedBeside(HostedModel wanted) {
        return all.get().stream()
                .filter(model ->
                        model != wanted && !model.pinned() && model.loaded().isPresent())
                .sorted(Comparator.comparingLong(HostedModel::lastUse))
                .toList();
    }

    private long usedBeside(HostedModel wanted, boolean pinnedAlone) {
        return all.get().stream()
                .filter(model -> model != wanted && (model.pinned() || !pinnedAlone))
                .mapToLong(HostedModel::memoryBytes)
                .sum();
    }

    private TenonException refusal(HostedModel wanted, long needed) {
        long used = usedBeside(wanted, false);
        String text = wanted.spec().name() + " needs " + mebibytes(needed) + " of memory";
        if (usedBeside(wanted, true) + needed > limit) {
            return new TenonException(
                    ErrorCode.MEMORY,
                    text + "; models that stay loaded take " + mebibytes(usedBeside(wanted, true)) + " of "
                            + mebibytes(limit) + ". Raise --models-memory, or take a shorter context.");
        }
        return new OutOfResourcesException(
                ErrorCode.MEMORY,
                text + "; models that answer now take " + mebibytes(used) + " of " + mebibytes(limit)
                        + ". Ask again when they are done.",
                needed,
                used,
                limit);
    }

    private static String mebibytes(long bytes) {
        return ((bytes + (1 << 20) - 1) >> 20) + " MiB";
    }
}
