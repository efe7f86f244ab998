package dev.tenon.platform.bench.report.svg;

import java.util.List;

/// Names beside their colours.
final class Legend {
    private Legend() {}

    /// {@return the legend as HTML}
    static String of(List<String> names) {
        StringBuilder html = new StringBuilder("<p class=\"legend\">");
        for (int i = 0; i < names.size(); i++) {
            html.append("<span><i class=\"b")
                    .append(i % Svg.COLORS)
                    .append("\"></i>")
                    .append(Svg.escape(names.get(i)))
                    .append("</span> ");
        }
        return html.append("</p>\n").toString();
    }
}
