package dev.tenon.platform.bench.tune;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;

/// A process that answers as [TuneWorker] does, without a model: `AT=hang` hangs, `AT=crash` ends it, `AT=refuse` fails
/// at the question AT; steps take `step` nanoseconds.
final class StandInWorker {
    private StandInWorker() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String candidate = "";
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String question = line.split(" ")[0];
            candidate = line.startsWith("load candidate") ? line : candidate;
            System.out.println("something that is no answer");
            if (candidate.contains(question + "=hang")) {
                new CountDownLatch(1).await();
            }
            if (candidate.contains(question + "=crash")) {
                Runtime.getRuntime().halt(7);
            }
            if (candidate.contains(question + "=refuse")) {
                System.out.println(TuneWorker.ANSWER + TuneWorker.FAILED + "no memory for it");
                continue;
            }
            if (args.length > 0 && line.equals("load defaults")) {
                System.out.println(TuneWorker.ANSWER + TuneWorker.FAILED + args[0]);
                continue;
            }
            int step =
                    candidate.contains("step=") ? Integer.parseInt(candidate.replaceAll(".*step=(\\d+).*", "$1")) : 100;
            System.out.println(TuneWorker.ANSWER
                    + switch (question) {
                        case "block" -> "1000";
                        case "difference" -> "0.0";
                        case "quad" -> "100 100 " + step + " " + step + " " + step + " " + step + " 100 100";
                        default -> "done";
                    });
        }
    }
}
