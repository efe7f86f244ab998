package dev.tenon.platform.launcher;

import dev.tenon.platform.boot.EntryPoint;
import dev.tenon.platform.launcher.home.CacheFolder;
import dev.tenon.platform.launcher.home.Home;
import dev.tenon.platform.launcher.home.PlatformException;
import dev.tenon.platform.launcher.log.LogProvider;
import dev.tenon.platform.launcher.log.OwnLines;
import java.io.ByteArrayInputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.xml.parsers.FactoryConfigurationError;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.parsers.SAXParserFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.xml.sax.SAXException;
import org.xml.sax.helpers.DefaultHandler;

/// Main class: boots the framework, passes the arguments to the command line, and exits with its
/// status. The version, and what [KeptAnswers] knows, is answered without a framework.
///
/// System properties: `tenon.home` (the distribution's folder; default: where the launcher's jar
/// lies), `tenon.log` (levels, see [LogSetup]), `tenon.watch.delay` (milliseconds before `deploy`
/// and `etc` are watched, default 1000) and `tenon.watch.poll` (milliseconds between two checks,
/// default 250).
public final class Main {
    private static final int FAILED = 1;

    /// Whether the process was told to end. A command that still runs then fails because its
    /// bundles were stopped, which is not reported.
    private static volatile boolean stopping;

    /// How long a process that was told to end waits for its boot, which ends between two bundles.
    private static final long BOOT_SECONDS = 5;

    private Main() {}

    /// Ends the boot of a process that was told to end.
    ///
    /// @throws PlatformException if it was; nobody is told
    static void requireRunning() {
        if (stopping) {
            throw new PlatformException("The process was told to end.");
        }
    }

    /// Runs one command and ends the JVM.
    ///
    /// @param args the command line's arguments, passed on as they are
    public static void main(String[] args) {
        long begin = System.nanoTime();
        OwnLines.take();
        LogProvider.select(); // before anything logs
        StartCache.survived();
        int code;
        try {
            checkMachine(System.getProperty("sun.arch.data.model", "64"), ByteOrder.nativeOrder());
            code = isVersion(args) ? version() : answer(args, begin);
            VectorModule.load("last");
        } catch (PlatformException e) {
            if (!stopping) {
                System.err.println("tenon: " + e.getMessage());
            }
            code = FAILED;
        } catch (Throwable e) {
            if (!stopping) {
                System.err.println("tenon: " + oneLine(e));
            }
            log().debug("Stack trace", e);
            code = FAILED;
        }
        System.out.flush();
        System.err.flush();
        System.exit(code);
    }

    /// Refuses a machine on which no backend can work.
    ///
    /// @param bits system property `sun.arch.data.model`
    /// @throws PlatformException (`ENV-001`)
    static void checkMachine(String bits, ByteOrder order) {
        if (!bits.equals("64") || order != ByteOrder.LITTLE_ENDIAN) {
            throw new PlatformException(
                    "This Java is for " + System.getProperty("os.arch") + ", " + bits + " bits, " + order
                            + ". Tenon needs a 64-bit little-endian one, such as for x86-64 or AArch64.",
                    "ENV-001");
        }
    }

    private static boolean isVersion(String... args) {
        return args.length == 1 && (args[0].equals("--version") || args[0].equals("-V"));
    }

    /// Prints the distribution's version, which no bundle is needed for.
    private static int version() {
        System.out.println("tenon " + BuildProperties.get("version"));
        if (System.out.checkError()) {
            System.err.println("tenon: Standard output cannot be written. Free space, or send it elsewhere. [IO-001]");
            return FAILED;
        }
        return 0;
    }

    /// Names the JDK's own parser: the component runtime would otherwise search all class loaders
    /// for one with each description.
    private static void takeXmlParser() {
        String factory = SAXParserFactory.class.getName();
        if (System.getProperty(factory) == null) {
            System.setProperty(
                    factory, SAXParserFactory.newDefaultInstance().getClass().getName());
        }
        Thread.ofPlatform().daemon().name("tenon-xml").start(Main::parseFirst);
    }

    /// Parses a small component description, so that the parser's classes are loaded before they
    /// are needed.
    private static void parseFirst() {
        String description =
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a:b xmlns:a=\"c\" d=\"e\">\n <f g=\"h\"/>\n</a:b>";
        try {
            SAXParserFactory factory = SAXParserFactory.newInstance();
            factory.setNamespaceAware(true);
            factory.newSAXParser()
                    .parse(
                            new ByteArrayInputStream(description.getBytes(StandardCharsets.UTF_8)),
                            new DefaultHandler());
        } catch (ParserConfigurationException | SAXException | IOException | FactoryConfigurationError e) {
            // The component runtime fails in the same way and reports it.
            log().debug("The XML parser does not work", e);
        }
    }

    /// Answers from what is kept, or runs the command.
    private static int answer(String[] args, long begin) {
        Home home = Home.find();
        Optional<KeptAnswers> answers = KeptAnswers.of(home, System.getenv(), System.currentTimeMillis(), args);
        OptionalInt status = answers.map(each -> each.print(new FileOutputStream(FileDescriptor.out)))
                .orElseGet(OptionalInt::empty);
        return status.isPresent() ? status.getAsInt() : run(home, args, answers, begin, VectorModule.loadBeside());
    }

    private static int run(Home home, String[] args, Optional<KeptAnswers> answers, long begin, Runnable vectorModule) {
        System.setProperty("java.util.logging.SimpleFormatter.format", "%4$s %3$s - %5$s%6$s%n");
        takeXmlParser();
        AtomicReference<Platform> booted = new AtomicReference<>();
        CountDownLatch booting = new CountDownLatch(1);
        Runnable close = () -> {
            stopping = true;
            await(booting);
            Platform running = booted.get();
            if (running != null) {
                running.close();
            } else {
                CacheFolder.removeUnfinished();
            }
        };
        // First of all: no hook can be added after a signal.
        Runtime.getRuntime().addShutdownHook(new Thread(close, "tenon-stop"));
        Platform platform;
        try {
            platform = Platform.boot(home, args.length == 0 ? "" : args[0], answers);
            booted.set(platform);
        } finally {
            booting.countDown();
        }
        try {
            EntryPoint cli = platform.cli();
            if (log().isDebugEnabled()) {
                log().debug(
                                "The command line is ready {} ms after main began",
                                (System.nanoTime() - begin) / 1_000_000);
            }
            vectorModule.run();
            Thread.currentThread().setContextClassLoader(cli.getClass().getClassLoader());
            return cli.run(args);
        } finally {
            StartCache.refresh();
            Thread.currentThread().setContextClassLoader(Main.class.getClassLoader());
            close(platform);
        }
    }

    /// What the end lacks, the command has told already.
    private static void close(Platform platform) {
        try {
            platform.close();
        } catch (OutOfMemoryError e) {
            log().debug("The platform was not stopped", e);
        }
    }

    private static void await(CountDownLatch booting) {
        try {
            if (!booting.await(BOOT_SECONDS, TimeUnit.SECONDS)) {
                log().debug("The boot goes on");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Describes an unexpected exception in one line.
    static String oneLine(Throwable e) {
        if (e instanceof OutOfMemoryError && String.valueOf(e.getMessage()).contains("native thread")) {
            return "No more threads can be started: the number of a user's or container's processes is limited, or memory"
                    + " is used up. Raise the limit (ulimit -u, pids.max). [ENV-004]";
        }
        String message = e.getMessage() == null ? "" : ": " + e.getMessage().replaceAll("\\s*\\R\\s*", " ");
        return "unexpected " + e.getClass().getName() + message + " (TENON_LOG=debug shows the stack trace)";
    }

    private static Logger log() {
        return LoggerFactory.getLogger(Main.class);
    }
}
