package dev.tenon.platform.core;

import aQute.bnd.annotation.Cardinality;
import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceConsumer;
import dev.tenon.api.device.Backend;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.model.ModelArchitecture;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.TokenizerProvider;
import dev.tenon.platform.core.engine.TenonEngine;
import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import java.util.Iterator;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes an engine from whatever is on the class path or module path, with no framework.
///
/// ```java
/// try (Engine engine = Tenon.standalone(Map.of());
///         LoadedModel model = engine.load(LoadRequest.of(Path.of("model.gguf")));
///         Session session = model.newSession()) {
///     int[] prompt = model.tokenizer().encode("Once upon a time", true, false);
///     session.generate(GenerationRequest.of(prompt, SamplingParams.defaults(), 100),
///             System.out::print);
/// }
/// ```
@ServiceConsumer(
        value = QuantFormat.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = Tenon.ACTIVE)
@ServiceConsumer(
        value = ModelArchitecture.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = Tenon.ACTIVE)
@ServiceConsumer(
        value = Backend.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = Tenon.ACTIVE)
@ServiceConsumer(
        value = KernelProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = Tenon.ACTIVE)
@ServiceConsumer(
        value = TokenizerProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = Tenon.ACTIVE)
@ServiceConsumer(
        value = ChatTemplateEngine.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = Tenon.ACTIVE)
@ServiceConsumer(
        value = SamplerProvider.class,
        resolution = Resolution.OPTIONAL,
        cardinality = Cardinality.MULTIPLE,
        effective = Tenon.ACTIVE)
public final class Tenon {
    private static final Logger LOG = LoggerFactory.getLogger(Tenon.class);

    /// A framework makes no wires of requirements that are effective at another time than `resolve`; by such
    /// a wire this bundle would restart, and end all sessions, whenever a provider is replaced.
    static final String ACTIVE = "active";

    private Tenon() {}

    /// Makes an engine from the providers that `ServiceLoader` finds. A provider that cannot be
    /// loaded is skipped with a warning.
    ///
    /// @param settings as in `etc/dev.tenon.platform.cfg`; the environment's `TENON_*` variables go before them
    /// @return the engine; the caller closes it
    public static Engine standalone(Map<String, String> settings) {
        ServiceRegistry registry = new ServiceRegistry();
        addAll(registry, ServiceLoader.load(QuantFormat.class));
        addAll(registry, ServiceLoader.load(ModelArchitecture.class));
        addAll(registry, ServiceLoader.load(Backend.class));
        addAll(registry, ServiceLoader.load(KernelProvider.class));
        addAll(registry, ServiceLoader.load(TokenizerProvider.class));
        addAll(registry, ServiceLoader.load(ChatTemplateEngine.class));
        addAll(registry, ServiceLoader.load(SamplerProvider.class));
        return new TenonEngine(registry, EngineConfig.of(settings, System.getenv()));
    }

    private static void addAll(ServiceRegistry registry, ServiceLoader<?> loader) {
        Iterator<? extends ServiceLoader.Provider<?>> providers =
                loader.stream().iterator();
        while (true) {
            try {
                if (!providers.hasNext()) {
                    return;
                }
                registry.add(providers.next().get());
            } catch (ServiceConfigurationError | LinkageError e) {
                LOG.warn("A provider was skipped: {}", e.toString());
            }
        }
    }
}
