package dev.tenon.itest.testkit;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.Map;
import java.util.TreeMap;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/// Runs a contract inside a test, to see what it finds.
final class ContractRunner {
    private ContractRunner() {}

    /// {@return the reasons of failed tests by method name}
    ///
    /// @param contract a concrete subclass of a contract
    /// @param atLeast how many tests have to succeed, so that an empty run does not count
    static Map<String, String> failuresOf(Class<?> contract, int atLeast) {
        return failuresOf(selectClass(contract), atLeast);
    }

    /// {@return the reasons of failed cases of one test by its name}
    ///
    /// @param contract a concrete subclass of a contract
    /// @param method the test
    static Map<String, String> failuresOf(Class<?> contract, String method) {
        return failuresOf(selectMethod(contract, method), 0);
    }

    private static Map<String, String> failuresOf(DiscoverySelector selector, int atLeast) {
        LauncherDiscoveryRequest request =
                LauncherDiscoveryRequestBuilder.request().selectors(selector).build();
        Map<String, String> failures = new TreeMap<>();
        int[] succeeded = new int[1];
        LauncherFactory.create().execute(request, new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
                    succeeded[0] += test.isTest() ? 1 : 0;
                } else if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                    String method = test.getSource().map(ContractRunner::method).orElse(test.getDisplayName());
                    failures.put(
                            method,
                            result.getThrowable().map(Throwable::toString).orElse("no reason"));
                }
            }
        });
        assertTrue(succeeded[0] >= atLeast, succeeded[0] + " tests succeeded; failures: " + failures);
        return failures;
    }

    private static String method(TestSource source) {
        return source instanceof MethodSource m ? m.getMethodName() : source.toString();
    }
}
