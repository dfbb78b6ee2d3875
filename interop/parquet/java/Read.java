import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.StringJoiner;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;

/**
 * Prints the rows of Parquet files as README.md says, read by parquet-java. The list of files
 * names, line after line, a file and the folder for its texts.
 */
final class Read {
  public static void main(String[] args) throws Exception {
    List<String> lines = Files.readAllLines(Path.of(args[0]));
    for (int i = 0; i + 1 < lines.size(); i += 2) {
      Path text = Path.of(lines.get(i + 1), "parquet-java.txt");
      Path error = Path.of(lines.get(i + 1), "parquet-java.error");
      try {
        Files.writeString(text, read(Path.of(lines.get(i))));
      } catch (Exception | LinkageError e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
          cause = cause.getCause();
        }
        String said = (e.getMessage() + ": " + cause).replaceAll("\\s+", " ");
        Files.writeString(error, said.substring(0, Math.min(said.length(), 300)) + "\n");
      }
    }
  }

  private static String read(Path path) throws Exception {
    StringBuilder text = new StringBuilder();
    try (ParquetFileReader file = ParquetFileReader.open(new LocalInputFile(path))) {
      MessageType schema = file.getFooter().getFileMetaData().getSchema();
      StringJoiner names = new StringJoiner("\t", "", "\n");
      schema.getFields().forEach(f -> names.add(f.getName()));
      text.append(names);
      for (PageReadStore pages; (pages = file.readNextRowGroup()) != null; ) {
        RecordReader<Group> rows =
            new ColumnIOFactory()
                .getColumnIO(schema)
                .getRecordReader(pages, new GroupRecordConverter(schema));
        for (long r = 0; r < pages.getRowCount(); r++) {
          Group row = rows.read();
          StringJoiner line = new StringJoiner("\t", "", "\n");
          for (int c = 0; c < schema.getFieldCount(); c++) {
            line.add(field(row, c));
          }
          text.append(line);
        }
      }
    }
    return text.toString();
  }

  private static String field(Group g, int c) {
    return g.getFieldRepetitionCount(c) == 0 ? "null" : value(g, c, 0);
  }

  private static String value(Group g, int c, int i) {
    Type type = g.getType().getType(c);
    LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
    if (!type.isPrimitive()) {
      return group(g.getGroup(c, i), logical);
    }
    switch (type.asPrimitiveType().getPrimitiveTypeName()) {
      case BOOLEAN:
        return String.valueOf(g.getBoolean(c, i));
      case INT32:
        return number(g.getInteger(c, i), logical);
      case INT64:
        return number(g.getLong(c, i), logical);
      case FLOAT:
        return String.format("f%08x", Float.floatToRawIntBits(g.getFloat(c, i)));
      case DOUBLE:
        return String.format("d%016x", Double.doubleToRawLongBits(g.getDouble(c, i)));
      default:
        byte[] bytes = g.getBinary(c, i).getBytes();
        if (logical instanceof DecimalLogicalTypeAnnotation) {
          return "n" + new BigInteger(bytes) + "/" + ((DecimalLogicalTypeAnnotation) logical).getScale();
        }
        String hex = HexFormat.of().formatHex(bytes);
        return (logical instanceof StringLogicalTypeAnnotation ? "s" : "x") + hex;
    }
  }

  private static String number(long v, LogicalTypeAnnotation logical) {
    if (logical instanceof DateLogicalTypeAnnotation) {
      return "D" + v;
    }
    if (logical instanceof DecimalLogicalTypeAnnotation) {
      return "n" + v + "/" + ((DecimalLogicalTypeAnnotation) logical).getScale();
    }
    if (logical instanceof TimeLogicalTypeAnnotation) {
      return "T" + nanos(v, ((TimeLogicalTypeAnnotation) logical).getUnit());
    }
    if (logical instanceof TimestampLogicalTypeAnnotation) {
      return "t" + nanos(v, ((TimestampLogicalTypeAnnotation) logical).getUnit());
    }
    if (logical instanceof IntLogicalTypeAnnotation) {
      IntLogicalTypeAnnotation x = (IntLogicalTypeAnnotation) logical;
      if (!x.isSigned()) {
        return x.getBitWidth() == 64 ? Long.toUnsignedString(v) : String.valueOf(v & 0xffffffffL);
      }
    }
    return String.valueOf(v);
  }

  private static BigInteger nanos(long v, LogicalTypeAnnotation.TimeUnit unit) {
    long by = unit == LogicalTypeAnnotation.TimeUnit.NANOS ? 1 : unit == LogicalTypeAnnotation.TimeUnit.MICROS ? 1000 : 1_000_000;
    return BigInteger.valueOf(v).multiply(BigInteger.valueOf(by));
  }

  private static String group(Group g, LogicalTypeAnnotation logical) {
    List<String> parts = new ArrayList<>();
    if (logical instanceof ListLogicalTypeAnnotation) {
      for (int i = 0; i < g.getFieldRepetitionCount(0); i++) {
        parts.add(field(g.getGroup(0, i), 0));
      }
      return "[" + String.join(",", parts) + "]";
    }
    if (logical instanceof MapLogicalTypeAnnotation) {
      for (int i = 0; i < g.getFieldRepetitionCount(0); i++) {
        Group entry = g.getGroup(0, i);
        parts.add(field(entry, 0) + ":" + field(entry, 1));
      }
      return "{" + String.join(",", parts) + "}";
    }
    for (int c = 0; c < g.getType().getFieldCount(); c++) {
      parts.add(g.getType().getFieldName(c) + "=" + field(g, c));
    }
    return "(" + String.join(",", parts) + ")";
  }
}
