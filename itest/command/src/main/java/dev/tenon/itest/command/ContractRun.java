package dev.tenon.itest.command;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.engine.JupiterTestEngine;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/// Runs a class of JUnit tests and collects what came out.
final class ContractRun implements TestExecutionListener {
    /// A test that did not pass.
    ///
    /// @param name its name, with the test that made it
    /// @param reason why
    record NotPassed(String name, String reason) {}

    /// How the cases of one test method came out.
    static final class Tally {
        int passed;
        int failed;
        int skipped;
    }

    private final TreeMap<String, Tally> tallies = new TreeMap<>();
    private final List<NotPassed> failures = new ArrayList<>();
    private final List<NotPassed> skips = new ArrayList<>();
    private TestPlan plan;

    private ContractRun() {}

    /// Runs all tests of a class.
    ///
    /// @param type the class
    /// @return what came out
    static ContractRun of(Class<?> type) {
        ContractRun run = new ContractRun();
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
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
                    .build();
            launcher.execute(request, run);
        } finally {
            thread.setContextClassLoader(before);
        }
        return run;
    }

    /// {@return numbers by test method}
    TreeMap<String, Tally> tallies() {
        return tallies;
    }

    /// {@return failed cases}
    List<NotPassed> failures() {
        return failures;
    }

    /// {@return skipped cases}
    List<NotPassed> skips() {
        return skips;
    }

    /// {@return number of cases that passed}
    int passed() {
        return tallies.values().stream().mapToInt(t -> t.passed).sum();
    }

    @Override
    public void testPlanExecutionStarted(TestPlan testPlan) {
        plan = testPlan;
    }

    @Override
    public void executionSkipped(TestIdentifier id, String reason) {
        tally(id).skipped++;
        skips.add(new NotPassed(name(id), reason));
    }

    @Override
    public void executionFinished(TestIdentifier id, TestExecutionResult result) {
        String reason = result.getThrowable().map(Throwable::toString).orElse("");
        switch (result.getStatus()) {
            case SUCCESSFUL -> {
                if (id.isTest()) {
                    tally(id).passed++;
                }
            }
            case ABORTED -> {
                tally(id).skipped++;
                skips.add(new NotPassed(name(id), reason));
            }
            case FAILED -> {
                tally(id).failed++;
                failures.add(new NotPassed(name(id), reason));
            }
        }
    }

    private Tally tally(TestIdentifier id) {
        return tallies.computeIfAbsent(method(id), name -> new Tally());
    }

    /// The name of the method that a case belongs to.
    private String method(TestIdentifier id) {
        TestIdentifier at = id;
        while (!at.getLegacyReportingName().endsWith("()") && plan.getParent(at).isPresent()) {
            at = plan.getParent(at).get();
        }
        return at.getDisplayName();
    }

    private String name(TestIdentifier id) {
        String method = method(id);
        return method.equals(id.getDisplayName()) ? method : method + ": " + id.getDisplayName();
    }
}
