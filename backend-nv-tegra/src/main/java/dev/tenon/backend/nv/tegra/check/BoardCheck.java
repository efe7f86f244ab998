package dev.tenon.backend.nv.tegra.check;

import dev.tenon.api.error.TenonException;
import dev.tenon.backend.nv.tegra.TegraOptions;
import dev.tenon.backend.nv.tegra.check.Finding.Level;
import dev.tenon.backend.nv.tegra.sys.Board;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/// What to run first on a board: looks, then takes memory, then opens channels, then runs the
/// smallest things that can go wrong, and stops at the first surprise. For one thread.
///
/// What is known to have frozen boards is not tried: there is no ring larger than the usual one, no
/// buffer in a memory window, no address space in the old layout unless a setting asks for it.
public final class BoardCheck {
    private final Consumer<Finding> listener;
    private final List<Finding> findings = new ArrayList<>();

    private BoardCheck(Consumer<Finding> listener) {
        this.listener = listener;
    }

    /// One thing to look at.
    @FunctionalInterface
    interface Look {
        /// {@return what was found}
        String found() throws Surprise;
    }

    /// Checks a board.
    ///
    /// @param board the board; borrowed
    /// @param own whether it is this machine, whose files and tools say more
    /// @param root where the machine's files begin: `/`
    /// @param settings the device's settings by name
    /// @param listener hears of each step at once, so that the last one before a freeze is known
    /// @return all findings; the last is a surprise if not everything was as expected
    /// @throws IllegalArgumentException if a setting is not understood
    public static List<Finding> run(
            Board board, boolean own, Path root, Map<String, String> settings, Consumer<Finding> listener) {
        Target target = Target.of(board, TegraOptions.of(settings));
        BoardCheck check = new BoardCheck(listener);
        Machine machine = new Machine(root);
        boolean ready = !own
                || check.step("release", "Jetson Linux 36", machine::release)
                        && check.step("device nodes", "readable and writable", machine::nodes);
        if (own) {
            check.note("power and clocks", machine.power());
        }
        if (ready) {
            try (GpuSteps steps = new GpuSteps(target, settings)) {
                ready = steps.run(check);
            }
            if (own) {
                check.step("kernel log", "none of the driver's alarms", machine::log);
            }
        }
        return List.copyOf(check.findings);
    }

    /// Checks a GPU behind another driver, and measures what a launch costs.
    ///
    /// @param target the GPU
    /// @param settings the device's settings by name
    /// @param listener hears of each step at once
    /// @return as for a board
    /// @throws IllegalArgumentException if a setting is not understood
    public static List<Finding> run(Target target, Map<String, String> settings, Consumer<Finding> listener) {
        BoardCheck check = new BoardCheck(listener);
        try (GpuSteps steps = new GpuSteps(target, settings)) {
            if (steps.run(check)) {
                check.step("dispatch latency", "a figure", steps::latency);
            }
        }
        return List.copyOf(check.findings);
    }

    /// Takes a step.
    ///
    /// @param name what is looked at
    /// @param expected what a working board shows
    /// @param look looks
    /// @return whether it was as expected
    boolean step(String name, String expected, Look look) {
        try {
            add(new Finding(name, Level.PASS, expected, look.found(), ""));
            return true;
        } catch (Surprise e) {
            add(new Finding(name, Level.SURPRISE, expected, e.getMessage(), e.advice()));
        } catch (TenonException e) {
            add(new Finding(name, Level.SURPRISE, expected, e.getMessage(), ""));
        }
        return false;
    }

    private void note(String name, String found) {
        add(new Finding(name, Level.NOTE, "", found, ""));
    }

    private void add(Finding finding) {
        findings.add(finding);
        listener.accept(finding);
    }
}
