package dev.tenon.api.device;

import org.osgi.annotation.versioning.ConsumerType;

/// An open device. Whoever opened it closes it, after the plans made with it. Safe for any thread.
@ConsumerType
public interface Device extends AutoCloseable {
    /// {@return what it is}
    DeviceInfo info();

    /// {@return its memory}
    Allocator allocator();

    /// {@return its compiler}
    Compiler compiler();

    /// Releases everything the device holds (threads, memory, driver handles). Calling it twice does
    /// nothing.
    @Override
    void close();
}
