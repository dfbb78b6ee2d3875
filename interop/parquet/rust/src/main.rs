//! Prints the rows of Parquet files as README.md says, read by the crate
//! parquet. The list of files names, line after line, a file and the folder for
//! its texts. With three arguments, alp IN OUT, writes a flat file anew whose
//! floats are ALP.

use std::fmt::Write;
use std::fs::{read_to_string, write, File};
use std::panic::catch_unwind;
use std::sync::Arc;

use parquet::basic::{Encoding, LogicalType, TimeUnit};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::Decimal;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field, Row};
use parquet::schema::types::{ColumnPath, Type};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut s, b| {
        write!(s, "{b:02x}").unwrap();
        s
    })
}

fn nanos(unit: &TimeUnit, v: i64) -> i128 {
    v as i128
        * match unit {
            TimeUnit::MILLIS => 1_000_000,
            TimeUnit::MICROS => 1000,
            TimeUnit::NANOS => 1,
        }
}

/// The only field of a group, which lists and maps have around their values.
fn inner(t: &Type) -> &Type {
    &t.get_fields()[0]
}

fn row(t: &Type, r: &Row) -> Result<Vec<String>> {
    let fields = t.get_fields().iter().zip(r.get_column_iter());
    fields.map(|(t, (_, f))| written(t, f)).collect()
}

fn unscaled(d: &Decimal) -> Result<i128> {
    let bytes = d.data();
    if bytes.is_empty() || bytes.len() > 16 {
        return Err(ParquetError::General("decimals of this length".into()));
    }
    let first = if bytes[0] >= 0x80 { -1 } else { 0 };
    Ok(bytes.iter().fold(first, |n, b| n << 8 | *b as i128))
}

/// How a value of a type is written.
fn written(t: &Type, f: &Field) -> Result<String> {
    let logical = t.get_basic_info().logical_type_ref();
    let long = |v: i64| match logical {
        Some(LogicalType::Time(x)) => format!("T{}", nanos(&x.unit, v)),
        Some(LogicalType::Timestamp(x)) => format!("t{}", nanos(&x.unit, v)),
        _ => v.to_string(),
    };
    Ok(match f {
        Field::Null => "null".into(),
        Field::Bool(v) => v.to_string(),
        Field::Byte(v) => v.to_string(),
        Field::Short(v) => v.to_string(),
        Field::Int(v) => long(*v as i64),
        Field::Long(v) => long(*v),
        Field::UByte(v) => v.to_string(),
        Field::UShort(v) => v.to_string(),
        Field::UInt(v) => v.to_string(),
        Field::ULong(v) => v.to_string(),
        Field::Float(v) => format!("f{:08x}", v.to_bits()),
        Field::Double(v) => format!("d{:016x}", v.to_bits()),
        Field::Decimal(v) => format!("n{}/{}", unscaled(v)?, v.scale()),
        Field::Str(v) => format!("s{}", hex(v.as_bytes())),
        Field::Bytes(v) => format!("x{}", hex(v.data())),
        Field::Date(v) => format!("D{v}"),
        Field::TimeMillis(v) => long(*v as i64),
        Field::TimeMicros(v) | Field::TimestampMillis(v) | Field::TimestampMicros(v) => long(*v),
        Field::Group(r) => {
            let names = t.get_fields().iter().map(|f| f.name());
            let parts: Vec<_> = names.zip(row(t, r)?).map(|(n, v)| format!("{n}={v}")).collect();
            format!("({})", parts.join(","))
        }
        Field::ListInternal(l) => {
            let element = inner(inner(t));
            let parts: Result<Vec<_>> = l.elements().iter().map(|f| written(element, f)).collect();
            format!("[{}]", parts?.join(","))
        }
        Field::MapInternal(m) => {
            let entry = inner(t).get_fields();
            let mut parts = vec![];
            for (k, v) in m.entries() {
                parts.push(format!("{}:{}", written(&entry[0], k)?, written(&entry[1], v)?));
            }
            format!("{{{}}}", parts.join(","))
        }
        f => return Err(ParquetError::General(format!("values like {f:?}"))),
    })
}

fn read(path: &str) -> Result<String> {
    let file = SerializedFileReader::new(File::open(path)?)?;
    let schema = file.metadata().file_metadata().schema();
    let names: Vec<_> = schema.get_fields().iter().map(|f| f.name()).collect();
    let mut text = names.join("\t") + "\n";
    for r in file.get_row_iter(None)? {
        text += &(row(schema, &r?)?.join("\t") + "\n");
    }
    Ok(text)
}

macro_rules! copy {
    ($from:ident, $to:expr, $rows:expr) => {{
        let (mut values, mut definitions) = (vec![], vec![]);
        $from.read_records($rows, Some(&mut definitions), None, &mut values)?;
        $to.write_batch(&values, Some(&definitions), None)?;
    }};
}

fn write_alp(from: &str, to: &str) -> Result<()> {
    let file = SerializedFileReader::new(File::open(from)?)?;
    let schema = file.metadata().file_metadata().schema_descr().root_schema_ptr();
    let mut properties = WriterProperties::builder().set_writer_version(WriterVersion::PARQUET_2_0);
    for field in schema.get_fields() {
        if matches!(field.get_physical_type(), parquet::basic::Type::FLOAT | parquet::basic::Type::DOUBLE) {
            let path = ColumnPath::from(field.name());
            properties = properties.set_column_encoding(path.clone(), Encoding::ALP).set_column_dictionary_enabled(path, false);
        }
    }
    let mut out = SerializedFileWriter::new(File::create(to)?, schema.clone(), Arc::new(properties.build()))?;
    for g in 0..file.num_row_groups() {
        let group = file.get_row_group(g)?;
        let rows = group.metadata().num_rows() as usize;
        let mut copied = out.next_row_group()?;
        for c in 0..group.num_columns() {
            let mut column = copied.next_column()?.expect("a column for each");
            match (group.get_column_reader(c)?, column.untyped()) {
                (ColumnReader::Int32ColumnReader(mut r), ColumnWriter::Int32ColumnWriter(w)) => copy!(r, w, rows),
                (ColumnReader::Int64ColumnReader(mut r), ColumnWriter::Int64ColumnWriter(w)) => copy!(r, w, rows),
                (ColumnReader::FloatColumnReader(mut r), ColumnWriter::FloatColumnWriter(w)) => copy!(r, w, rows),
                (ColumnReader::DoubleColumnReader(mut r), ColumnWriter::DoubleColumnWriter(w)) => copy!(r, w, rows),
                (ColumnReader::ByteArrayColumnReader(mut r), ColumnWriter::ByteArrayColumnWriter(w)) => copy!(r, w, rows),
                _ => return Err(ParquetError::General("a column of another type".into())),
            }
            column.close()?;
        }
        copied.close()?;
    }
    out.close()?;
    Ok(())
}

fn main() {
    let args: Vec<_> = std::env::args().collect();
    if args.len() == 4 && args[1] == "alp" {
        return write_alp(&args[2], &args[3]).expect("a copy with ALP");
    }
    let list = read_to_string(args.get(1).expect("a list of files")).expect("the list of files");
    let lines: Vec<_> = list.lines().collect();
    for x in lines.chunks_exact(2) {
        let out = format!("{}/arrow-rs", x[1]);
        let failed = match catch_unwind(|| read(x[0])) {
            Ok(Ok(text)) => {
                write(out + ".txt", text).unwrap();
                continue;
            }
            Ok(Err(e)) => e.to_string(),
            Err(e) => match e.downcast::<String>() {
                Ok(s) => *s,
                Err(_) => "a panic".into(),
            },
        };
        write(out + ".error", failed.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").unwrap();
    }
}
