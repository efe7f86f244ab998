package dev.tenon.api.bundle;

import org.osgi.annotation.versioning.ConsumerType;

/// Is told when bundles of a running platform were installed, updated, removed or refused.
///
/// A service; all of them are told of what the platform's manager of bundles did: for a command, for
/// `deploy/` (at the start, too), or for a program that changes the bundles of its engine. What came
/// with the distribution, and what a program does with the framework itself, is told to nobody.
///
/// Nobody waits for a listener. The calls come later, in the order of the changes, one at a time and
/// on one thread for all listeners. An exception is logged. If more than a thousand changes wait, the
/// next ones are dropped. When its own bundle is to go, a listener has ten seconds to return; then it
/// is interrupted. An engine must not be injected: it may come after the listener.
@ConsumerType
@FunctionalInterface
public interface BundleChangeListener {
    /// Takes a change that was made, or refused. The listener may be of the bundle that came.
    ///
    /// @param change what happened
    void changed(BundleChange change);
}
