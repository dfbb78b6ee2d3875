import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.dht.ByteOrderedPartitioner;
import org.apache.cassandra.dht.IPartitioner;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.dht.RandomPartitioner;
import org.apache.cassandra.io.sstable.CQLSSTableWriter;

/**
 * Makes SSTables without a node, by CQLSSTableWriter: their headers have the
 * epochs for least times, and one statement makes all rows. The argument is the
 * folder; a table is oa or da by its name.
 */
public final class Writer
{
    private static final long US = 1_700_000_000_000_000L;

    private static Path root;

    public static void main(String[] args) throws Exception
    {
        root = Path.of(args[0]);
        for (String version : List.of("oa", "da"))
        {
            rows(version, "murmur", Murmur3Partitioner.instance);
            rows(version, "random", RandomPartitioner.instance);
            rows(version, "ordered", ByteOrderedPartitioner.instance);
            cells(version);
            ranges(version);
            partitions(version);
        }
        System.exit(0);
    }

    private static CQLSSTableWriter.Builder table(String version, String name, String columns, String options) throws Exception
    {
        Path dir = Files.createDirectories(root.resolve("ks").resolve(version + "_" + name));
        CQLSSTableWriter.Builder b = CQLSSTableWriter.builder(); // which brings the formats
        return b.inDirectory(dir.toString()).withFormat(DatabaseDescriptor.getSSTableFormats().get(version.equals("da") ? "bti" : "big"))
                .forTable("CREATE TABLE ks." + version + "_" + name + " (" + columns + ")" + options);
    }

    private static void rows(String version, String name, IPartitioner partitioner) throws Exception
    {
        String columns = "k int, c text, l list<int>, m map<text, bigint>, s set<int> static, v double, PRIMARY KEY (k, c)";
        String insert = "INSERT INTO ks." + version + "_" + name + " (k, c, l, m, s, v) VALUES (?, ?, ?, ?, ?, ?) USING TIMESTAMP ? AND TTL ?";
        try (CQLSSTableWriter w = table(version, name, columns, " WITH CLUSTERING ORDER BY (c DESC)").withPartitioner(partitioner).using(insert).build())
        {
            for (int i = 0; i < 60; i++)
            {
                Object list = i % 3 == 0 ? null : Arrays.asList(i, -i);
                Object map = i % 4 == 0 ? CQLSSTableWriter.UNSET_VALUE : Map.of("a" + i, (long) i);
                Object v = i % 5 == 0 ? CQLSSTableWriter.UNSET_VALUE : i / 7.0;
                w.addRow(i % 40 - 20, "c" + i, list, map, Set.of(i), v, US + i, i % 2 == 0 ? 0 : i == 7 ? 630_720_000 : 10_000 * i);
            }
        }
    }

    private static void cells(String version) throws Exception
    {
        String delete = "DELETE m[?], v FROM ks." + version + "_cells USING TIMESTAMP ? WHERE k = ? AND c = ?";
        String columns = "k int, c int, m map<text, int>, v int, PRIMARY KEY (k, c)";
        try (CQLSSTableWriter w = table(version, "cells", columns, " WITH compression = {'class': 'ZstdCompressor', 'min_compress_ratio': '5'}").using(delete).build())
        {
            for (int i = 0; i < 40; i++)
                w.addRow("x" + i, US + i, i % 3, i);
        }
    }

    private static void ranges(String version) throws Exception
    {
        String delete = "DELETE FROM ks." + version + "_ranges USING TIMESTAMP ? WHERE k = ? AND a = ? AND b > ? AND b <= ?";
        String columns = "k int, a int, b int, v int, PRIMARY KEY (k, a, b)";
        try (CQLSSTableWriter w = table(version, "ranges", columns, " WITH CLUSTERING ORDER BY (a ASC, b DESC) AND compression = {'enabled': 'false'}").using(delete).build())
        {
            for (int i = 0; i < 60; i++)
                w.addRow(US + i, i % 4, i % 3, i % 20, i % 20 + 1 + i % 5);
        }
    }

    private static void partitions(String version) throws Exception
    {
        String delete = "DELETE FROM ks." + version + "_partitions USING TIMESTAMP ? WHERE k1 = ? AND k2 = ?";
        try (CQLSSTableWriter w = table(version, "partitions", "k1 blob, k2 text, v int, PRIMARY KEY ((k1, k2))", "").using(delete).build())
        {
            for (int i = 0; i < 200; i++)
                w.addRow(US + i, ByteBuffer.wrap(new byte[]{ (byte) i, 0, (byte) (i / 2) }), "k" + i % 7);
        }
    }
}
