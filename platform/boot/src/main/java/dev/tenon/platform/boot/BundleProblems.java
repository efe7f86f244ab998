package dev.tenon.platform.boot;

import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// Reports what is wrong with bundles. The launcher is one such service; the installer of bundles
/// from `deploy/` is another, and the launcher then leaves those jars to it. Safe for any thread.
@ConsumerType
public interface BundleProblems {
    /// {@return a line for each jar that was not installed and each bundle that does not run, such
    /// as `my-format.jar was not installed: REASON` or `NAME VERSION did not start: REASON`}
    List<String> lines();
}
