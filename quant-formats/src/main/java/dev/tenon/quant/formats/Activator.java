package dev.tenon.quant.formats;

import dev.tenon.api.quant.QuantFormat;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.Map;
import org.osgi.annotation.bundle.Header;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;

/// Registers the formats as OSGi services while the bundle runs, each with its id as `quant.format`.
///
/// One class for all of them, because each component of its own would be a description in XML that every
/// start reads and a component that it makes.
@Header(name = Constants.BUNDLE_ACTIVATOR, value = "${@class}")
public final class Activator implements BundleActivator {
    /// Created by the framework.
    public Activator() {}

    @Override
    public void start(BundleContext context) {
        for (QuantFormat format : QuantFormats.all()) {
            Dictionary<String, Object> properties = new Hashtable<>(Map.of("quant.format", format.id()));
            context.registerService(QuantFormat.class, format, properties);
        }
    }

    /// Nothing to do: the framework takes a stopping bundle's services back.
    @Override
    public void stop(BundleContext context) {}
}
