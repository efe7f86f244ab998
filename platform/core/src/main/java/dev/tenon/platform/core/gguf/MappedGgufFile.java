package dev.tenon.platform.core.gguf;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.TensorInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// One or more mapped GGUF files; owns the arena of the mappings.
final class MappedGgufFile implements GgufFile {
    private final Path path;
    private final int version;
    private final GgufMetadata metadata;
    private final Map<String, TensorInfo> byName;
    private final List<TensorInfo> tensors;
    private final List<MappedPart> parts;
    private final Arena arena;
    private final long sizeBytes;

    MappedGgufFile(
            Path path,
            int version,
            GgufMetadata metadata,
            Map<String, TensorInfo> byName,
            List<MappedPart> parts,
            Arena arena) {
        this.path = path;
        this.version = version;
        this.metadata = metadata;
        this.byName = byName;
        this.tensors = List.copyOf(byName.values());
        this.parts = List.copyOf(parts);
        this.arena = arena;
        this.sizeBytes =
                parts.stream().mapToLong(part -> part.header().byteSize()).sum();
    }

    @Override
    public Path path() {
        return path;
    }

    @Override
    public int version() {
        return version;
    }

    @Override
    public GgufMetadata metadata() {
        return metadata;
    }

    @Override
    public List<TensorInfo> tensors() {
        return tensors;
    }

    @Override
    public Optional<TensorInfo> tensor(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    @Override
    public MemorySegment data(TensorInfo tensor) {
        if (!tensor.equals(byName.get(tensor.name()))) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "Tensor " + tensor.name() + " does not belong to " + path + ". Use one of its tensors().");
        }
        if (!arena.scope().isAlive()) {
            throw new TenonException(
                    ErrorCode.CLOSED,
                    path + " is closed, so the data of " + tensor.name() + " is gone. Open it again.");
        }
        return parts.get(tensor.part()).data().asSlice(tensor.offsetBytes(), tensor.sizeBytes());
    }

    @Override
    public long sizeBytes() {
        return sizeBytes;
    }

    @Override
    public void requireUnchanged() {
        for (int i = 0; i < parts.size(); i++) {
            parts.get(i).requireUnchanged();
        }
    }

    @Override
    public synchronized void close() {
        if (arena.scope().isAlive()) {
            parts.forEach(MappedPart::release);
            arena.close();
        }
    }

    @Override
    public String toString() {
        return path + " (GGUF " + version + ", " + tensors.size() + " tensors, " + sizeBytes + " bytes)";
    }
}
