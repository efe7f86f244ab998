package dev.tenon.backend.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Plan;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.device.StepResult;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.TokenSampling;
import dev.tenon.backend.cuda.device.KernelLoader;
import dev.tenon.backend.cuda.ffm.DriverCall;
import dev.tenon.backend.cuda.plan.CudaPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Which rows of a step the device chooses from, and what travels to the host then: on a stand-in
/// for the driver, whose token of a row is the row's number.
@Timeout(600)
class ChoosingTests {
    private static final TokenSampling FROM_ALL = new TokenSampling(
            SamplingParams.greedyBuilder().temperature(1).seed(5).build(), 0);
    private static final TokenSampling FROM_FORTY = new TokenSampling(
            SamplingParams.greedyBuilder().temperature(1).topK(40).seed(5).build(), 0);

    private static StandInDriver driver;

    @BeforeAll
    static void install() {
        driver = StandInDriver.install(new StandInDriver.Card("stand-in", 9, 0, 1L << 32));
    }

    @AfterEach
    void nothingIsLeftOver() {
        assertEquals(List.of(), driver.violations);
        assertEquals(Map.of(), driver.alive());
    }

    /// A step of two sequences: one goes on, the other has a piece of a prompt. Null leaves a row
    /// to the host.
    private static StepInput mixed(TokenSampling first, TokenSampling second) {
        StepInput input = new StepInput();
        input.addSequence(new int[] {0});
        add(input, 3, first);
        input.addSequence(new int[] {1});
        input.addToken(1, 0, false);
        input.addToken(2, 1, false);
        add(input, 2, second);
        return input;
    }

    private static void add(StepInput input, int position, TokenSampling choice) {
        if (choice == null) {
            input.addToken(3, position, true);
        } else {
            input.addToken(3, position, choice);
        }
    }

    private static List<Integer> tokens(StepResult result) {
        List<Integer> tokens = new ArrayList<>();
        for (int row = 0; row < result.rows(); row++) {
            tokens.add(result.token(row));
        }
        return tokens;
    }

    private interface Work {
        void with(Plan plan);
    }

    private static void onEachKindOfPlan(Work work) {
        for (Map<String, String> settings : List.of(Map.<String, String>of(), Map.of(CudaPlan.GRAPHS, "off"))) {
            try (Device device = new CudaBackend()
                            .open(DeviceOptions.builder()
                                    .settings(Map.of(KernelLoader.KERNELS, "prebuilt"))
                                    .build());
                    Plan plan = device.compiler().compile(SmallModel.request(128, settings))) {
                work.with(plan);
                plan.profiler().orElseThrow().start();
                work.with(plan);
                plan.profiler().orElseThrow().stop();
            }
        }
    }

    private static int toHost() {
        return driver.count(DriverCall.cuMemcpyDtoHAsync_v2);
    }

    @Test
    void theDeviceChoosesForRowsOfPromptsAndOfGenerationsInOneStep() {
        onEachKindOfPlan(plan -> {
            int before = toHost();
            assertEquals(List.of(0, 1), tokens(plan.run(mixed(TokenSampling.GREEDY, FROM_FORTY))));
            assertEquals(List.of(0, 1), tokens(plan.run(mixed(FROM_FORTY, FROM_FORTY))));
            assertEquals(before, toHost(), "copies of logits");
        });
    }

    @Test
    void theDeviceChoosesByMasksToo() {
        onEachKindOfPlan(plan -> {
            assertTrue(plan.takesMasks());
            StepInput input = new StepInput();
            input.addSequence(new int[] {0});
            input.addToken(3, 3, FROM_FORTY, new long[] {5});
            input.addSequence(new int[] {1});
            input.addToken(3, 2, FROM_FORTY);
            int before = toHost();
            assertEquals(List.of(0, 1), tokens(plan.run(input)));
            assertEquals(before, toHost(), "copies of logits");
        });
    }

    @Test
    void rowsOfTheHostsAreLeftToIt() {
        onEachKindOfPlan(plan -> {
            assertEquals(List.of(-1, 1), tokens(plan.run(mixed(null, TokenSampling.GREEDY))));
            assertEquals(List.of(0, -1), tokens(plan.run(mixed(FROM_FORTY, null))));
            assertEquals(List.of(-1, 1), tokens(plan.run(mixed(FROM_ALL, FROM_FORTY))), "top-k 0");
            assertEquals(List.of(-1, -1), tokens(plan.run(mixed(FROM_ALL, null))));
            assertEquals(List.of(-1, -1), tokens(plan.run(mixed(null, null))));
            assertEquals(List.of(), tokens(plan.run(new StepInput())));
        });
    }

    @Test
    void logitsComeWhenTheyAreAskedFor() {
        onEachKindOfPlan(plan -> {
            StepResult result = plan.run(mixed(null, TokenSampling.GREEDY));
            int before = toHost();
            result.logits(0, new float[32]);
            assertEquals(before + 1, toHost());
            result.logits(1, new float[32]);
            assertEquals(before + 1, toHost(), "both rows came together");
            result = plan.run(mixed(TokenSampling.GREEDY, TokenSampling.GREEDY));
            before = toHost();
            result.logits(1, new float[32]);
            result.logits(0, new float[32]);
            assertEquals(before + 2, toHost(), "a row that nobody was expected to ask for comes alone");
            assertEquals(List.of(0, 1), tokens(result));
            StepResult last = result;
            assertThrows(IndexOutOfBoundsException.class, () -> last.token(2));
            assertThrows(IndexOutOfBoundsException.class, () -> last.token(-1));
        });
    }

    @Test
    void aStepOfMoreRowsThanSequencesIsTheHosts() {
        onEachKindOfPlan(plan -> {
            StepInput input = new StepInput();
            input.addSequence(new int[] {0});
            input.addToken(1, 0, TokenSampling.GREEDY);
            input.addToken(1, 1, TokenSampling.GREEDY);
            assertEquals(List.of(0, 1), tokens(plan.run(input)));
            input.addToken(1, 2, TokenSampling.GREEDY);
            assertEquals(List.of(-1, -1, -1), tokens(plan.run(input)));
        });
    }

    @Test
    void generationsAndStepsFollowEachOther() {
        onEachKindOfPlan(plan -> {
            List<List<Integer>> heard = new ArrayList<>();
            for (int round = 0; round < 2; round++) {
                assertEquals(List.of(0, 1), tokens(plan.run(mixed(FROM_FORTY, FROM_FORTY))));
                StepInput two = new StepInput();
                two.addSequence(new int[] {0});
                two.addToken(1, 4, true);
                two.addSequence(new int[] {1});
                two.addToken(1, 3, true);
                plan.generator()
                        .orElseThrow()
                        .generate(two, List.of(FROM_FORTY, FROM_FORTY), 3, t -> heard.add(List.of(t[0], t[1])));
                StepResult old = plan.run(mixed(null, null));
                assertEquals(List.of(-1, -1), tokens(old));
            }
            assertEquals(List.of(List.of(0, 1)), heard.stream().distinct().toList());
            assertEquals(6, heard.size());
        });
    }
}
