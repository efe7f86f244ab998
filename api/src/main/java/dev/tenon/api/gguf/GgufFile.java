package dev.tenon.api.gguf;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.osgi.annotation.versioning.ProviderType;

/// An open, memory-mapped, read-only GGUF file, or a set of split files seen as one.
///
/// Owns the mapping: all segments it handed out become invalid at [#close()], which only the opener
/// calls, after every plan that uses the weights is closed. Safe for any thread.
@ProviderType
public interface GgufFile extends AutoCloseable {
    /// {@return the path that was opened; for split files the first part}
    Path path();

    /// {@return GGUF version, 2 or 3}
    int version();

    /// {@return the metadata}
    GgufMetadata metadata();

    /// {@return all tensors, in file order; unmodifiable}
    List<TensorInfo> tensors();

    /// {@return the tensor of a name}
    ///
    /// @param name tensor name
    Optional<TensorInfo> tensor(String name);

    /// {@return the data of a tensor as a read-only slice of the mapping, valid until [#close()];
    ///     usable from any thread}
    ///
    /// @param tensor one of [#tensors()]
    MemorySegment data(TensorInfo tensor);

    /// {@return the size of the file or files in bytes}
    long sizeBytes();

    /// Checks that the file is what it was when it was opened. A file that was replaced by another one of its
    /// name is: its mapping stays. Takes a microsecond.
    ///
    /// @throws dev.tenon.api.error.TenonException (`GGUF-010`) if it was cut short or written to, or if data
    ///     could not be read; then all that was read from [#data] since the last check may be wrong, and
    ///     each further check fails in the same way
    default void requireUnchanged() {}

    /// Unmaps the file. Calling it twice does nothing.
    @Override
    void close();
}
