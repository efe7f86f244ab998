package dev.tenon.platform.contracts.itest;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.engine.JupiterTestEngine;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/// Runs a class of JUnit tests and collects what came out.
public final class ContractRun implements TestExecutionListener {
    /// How a case came out.
    public enum Outcome {
        PASSED,
        FAILED,
        SKIPPED
    }

    /// One case.
    ///
    /// @param method the test method
    /// @param name the case; the method itself where it has only one
    /// @param outcome how it came out
    /// @param reason why it did not pass; else empty
    /// @param seconds how long it took
    public record Case(String method, String name, Outcome outcome, String reason, double seconds) {
        /// {@return method and case}
        public String title() {
            return method.equals(name) ? method : method + ": " + name;
        }
    }

    private final String what;
    private final String suite;
    private final Consumer<Case> onCase;
    private final List<Case> cases = new ArrayList<>();
    private final Map<String, Long> begins = new HashMap<>();
    private TestPlan plan;
    private double seconds;

    private ContractRun(String what, String suite, Consumer<Case> onCase) {
        this.what = what;
        this.suite = suite;
        this.onCase = onCase;
    }

    /// Runs all tests of a class.
    ///
    /// @param what what is tested, for reports
    /// @param type the class
    /// @param onCase hears of each case as it ends
    /// @return what came out
    static ContractRun of(String what, Class<?> type, Consumer<Case> onCase) {
        return of(what, "", type, declaring -> true, onCase);
    }

    /// Runs those tests of a class that are written in some of its parents.
    ///
    /// @param what what is tested, for reports
    /// @param suite the suite's name; empty without one
    /// @param type the class
    /// @param part tells the classes whose tests are run
    /// @param onCase hears of each case as it ends
    /// @return what came out
    static ContractRun of(String what, String suite, Class<?> type, Predicate<Class<?>> part, Consumer<Case> onCase) {
        ContractRun run = new ContractRun(what, suite, onCase);
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        long begin = System.nanoTime();
        // JUnit looks for its own parts there.
        thread.setContextClassLoader(ContractRun.class.getClassLoader());
        try {
            Launcher launcher = LauncherFactory.create(LauncherConfig.builder()
                    .enableTestEngineAutoRegistration(false)
                    .enableLauncherSessionListenerAutoRegistration(false)
                    .enableLauncherDiscoveryListenerAutoRegistration(false)
                    .enablePostDiscoveryFilterAutoRegistration(false)
                    .enableTestExecutionListenerAutoRegistration(false)
                    .addTestEngines(new JupiterTestEngine())
                    .build());
            LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                    .selectors(DiscoverySelectors.selectClass(type))
                    .filters((PostDiscoveryFilter) test -> FilterResult.includedIf(test.getSource()
                            .filter(MethodSource.class::isInstance)
                            .map(source -> part.test(
                                    ((MethodSource) source).getJavaMethod().getDeclaringClass()))
                            .orElse(true)))
                    .build();
            launcher.execute(request, run);
        } finally {
            thread.setContextClassLoader(before);
        }
        run.seconds = seconds(begin);
        return run;
    }

    private static double seconds(long begin) {
        return (System.nanoTime() - begin) / 1e9;
    }

    /// {@return what was tested}
    String what() {
        return what;
    }

    /// {@return the suite's name; empty without one}
    String suite() {
        return suite;
    }

    /// {@return all cases, in the order in which they ended}
    List<Case> cases() {
        return cases;
    }

    /// {@return number of cases that came out in a way}
    ///
    /// @param outcome which way
    int count(Outcome outcome) {
        return (int) cases.stream().filter(c -> c.outcome() == outcome).count();
    }

    /// {@return how long all of it took}
    double seconds() {
        return seconds;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan testPlan) {
        plan = testPlan;
    }

    @Override
    public void executionStarted(TestIdentifier id) {
        begins.put(id.getUniqueId(), System.nanoTime());
    }

    @Override
    public void executionSkipped(TestIdentifier id, String reason) {
        add(id, Outcome.SKIPPED, reason);
    }

    @Override
    public void executionFinished(TestIdentifier id, TestExecutionResult result) {
        String reason = result.getThrowable().map(Throwable::toString).orElse("");
        switch (result.getStatus()) {
            case SUCCESSFUL -> {
                if (id.isTest()) {
                    add(id, Outcome.PASSED, "");
                }
            }
            case ABORTED ->
                add(
                        id,
                        Outcome.SKIPPED,
                        reason.replaceFirst("^org.opentest4j.TestAbortedException: (Assumption failed: )?", ""));
            case FAILED -> add(id, Outcome.FAILED, reason.replaceFirst("^org.opentest4j.AssertionFailedError: ", ""));
        }
    }

    private void add(TestIdentifier id, Outcome outcome, String reason) {
        long begin = begins.getOrDefault(id.getUniqueId(), System.nanoTime());
        cases.add(new Case(method(id), plain(id.getDisplayName()), outcome, reason, seconds(begin)));
        onCase.accept(cases.getLast());
    }

    /// The name of the method that a case belongs to.
    private String method(TestIdentifier id) {
        TestIdentifier at = id;
        while (!at.getLegacyReportingName().endsWith("()") && plan.getParent(at).isPresent()) {
            at = plan.getParent(at).get();
        }
        return plain(at.getDisplayName());
    }

    private static String plain(String name) {
        return name.replaceFirst("\\(\\)$", "");
    }
}
