package dev.tenon.itest.framework;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/// A pom as it is written, or an element of it.
///
/// @param element the element
record Pom(Element element) {
    static Pom read(Path file) throws IOException {
        try {
            return new Pom(DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(file.toFile())
                    .getDocumentElement());
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    /// {@return the elements that a path such as `modules/module` leads to}
    List<Pom> all(String path) {
        Stream<Pom> found = Stream.of(this);
        for (String name : Arrays.asList(path.split("/"))) {
            found = found.flatMap(each -> children(each.element.getChildNodes()))
                    .filter(each -> each.element.getTagName().equals(name));
        }
        return found.toList();
    }

    /// {@return the elements of a name anywhere below}
    List<Pom> below(String name) {
        return children(element.getElementsByTagName(name)).toList();
    }

    private static Stream<Pom> children(NodeList nodes) {
        return IntStream.range(0, nodes.getLength())
                .mapToObj(nodes::item)
                .filter(Element.class::isInstance)
                .map(node -> new Pom((Element) node));
    }

    /// {@return the text that a path leads to without the white space that sets its elements apart, or nothing}
    String text(String path) {
        return all(path).stream().findFirst().map(Pom::text).orElse("");
    }

    String text() {
        return element.getTextContent().lines().map(String::strip).collect(Collectors.joining());
    }
}
