package dev.tenon.platform.boot;

import org.osgi.annotation.versioning.ProviderType;

/// Keeps what the command line answers to a call, so that the same call is answered without bundles
/// until the installation changes. The launcher is the service, in a process whose answer can be
/// kept.
@ProviderType
public interface Answers {
    /// Keeps the answer of this process, which depends on nothing but arguments, environment and
    /// what is installed, such as a help text. Called before it is printed, at most once. What
    /// cannot be kept is not.
    ///
    /// @param status exit status of the process
    /// @param out all of standard output; there is no standard error
    void keep(int status, String out);
}
