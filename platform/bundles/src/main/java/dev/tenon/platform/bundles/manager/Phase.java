package dev.tenon.platform.bundles.manager;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.io.IOException;
import java.util.List;
import org.osgi.framework.BundleException;

/// What a new bundle goes through beside the old one, in this order. A phase that fails ends the change.
enum Phase {
    INSTALL("was not installed"),
    PACKAGES("was built for another version of the api"),
    CLASSES("has classes that do not fit what it runs with"),
    START("did not start"),
    IDS("was refused"),
    CHECK("failed its self-check"),
    RESULTS("computes something else"),
    COMMAND("cannot take over the running command"),
    MODELS("cannot run a loaded model");

    private final String failed;

    Phase(String failed) {
        this.failed = failed;
    }

    /// What a phase does.
    @FunctionalInterface
    interface Work<T> {
        T run() throws IOException, BundleException;
    }

    /// What a phase looks at.
    @FunctionalInterface
    interface Check {
        /// {@return what is wrong; empty if nothing is}
        List<String> wrong() throws IOException, BundleException;
    }

    /// Does the work of this phase.
    ///
    /// @param part the bundle that goes through it
    /// @param work what to do
    /// @return its result
    /// @throws Failure if it throws
    <T> T run(Part part, Work<T> work) throws Failure {
        try {
            return work.run();
        } catch (IOException | BundleException | RuntimeException | LinkageError e) {
            throw new Failure(this, part, e);
        }
    }

    /// Looks for what is wrong.
    ///
    /// @param part the bundle that goes through this phase
    /// @param check what to look at
    /// @throws Failure if something is
    void check(Part part, Check check) throws Failure {
        run(part, () -> {
            List<String> wrong = check.wrong();
            if (!wrong.isEmpty()) {
                throw new IllegalStateException(String.join("; ", wrong));
            }
            return null;
        });
    }

    /// A phase that failed.
    static final class Failure extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Phase phase;
        private final transient Part part;

        private Failure(Phase phase, Part part, Throwable cause) {
            super(cause);
            this.phase = phase;
            this.part = part;
        }

        /// {@return what the caller of the change is told}
        ///
        /// @param asked the bundle that was to come
        TenonException refusal(Part asked) {
            boolean results = phase == RESULTS
                    || getCause() instanceof TenonException known
                            && known.code().equals(ErrorCode.BUNDLE_RESULTS);
            String user = part == asked ? "" : ": " + part.jar().title() + ", which uses it,";
            String kept = asked.old() == null
                    ? ". Nothing of it runs"
                    : ". " + BundleManager.title(asked.old()) + " stays in use";
            String code = results
                    ? ErrorCode.BUNDLE_RESULTS
                    : phase == IDS ? ErrorCode.DUPLICATE_ID : ErrorCode.BUNDLE_REJECTED;
            return new TenonException(
                    code,
                    asked.jar().title() + user + " " + (results ? RESULTS.failed : phase.failed) + ": "
                            + Failures.innermost(getCause()) + kept
                            + (results
                                    ? ". 'tenon bundles update " + Accept.CHANGED_RESULTS.option()
                                            + "' takes it all the same"
                                    : ""),
                    getCause());
        }
    }
}
