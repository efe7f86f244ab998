package dev.tenon.platform.bundles.listing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class BundleTableTests {
    @Test
    void aListFits80Columns() {
        OsgiBundles.Info plain = new OsgiBundles.Info(
                1,
                "com.fasterxml.jackson.core.jackson-annotations",
                "1.3.0.202212101352",
                "RESOLVED",
                List.of("ConfigurationAdmin", "ConfigurationListener", "PersistenceManager"),
                List.of(),
                "native, files",
                "0123456789abcdef",
                "CN=Someone,O=Org",
                false);
        OsgiBundles.Info refused = new OsgiBundles.Info(
                -1, "deploy/x.jar", "", "ASIDE", List.of(), List.of("It is refused."), "", "", "", false);
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        BundleTable.print(List.of(plain, refused), out);
        out.flush();
        assertEquals("""
                  1 RESOLVED com.fasterxml.jackson.core.jackson-annotations 1.3.0.202212101352
                             0123456789ab Someone native,files ConfigurationAdmin,
                             ConfigurationListener, PersistenceManager
                  - ASIDE    deploy/x.jar
                             - unsigned -
                             It is refused.
                """, text.toString().replaceAll(" +\n", "\n"));
    }
}
