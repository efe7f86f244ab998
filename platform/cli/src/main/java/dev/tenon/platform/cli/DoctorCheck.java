package dev.tenon.platform.cli;

import org.osgi.annotation.versioning.ConsumerType;
import org.osgi.annotation.versioning.ProviderType;

/// A check of `tenon doctor` that a bundle contributes as a service.
@ConsumerType
public interface DoctorCheck {
    /// Runs the check.
    ///
    /// @param findings receives the findings
    void run(Findings findings);

    /// Receives a check's findings. Only for the thread that runs the check.
    @ProviderType
    interface Findings {
        /// Adds a finding that is as expected.
        ///
        /// @param name what was checked, a word or two
        /// @param found what was found
        void pass(String name, String found);

        /// Adds a finding of something that works less well than it could.
        ///
        /// @param name what was checked
        /// @param found what was found
        /// @param advice what to do, or an empty text
        void warn(String name, String found, String advice);

        /// Adds a finding of something that does not work; `tenon doctor` then ends with status 1.
        ///
        /// @param name what was checked
        /// @param found what was found
        /// @param advice what to do, or an empty text
        void fail(String name, String found, String advice);
    }
}
