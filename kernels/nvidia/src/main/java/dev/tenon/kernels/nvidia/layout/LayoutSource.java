package dev.tenon.kernels.nvidia.layout;

import dev.tenon.api.quant.layout.BitField;
import dev.tenon.api.quant.layout.BlockLayout;
import dev.tenon.api.quant.layout.CodeBook;
import dev.tenon.api.quant.layout.Numbers;
import dev.tenon.api.quant.layout.Scale;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// CUDA C of the struct by which `layout.cuh` reads blocks of the file.
///
/// @param layout the format's
/// @param levels how levels lie on the device
/// @param scales how scales do
/// @param minimums how minimums do
record LayoutSource(BlockLayout layout, LevelCoding levels, FactorCoding scales, Optional<FactorCoding> minimums) {
    private static final int SIGN_INDEX = 7;

    /// {@return the struct}
    ///
    /// @param name its name
    /// @param unit weights that a lane takes at once
    /// @param chunk weights under one byte of scale
    /// @param group weights under one factor
    /// @param floats whether factors are floats
    String text(String name, int unit, int chunk, int group, boolean floats) {
        List<String> lines = new ArrayList<>();
        lines.add("#pragma once");
        lines.add("struct " + name + " {");
        number(lines, "BLOCK", layout.size());
        number(lines, "BYTES", layout.bytes());
        number(lines, "BITS", levels.bits());
        number(lines, "UNIT", unit);
        number(lines, "CHUNK", chunk);
        number(lines, "GROUP", group);
        flag(lines, "SIGNED", levels.signed());
        flag(lines, "TABLE", !levels.table().isEmpty());
        flag(lines, "WHOLE", scales.whole());
        flag(lines, "SIGNED_SCALES", scales.signed());
        flag(lines, "MINIMUMS", minimums.isPresent());
        flag(lines, "WHOLE_MINIMUMS", minimums.filter(FactorCoding::whole).isPresent());
        flag(lines, "FLOATS", floats);
        String sign = levels.negative() ? "-" : "";
        function(lines, "constexpr float", "scaleUnit()", sign + power(-scales.power() - levels.power()));
        function(
                lines,
                "constexpr float",
                "minimumUnit()",
                power(-minimums.map(FactorCoding::power).orElse(0)));
        levels(lines);
        factors(lines, "scale", "factor", layout.scales().orElseThrow(), scales);
        layout.minimums().ifPresent(m -> factors(lines, "minimum", "minimumFactor", m, minimums.orElseThrow()));
        // What is not there is not called, but has to be something.
        for (String missing : List.of("scale", "minimum", "minimumFactor")) {
            if (lines.stream().noneMatch(line -> line.contains(" " + missing + "(const u8* in"))) {
                function(
                        lines,
                        missing.equals("minimumFactor") ? "float" : "int",
                        missing + "(const u8* in, int i)",
                        "0");
            }
        }
        lines.add("};");
        return String.join("\n", lines) + "\n";
    }

    private static void number(List<String> lines, String name, int value) {
        lines.add("    static constexpr int " + name + " = " + value + ";");
    }

    private static void flag(List<String> lines, String name, boolean value) {
        lines.add("    static constexpr bool " + name + " = " + value + ";");
    }

    private static void function(List<String> lines, String type, String signature, String... body) {
        lines.add("    static DEVICE " + type + " " + signature + " {");
        for (int i = 0; i < body.length - 1; i++) {
            lines.add("        " + body[i]);
        }
        lines.add("        return " + body[body.length - 1] + ";");
        lines.add("    }");
    }

    private static String power(int exponent) {
        return decimal(Math.scalb(1.0f, exponent));
    }

    private static String decimal(float value) {
        return String.format(Locale.ROOT, "%.9ef", value);
    }

    private void levels(List<String> lines) {
        bits(lines, "bitsOfLevel", layout.levels());
        layout.signs().ifPresent(signs -> bits(lines, "bitsOfSign", signs));
        layout.codeBook().ifPresent(book -> table(lines, "book", "i8", entries(book)));
        if (!levels.table().isEmpty()) {
            function(lines, "Table16", "table()", "Table16{{" + words() + "}}");
        }
        if (LevelCoding.isBook(layout) && !levels.table().isEmpty()) {
            function(lines, "int", "level(const u8* in, int i)", "bitsOfLevel(in, i)");
            return;
        }
        number(lines);
        layout.shifts().ifPresent(shift -> scaled(lines, "shift", shift));
        String whole = layout.shifts().isPresent()
                ? "(int) ((number(in, i) + shift(in, i)) * " + power(levels.power()) + ")"
                : "number(in, i) * " + (1 << levels.power());
        whole = levels.negative() ? "-(" + whole + ")" : whole;
        if (levels.table().isEmpty()) {
            int zero = levels.signed() ? 1 << levels.bits() - 1 : 0;
            function(lines, "int", "level(const u8* in, int i)", whole + " + " + zero);
        } else {
            table(lines, "entries", "i8", levels.table());
            function(
                    lines,
                    "int",
                    "level(const u8* in, int i)",
                    "const int wanted = " + whole + ";",
                    "int level = 0;",
                    "while (level < " + (levels.table().size() - 1) + " && entries(level) != wanted) level++;",
                    "level");
        }
    }

    private void number(List<String> lines) {
        String level = layout.codeBook()
                .map(book -> "book(bitsOfLevel(in, i / " + book.length() + ") * " + book.length() + " + i % "
                        + book.length() + ")")
                .orElse("(int) bitsOfLevel(in, i) - " + layout.zero());
        if (layout.signs().isEmpty()) {
            function(lines, "int", "number(const u8* in, int i)", level);
        } else if (layout.signs().get().width() == SIGN_INDEX) {
            function(
                    lines,
                    "int",
                    "number(const u8* in, int i)",
                    "const u32 signs = bitsOfSign(in, i / 8);",
                    "const u32 sign = i % 8 < 7 ? signs >> i % 8 & 1 : __popc(signs) & 1;",
                    "const int number = " + level + ";",
                    "sign ? -number : number");
        } else {
            function(
                    lines,
                    "int",
                    "number(const u8* in, int i)",
                    "const int number = " + level + ";",
                    "bitsOfSign(in, i) ? -number : number");
        }
    }

    private static List<Integer> entries(CodeBook book) {
        return IntStream.range(0, book.levels() * book.length())
                .map(i -> book.number(i / book.length(), i % book.length()))
                .boxed()
                .toList();
    }

    private static void table(List<String> lines, String name, String type, List<Integer> entries) {
        String all = entries.stream().map(String::valueOf).collect(Collectors.joining(","));
        function(lines, type, name + "(int i)", "static const " + type + " all[] = {" + all + "};", "all[i]");
    }

    /// The table's bytes in four words, the first one lowest.
    private String words() {
        int[] words = new int[4];
        for (int i = 0; i < levels.table().size(); i++) {
            words[i / 4] |= (levels.table().get(i) & 255) << 8 * (i % 4);
        }
        return IntStream.of(words).mapToObj(word -> "0x%08xu".formatted(word)).collect(Collectors.joining(", "));
    }

    private void factors(List<String> lines, String byteName, String factorName, Scale scale, FactorCoding coding) {
        if (!coding.whole()) {
            scaled(lines, factorName, scale);
            return;
        }
        bits(lines, byteName + "Bits", scale.numbers());
        int group = layout.size() / scale.count();
        String whole = value(scale, "(int) " + byteName + "Bits(in, i / " + group + ")");
        function(
                lines,
                "int",
                byteName + "(const u8* in, int i)",
                "(int) (" + whole + " * " + power(coding.power()) + ")");
        if (scale.common().isPresent()) {
            bits(lines, factorName + "Bits", scale.common().get());
            function(
                    lines,
                    "float",
                    factorName + "(const u8* in, int)",
                    real(scale.common().get().type(), factorName + "Bits(in, 0)"));
        } else {
            function(lines, "float", factorName + "(const u8* in, int)", "1.f");
        }
    }

    /// A function for the scale of weight i as a float, with its common factor.
    private void scaled(List<String> lines, String name, Scale scale) {
        bits(lines, name + "Bits", scale.numbers());
        int group = layout.size() / scale.count();
        String bits = name + "Bits(in, i / " + group + ")";
        Numbers.Type type = scale.numbers().type();
        String value = value(scale, type.whole() ? "(int) " + bits : real(type, bits));
        if (scale.common().isPresent()) {
            bits(lines, name + "CommonBits", scale.common().get());
            value = real(scale.common().get().type(), name + "CommonBits(in, 0)") + " * (" + value + ")";
        }
        function(lines, "float", name + "(const u8* in, int i)", value);
    }

    private static String value(Scale scale, String number) {
        return "(" + decimal(scale.step()) + " * " + number + " + " + decimal(scale.offset()) + ")";
    }

    private static String real(Numbers.Type type, String bits) {
        return switch (type) {
            case F16 -> "halfToFloat((u16) " + bits + ")";
            case BF16 -> "bfloatToFloat((u16) " + bits + ")";
            case F32 -> "__uint_as_float(" + bits + ")";
            case E8M0_HALF -> "halfOfPower(" + bits + ")";
            case UE4M3_HALF -> "halfOfSmallFloat(" + bits + ")";
            case UNSIGNED, SIGNED, TRITS -> throw new IllegalArgumentException(type + " is whole");
        };
    }

    /// A function for the n-th number.
    private static void bits(List<String> lines, String name, Numbers numbers) {
        boolean signed = numbers.type() == Numbers.Type.SIGNED;
        List<String> body = new ArrayList<>();
        int before = 0;
        for (List<BitField> run : numbers.runs()) {
            int count = run.getFirst().count();
            String n = before == 0 ? "n" : "(n - " + before + ")";
            String value = numbers.type() == Numbers.Type.TRITS ? trit(run.getFirst(), n) : pieces(run, n, signed);
            before += count;
            body.add(before == numbers.count() ? value : "if (n < " + before + ") return " + value + ";");
        }
        function(lines, signed ? "int" : "u32", name + "(const u8* in, int n)", body.toArray(String[]::new));
    }

    private static String pieces(List<BitField> run, String n, boolean signed) {
        List<String> pieces = new ArrayList<>();
        int to = 0;
        for (BitField field : run) {
            pieces.add("bitsAt(in, " + bit(field, n) + ", " + field.width() + ") << " + to);
            to += field.width();
        }
        String bits = String.join(" | ", pieces);
        return signed ? "(int) ((" + bits + ") << " + (Integer.SIZE - to) + ") >> " + (Integer.SIZE - to) : bits;
    }

    private static String trit(BitField field, String n) {
        int bytes = field.count() / field.axes().getLast().count();
        return "digitOf3(bitsAt(in, " + bit(field, n) + ", 8), " + n + " / " + bytes + ")";
    }

    private static String bit(BitField field, String n) {
        StringBuilder bit = new StringBuilder(String.valueOf(field.first()));
        int inside = 1;
        for (BitField.Axis axis : field.axes()) {
            bit.append(" + ")
                    .append(n)
                    .append(" / ")
                    .append(inside)
                    .append(" % ")
                    .append(axis.count());
            bit.append(" * ").append(axis.step());
            inside *= axis.count();
        }
        return bit.toString();
    }
}
