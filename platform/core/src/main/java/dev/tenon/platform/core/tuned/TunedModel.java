package dev.tenon.platform.core.tuned;

import java.util.Map;
import org.osgi.annotation.versioning.ProviderType;

/// What a loaded model of the platform tells about tuned settings beyond the api. Safe for any thread.
@ProviderType
public interface TunedModel {
    /// {@return what the model runs with}
    Status tuned();

    /// {@return what tuned settings of this model would be kept with; reads the code of backends and
    /// kernels, which takes some milliseconds}
    TunedIdentity tunedIdentity();

    /// Which tuned settings a model runs with.
    ///
    /// @param settings values by name; empty where it runs with the defaults
    /// @param reason where they come from, or why there are none; empty where nothing was ever tuned
    record Status(Map<String, String> settings, String reason) {
        /// Nothing was tuned.
        public static final Status NONE = new Status(Map.of(), "");

        /// Copies the map.
        public Status {
            settings = Map.copyOf(settings);
        }
    }
}
