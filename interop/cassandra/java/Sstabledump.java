import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Permission;
import java.security.Policy;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.List;

import org.apache.cassandra.config.CassandraRelevantProperties;
import org.apache.cassandra.config.Config;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.tools.SSTableExport;
import org.apache.cassandra.utils.Clock;

/**
 * Runs Cassandra's sstabledump many times in one JVM, each time at a time of day
 * of its own. The argument is a file with a line for each run, of fields that
 * tabs separate: the path of the output, the time in seconds, and the arguments
 * of sstabledump. What it throws, instead of ending, is in a file beside the
 * output, with ".error" behind its name.
 */
public final class Sstabledump
{
    /** A clock that stands still, by the property cassandra.clock. */
    public static final class Stopped implements Clock
    {
        private static volatile long seconds;

        @Override
        public long nanoTime()
        {
            return System.nanoTime();
        }

        @Override
        public long currentTimeMillis()
        {
            return 1000 * seconds;
        }
    }

    /** In place of the end of the JVM. */
    private static final class Ended extends SecurityException
    {
    }

    private static volatile boolean running;

    @SuppressWarnings("removal")
    public static void main(String[] args) throws Exception
    {
        CassandraRelevantProperties.CLOCK_GLOBAL.setString(Stopped.class.getName());
        CassandraRelevantProperties.TEST_UTIL_ALLOW_TOOL_REINIT_FOR_TEST.setBoolean(true); // it is no tool's JVM
        DatabaseDescriptor.clientInitialization(true, Config::new); // with it, all versions are compatible
        DatabaseDescriptor.setPartitionerUnsafe(Murmur3Partitioner.instance);
        Policy.setPolicy(new Policy()
        {
            @Override
            public boolean implies(ProtectionDomain domain, Permission p)
            {
                return true;
            }
        });
        System.setSecurityManager(new SecurityManager()
        {
            @Override
            public void checkExit(int status)
            {
                if (running)
                    throw new Ended();
            }
        });
        PrintStream stdout = System.out;
        for (String line : Files.readAllLines(Path.of(args[0])))
        {
            List<String> fields = Arrays.asList(line.split("\t"));
            try (PrintStream out = new PrintStream(new BufferedOutputStream(Files.newOutputStream(Path.of(fields.get(0)))), false, StandardCharsets.UTF_8))
            {
                Stopped.seconds = Long.parseLong(fields.get(1));
                System.setOut(out);
                run(fields.subList(2, fields.size()).toArray(String[]::new), fields.get(0));
            }
            System.setOut(stdout);
        }
        Runtime.getRuntime().halt(0); // threads of Cassandra's may still run
    }

    private static void run(String[] args, String output) throws Exception
    {
        running = true;
        try
        {
            SSTableExport.main(args);
        }
        catch (Ended e)
        {
            // as it should
        }
        catch (Throwable e)
        {
            e.printStackTrace();
            System.out.flush();
            Files.writeString(Path.of(output + ".error"), e.toString());
        }
        finally
        {
            running = false;
        }
    }
}
