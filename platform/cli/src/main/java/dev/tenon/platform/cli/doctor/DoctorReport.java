package dev.tenon.platform.cli.doctor;

import dev.tenon.platform.cli.DoctorCheck;
import java.util.ArrayList;
import java.util.List;

/// The findings of `tenon doctor`.
final class DoctorReport implements DoctorCheck.Findings {
    /// How a check ended.
    enum Level {
        /// All is well.
        PASS,
        /// Something works less well than it could.
        WARN,
        /// Something does not work.
        FAIL
    }

    /// One finding.
    ///
    /// @param level how the check ended
    /// @param name what was checked
    /// @param found what was found
    /// @param advice what to do, or an empty string
    record Finding(Level level, String name, String found, String advice) {}

    private final List<Finding> findings = new ArrayList<>();

    @Override
    public void pass(String name, String found) {
        findings.add(new Finding(Level.PASS, name, found, ""));
    }

    @Override
    public void warn(String name, String found, String advice) {
        findings.add(new Finding(Level.WARN, name, found, advice));
    }

    @Override
    public void fail(String name, String found, String advice) {
        findings.add(new Finding(Level.FAIL, name, found, advice));
    }

    /// {@return the findings, in order; unmodifiable}
    List<Finding> findings() {
        return List.copyOf(findings);
    }

    /// {@return how many findings there are of a level}
    ///
    /// @param level the level
    long count(Level level) {
        return findings.stream().filter(f -> f.level() == level).count();
    }
}
