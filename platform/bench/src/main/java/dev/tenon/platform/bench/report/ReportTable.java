package dev.tenon.platform.bench.report;

import java.util.List;

/// A table that a program adds to its measurements, such as the kernels of a step.
///
/// @param title what it shows
/// @param columns heads of the columns
/// @param rows cells; a cell that is a number is aligned to the right
public record ReportTable(String title, List<String> columns, List<List<String>> rows) {
    public ReportTable {
        columns = List.copyOf(columns);
        rows = rows.stream().map(List::copyOf).toList();
    }
}
