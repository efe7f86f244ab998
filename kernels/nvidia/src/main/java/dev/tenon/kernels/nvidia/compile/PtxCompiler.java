package dev.tenon.kernels.nvidia.compile;

import org.osgi.annotation.versioning.ConsumerType;

/// Turns PTX into machine code without a driver: a service, for machines without NVRTC. Safe for any thread.
@ConsumerType
public interface PtxCompiler {
    /// {@return its name and version, such as `nvPTXCompiler 12.6`; part of the key of what is kept on disk}
    ///
    /// @throws dev.tenon.api.error.BackendException (`BACKEND-001`) if it cannot be loaded here, with the reason
    String name();

    /// Compiles PTX.
    ///
    /// @param name what messages call it
    /// @param ptx text of PTX
    /// @param architecture what for, such as `sm_87`
    /// @return the cubin
    /// @throws dev.tenon.api.error.BackendException (`BACKEND-003`) with the compiler's log
    byte[] compile(String name, String ptx, String architecture);
}
