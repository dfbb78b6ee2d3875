import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.apache.cassandra.config.Config;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.ClusteringPrefix;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.LivenessInfo;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.ComplexColumnData;
import org.apache.cassandra.db.rows.RangeTombstoneBoundMarker;
import org.apache.cassandra.db.rows.RangeTombstoneBoundaryMarker;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.ISSTableScanner;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.io.sstable.metadata.StatsMetadata;
import org.apache.cassandra.io.util.File;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.schema.TableMetadataRef;
import org.apache.cassandra.tools.Util;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.EstimatedHistogram;

/**
 * Prints what Cassandra reads in SSTables, all of it, in the lines that
 * README.md describes. The argument is a file with two lines for each SSTable:
 * the path of its Data.db, and that of the text to be written. What cannot be
 * read has a last line that begins with "error".
 */
public final class Dump
{
    private final PrintWriter out;

    private Dump(PrintWriter out)
    {
        this.out = out;
    }

    public static void main(String[] args) throws IOException
    {
        DatabaseDescriptor.clientInitialization(true, Config::new); // with it, all versions are compatible
        DatabaseDescriptor.setPartitionerUnsafe(Murmur3Partitioner.instance);
        List<String> list = Files.readAllLines(Path.of(args[0]));
        for (int i = 0; i + 1 < list.size(); i += 2)
        {
            try (BufferedWriter w = Files.newBufferedWriter(Path.of(list.get(i + 1)), StandardCharsets.UTF_8))
            {
                PrintWriter out = new PrintWriter(w);
                try
                {
                    new Dump(out).table(list.get(i));
                }
                catch (Exception | Error e)
                {
                    out.println("error " + e);
                    e.printStackTrace();
                }
                out.flush();
            }
        }
        System.exit(0); // threads of Cassandra's may still run
    }

    private void table(String path) throws Exception
    {
        Descriptor d = Descriptor.fromFileWithComponent(new File(path), false).left;
        TableMetadata metadata = Util.metadataFromSSTable(d);
        SSTableReader reader = SSTableReader.openNoValidation(null, d, TableMetadataRef.forOfflineTools(metadata));
        statistics(d, reader.getSSTableMetadata());
        try (ISSTableScanner scanner = reader.getScanner())
        {
            while (scanner.hasNext())
            {
                try (UnfilteredRowIterator partition = scanner.next())
                {
                    partition(partition);
                }
            }
        }
        finally
        {
            reader.selfRef().release();
        }
    }

    private void statistics(Descriptor d, StatsMetadata m)
    {
        out.println("statistics at " + m.minTimestamp + " " + m.maxTimestamp + " until " + local(m.minLocalDeletionTime) + " " + local(m.maxLocalDeletionTime)
                    + " ttl " + m.minTTL + " " + m.maxTTL + " rows " + m.totalRows + " cells " + m.totalColumnsSet
                    + " level " + m.sstableLevel + " repaired " + m.repairedAt + " host " + m.originatingHostId);
        out.print("sizes");
        histogram(m.estimatedPartitionSize);
        out.print("counts");
        histogram(m.estimatedCellPerPartitionCount);
        if (!d.version.hasUIntDeletionTime())
            return;
        out.println("covers " + m.coveredClustering.start().kind() + values(m.coveredClustering.start())
                    + " " + m.coveredClustering.end().kind() + values(m.coveredClustering.end()));
        out.println("keys " + hex(m.firstKey) + " " + hex(m.lastKey) + " deletions " + m.hasPartitionLevelDeletions
                    + " share " + Long.toHexString(Double.doubleToRawLongBits(m.tokenSpaceCoverage)));
        out.print("tombstones");
        m.estimatedTombstoneDropTime.forEach((time, count) -> out.print(" " + time + ":" + count));
        out.println();
    }

    private void histogram(EstimatedHistogram h)
    {
        long[] offsets = h.getBucketOffsets(), counts = h.getBuckets(false);
        for (int i = 0; i < counts.length; i++)
            if (counts[i] > 0)
                out.print(" " + (i < offsets.length ? offsets[i] : "beyond") + ":" + counts[i]);
        out.println();
    }

    private static String local(long time)
    {
        return time == Cell.NO_DELETION_TIME ? "none" : "" + time;
    }

    private void partition(UnfilteredRowIterator p)
    {
        out.println("partition " + hex(p.partitionKey().getKey()) + deletion("deleted", p.partitionLevelDeletion()));
        if (!p.staticRow().isEmpty())
        {
            out.print("static");
            row(p.staticRow());
        }
        while (p.hasNext())
        {
            Unfiltered u = p.next();
            if (u.isRow())
            {
                out.print("row" + values(u.clustering()));
                row((Row) u);
            }
            else if (u instanceof RangeTombstoneBoundaryMarker)
            {
                RangeTombstoneBoundaryMarker m = (RangeTombstoneBoundaryMarker) u;
                out.println("marker " + m.clustering().kind() + values(m.clustering())
                            + deletion("close", m.endDeletionTime()) + deletion("open", m.startDeletionTime()));
            }
            else
            {
                RangeTombstoneBoundMarker m = (RangeTombstoneBoundMarker) u;
                ClusteringBound<?> bound = m.clustering();
                out.println("marker " + bound.kind() + values(bound)
                            + deletion(bound.isStart() ? "open" : "close", m.deletionTime()));
            }
        }
    }

    private void row(Row r)
    {
        LivenessInfo l = r.primaryKeyLivenessInfo();
        if (!l.isEmpty())
        {
            out.print(" at " + l.timestamp());
            if (l.ttl() != LivenessInfo.NO_TTL)
                out.print(" ttl " + l.ttl() + " until " + l.localExpirationTime());
        }
        out.print(deletion("deleted", r.deletion().time()));
        out.println(r.deletion().isShadowable() ? " shadowable" : "");
        for (ColumnData data : r)
        {
            String name = " " + hex(data.column().name.bytes);
            if (data instanceof Cell)
            {
                out.println(" cell" + name + cell((Cell<?>) data));
                continue;
            }
            ComplexColumnData complex = (ComplexColumnData) data;
            out.println(" complex" + name + deletion("deleted", complex.complexDeletion()));
            for (Cell<?> c : complex)
                out.println("  cell " + hex(c.path().get(0)) + cell(c));
        }
    }

    private static String cell(Cell<?> c)
    {
        String times = " at " + c.timestamp();
        if (c.isExpiring())
            times += " ttl " + c.ttl() + " until " + c.localDeletionTime();
        else if (c.isTombstone())
            times += " deleted " + c.localDeletionTime();
        return times + " " + hex(c.buffer());
    }

    private static String deletion(String what, DeletionTime d)
    {
        return d.isLive() ? "" : " " + what + " " + d.markedForDeleteAt() + " " + d.localDeletionTime();
    }

    private static String values(ClusteringPrefix<?> prefix)
    {
        StringBuilder s = new StringBuilder();
        for (int i = 0; i < prefix.size(); i++)
            s.append(' ').append(prefix.get(i) == null ? "null" : hex(prefix.bufferAt(i)));
        return s.toString();
    }

    private static String hex(ByteBuffer b)
    {
        return "x" + ByteBufferUtil.bytesToHex(b);
    }
}
