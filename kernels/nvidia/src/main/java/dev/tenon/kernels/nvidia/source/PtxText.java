package dev.tenon.kernels.nvidia.source;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// PTX written so that it compresses to half: without comments, with registers named by how recently they
/// were used.
///
/// ```
/// ld.global.f32 %f12,[%rd7];        ld.global.f32 %fN,[%rd0];      N: a new register
/// fma.rn.f32 %f13,%f12,%f4,%f9;     fma.rn.f32 %fN,%f0,%f7,%f2;    i: the i-th last one used, from 0
/// ```
///
/// Unrolled code repeats itself in this form. Registers are numbered again in the order of their first
/// use; each kernel begins from nothing.
final class PtxText {
    private static final Pattern PLAIN = Pattern.compile("%([a-z]+)(\\d+)");
    private static final Pattern RECENT = Pattern.compile("%([a-z]+)(N|\\d+)");

    private PtxText() {}

    /// {@return PTX in the form above}
    ///
    /// @param ptx as the compiler writes it
    static String encode(String ptx) {
        Map<String, Recency> kinds = new HashMap<>();
        StringBuilder out = new StringBuilder(ptx.length());
        for (String whole : ptx.lines().toList()) {
            String line = whole.replaceFirst("//.*", "")
                    .strip()
                    .replaceAll("\\s+", " ")
                    .replace(", ", ",");
            if (line.isEmpty()) {
                continue;
            }
            if (begins(line)) {
                kinds.clear();
            }
            Matcher register = PLAIN.matcher(line);
            while (register.find()) {
                Recency recency = kinds.computeIfAbsent(register.group(1), kind -> new Recency());
                int at = recency.find(Integer.parseInt(register.group(2)));
                register.appendReplacement(out, "%" + register.group(1) + (at < 0 ? "N" : Integer.toString(at)));
            }
            register.appendTail(out).append('\n');
        }
        return out.toString();
    }

    /// {@return PTX that a driver compiles}
    ///
    /// @param text from [#encode]
    static String decode(String text) {
        Map<String, Recency> kinds = new HashMap<>();
        StringBuilder out = new StringBuilder(2 * text.length());
        for (String line : text.lines().toList()) {
            if (begins(line)) {
                kinds.clear();
            }
            Matcher register = RECENT.matcher(line);
            while (register.find()) {
                Recency recency = kinds.computeIfAbsent(register.group(1), kind -> new Recency());
                String at = register.group(2);
                int number = at.equals("N") ? recency.add() : recency.take(Integer.parseInt(at));
                register.appendReplacement(out, "%" + register.group(1) + number);
            }
            register.appendTail(out).append('\n');
        }
        return out.toString();
    }

    private static boolean begins(String line) {
        return line.contains(".entry ") || line.contains(".func ");
    }

    /// Registers of one kind, the last used first.
    private static final class Recency {
        private int[] recent = new int[64];
        private int count;

        /// Where a register stands, or -1 if it is new; it stands first then.
        int find(int number) {
            for (int i = 0; i < count; i++) {
                if (recent[i] == number) {
                    take(i);
                    return i;
                }
            }
            push(number);
            return -1;
        }

        /// Gives a new register the next number; registers count from 1.
        int add() {
            push(count + 1);
            return count;
        }

        /// The register at a place; it stands first then.
        int take(int at) {
            int number = recent[at];
            System.arraycopy(recent, 0, recent, 1, at);
            recent[0] = number;
            return number;
        }

        private void push(int number) {
            if (count == recent.length) {
                recent = Arrays.copyOf(recent, 2 * count);
            }
            System.arraycopy(recent, 0, recent, 1, count++);
            recent[0] = number;
        }
    }
}
