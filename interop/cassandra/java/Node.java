import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.StringJoiner;
import java.util.UUID;

import org.apache.cassandra.config.Config;
import org.apache.cassandra.config.DataStorageSpec;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.config.DurationSpec;
import org.apache.cassandra.config.ParameterizedClass;
import org.apache.cassandra.cql3.Duration;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.LivenessInfo;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.SystemKeyspace;
import org.apache.cassandra.db.commitlog.CommitLog;
import org.apache.cassandra.db.lifecycle.LifecycleTransaction;
import org.apache.cassandra.db.marshal.DoubleType;
import org.apache.cassandra.db.marshal.FloatType;
import org.apache.cassandra.db.marshal.InetAddressType;
import org.apache.cassandra.db.marshal.TupleType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.BufferCell;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.SeedProvider;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.StorageCompatibilityMode;

/**
 * Makes SSTables as a node does, by CQL, memtables and flushes, without a
 * network. The arguments are the version (nb, oa, da) and the folder for the
 * node; its SSTables are in data/ks of that.
 */
public final class Node
{
    private static final long US = 1_700_000_000_000_000L;
    private static final Random random = new Random(1);

    private static ColumnFamilyStore store;

    public static void main(String[] args) throws Exception
    {
        try
        {
            start(args[0], args[1]);
            cql("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
            types();
            collections();
            tombstones();
            ttls();
            statics();
            wide();
            descending();
            compressors();
            blocks();
            large();
            counters();
            unusual();
            mixed();
            compacted();
            values();
            System.exit(0);
        }
        catch (Throwable e)
        {
            e.printStackTrace();
            System.exit(1);
        }
    }

    static void start(String version, String dir) throws Exception
    {
        System.setProperty("cassandra.expiration_date_overflow_policy", "CAP");
        System.setProperty("cassandra.storagedir", dir);
        Config c = new Config();
        c.partitioner = "org.apache.cassandra.dht.Murmur3Partitioner";
        c.commitlog_sync = Config.CommitLogSync.periodic;
        c.commitlog_sync_period = new DurationSpec.IntMillisecondsBound("10s");
        c.endpoint_snitch = "SimpleSnitch";
        c.listen_address = c.rpc_address = "127.0.0.1";
        c.seed_provider = new ParameterizedClass(Seeds.class.getName(), Map.of());
        c.data_file_directories = new String[]{ dir + "/data" };
        c.commitlog_directory = dir + "/commitlog";
        c.hints_directory = dir + "/hints";
        c.saved_caches_directory = dir + "/caches";
        c.cdc_raw_directory = dir + "/cdc";
        c.column_index_size = new DataStorageSpec.IntKibibytesBound("4KiB");
        c.storage_compatibility_mode = version.equals("nb") ? StorageCompatibilityMode.CASSANDRA_4 : StorageCompatibilityMode.NONE;
        c.sstable.selected_format = version.equals("da") ? "bti" : "big";
        c.flush_compression = Config.FlushCompression.table; // and not a faster one for a flush
        DatabaseDescriptor.daemonInitialization(() -> c);
        DatabaseDescriptor.createAllDirectories();
        CommitLog.instance.start();
        SystemKeyspace.persistLocalMetadata();
        Schema.instance.loadFromDisk();
        Keyspace.setInitialized();
    }

    /** The node itself, without a file of settings. */
    public static final class Seeds implements SeedProvider
    {
        public Seeds(Map<String, String> parameters)
        {
        }

        @Override
        public List<InetAddressAndPort> getSeeds()
        {
            return List.of(InetAddressAndPort.getLoopbackAddress());
        }
    }

    private static void cql(String text, Object... values)
    {
        try
        {
            QueryProcessor.executeOnceInternal(text, values);
        }
        catch (RuntimeException e)
        {
            throw new IllegalStateException(text, e);
        }
    }

    /** Creates a table, into which put and drop write until the next call of flush. */
    private static void table(String name, String columns, String options)
    {
        cql("CREATE TABLE ks." + name + " (" + columns + ") WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}"
            + (options.isEmpty() ? "" : " AND " + options));
        store = Keyspace.open("ks").getColumnFamilyStore(name);
    }

    private static void flush()
    {
        store.forceBlockingFlush(ColumnFamilyStore.FlushReason.USER_FORCED);
    }

    private static String at(long us)
    {
        return " USING TIMESTAMP " + (US + us);
    }

    private static void types()
    {
        table("types", "k1 int, k2 text, c1 bigint, c2 timeuuid, c3 decimal, a ascii, bi bigint, bl blob, bo boolean, da date, de decimal, do double,"
                       + " du duration, f float, ine inet, i int, s smallint, t text, ti time, ts timestamp, tu timeuuid, ty tinyint, u uuid, va varint,"
                       + " PRIMARY KEY ((k1, k2), c1, c2, c3)", "");
        String names = "INSERT INTO ks.types (k1, k2, c1, c2, c3, a, bi, bl, bo, da, de, do, du, f, ine, i, s, t, ti, ts, tu, ty, u, va) VALUES ";
        String id = "c0ffee00-1234-11ee-8a31-0123456789ab";
        cql(names + "(1, 'a', -1, " + id + ", 1.5, 'ascii', -9223372036854775808, 0x00ff, true, '2024-02-29', -1.25e-30, 1e308, 1mo2d3ns, -1.5,"
            + " '127.0.0.1', -2147483648, -32768, 'tëxt', '23:59:59.999999999', '1969-12-31T23:59:59.999Z', " + id + ", -128, " + id
            + ", -170141183460469231731687303715884105729)" + at(1));
        cql(names + "(1, 'a', 0, " + id + ", -0.00, '', 9223372036854775807, 0x, false, '-5877641-06-23', 0, NaN, -1mo2d3ns, Infinity,"
            + " '2001:db8::1', 2147483647, 32767, '', '00:00:00', 0, " + id + ", 127, " + id + ", 0)" + at(-US));
        cql(names + "(2, '', 9, " + id + ", 1e100, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null)" + at(3));
        ByteBuffer none = ByteBufferUtil.EMPTY_BYTE_BUFFER;
        cql("INSERT INTO ks.types (k1, k2, c1, c2, c3, bi, bo, de, do, f, i, ts, tu, u, va, ine) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" + at(4),
            ByteBufferUtil.bytes(3), ByteBufferUtil.bytes("empty"), none, none, none, none, none, none, none, none, none, none, none, none, none, none);
        cql("INSERT INTO ks.types (k1, k2, c1, c2, c3) VALUES (4, 'key alone', 1, " + id + ", 2)" + at(5));
        flush();
    }

    /** Values of all kinds, for what prints them. */
    private static void values() throws Exception
    {
        table("values", "k text, c timestamp, de decimal, do double, du duration, da date, bl blob, bo boolean, f float, ine inet, m frozen<map<decimal, tuple<text, double>>>,"
                        + " l frozen<list<timestamp>>, s smallint, t text, ti time, tu tuple<text, float, inet>, ty tinyint, u uuid, va varint, ve vector<float, 2>, vt vector<text, 2>,"
                        + " PRIMARY KEY (k, c)", "");
        for (int i = 0; i < 400; i++)
        {
            boolean negative = random.nextBoolean();
            int sign = negative ? -1 : 1;
            cql("INSERT INTO ks.values (k, c, de, do, du, da, bl, bo, f, ine, m, l, s, t, ti, tu, ty, u, va, ve, vt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" + at(i),
                "k" + i % 7, new Date(number()), decimal(), Double.longBitsToDouble(number()),
                Duration.newInstance(sign * random.nextInt(30), sign * random.nextInt(400), sign * (number() >>> 1)), (int) number(), bytes(random.nextInt(9)), random.nextBoolean(),
                Float.intBitsToFloat((int) number()), address(), Map.of(decimal(), TupleType.buildValue(utf8(), DoubleType.instance.decompose(number() / 100.0))),
                List.of(new Date(number()), new Date(number() >> 24)), (short) number(), text(), (number() >>> 1) % 86_400_000_000_000L,
                TupleType.buildValue(i % 3 == 0 ? null : utf8(), FloatType.instance.decompose((float) number()), i % 5 == 0 ? null : InetAddressType.instance.decompose(address())),
                (byte) number(), UUID.randomUUID(), new BigInteger(8 * (1 + random.nextInt(20)), random).multiply(BigInteger.valueOf(sign)),
                List.of(random.nextFloat(), (float) Math.scalb(1.0, random.nextInt(200) - 100)), List.of(text(), text()));
        }
        flush();
    }

    /** A number of any length, now and then an extreme one. */
    private static long number()
    {
        return random.nextInt(20) == 0 ? (random.nextBoolean() ? Long.MIN_VALUE : Long.MAX_VALUE) : random.nextLong() >> random.nextInt(64);
    }

    private static BigDecimal decimal()
    {
        return new BigDecimal(new BigInteger(1 + random.nextInt(90), random).subtract(BigInteger.valueOf(1000)), random.nextInt(40) - 15);
    }

    private static ByteBuffer bytes(int n)
    {
        byte[] b = new byte[n];
        random.nextBytes(b);
        return ByteBuffer.wrap(b);
    }

    private static InetAddress address() throws Exception
    {
        byte[] b = bytes(random.nextBoolean() ? 4 : 16).array();
        for (int i = random.nextInt(b.length); i < b.length - 1; i++)
            b[i] = 0;
        return InetAddress.getByAddress(b);
    }

    private static String text()
    {
        StringBuilder s = new StringBuilder();
        for (int n = random.nextInt(12); n > 0; n--)
            s.appendCodePoint(random.nextInt(3) == 0 ? ":@'\"\\!\n\u007f\u2028\u00e9".charAt(random.nextInt(10)) : random.nextInt(4) == 0 ? random.nextInt(32) : random.nextInt(10) == 0 ? 0x1f300 + random.nextInt(256) : 'a' + random.nextInt(26));
        return s.toString();
    }

    private static ByteBuffer utf8()
    {
        return UTF8Type.instance.decompose(text());
    }

    private static void collections()
    {
        cql("CREATE TYPE ks.point (x int, y double, note text)");
        cql("CREATE TYPE ks.nested (p frozen<point>, l frozen<list<int>>)");
        table("collections", "k int, c int, l list<int>, s set<text>, m map<int, text>, mt map<text, frozen<tuple<int, text>>>, u point, n nested,"
                             + " fl frozen<list<text>>, fs frozen<set<int>>, fm frozen<map<text, int>>, fu frozen<point>, fn list<frozen<nested>>,"
                             + " tp tuple<int, text, double>, v vector<float, 3>, vt vector<text, 2>, ss set<int> static, sl list<text> static,"
                             + " plain text, PRIMARY KEY (k, c)", "");
        cql("INSERT INTO ks.collections (k, c, l, s, m, mt, u, n, fl, fs, fm, fu, fn, tp, v, vt, ss, sl, plain) VALUES (1, 1, [3, 1, 2, 1], {'b', 'a', ''},"
            + " {1: 'x', -1: ''}, {'k': (1, 'a'), 'l': (null, 'b')}, {x: 1, y: 2.5, note: 'n'}, {p: {x: 1}, l: [1, 2]}, ['p', 'q'], {5, 4}, {'z': 26},"
            + " {y: 0.5}, [{l: [9]}], (7, null, 1.5), [1.0, -2.5, 0.0], ['one', ''], {10, 20}, ['s'], 'v')" + at(10));
        cql("UPDATE ks.collections" + at(11) + " SET l = l + [4], s = s + {'c'}, m[2] = 'two', u.x = 9, ss = ss + {30} WHERE k = 1 AND c = 2");
        cql("UPDATE ks.collections" + at(12) + " AND TTL 100000 SET l = [0] + l, s = s - {'b'}, m = m + {3: 'three'}, u.note = null WHERE k = 1 AND c = 2");
        cql("DELETE m[1], u.y, s['a'] FROM ks.collections" + at(13) + " WHERE k = 1 AND c = 1");
        cql("DELETE l, u FROM ks.collections" + at(14) + " WHERE k = 1 AND c = 3");
        cql("INSERT INTO ks.collections (k, c, l, s) VALUES (1, 4, [], {})" + at(15));
        cql("UPDATE ks.collections" + at(16) + " SET l = [1, 2, 3], sl = [], fl = [], fu = null WHERE k = 2 AND c = 1");
        cql("DELETE ss FROM ks.collections" + at(17) + " WHERE k = 3");
        flush();
    }

    private static void tombstones()
    {
        table("tombstones", "k int, a int, b text, v int, w text, s int static, PRIMARY KEY (k, a, b)", "");
        for (int k = 0; k < 4; k++)
            for (int a = 0; a < 6; a++)
                cql("INSERT INTO ks.tombstones (k, a, b, v, w) VALUES (?, ?, ?, ?, 'w')" + at(20), k, a, "b" + a % 2, a);
        cql("DELETE FROM ks.tombstones" + at(30) + " WHERE k = 0 AND a = 1 AND b = 'b1'");
        cql("DELETE v FROM ks.tombstones" + at(31) + " WHERE k = 0 AND a = 2 AND b = 'b0'");
        cql("UPDATE ks.tombstones" + at(32) + " SET w = null WHERE k = 0 AND a = 7 AND b = 'only a tombstone'");
        cql("DELETE FROM ks.tombstones" + at(33) + " WHERE k = 1 AND a > 1 AND a < 4");
        cql("DELETE FROM ks.tombstones" + at(34) + " WHERE k = 1 AND a >= 3");
        cql("DELETE FROM ks.tombstones" + at(35) + " WHERE k = 1 AND a = 4 AND b > 'a' AND b <= 'b'");
        cql("DELETE FROM ks.tombstones" + at(36) + " WHERE k = 1 AND a <= 0");
        cql("DELETE FROM ks.tombstones" + at(37) + " WHERE k = 2");
        cql("INSERT INTO ks.tombstones (k, a, b, v) VALUES (2, 1, 'newer', 1)" + at(38));
        cql("DELETE FROM ks.tombstones" + at(39) + " WHERE k = 3 AND a = 2");
        cql("DELETE s FROM ks.tombstones" + at(40) + " WHERE k = 3");
        cql("DELETE FROM ks.tombstones" + at(41) + " WHERE k = 100");
        cql("DELETE FROM ks.tombstones" + at(42) + " WHERE k = 101 AND a > 5");
        cql("DELETE FROM ks.tombstones USING TIMESTAMP 0 WHERE k = 102 AND a = 1 AND b = ''");
        flush();
    }

    private static void ttls()
    {
        table("ttls", "k int PRIMARY KEY, a int, b text, s set<int>", "default_time_to_live = 86400");
        cql("INSERT INTO ks.ttls (k, a) VALUES (1, 1)" + at(50));
        cql("INSERT INTO ks.ttls (k, a, b) VALUES (2, 1, '')" + at(51) + " AND TTL 1");
        cql("INSERT INTO ks.ttls (k, a, b, s) VALUES (3, 1, 'twenty years', {1, 2})" + at(52) + " AND TTL 630720000");
        cql("UPDATE ks.ttls" + at(53) + " AND TTL 100 SET a = 1 WHERE k = 4");
        cql("UPDATE ks.ttls" + at(54) + " AND TTL 200 SET b = 'another' WHERE k = 4");
        cql("UPDATE ks.ttls" + at(55) + " AND TTL 0 SET s = s + {5} WHERE k = 4");
        cql("INSERT INTO ks.ttls (k) VALUES (5)" + at(56) + " AND TTL 10");
        cql("UPDATE ks.ttls" + at(57) + " AND TTL 10 SET a = 2 WHERE k = 5");
        cql("INSERT INTO ks.ttls (k, a) VALUES (6, 6)" + at(58) + " AND TTL 0");
        flush();
    }

    private static void statics()
    {
        table("statics", "k text, c text, s1 text static, s2 int static, s3 map<text, int> static, v text, PRIMARY KEY (k, c)", "compression = {'enabled': 'false'}");
        cql("INSERT INTO ks.statics (k, s1, s2) VALUES ('only static', 'x', 1)" + at(60));
        cql("INSERT INTO ks.statics (k, c, v) VALUES ('no static', 'c', 'v')" + at(61));
        cql("UPDATE ks.statics" + at(62) + " AND TTL 5000 SET s3 = s3 + {'a': 1}, s2 = 5 WHERE k = 'both'");
        cql("UPDATE ks.statics" + at(63) + " SET v = 'v' WHERE k = 'both' AND c = ''");
        cql("DELETE s1, s3 FROM ks.statics" + at(64) + " WHERE k = 'deleted'");
        flush();
    }

    private static void wide()
    {
        for (int n : new int[]{ 63, 64, 65, 130 })
        {
            StringJoiner columns = new StringJoiner(", ");
            for (int i = 0; i < n; i++)
                columns.add(String.format(Locale.ROOT, "c%03d %s", i, i % 5 == 4 ? "set<int>" : i % 3 == 0 ? "text" : "int"));
            table("wide" + n, "k int, c int, " + columns + ", PRIMARY KEY (k, c)", "");
            for (int present = 0; present <= n; present += present < 3 || present > n - 4 || Math.abs(present - n / 2) < 3 ? 1 : 7)
            {
                StringJoiner names = new StringJoiner(", "), values = new StringJoiner(", ");
                int left = present;
                for (int i = 0; i < n; i++)
                {
                    if (random.nextInt(n - i) >= left)
                        continue;
                    left--;
                    names.add(String.format(Locale.ROOT, "c%03d", i));
                    values.add(i % 5 == 4 ? "{" + i + "}" : i % 3 == 0 ? "'" + i + "'" : "" + i);
                }
                String comma = present == 0 ? "" : ", ";
                cql("INSERT INTO ks.wide" + n + " (k, c" + comma + names + ") VALUES (" + present % 3 + ", " + present + comma + values + ")" + at(70 + present));
            }
            flush();
        }
    }

    private static void descending()
    {
        table("descending", "k1 uuid, k2 inet, k3 text, a text, b int, c timestamp, v int, PRIMARY KEY ((k1, k2, k3), a, b, c)",
              "CLUSTERING ORDER BY (a DESC, b ASC, c DESC)");
        String key = "50554d6e-29bb-11e5-b345-feff819cdc9f, '10.0.0.1', 'k'";
        for (int i = 0; i < 60; i++)
            cql("INSERT INTO ks.descending (k1, k2, k3, a, b, c, v) VALUES (" + key + ", ?, ?, ?, ?)" + at(i),
                "a".repeat(i % 4), i % 5 - 2, new java.util.Date(1_700_000_000_000L + i), i);
        String where = " WHERE k1 = 50554d6e-29bb-11e5-b345-feff819cdc9f AND k2 = '10.0.0.1' AND k3 = 'k'";
        cql("DELETE FROM ks.descending" + at(100) + where + " AND a > '' AND a <= 'aa'");
        cql("DELETE FROM ks.descending" + at(101) + where + " AND a = 'aaa' AND b = 1 AND c < 1700000000030");
        cql("DELETE FROM ks.descending" + at(102) + where + " AND a = 'aa' AND b >= 0");
        flush();
    }

    private static void compressors()
    {
        String[][] all = {
            { "lz4", "'class': 'LZ4Compressor'" },
            { "lz4_high", "'class': 'LZ4Compressor', 'lz4_compressor_type': 'high'" },
            { "snappy", "'class': 'SnappyCompressor'" },
            { "deflate", "'class': 'DeflateCompressor'" },
            { "zstd", "'class': 'ZstdCompressor', 'compression_level': '9'" },
            { "noop", "'class': 'NoopCompressor'" },
            { "none", "'enabled': 'false'" },
            { "lz4_raw", "'class': 'LZ4Compressor', 'min_compress_ratio': '1.1'" },
            { "zstd_raw", "'class': 'ZstdCompressor', 'min_compress_ratio': '1.5'" },
            { "snappy_raw", "'class': 'SnappyCompressor', 'min_compress_ratio': '4'" },
            { "deflate_raw", "'class': 'DeflateCompressor', 'min_compress_ratio': '1.2'" },
        };
        for (String[] x : all)
        {
            String options = "compression = {" + x[1] + (x[0].equals("none") ? "" : ", 'chunk_length_in_kb': '1'") + "}";
            table("by_" + x[0], "k int, c int, v blob, PRIMARY KEY (k, c)", options);
            for (int i = 0; i < 12; i++)
            {
                byte[] v = new byte[100 + random.nextInt(900)];
                if (i / 3 % 2 == 0) // runs of chunks that compress, and of such that do not
                    random.nextBytes(v);
                cql("INSERT INTO ks.by_" + x[0] + " (k, c, v) VALUES (1, ?, ?)" + at(i), i, ByteBuffer.wrap(v));
            }
            flush();
        }
    }

    private static void blocks()
    {
        table("blocks", "k int, c int, v text, s text static, PRIMARY KEY (k, c)", "compression = {'class': 'ZstdCompressor', 'chunk_length_in_kb': '16'}");
        String text = "0123456789".repeat(30);
        for (int k = 0; k < 3; k++)
        {
            cql("UPDATE ks.blocks" + at(1) + " SET s = 'static' WHERE k = " + k);
            for (int c = 0; c < 200; c++)
                cql("INSERT INTO ks.blocks (k, c, v) VALUES (?, ?, ?)" + at(c), k, c, text);
        }
        cql("DELETE FROM ks.blocks" + at(50) + " WHERE k = 1 AND c > 10 AND c < 150");
        cql("DELETE FROM ks.blocks" + at(60) + " WHERE k = 1 AND c > 20 AND c <= 90");
        cql("DELETE FROM ks.blocks" + at(5) + " WHERE k = 2");
        flush();
    }

    /** Every row is a block of the index, which then ends before the end of the partition. */
    private static void large()
    {
        table("large", "k int, c int, v text, PRIMARY KEY (k, c)", "");
        for (int c = 0; c < 6; c++)
            cql("INSERT INTO ks.large (k, c, v) VALUES (?, ?, ?)" + at(c), c / 3, c, "x".repeat(5000));
        cql("DELETE FROM ks.large" + at(9) + " WHERE k = 1 AND c >= 3 AND c < 5");
        flush();
    }

    private static void counters()
    {
        table("counters", "k int, c text, n counter, m counter, s counter static, PRIMARY KEY (k, c)", "");
        for (int i = 0; i < 30; i++)
        {
            cql("UPDATE ks.counters SET n = n + ?, m = m - 1 WHERE k = ? AND c = ?", (long) i * i - 5, i % 3, "c" + i % 4);
            cql("UPDATE ks.counters SET s = s + 1 WHERE k = ?", i % 2);
        }
        cql("DELETE n FROM ks.counters WHERE k = 0 AND c = 'c0'");
        cql("DELETE FROM ks.counters WHERE k = 2 AND c = 'c1'");
        flush();
    }

    /** What CQL does not make: shadowable deletions, liveness that has expired, odd times. */
    private static void unusual()
    {
        table("unusual", "k int, c int, v int, PRIMARY KEY (k, c)", "");
        TableMetadata t = store.metadata();
        LivenessInfo[] liveness = {
            LivenessInfo.EMPTY,
            LivenessInfo.withExpirationTime(US + 80, LivenessInfo.EXPIRED_LIVENESS_TTL, 1_700_000_080),
            LivenessInfo.withExpirationTime(US + 81, 60, 1_700_000_141),
            LivenessInfo.create(US + 82, LivenessInfo.NO_TTL, 0),
            LivenessInfo.create(-1, LivenessInfo.NO_TTL, 0),
            LivenessInfo.create(Long.MAX_VALUE, LivenessInfo.NO_TTL, 0),
        };
        Row.Deletion[] deletions = {
            Row.Deletion.LIVE,
            new Row.Deletion(DeletionTime.build(US + 79, 1_700_000_079), true),
            new Row.Deletion(DeletionTime.build(US + 78, 1_700_000_078), false),
            new Row.Deletion(DeletionTime.build(-5, 5), true),
        };
        for (int i = 0; i < liveness.length; i++)
        {
            for (int j = 0; j < deletions.length; j++)
            {
                Row.Builder b = BTreeRow.unsortedBuilder();
                b.newRow(Clustering.make(ByteBufferUtil.bytes(j)));
                b.addPrimaryKeyLivenessInfo(liveness[i]);
                b.addRowDeletion(deletions[j]);
                if (i % 2 == 0)
                    b.addCell(BufferCell.live(t.getColumn(ByteBufferUtil.bytes("v")), US + 90, ByteBufferUtil.bytes(i)));
                new Mutation(PartitionUpdate.singleRowUpdate(t, t.partitioner.decorateKey(ByteBufferUtil.bytes(i)), b.build())).apply();
            }
        }
        flush();
    }

    /** Statements of every kind, at random over few keys. */
    private static void mixed()
    {
        mixedTable("mixed");
        for (int i = 0; i < 3000; i++)
            mix(i);
        flush();
    }

    private static void mixedTable(String name)
    {
        table(name, "k int, a int, b text, s int static, v int, w text, x set<int>, y map<int, text>, z list<int>, PRIMARY KEY (k, a, b)",
              "CLUSTERING ORDER BY (a DESC, b ASC)");
    }

    private static void mix(int i)
    {
        String table = "ks." + store.name;
        String using = at(random.nextInt(500) - 100), key = "k = " + random.nextInt(12);
        String row = key + " AND a = " + random.nextInt(8) + " AND b = '" + "b".repeat(random.nextInt(4)) + "'";
        String ttl = random.nextInt(3) == 0 ? " AND TTL " + (1 + random.nextInt(4)) * 100_000 : "";
        String[] operators = { ">", ">=", "<", "<=" };
        switch (random.nextInt(14))
        {
            case 0:
                cql("DELETE FROM " + table + using + " WHERE " + row);
                break;
            case 1:
                cql("DELETE FROM " + table + using + " WHERE " + key + " AND a " + operators[random.nextInt(4)] + " " + random.nextInt(8));
                break;
            case 2:
                cql("DELETE FROM " + table + using + " WHERE " + key + " AND a = " + random.nextInt(8) + " AND b " + operators[random.nextInt(4)] + " 'bb'");
                break;
            case 3:
                if (random.nextInt(10) == 0)
                    cql("DELETE FROM " + table + using + " WHERE " + key);
                else
                    cql("DELETE FROM " + table + using + " WHERE " + key + " AND a > " + random.nextInt(4) + " AND a <= " + (4 + random.nextInt(4)));
                break;
            case 4:
                cql("UPDATE " + table + using + ttl + " SET s = " + i + " WHERE " + key);
                break;
            case 5:
                cql("UPDATE " + table + using + ttl + " SET x = {1, " + i + "} WHERE " + row);
                break;
            case 6:
                cql("UPDATE " + table + using + ttl + " SET x = x + {" + i + "}, y[" + random.nextInt(5) + "] = 'y' WHERE " + row);
                break;
            case 7:
                cql("DELETE y, v FROM " + table + using + " WHERE " + row);
                break;
            case 8:
                cql("DELETE y[" + random.nextInt(5) + "] FROM " + table + using + " WHERE " + row);
                break;
            case 9:
                cql("UPDATE " + table + using + ttl + " SET z = z + [" + i + "] WHERE " + row);
                break;
            case 10:
                cql("UPDATE " + table + using + ttl + " SET v = " + i + ", w = null WHERE " + row);
                break;
            default:
                String[] v = row.split(" ");
                cql("INSERT INTO " + table + " (k, a, b, v, w) VALUES (" + v[2] + ", " + v[6] + ", " + v[10] + ", " + i + ", 'w')" + using + ttl);
        }
    }

    /** The same, flushed many times and compacted. */
    private static void compacted()
    {
        mixedTable("compacted");
        for (int i = 0; i < 4; i++)
        {
            for (int j = 0; j < 300; j++)
                mix(300 * i + j);
            flush();
        }
        store.forceMajorCompaction();
        LifecycleTransaction.waitForDeletions();
    }
}
