package dev.tenon.platform.core.engine;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.ChatTemplateEngine;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;

/// An engine for chat templates that is fetched from the framework when the first template is
/// compiled, because most commands never need its bundle's classes. Safe for any thread.
final class LateTemplateEngine implements ChatTemplateEngine {
    private final BundleContext context;
    private final ServiceReference<ChatTemplateEngine> reference;
    private ChatTemplateEngine engine;

    /// Creates an engine that is not fetched yet.
    ///
    /// @param context in whose name the service is fetched
    /// @param reference the service
    LateTemplateEngine(BundleContext context, ServiceReference<ChatTemplateEngine> reference) {
        this.context = context;
        this.reference = reference;
    }

    /// Fetches the engine unless it is there.
    ///
    /// @return whether it is there
    synchronized boolean fetch() {
        if (engine == null) {
            engine = context.getService(reference);
        }
        return engine != null;
    }

    /// Releases the engine.
    synchronized void release() {
        if (engine != null) {
            engine = null;
            context.ungetService(reference);
        }
    }

    @Override
    public ChatTemplate compile(String source) {
        ChatTemplateEngine fetched;
        synchronized (this) {
            if (!fetch()) {
                throw new TenonException(
                        ErrorCode.ENV_PLATFORM,
                        "The engine for chat templates of bundle " + reference.getBundle()
                                + " does not start. tenon bundles --problems says why.");
            }
            fetched = engine;
        }
        return fetched.compile(source);
    }
}
