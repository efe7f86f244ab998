package dev.tenon.backend.nv.tegra.emulator.stream;

import dev.tenon.backend.nv.tegra.command.Methods;
import dev.tenon.backend.nv.tegra.command.Qmd;
import dev.tenon.backend.nv.tegra.command.QmdFormat;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Command words and launch descriptors as text.
public final class Disassembler {
    private Disassembler() {}

    private static String method(int subchannel, int method) {
        return switch (subchannel) {
            case Methods.COPY -> copyName(method);
            default -> method < Methods.FIRST_CLASS_METHOD ? hostName(method) : computeName(method);
        };
    }

    private static String hostName(int method) {
        return switch (method) {
            case Methods.SET_OBJECT -> "SET_OBJECT";
            case Methods.NON_STALL_INTERRUPT -> "NON_STALL_INTERRUPT";
            case Methods.SEM_ADDR_LO -> "SEM_ADDR_LO";
            case Methods.SEM_ADDR_HI -> "SEM_ADDR_HI";
            case Methods.SEM_PAYLOAD_LO -> "SEM_PAYLOAD_LO";
            case Methods.SEM_PAYLOAD_HI -> "SEM_PAYLOAD_HI";
            case Methods.SEM_EXECUTE -> "SEM_EXECUTE";
            case Methods.WFI -> "WFI";
            default -> "?";
        };
    }

    private static String computeName(int method) {
        return switch (method) {
            case Methods.WAIT_FOR_IDLE -> "WAIT_FOR_IDLE";
            case Methods.INVALIDATE_SHADER_CACHES -> "INVALIDATE_SHADER_CACHES";
            case Methods.INVALIDATE_SHADER_CACHES_NO_WFI -> "INVALIDATE_SHADER_CACHES_NO_WFI";
            case Methods.SHARED_WINDOW_A -> "SHARED_WINDOW_A";
            case Methods.SHARED_WINDOW_A + 4 -> "SHARED_WINDOW_B";
            case Methods.LOCAL_WINDOW_A -> "LOCAL_WINDOW_A";
            case Methods.LOCAL_WINDOW_A + 4 -> "LOCAL_WINDOW_B";
            case Methods.LOCAL_MEMORY_A -> "LOCAL_MEMORY_A";
            case Methods.LOCAL_MEMORY_A + 4 -> "LOCAL_MEMORY_B";
            case Methods.LOCAL_MEMORY_NON_THROTTLED_A -> "LOCAL_MEMORY_NON_THROTTLED_A";
            case Methods.LOCAL_MEMORY_NON_THROTTLED_A + 4 -> "LOCAL_MEMORY_NON_THROTTLED_B";
            case Methods.LOCAL_MEMORY_NON_THROTTLED_A + 8 -> "LOCAL_MEMORY_NON_THROTTLED_C";
            case Methods.SEND_PCAS_A -> "SEND_PCAS_A";
            case Methods.SEND_SIGNALING_PCAS2_B -> "SEND_SIGNALING_PCAS2_B";
            default -> "?";
        };
    }

    private static String copyName(int method) {
        return switch (method) {
            case Methods.SET_OBJECT -> "SET_OBJECT";
            case Methods.COPY_SEMAPHORE_A -> "SEMAPHORE_A";
            case Methods.COPY_SEMAPHORE_A + 4 -> "SEMAPHORE_B";
            case Methods.COPY_SEMAPHORE_A + 8 -> "SEMAPHORE_PAYLOAD";
            case Methods.COPY_LAUNCH -> "LAUNCH_DMA";
            case Methods.COPY_OFFSET_IN_UPPER -> "OFFSET_IN_UPPER";
            case Methods.COPY_OFFSET_IN_UPPER + 4 -> "OFFSET_IN_LOWER";
            case Methods.COPY_OFFSET_IN_UPPER + 8 -> "OFFSET_OUT_UPPER";
            case Methods.COPY_OFFSET_IN_UPPER + 12 -> "OFFSET_OUT_LOWER";
            case Methods.COPY_LINE_LENGTH -> "LINE_LENGTH_IN";
            default -> hostName(method);
        };
    }

    /// {@return a line for each method: subchannel, address, name, data}
    ///
    /// @param words command words; damaged ones are shown as far as they can be
    public static List<String> words(int[] words) {
        List<String> lines = new ArrayList<>();
        int at = 0;
        while (at < words.length) {
            int header = words[at++];
            int op = header >>> 29;
            int count = header >>> 16 & 0x1FFF;
            int subchannel = header >>> 13 & 7;
            int method = (header & 0xFFF) << 2;
            if (header == 0) {
                lines.add("nop");
            } else if (op == 4) {
                lines.add(line(subchannel, method, count));
            } else if (op == 1 || op == 3 || op == 5) {
                for (int i = 0; i < count; i++) {
                    if (at == words.length) {
                        lines.add("(the words end here)");
                        return lines;
                    }
                    lines.add(line(
                            subchannel, op == 1 ? method + 4 * i : op == 5 && i > 0 ? method + 4 : method, words[at]));
                    at++;
                }
            } else {
                lines.add(String.format("(not a header: %08x)", header));
            }
        }
        return lines;
    }

    private static String line(int subchannel, int method, int data) {
        return String.format("%d %04x %-31s %08x", subchannel, method, method(subchannel, method), data);
    }

    /// {@return a launch descriptor, one line}
    ///
    /// @param bytes 256 bytes
    public static String qmd(byte[] bytes) {
        QmdFormat f = QmdFormat.V3;
        Qmd qmd = new Qmd(f, MemorySegment.ofArray(bytes));
        StringBuilder banks = new StringBuilder();
        for (int bank = 0; bank < Qmd.BANKS; bank++) {
            if (qmd.get(f.constantValid(bank)) != 0) {
                banks.append(String.format(
                        " c%d 0x%x+%d", bank, qmd.get(f.constantAddress(bank)), qmd.get(f.constantSize(bank)) << 4));
            }
        }
        return String.format(
                "grid %d x %d x %d, block %d x %d x %d, code 0x%x, %d registers, %d shared, %d local, %d barriers,%s",
                qmd.get(f.gridX()),
                qmd.get(f.gridY()),
                qmd.get(f.gridZ()),
                qmd.get(f.blockX()),
                qmd.get(f.blockY()),
                qmd.get(f.blockZ()),
                qmd.get(f.program()),
                qmd.get(f.registers()),
                qmd.get(f.sharedBytes()),
                qmd.get(f.localBytes()),
                qmd.get(f.barriers()),
                banks);
    }
}
