import java.lang.management.ManagementFactory;

import com.sun.management.OperatingSystemMXBean;
import org.apache.cassandra.config.Config;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.ISSTableScanner;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.io.util.File;
import org.apache.cassandra.schema.TableMetadataRef;
import org.apache.cassandra.tools.Util;

/**
 * Reads an SSTable by Cassandra's SSTableReader several times, every cell, and
 * prints the rows, the sum of the cells' lengths and the CPU seconds of each
 * time. The arguments are the path of Data.db and how many times.
 */
public final class Speed
{
    public static void main(String[] args) throws Exception
    {
        DatabaseDescriptor.clientInitialization(true, Config::new);
        DatabaseDescriptor.setPartitionerUnsafe(Murmur3Partitioner.instance);
        Descriptor d = Descriptor.fromFileWithComponent(new File(args[0]), false).left;
        SSTableReader reader = SSTableReader.openNoValidation(null, d, TableMetadataRef.forOfflineTools(Util.metadataFromSSTable(d)));
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int i = 0; i < Integer.parseInt(args[1]); i++)
        {
            long before = system.getProcessCpuTime();
            String result = scan(reader);
            System.out.printf("%s %.2f%n", result, (system.getProcessCpuTime() - before) / 1e9);
        }
        System.exit(0);
    }

    private static String scan(SSTableReader reader)
    {
        long rows = 0, bytes = 0;
        try (ISSTableScanner scanner = reader.getScanner())
        {
            while (scanner.hasNext())
            {
                try (UnfilteredRowIterator partition = scanner.next())
                {
                    while (partition.hasNext())
                    {
                        Unfiltered u = partition.next();
                        if (!u.isRow())
                            continue;
                        rows++;
                        for (Cell<?> c : ((Row) u).cells())
                            bytes += c.valueSize();
                    }
                }
            }
        }
        return rows + " " + bytes;
    }
}
