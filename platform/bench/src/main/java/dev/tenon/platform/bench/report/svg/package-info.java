/// Diagrams as SVG elements inside a page, whose style sheet gives the colours.
package dev.tenon.platform.bench.report.svg;
