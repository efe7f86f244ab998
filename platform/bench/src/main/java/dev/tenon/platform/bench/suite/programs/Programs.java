package dev.tenon.platform.bench.suite.programs;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The programs of the suite.
public final class Programs {
    private static final List<Program> ALL = Stream.of(
                    new KernelsProgram(),
                    new DecodeProgram(),
                    new Qwen3Program(),
                    new ModelsProgram(),
                    new QuantSweepProgram(),
                    new PrecisionProgram(),
                    new ScalingProgram(),
                    new DirectProgram(),
                    new CrossProgram(),
                    new BatchProgram(),
                    new ProfileProgram())
            .sorted(Comparator.comparingInt(Program::seconds))
            .toList();

    private Programs() {}

    /// {@return all programs, the fastest first}
    public static List<Program> all() {
        return ALL;
    }

    /// {@return the program of a name}
    public static Optional<Program> find(String name) {
        return ALL.stream().filter(program -> program.name().equals(name)).findFirst();
    }
}
