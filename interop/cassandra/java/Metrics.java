import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Date;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.apache.cassandra.db.marshal.ByteBufferAccessor;
import org.apache.cassandra.db.marshal.CompositeType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.io.sstable.CQLSSTableWriter;

/**
 * Makes a large SSTable of metrics: series of 10,000 rows, five seconds apart,
 * each with a double of two decimals and an int, compressed with LZ4. The
 * arguments are the version (nb or da), the folder and the number of rows; the
 * SSTable is in ks/metrics-id of the folder.
 */
public final class Metrics
{
    private static final int ROWS = 10_000;

    public static void main(String[] args) throws Exception
    {
        Node.start(args[0], args[1] + "/node");
        String table = "CREATE TABLE ks.metrics (host text, metric text, ts timestamp, value double, samples int, PRIMARY KEY ((host, metric), ts))"
                       + " WITH compression = {'class': 'LZ4Compressor'}";
        String insert = "INSERT INTO ks.metrics (host, metric, ts, value, samples) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?";
        Path dir = Files.createDirectories(Path.of(args[1], "ks", "metrics-00000000000000000000000000000001"));
        int series = (int) (Long.parseLong(args[2]) / ROWS);
        List<String[]> keys = IntStream.range(0, series).mapToObj(i -> new String[]{ "host" + i / 10, "metric." + i % 10 })
                                       .sorted(Comparator.comparing(Metrics::token)).collect(Collectors.toList());
        Random random = new Random(1);
        try (CQLSSTableWriter w = CQLSSTableWriter.builder().inDirectory(dir.toString()).forTable(table).using(insert).sorted().build())
        {
            for (String[] key : keys)
            {
                long cents = random.nextInt(10_000);
                for (int i = 0; i < ROWS; i++)
                {
                    long ms = 1_700_000_000_000L + 5_000L * i;
                    cents += random.nextInt(101) - 50;
                    w.addRow(key[0], key[1], new Date(ms), cents / 100.0, random.nextInt(60), 1000 * ms + random.nextInt(900_000));
                }
            }
        }
        System.exit(0);
    }

    private static Murmur3Partitioner.LongToken token(String[] key)
    {
        return Murmur3Partitioner.instance.getToken(CompositeType.build(ByteBufferAccessor.instance,
                                                                        UTF8Type.instance.decompose(key[0]), UTF8Type.instance.decompose(key[1])));
    }
}
