package dev.tenon.platform.core.media;

import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.TensorInfo;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.platform.core.registry.ServiceRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Tensors of a file, decoded when they are first asked for, and kept. Safe for any thread.
///
/// @param file the file; borrowed
/// @param registry has the formats
/// @param decoded what was decoded
public record FileTensors(GgufFile file, ServiceRegistry registry, Map<String, float[]> decoded) {
    /// Decodes nothing yet.
    ///
    /// @param file the file; borrowed
    /// @param registry has the formats
    public FileTensors(GgufFile file, ServiceRegistry registry) {
        this(file, registry, new ConcurrentHashMap<>());
    }

    /// {@return the elements of a tensor; never to be changed}
    ///
    /// @param name its name
    /// @throws IllegalArgumentException if the file does not have it, or nothing installed decodes it
    public float[] values(String name) {
        return decoded.computeIfAbsent(name, this::decode);
    }

    private float[] decode(String name) {
        TensorInfo info = file.tensor(name)
                .orElseThrow(() -> new IllegalArgumentException(
                        file.path().getFileName() + " has no tensor " + name + ", which its encoder needs"));
        QuantFormat format = registry.format(info.ggmlType())
                .orElseThrow(() -> new IllegalArgumentException("no installed format decodes tensor " + name));
        float[] values = new float[Math.toIntExact(info.elements())];
        format.dequantize(file.data(info), 0, values, 0, values.length);
        return values;
    }
}
