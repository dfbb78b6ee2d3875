// Prints the rows of Parquet files as README.md says, read by hyparquet. The
// list of files names, line after line, a file and the folder for its texts.
import { readFileSync, writeFileSync } from 'node:fs'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

// Values stay what the file says.
const parsers = {
  timestampFromMilliseconds: v => v === undefined ? v : { nanos: BigInt(v) * 1000000n },
  timestampFromMicroseconds: v => v === undefined ? v : { nanos: BigInt(v) * 1000n },
  timestampFromNanoseconds: v => v === undefined ? v : { nanos: BigInt(v) },
  dateFromDays: v => v,
  stringFromBytes: v => v && new TextDecoder('utf-8', { fatal: true }).decode(v),
  uuidFromBytes: v => v,
}
const hex = bytes => Buffer.from(bytes).toString('hex')
const view = new DataView(new ArrayBuffer(8))

// written is how a value of a node of the schema is written.
function written(node, v) {
  if (v === null || v === undefined) return 'null'
  const { element, children } = node
  const logical = element.logical_type?.type ?? element.converted_type
  if (logical === 'LIST') return '[' + v.map(x => written(children[0].children[0], x)).join() + ']'
  if (logical === 'MAP') {
    const [key, value] = children[0].children
    if (Object.keys(v).length && key.element.type.endsWith('BYTE_ARRAY') && !key.element.logical_type) throw new Error('maps by bytes: hyparquet makes text of them')
    return '{' + Object.entries(v).map(([k, x]) => written(key, k) + ':' + written(value, x)).join() + '}'
  }
  if (children.length) return '(' + children.map(c => c.element.name + '=' + written(c, v[c.element.name])).join() + ')'
  switch (logical) {
    case 'STRING': case 'UTF8': return 's' + hex(Buffer.from(v))
    case 'DATE': return 'D' + v
    case 'TIME': return 'T' + BigInt(v) * { MILLIS: 1000000n, MICROS: 1000n, NANOS: 1n }[element.logical_type.unit]
    case 'TIMESTAMP': case 'TIMESTAMP_MILLIS': case 'TIMESTAMP_MICROS': return 't' + v.nanos
    case 'DECIMAL':
      if (element.precision > 15) throw new Error('decimals of more than 15 digits: hyparquet makes numbers of them')
      return 'n' + Math.round(v * 10 ** element.scale) + '/' + element.scale
  }
  switch (element.type) {
    case 'BOOLEAN': return String(v)
    case 'INT32': case 'INT64': return String(v)
    case 'FLOAT': view.setFloat32(0, v); return 'f' + view.getUint32(0).toString(16).padStart(8, '0')
    case 'DOUBLE': view.setFloat64(0, v); return 'd' + view.getBigUint64(0).toString(16).padStart(16, '0')
    case 'BYTE_ARRAY': case 'FIXED_LEN_BYTE_ARRAY': return 'x' + hex(v)
  }
  throw new Error('values of type ' + element.type)
}

async function read(path) {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  const columns = parquetSchema(metadata).children
  const rows = await parquetReadObjects({ file, metadata, compressors, parsers, utf8: false })
  const lines = [columns.map(c => c.element.name).join('\t')]
  for (const row of rows) lines.push(columns.map(c => written(c, row[c.element.name])).join('\t'))
  return lines.join('\n') + '\n'
}

const list = readFileSync(process.argv[2], 'utf8').split('\n')
for (let i = 0; i + 1 < list.length; i += 2) {
  const out = list[i + 1] + '/hyparquet'
  try {
    writeFileSync(out + '.txt', await read(list[i]))
  } catch (e) {
    writeFileSync(out + '.error', String(e.message).replace(/\s+/g, ' ').slice(0, 300) + '\n')
  }
}
