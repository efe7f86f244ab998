package dev.tenon.platform.bench.report;

import dev.tenon.platform.bench.report.ProgramResult.Status;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A report of the suite.
///
/// @param created when it was begun, ISO 8601
/// @param options the command line that made it, without the folder
/// @param machine facts of machine, JVM, devices and ceilings, in the order in which they are shown
/// @param programs the programs, in the order in which they ran
public record Report(String created, List<String> options, Map<String, String> machine, List<ProgramResult> programs) {
    public Report {
        options = List.copyOf(options);
        machine = Collections.unmodifiableMap(new LinkedHashMap<>(machine));
        programs = List.copyOf(programs);
    }

    /// {@return the report with a program's result in the place of an earlier one, or at the end}
    public Report with(ProgramResult result) {
        List<ProgramResult> all = new ArrayList<>(programs);
        int at = 0;
        while (at < all.size() && !all.get(at).name().equals(result.name())) {
            at++;
        }
        if (at < all.size()) {
            all.set(at, result);
        } else {
            all.add(result);
        }
        return new Report(created, options, machine, all);
    }

    /// {@return the report with further facts}
    public Report withMachine(Map<String, String> further) {
        Map<String, String> all = new LinkedHashMap<>(machine);
        all.putAll(further);
        return new Report(created, options, all, programs);
    }

    /// {@return whether each program passed or was skipped}
    public boolean isWhole() {
        return programs.stream().map(ProgramResult::status).allMatch(Status::isDone);
    }
}
