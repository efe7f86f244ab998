package dev.tenon.platform.core;

import dev.tenon.platform.core.registry.ServiceRegistry;
import dev.tenon.platform.core.settings.EngineConfig;
import java.util.Map;
import java.util.function.Predicate;
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
public final class Tenon {
    private static final Logger LOG = LoggerFactory.getLogger(Tenon.class);

    private Tenon() {}

    /// Makes an engine from all providers that `ServiceLoader` finds by the thread's class loader and by
    /// Tenon's own. A provider that cannot be loaded is skipped with a warning.
    ///
    /// The class path is trusted: whoever can put a jar on it, or on the module path, runs code in this
    /// process. Two providers of one id are not chosen from: a model that needs the id is refused with both
    /// named, unless the setting `prefer.KIND.ID` names one (`CFG-002`).
    ///
    /// @param settings as in `etc/dev.tenon.platform.cfg`; the environment's `TENON_*` variables override
    ///     them
    /// @return the engine; the caller closes it
    public static StandaloneEngine standalone(Map<String, String> settings) {
        return standalone(settings, type -> true);
    }

    /// Makes an engine from some of the providers that `ServiceLoader` finds.
    ///
    /// @param settings as above
    /// @param wanted which classes to make providers of, such as those of some modules or packages, or with
    ///     some signers. Asked before a class is initialised; of a module that provides by a method, that
    ///     method's return type is asked for first
    /// @return the engine; the caller closes it
    public static StandaloneEngine standalone(Map<String, String> settings, Predicate<Class<?>> wanted) {
        ServiceRegistry registry = new ServiceRegistry();
        new Providers(wanted, e -> LOG.warn("A provider was skipped: {}", e.toString()))
                .find(Thread.currentThread().getContextClassLoader())
                .find(Tenon.class.getClassLoader())
                .all()
                .forEach(registry::add);
        return new ServiceLoaderEngine(registry, EngineConfig.of(settings, System.getenv()));
    }
}
