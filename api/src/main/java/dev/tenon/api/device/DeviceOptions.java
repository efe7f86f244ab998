package dev.tenon.api.device;

import java.util.Map;
import java.util.Objects;

/// Which device to open, and how. Immutable; made by [#builder()].
public final class DeviceOptions {
    private static final DeviceOptions DEFAULTS = builder().build();

    private final String deviceId;
    private final int threads;
    private final Map<String, String> settings;

    private DeviceOptions(Builder builder) {
        this.deviceId = builder.deviceId;
        this.threads = builder.threads;
        this.settings = builder.settings;
    }

    /// {@return the first device with default settings}
    public static DeviceOptions defaults() {
        return DEFAULTS;
    }

    /// {@return a builder that starts with [#defaults()]}
    public static Builder builder() {
        return new Builder();
    }

    /// {@return the device, as in [DeviceInfo#id()], or an empty string for the backend's first}
    public String deviceId() {
        return deviceId;
    }

    /// {@return the worker threads of a CPU device; 0 for the backend's own number}
    public int threads() {
        return threads;
    }

    /// {@return values of [Backend#settings()] by name; a backend ignores names that it does not
    /// know; unmodifiable}
    public Map<String, String> settings() {
        return settings;
    }

    /// Builds options. Not safe for several threads.
    public static final class Builder {
        private String deviceId = "";
        private int threads;
        private Map<String, String> settings = Map.of();

        private Builder() {}

        /// Sets the device; the backend's first by default.
        ///
        /// @param id as in [DeviceInfo#id()], or an empty string for the first
        /// @return this
        public Builder deviceId(String id) {
            this.deviceId = Objects.requireNonNull(id, "deviceId");
            return this;
        }

        /// Sets the number of worker threads of a CPU device.
        ///
        /// @param count how many; 0, the default, for the backend's own number
        /// @return this
        public Builder threads(int count) {
            this.threads = count;
            return this;
        }

        /// Sets values of the backend's settings; none by default.
        ///
        /// @param values by name; copied
        /// @return this
        public Builder settings(Map<String, String> values) {
            this.settings = Map.copyOf(values);
            return this;
        }

        /// {@return the options}
        ///
        /// @throws IllegalArgumentException if the number of threads is negative
        public DeviceOptions build() {
            if (threads < 0) {
                throw new IllegalArgumentException("threads is " + threads + "; expected 0 or more");
            }
            return new DeviceOptions(this);
        }
    }
}
