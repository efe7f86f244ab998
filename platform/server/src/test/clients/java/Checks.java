/// Runs checks of a client; prints "ok NAME" for each thing that works, and ends with 1 if one does not.
final class Checks {
    static final String MODEL = "story";
    static final String QUESTION = "A tale of a fox.";

    private boolean failed;

    interface Check {
        void run() throws Exception;
    }

    void check(String name, Check check) {
        try {
            check.run();
            System.out.println("ok " + name);
        } catch (Exception | LinkageError | AssertionError e) {
            failed = true;
            System.out.print("FAILED " + name + ": ");
            e.printStackTrace(System.out);
        }
    }

    static void that(boolean holds, Object found) {
        if (!holds) {
            throw new AssertionError(String.valueOf(found));
        }
    }

    static void equal(Object expected, Object found) {
        that(expected.equals(found), "expected " + expected + ", found " + found);
    }

    static void fails(Class<? extends Exception> type, Check check) throws Exception {
        try {
            check.run();
        } catch (Exception e) {
            for (Throwable at = e; at != null; at = at.getCause()) {
                if (type.isInstance(at)) {
                    return;
                }
            }
            throw e;
        }
        throw new AssertionError("expected " + type.getSimpleName() + ", found none");
    }

    void end() {
        System.exit(failed ? 1 : 0);
    }
}
