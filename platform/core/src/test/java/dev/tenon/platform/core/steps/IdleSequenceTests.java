package dev.tenon.platform.core.steps;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.device.KvPages;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// A sequence without a call: others may take its pages while its session appends tokens.
class IdleSequenceTests {
    @Test
    void tokensThatAreAppendedWhilePagesAreTakenStay() throws Exception {
        PagePool pool = new PagePool(new Pages(4, 4), Optional.empty(), new WindowPool(Optional.empty()), page -> {});
        for (int round = 0; round < 2000; round++) {
            TokenSequence sequence = new TokenSequence();
            for (int i = 0; i < 16; i++) {
                sequence.append(i);
            }
            for (int i = 0; i < 4; i++) {
                sequence.addPage(pool.take());
            }
            sequence.advance(16);
            assertTrue(sequence.allRan());
            Thread session = Thread.ofVirtual().start(() -> {
                for (int i = 16; i < 80; i++) {
                    sequence.append(i);
                }
            });
            sequence.releaseCache(pool);
            session.join();
            assertEquals(80, sequence.length());
            for (int i = 0; i < 80; i++) {
                assertEquals(i, sequence.token(i));
            }
            assertEquals(0, sequence.computed());
            assertEquals(4, pool.freePages());
        }
    }

    private record Pages(int pageCount, int tokensPerPage) implements KvPages {
        @Override
        public long pageBytes() {
            return 1;
        }

        @Override
        public void copy(int from, int to) {
            throw new AssertionError("copied");
        }
    }
}
