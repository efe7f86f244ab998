package dev.tenon.platform.hub;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class HubReferenceTests {
    @Test
    void quantisationIsNotFoundInsideOtherNames() {
        HubReference reference = HubReference.parse("hf:a/b:Q4_K");
        assertEquals(List.of(), reference.choose(List.of("m-Q4_K_M.gguf", "m-IQ4_K.gguf")));
        assertEquals(List.of(List.of("m.Q4_K.gguf")), reference.choose(List.of("m-Q4_K_M.gguf", "m.Q4_K.gguf")));
        assertEquals(List.of(List.of("only.gguf")), HubReference.parse("hf:a/b").choose(List.of("x.txt", "only.gguf")));
    }

    @Test
    void theNameThatEndsWithTheQuantisationIsTakenAndNeverAFileBesideTheModel() {
        HubReference reference = HubReference.parse("hf:a/b:Q4_K_M");
        List<List<String>> model = List.of(List.of("m-Q4_K_M.gguf"));
        for (String beside : List.of(
                "m-Q4_K_M-imatrix.gguf",
                "imatrix-Q4_K_M.gguf",
                "mmproj-Q4_K_M.gguf",
                "m.MTP-Q4_K_M.gguf",
                "a-draft-Q4_K_M.gguf",
                "m-projector.Q4_K_M.gguf")) {
            assertEquals(model, reference.choose(List.of(beside, "m-Q4_K_M.gguf")), beside);
            assertEquals(List.of(), reference.choose(List.of(beside)), beside);
        }
        assertEquals(model, reference.choose(List.of("m-Q4_K_M-00.gguf", "m-Q4_K_M.gguf")));
        assertEquals(List.of(List.of("m-Q4_K_M.i1.gguf")), reference.choose(List.of("m-Q4_K_M.i1.gguf")));
        assertEquals(
                List.of(List.of("Q4_K_M/m-00001-of-00002.gguf", "Q4_K_M/m-00002-of-00002.gguf")),
                reference.choose(List.of("Q4_K_M/m-00002-of-00002.gguf", "Q4_K_M/m-00001-of-00002.gguf")));
        assertEquals(
                List.of(List.of("m-draft-Q4_K_M.gguf")),
                HubReference.parse("hf:a/m-draft-GGUF:Q4_K_M").choose(List.of("m-draft-Q4_K_M.gguf")));
    }
}
