#!/usr/bin/env python3
"""An independent reader of columnar SSTables, written from docs/format.md.

    miniread.py [--walk] [--check] [--hashes FILE] FILE

prints every partition, row and marker as a JSON object a line, as
"colsst dump" does. With --walk it does not look at the footer. With --check it
prints nothing, but reads the indexes, the filter and the statistics too and
compares them with the blocks; FILE of --hashes has a line "hex(key) hex(hash)"
for each partition key, which the filter must then hold. It prints what it met:
lines "thing count" of encodings and their forms, kinds of items, shapes and so
on. It needs the package zstandard for files that use Zstd. It is slow and
plain: it is there to prove the page, not to be used.
"""

import hashlib
import ipaddress
import math
import struct
import sys

U64 = (1 << 64) - 1


class Corrupt(Exception):
    pass


def need(ok, what, *args):
    if not ok:
        raise Corrupt(what % args if args else what)


# --- Conventions -----------------------------------------------------------

CRC_TABLE = []
for _i in range(256):
    _c = _i
    for _ in range(8):
        _c = _c >> 1 ^ (0x82F63B78 if _c & 1 else 0)
    CRC_TABLE.append(_c)


MET = {}


def met(what):
    MET[what] = MET.get(what, 0) + 1


def crc32c(data):
    c = 0xFFFFFFFF
    for x in data:
        c = CRC_TABLE[(c ^ x) & 255] ^ c >> 8
    return c ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def signed(x, bits=64):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> bits - 1 else x


def fits(x, bits):
    return -(1 << bits - 1) <= x < 1 << bits - 1


class Cursor:
    """Takes values off the front of some bytes."""

    def __init__(self, data, part):
        self.data, self.at, self.part = data, 0, part

    def left(self):
        return len(self.data) - self.at

    def bytes(self, n):
        need(0 <= n <= self.left(), "%s: %d bytes wanted, %d left", self.part, n, self.left())
        self.at += n
        return self.data[self.at - n:self.at]

    def u8(self):
        return self.bytes(1)[0]

    def int(self, n):
        return int.from_bytes(self.bytes(n), "little")

    def uvarint(self):
        x = shift = 0
        while True:
            c = self.u8()
            x |= (c & 127) << shift
            if c < 128:
                need(x <= U64, "%s: overlong uvarint", self.part)
                return x
            shift += 7
            need(shift <= 63, "%s: overlong uvarint", self.part)

    def varint(self):
        x = self.uvarint()
        return x >> 1 ^ -(x & 1)

    def string(self):
        return self.bytes(self.uvarint())

    def end(self):
        need(self.left() == 0, "%s: %d bytes left over", self.part, self.left())


def packed_len(n, w):
    return (n * w + 7) // 8


def unpack(data, n, w):
    x = int.from_bytes(data, "little")
    mask = (1 << w) - 1
    return [x >> i * w & mask for i in range(n)]


def inflate(data, size):
    need(len(data) >= 6 and data[:4] == b"\x28\xb5\x2f\xfd", "not a Zstd frame")
    import zstandard

    params = zstandard.get_frame_parameters(data)
    need(params.content_size == size, "a Zstd frame of %d bytes, %d wanted", params.content_size, size)
    need(params.dict_id == 0, "a Zstd frame with a dictionary")
    d = zstandard.ZstdDecompressor().decompressobj()
    try:
        out = d.decompress(data)
    except zstandard.ZstdError as e:
        raise Corrupt("zstd: %s" % e)
    need(len(out) == size and d.eof and not d.unused_data, "the Zstd frame holds something else")
    return out


# --- Types -----------------------------------------------------------------

INT32 = {"boolean": 1, "tinyint": 1, "smallint": 2, "int": 4, "uint8": 1, "uint16": 2, "date": 4}
INT64 = {"bigint": 8, "uint32": 4, "uint64": 8, "timestamp": 8, "old_date": 8, "time": 8}
BYTES = ("fixed text ascii blob varint decimal uuid timeuuid lexical_uuid inet empty duration counter "
         "opaque list set map tuple udt vector composite").split()


class Type:
    def __init__(self, kind):
        self.kind, self.args, self.unit, self.length = kind, [], "", 0
        self.fields, self.name = [], ""
        self.precision, self.scale = 0, 0

    def bare(self):
        t = self
        while t.kind in ("frozen", "reversed"):
            t = t.args[0]
        return t

    def cls(self):
        k = self.bare().kind
        if k == "numeric":
            p = self.bare().precision
            return "int32" if p <= 9 else "int64" if p <= 18 else "bytes"
        if k in INT32:
            return "int32"
        if k in INT64:
            return "int64"
        return {"float": "float32", "double": "float64"}.get(k, "bytes")

    def fixed(self):
        """The fixed length of a value, or -1."""
        t = self.bare()
        if t.kind == "fixed":
            return t.length
        if t.kind == "numeric":
            return 4 if t.precision <= 9 else 8 if t.precision <= 18 else int(3.322 * t.precision + 1) // 8 + 1
        n = {"boolean": 1, "uint8": 1, "uint16": 2, "int": 4, "float": 4, "uint32": 4, "bigint": 8, "double": 8,
             "timestamp": 8, "old_date": 8, "uint64": 8, "uuid": 16, "timeuuid": 16, "lexical_uuid": 16, "empty": 0}
        if t.kind == "vector" and t.args[0].fixed() > 0:
            return t.args[0].fixed() * t.length
        return n.get(t.kind, -1)

    def ordered(self):
        return self.kind not in ("duration", "counter", "opaque") and all(a.ordered() for a in self.args)


class TypeText:
    def __init__(self, text):
        self.s, self.at = text, 0

    def whole(self):
        t = self.type()
        need(self.at == len(self.s), "type %r", self.s)
        return t

    def take(self, c):
        need(self.s[self.at:self.at + 1] == c, "type %r: %r expected at %d", self.s, c, self.at)
        self.at += 1

    def next(self):
        return self.s[self.at:self.at + 1]

    def word(self):
        from_ = self.at
        while self.next() and (self.next().isalnum() or self.next() == "_"):
            self.at += 1
        return self.s[from_:self.at]

    def quoted(self, q):
        self.take(q)
        out = ""
        while True:
            need(self.next() != "", "type %r: open quote", self.s)
            c = self.next()
            self.at += 1
            if c == q:
                if self.next() != q:
                    return out
                self.at += 1
            out += c

    def name(self):
        return self.quoted('"') if self.next() == '"' else self.word()

    def type(self):
        t = Type(self.word())
        if t.kind == "timestamp":
            self.take("(")
            t.unit = self.word()
            self.take(")")
            need(t.unit in ("s", "ms", "us", "ns"), "unit %r", t.unit)
        elif t.kind == "fixed":
            self.take("(")
            t.length = int(self.word())
            self.take(")")
            need(1 <= t.length <= 1 << 28, "length %d", t.length)
        elif t.kind == "decimal" and self.next() == "(":
            t.kind = "numeric"
            self.take("(")
            t.precision = int(self.word())
            self.take(",")
            t.scale = int(self.word())
            self.take(")")
            need(1 <= t.precision <= 76 and t.scale <= t.precision, "decimal(%d,%d)", t.precision, t.scale)
        elif t.kind == "opaque":
            self.take("<")
            t.name = self.quoted("'")
            self.take(">")
        elif t.kind == "udt":
            self.take("<")
            self.name()
            self.take(".")
            t.name = self.name()
            self.take("{")
            while self.next() != "}":
                t.fields.append(self.name())
                self.take(":")
                t.args.append(self.type())
                if self.next() != "}":
                    self.take(",")
            self.take("}")
            self.take(">")
        elif t.kind in ("list", "set", "map", "tuple", "vector", "composite", "frozen", "reversed"):
            self.take("<")
            t.args.append(self.type())
            while self.next() == ",":
                self.take(",")
                if t.kind == "vector":
                    t.length = int(self.word())
                else:
                    t.args.append(self.type())
            self.take(">")
        else:
            need(t.kind in INT32 or t.kind in INT64 or t.kind in ("float", "double") or t.kind in BYTES,
                 "unknown type %r", t.kind)
        return t


# --- Schema ----------------------------------------------------------------

KEY, CLUSTERING, STATIC, REGULAR = range(4)


class Column:
    def multi(self):
        """Whether a row has many cells."""
        return self.role >= STATIC and self.type.kind in ("list", "set", "map", "udt")

    def cell_type(self):
        return {"list": self.type.args[0], "map": self.type.args[-1]}.get(self.type.kind, Type("blob"))

    def path_type(self):
        return {"list": Type("timeuuid"), "udt": Type("smallint")}.get(self.type.kind, self.type.args[0])

    def value_type(self, path):
        if self.type.kind == "udt" and len(path) == 2 and int.from_bytes(path, "big") < len(self.type.args):
            return self.type.args[int.from_bytes(path, "big")]
        return self.cell_type()


class Schema:
    def __init__(self, data):
        c = Cursor(data, "schema")
        need(c.u8() == 1, "schema version")
        flags = c.u8()
        need(flags <= 1, "schema flags")
        self.multiset, self.order = flags & 1, c.string().decode()
        self.columns = []
        last = 0
        for _ in range(c.uvarint()):
            col = Column()
            col.role, flags, col.id = c.u8(), c.u8(), c.uvarint()
            col.name, col.type = c.string().decode(), TypeText(c.string().decode()).whole()
            col.desc = flags & 1
            need(last <= col.role <= REGULAR and flags <= 1 and col.id >= 1, "schema column")
            last = col.role
            self.columns.append(col)
        c.end()
        self.streams = []
        self.layout()

    def role(self, role):
        return [c for c in self.columns if c.role == role]

    def layout(self):
        def add(name, cls="int64", ref="U"):
            self.streams.append((name, cls, ref))

        def rows(prefix, columns, ref):
            for n in "liveness write_time ttl expiry deleted deletion_time local_deletion_time".split():
                add(prefix + "$" + n, ref=ref)
            for c in columns:
                cls, at = c.type.cls(), ref
                if c.multi():
                    for n in "cells deleted deletion_time local_deletion_time".split():
                        add(c.name + ".$" + n, ref=ref)
                    add(c.name + ".$path", "bytes", ref)
                    cls, at = c.cell_type().cls(), len(self.streams) - 1
                for n in "state write_time ttl expiry".split():
                    add(c.name + ".$" + n, ref=at)
                add(c.name, cls, at)
                add(c.name + ".$exception", "bytes", at)

        add("$partition_rows", ref="P")
        add("$key", "bytes", "P")
        for n in "state deletion_time local_deletion_time".split():
            add("$partition_" + n, ref="P")
        self.static_at = len(self.streams)
        rows("$static.", self.role(STATIC), "P")
        self.kind_at = len(self.streams)
        for n in "kind marker_prefix marker_close_time marker_close_local marker_open_time marker_open_local".split():
            add("$" + n)
        self.clustering_at = len(self.streams)
        for c in self.role(CLUSTERING):
            add(c.name + ".$state")
            add(c.name, c.type.cls())
        self.rows_at = len(self.streams)
        rows("", self.role(REGULAR), "U")
        k, m = sum(11 if c.multi() else 6 for c in self.role(STATIC)), len(self.role(CLUSTERING))
        assert self.kind_at == 12 + k and self.rows_at == 18 + k + 2 * m


# --- Encodings -------------------------------------------------------------

WIDTH = {"int32": 32, "int64": 64, "float32": 32, "float64": 64}


def position_width(n):
    return (n - 1).bit_length() if n > 1 else 0


class Body:
    """Body cuts parts off a body; without data it only measures."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        return None if self.data is None else self.data[self.at - n:self.at]

    def packed(self, n, w):
        part = self.take(packed_len(n, w))
        return None if part is None else unpack(part, n, w)


def positions(body, count, n):
    at = body.packed(count, position_width(n))
    if at is not None:
        need(all(p < n for p in at) and all(a < b for a, b in zip(at, at[1:])), "positions")
    return at


def packed_run(body, n, w, c, p, m):
    need(0 <= w <= m and 0 <= c <= n and 0 <= p <= m - w, "packed run of %d, %d x %d of %d", w, c, p, n)
    u = body.packed(n, w)
    at = positions(body, c, n)
    high = body.packed(c, p)
    if u is not None:
        for i, h in zip(at, high):
            u[i] |= h << w
    return u


def base_of(p, w, m):
    b = p << max(0, w - 7)
    need(fits(b, m), "base %d << %d", p, max(0, w - 7))
    return b


def simple(body, n, p, w, m):
    """Codes of a simple frame, and its base."""
    need(0 <= w <= m, "width %d", w)
    return body.packed(n, w), base_of(p, w, 64)


class Frame:
    def __init__(self, body, p, n, m):
        self.w, c, high = p[3], p[4], abs(p[5])
        need((c == 0) == (high == 0), "patches %d of %d bits", c, high)
        self.u = packed_run(body, n, self.w, c, high, m)
        self.bits, self.base = self.w + high if p[5] < 0 else 0, base_of(p[2], self.w, m)

    def s(self, i):
        u = self.u[i]
        if self.bits and u >> self.bits - 1:
            u -= 1 << self.bits
        return self.base + u


def unused(p, used):
    need(all(v == 0 or i in used for i, v in enumerate(p)), "parameters %s", p)


def raw(body, p, n, m, _):
    unused(p, ())
    b = body.take(n * m // 8)
    return b and [int.from_bytes(b[i * m // 8:(i + 1) * m // 8], "little") for i in range(n)]


def constant(body, p, n, m, cls):
    unused(p, (0,))
    need(0 <= p[0] < 1 << 32 if cls == "float32" else fits(p[0], m), "constant %d", p[0])
    return [p[0]] * n


def byte_stream_split(body, p, n, m, _):
    unused(p, ())
    b = body.take(n * m // 8)
    return b and [int.from_bytes(b[i::n], "little") for i in range(n)]


GAP_WIDTHS = 2, 3, 4, 5, 7, 10, 16, 64


def delta_of_delta(body, p, n, m, _):
    form = p[0]
    need(0 <= form <= 4 and fits(p[1], m) and fits(p[6], m), "delta_of_delta %s", p)
    unused(p, {0: (0, 1), 1: (0, 2, 3, 4, 5), 2: (0, 1, 2, 3, 4, 5), 3: (0, 1, 2, 3, 4, 5, 6), 4: range(8)}[form])
    if form == 0:
        return [p[1]] * n
    f = Frame(body, p, n, m)
    g, e = 0, 0
    if p[7]:
        need(p[7] >= 8 and p[7] >> 3 <= n // 2, "gaps %d", p[7])
        g, e = p[7] >> 3, GAP_WIDTHS[p[7] & 7]
    at = positions(body, g, n)
    sizes = body.packed(g, e)
    if f.u is None:
        return None
    if form == 1:
        return [f.s(i) for i in range(n)]
    v = []
    if form == 2:
        for i in range(n):
            v.append((p[1] << f.w) + f.u[0] if i == 0 else v[-1] + f.s(i))
    elif form == 3:
        d = 0
        for i in range(n):
            if i == 0:
                v.append((p[1] << f.w) + f.u[0])
                continue
            d = (p[6] << f.w) + f.u[1] if i == 1 else d + f.s(i)
            v.append(v[-1] + d)
    else:
        gaps = {a: s >> 1 ^ -(s & 1) for a, s in zip(at, sizes)}
        k = -1
        for i in range(n):
            k += 1 + gaps.get(i, 0)
            v.append((p[1] + k) * p[6] + f.s(i))
    return v


def run_length(body, p, n, m, _):
    unused(p, range(4))
    need(1 <= p[0] <= n and 0 <= p[3] <= 16, "run_length %s", p)
    u, base = simple(body, p[0], p[1], p[2], m)
    lengths = body.packed(p[0], p[3])
    if u is None:
        return None
    v = []
    for x, l in zip(u, lengths):
        v += [base + x] * (l + 1)
    need(len(v) == n, "runs of %d values, %d wanted", len(v), n)
    return v


def alp(body, p, n, m, _):
    mode = p[0]
    need(0 <= mode <= 5, "alp mode %d", mode)
    unused(p, {0: (0,), 1: (0, 2, 3, 4, 5, 6, 7), 2: range(8), 3: (0, 2, 3, 4, 5, 6), 4: range(7), 5: (0, 1, 6, 7)}[mode])
    if mode == 0:
        return raw(body, [0] * 8, n, m, None)
    need(0 <= p[7] <= n, "exceptions")
    if mode == 5:
        d, left = p[1], p[6]
        need(1 <= d <= 8 and 1 <= left <= 16, "alp split %d, %d", d, left)
        codes = body.packed(n, (d - 1).bit_length())
        rights = body.packed(n, m - left)
        lefts = body.packed(d, left)
        at = positions(body, p[7], n)
        other = body.packed(p[7], left)
        if codes is None:
            return None
        need(max(codes) < d, "code of the dictionary")
        v = [(lefts[c] << m - left) + r for c, r in zip(codes, rights)]
        for i, x in zip(at, other):
            v[i] = (x << m - left) + rights[i]
        return v
    d = alp_integers(body, p, n, m, mode in (2, 4))
    if mode in (3, 4):
        z = p[6]
        need(0 <= z < m, "zeros")
        if d is None:
            return None
        out = []
        for x in d:
            x = signed(x, m)
            if x < 0:
                x ^= (1 << m - 1 - z) - 1
            out.append(x << z & (1 << m) - 1)
        return out
    e, f = p[6] >> 5, p[6] & 31
    need(0 <= e <= 18 and f <= 18, "exponents %d", p[6])
    at = positions(body, p[7], n)
    values = raw(body, [0] * 8, p[7], m, None)
    if d is None:
        return None
    v = []
    for x in d:
        x = signed(x, m)
        need(abs(x) <= (1 << 51 if m == 64 else 1 << 24), "decimal too large")
        y = float(x) * float("1e%d" % f) * float("1e-%d" % e)
        v.append(float_bits(y, m))
    for i, x in zip(at, values or ()):
        v[i] = x
    return v


def alp_integers(body, p, n, m, delta):
    f = Frame(body, p, n, m)
    need(fits(p[1] << f.w, m), "first")
    if f.u is None:
        return None
    if not delta:
        return [f.s(i) for i in range(n)]
    d = [(p[1] << f.w) + f.u[0]]
    for i in range(1, n):
        d.append(d[-1] + f.s(i))
    return d


def float_bits(y, m):
    if m == 64:
        return struct.unpack("<Q", struct.pack("<d", y))[0]
    try:
        return struct.unpack("<I", struct.pack("<f", y))[0]
    except OverflowError:
        return 0xFF800000 if y < 0 else 0x7F800000


def length_bytes(body, p, n, _, __):
    unused(p, range(3))
    u, base = simple(body, n, p[1], p[2], 32)
    data = body.take(n * base + p[0])
    if data is None:
        return None
    need(sum(u) == p[0], "lengths")
    return cut([base + x for x in u], data)


def cut(lengths, data):
    out, at = [], 0
    for l in lengths:
        need(0 <= l <= 1 << 28, "a string of %d bytes", l)
        out.append(data[at:at + l])
        at += l
    return out


def front_coded(body, p, n, _, __):
    unused(p, range(6))
    if p[5]:
        need(1 <= p[5] <= 8 and p[3] == p[4] == 0, "front_coded %s", p)
        u, base = simple(body, n, p[1], p[2], 64)
        if u is None:
            return None
        x, out = p[0] << p[2], []
        for c in u:
            x = x + base + c & U64
            need(x >> 8 * p[5] == 0, "an integer of %d bytes", p[5])
            out.append(x.to_bytes(p[5], "big"))
        return out
    prefixes, pbase = simple(body, max(n, 1) - 1, p[1], p[2], 32)
    suffixes, sbase = simple(body, n, p[3], p[4], 32)
    data = body.take(n * sbase + p[0])
    if data is None:
        return None
    need(sum(suffixes) == p[0], "suffix lengths")
    out, last = [], b""
    for i, suffix in enumerate(cut([sbase + x for x in suffixes], data)):
        prefix = pbase + prefixes[i - 1] if i else 0
        need(0 <= prefix <= len(last), "prefix")
        last = last[:prefix] + suffix
        out.append(last)
    return out


def dictionary(body, p, n, _, __):
    unused(p, range(4))
    need(1 <= p[0] <= n, "dictionary of %d", p[0])
    values = length_bytes(body, [p[1], p[2], p[3], 0, 0, 0, 0, 0], p[0], 0, "")
    indices = body.packed(n, (p[0] - 1).bit_length())
    if indices is None:
        return None
    need(max(indices) < p[0], "index")
    return [values[i] for i in indices]


INTS, FLOATS = ("int32", "int64"), ("float32", "float64")
NAMES = "raw constant delta_of_delta function run_length alp byte_stream_split dictionary length_bytes front_coded".split()
ENCODINGS = {
    0: (raw, INTS + FLOATS), 1: (constant, INTS + FLOATS), 2: (delta_of_delta, INTS), 4: (run_length, INTS),
    5: (alp, FLOATS), 6: (byte_stream_split, FLOATS), 7: (dictionary, ("bytes",)), 8: (length_bytes, ("bytes",)),
    9: (front_coded, ("bytes",)),
}
FUNCTION = 3


def body_len(encoding, cls, p, n):
    body = Body(None)
    if encoding == FUNCTION:
        need(cls == "int64" and p[1] >= 1 and p[6] >= 1 and p[7] >= 0, "function %s", p)
        Frame(body, p, n, 64)
        return body.at
    need(encoding in ENCODINGS, "unknown encoding %d", encoding)
    decode, classes = ENCODINGS[encoding]
    need(cls in classes, "encoding %d of %s", encoding, cls)
    decode(body, p, n, WIDTH.get(cls, 0), cls)
    return body.at


def decode(encoding, cls, p, n, data, stream):
    body = Body(data)
    m = WIDTH.get(cls, 0)
    if encoding == FUNCTION:
        f = Frame(body, p, n, 64)
        x = stream(p[6] - 1)
        y = stream(p[7] - 1) if p[7] else [0] * n
        need(len(x) == len(y) == n, "a function of streams of other counts")
        v = [signed(p[0] * x[i]) // p[1] + y[i] + f.s(i) for i in range(n)]
    else:
        v = ENCODINGS[encoding][0](body, p, n, m, cls) or []
    need(body.at == len(data) and len(v) == n, "body")
    if cls in INTS:
        return [signed(x, m) for x in v]
    if cls in FLOATS:
        return [x & (1 << m) - 1 for x in v]
    return v


def in_line(c):
    mask, p = c.u8(), [0] * 8
    for i in range(8):
        if mask >> i & 1:
            p[i] = c.varint()
    return p


def ints(c, n):
    out = []
    while len(out) < n:
        k = min(1024, n - len(out))
        p = in_line(c)
        out += decode(2, "int64", p, k, c.bytes(body_len(2, "int64", p, k)), None)
    return out


def strings(c, n):
    p = in_line(c)
    return decode(9, "bytes", p, n, c.bytes(body_len(9, "bytes", p, n)), None)


# --- Blocks ----------------------------------------------------------------


class Shape:
    def __init__(self, c=None):
        self.kind = c.u8() if c else 0
        need(self.kind <= 69, "shape %d", self.kind)
        self.v = c.varint() if self.kind in (1, 3) else 0
        self.w = self.kind - 5 if self.kind >= 5 else 0


class Template:
    def __init__(self, data, streams):
        c = Cursor(data, "template")
        self.groups = [Shape(c), Shape(c)]
        self.slots, at = {}, -1
        for _ in range(c.uvarint()):
            at += 1 + c.uvarint()
            mask = c.uvarint()
            need(at < streams and mask < 1 << 11, "template")
            self.slots[at] = [Shape(c) if mask >> i & 1 else Shape() for i in range(11)]
        c.end()

    def columns(self):
        """All shapes in the order of a block."""
        return self.groups + [s for st in sorted(self.slots) for s in self.slots[st]]


class Group:
    """The streams of one row group, decoded when asked for."""

    def __init__(self, schema, rows, parts):
        self.schema, self.rows, self.parts, self.chunks, self.done = schema, rows, parts, {}, {}

    def count(self, st):
        return self.chunks[st][3] if st in self.chunks else 0

    def stream(self, st, want=None):
        if st not in self.done:
            self.done[st] = self.decode(st)
        v = self.done[st]
        need(want is None or len(v) == want, "stream %s has %d values, not %s", self.schema.streams[st][0], len(v), want)
        return v

    def decode(self, st):
        if st not in self.chunks:
            return []
        slots, encoding, data, n = self.chunks[st]
        cls = self.schema.streams[st][1]
        met("zstd chunk" if slots[2] else "plain chunk")
        met("encoding %s %s" % (NAMES[encoding], cls))
        if encoding in (2, 5):
            met("%s form %d %s" % (NAMES[encoding], slots[3], cls))
            patched = slots[3] in (1, 2, 3, 4) and slots[8]
            met("frame %s" % ("plain" if not patched else "patched" if patched > 0 else "patched, signed"))
            if slots[10] and (encoding == 5 or slots[3] == 4):
                met("%s form %d with %s" % (NAMES[encoding], slots[3], "exceptions" if encoding == 5 else "gaps"))
        if encoding == 3:
            met("function of two" if slots[10] else "function of one")
        if encoding == 9:
            met("front_coded %s" % ("integers" if slots[8] else "prefixes"))
        if slots[2]:
            data = inflate(data, body_len(encoding, cls, slots[3:], n))

        def earlier(x):
            need(x < st and self.schema.streams[x][1] in INTS, "function of stream %d", x)
            return self.stream(x)

        return decode(encoding, cls, slots[3:], n, data, earlier)


def read_block(schema, template, groups, rows, parts, body):
    c = Cursor(body, "block")
    columns = template.columns()
    values = []
    for s in columns:
        first, step = s.v, 0
        if s.kind >= 2:
            first = c.varint()
        if s.kind == 3:
            step = s.v
        if s.kind == 4:
            step = c.varint()
        values.append([signed(first + g * step) for g in range(groups)])
    widths = [s.w for s in columns for _ in range(groups)]
    bits = int.from_bytes(c.bytes((sum(widths) + 7) // 8), "little")
    for s, v in zip(columns, values):
        met("shape %s" % ("zero", "constant", "one value", "step", "steps", "packed")[min(s.kind, 5)])
        for g in range(groups):
            v[g] = signed(v[g] + (bits & (1 << s.w) - 1))
            bits >>= s.w
    out = [Group(schema, r, p) for r, p in zip(values[0], values[1])]
    for g in out:
        need(0 <= g.rows <= 65536 and 0 <= g.parts <= 65536 and g.rows + g.parts, "row group")
    need(sum(values[0]) == rows and sum(values[1]) == parts, "counts of a block")
    at = 2
    for st in sorted(template.slots):
        name, cls, ref = schema.streams[st]
        for i, g in enumerate(out):
            slots = [values[at + k][i] for k in range(11)]
            if slots[0] == 1:
                continue
            usual = g.rows if ref == "U" else g.parts if ref == "P" else g.count(ref)
            n = usual if slots[0] == 0 else slots[0] - 2
            need(0 <= n <= 65536, "count %d", n)
            if n == 0:
                continue
            size = body_len(slots[1], cls, slots[3:], n)
            if slots[2]:
                need(0 < slots[2] < size, "%s: %d bytes compressed, %d not", name, slots[2], size)
                size = slots[2]
            g.chunks[st] = slots, slots[1], c.bytes(size), n
        at += 11
    c.end()
    return out


# --- Rows ------------------------------------------------------------------


class Items(list):
    """Values that are taken off one after another."""

    def __init__(self, v):
        super().__init__(v)
        self.at = 0

    def next(self):
        need(self.at < len(self), "a stream is short")
        self.at += 1
        return self[self.at - 1]


class Cell:
    def __init__(self, state):
        self.state, self.value, self.write_time, self.ttl, self.expiry = state, None, None, None, None


class Multi:
    """The cells of a multi-cell column in one row, by path."""


class Row:
    kind = "row"


class Partition:
    pass


def read_rows(group, base, columns, n):
    """The metadata and cells of n rows, or static rows, from stream base on."""
    live = group.stream(base, n)
    need(all(0 <= x <= 3 for x in live), "liveness")
    times = Items(group.stream(base + 1, sum(x != 1 for x in live)))
    ttls = Items(group.stream(base + 2, sum(x == 2 for x in live)))
    expiries = Items(group.stream(base + 3, sum(x >= 2 for x in live)))
    deleted = group.stream(base + 4, n)
    need(all(0 <= x <= 2 for x in deleted), "row deletions")
    del_times = Items(group.stream(base + 5, sum(x > 0 for x in deleted)))
    del_locals = Items(group.stream(base + 6, sum(x > 0 for x in deleted)))
    rows = []
    for i in range(n):
        r = Row()
        r.liveness, r.write_time, r.ttl, r.expiry, r.deletion, r.cells = live[i], 0, 0, 0, None, []
        if live[i] != 1:
            r.write_time = times.next()
        if live[i] == 2:
            r.ttl = ttls.next()
        if live[i] >= 2:
            r.expiry = expiries.next()
        if deleted[i]:
            r.deletion = del_times.next(), del_locals.next(), deleted[i] == 2
        rows.append(r)
    at = base + 7
    for col in columns:
        if not col.multi():
            for r, c in zip(rows, read_cells(group, at, col.type, n)):
                r.cells.append(c)
            at += 6
            continue
        counts = group.stream(at, n)
        need(all(x >= 0 for x in counts), "cells of a row")
        there = sum(x > 0 for x in counts)
        deleted = group.stream(at + 1, there)
        need(all(0 <= x <= 1 for x in deleted), "complex deletions")
        deletions = [Items(group.stream(at + i, sum(deleted))) for i in (2, 3)]
        deleted, cells = Items(deleted), sum(max(0, x - 1) for x in counts)
        paths = group.stream(at + 4, cells)
        all_cells = Items(read_cells(group, at + 5, col.cell_type(), cells))
        need(all(c.state & 7 != 1 for c in all_cells), "an absent cell")
        for c, path in zip(all_cells, paths):
            c.path = path
        for r, x in zip(rows, counts):
            m = None
            if x:
                m = Multi()
                m.deletion = tuple(d.next() for d in deletions) if deleted.next() else None
                m.cells = [all_cells.next() for _ in range(x - 1)]
            r.cells.append(m)
        at += 11
    return rows


def read_cells(group, at, t, n):
    """The n cells of a column of values of type t, from stream at on."""
    states = group.stream(at, n)
    for s in states:
        k, f = s & 7, s & ~7
        need(0 <= s < 128 and k <= 4 and f & 0x60 != 0x60 and
             not f & ~{0: 0x60, 1: 0, 2: 0x68, 3: 0x78, 4: 0x08}[k], "cell %#x", s)
    has = [s & 7 not in (1, 4) and not s & 0x60 for s in states]
    own = Items(group.stream(at + 1, sum(s & 8 > 0 for s in states)))
    ttl = Items(group.stream(at + 2, sum(s & 7 == 3 and s & 16 > 0 for s in states)))
    exp = Items(group.stream(at + 3, sum(s & 16 > 0 or s & 7 == 4 for s in states)))
    values = Items(group.stream(at + 4, sum(has)))
    odd = Items(group.stream(at + 5, sum(s & 64 > 0 for s in states)))
    cells = []
    for i, s in enumerate(states):
        c = Cell(s)
        if s & 8:
            c.write_time = own.next()
        if s & 7 == 3 and s & 16:
            c.ttl = ttl.next()
        if s & 16 or s & 7 == 4:
            c.expiry = exp.next()
        if has[i]:
            c.value = serialise(t, values.next())
        elif s & 0x40:
            c.value = odd.next()
        elif s & 0x20:
            c.value = b""
        cells.append(c)
    return cells


def serialise(t, v):
    k = t.bare().kind
    if k == "date":
        v += 1 << 31
    if k == "numeric" and t.cls() != "bytes":
        n = t.fixed()
        need(abs(v) < 10 ** t.bare().precision, "a decimal of too many digits")
    else:
        n = {**INT32, **INT64, "float": 4, "double": 8}.get(k)
    return v if n is None else (v & (1 << 8 * n) - 1).to_bytes(n, "big")


def read_group(schema, group, table):
    """Appends the partitions and unfiltereds of a group to table."""
    np, n = group.parts, group.rows
    keys = group.stream(1, np)
    states = group.stream(2, np)
    need(all(0 <= s <= 5 for s in states), "partition state")
    del_times = Items(group.stream(3, sum(s & 1 for s in states)))
    del_locals = Items(group.stream(4, sum(s & 1 for s in states)))
    counts = group.stream(0, np if np > 1 else 0) or [n] * np
    need(np == 0 or sum(counts) == n, "rows of partitions")
    static = Items(read_rows(group, schema.static_at, schema.role(STATIC), sum(s >> 1 == 2 for s in states)))
    begun = []
    for i in range(np):
        p = Partition()
        p.key, p.deletion, p.static_state, p.static, p.rows = keys[i], None, states[i] >> 1, None, []
        if states[i] & 1:
            p.deletion = del_times.next(), del_locals.next()
            need(p.deletion[0] != -1 << 63, "no deletion")
        if p.static_state == 2:
            p.static = static.next()
        begun.append(p)
    if np == 0:
        need(table, "rows before the first partition")
    unfiltereds = read_unfiltereds(schema, group)
    if np == 0:
        table[-1].rows += unfiltereds
    for p, k in zip(begun, counts):
        p.rows += unfiltereds[:k]
        unfiltereds = unfiltereds[k:]
    table += begun


MARKERS = {0: ("excl_end", 1, 0, -1), 1: ("incl_start", 0, 1, -1), 2: ("excl_end_incl_start", 1, 1, -1),
           5: ("incl_end_excl_start", 1, 1, 1), 6: ("incl_end", 1, 0, 1), 7: ("excl_start", 0, 1, 1)}


def read_unfiltereds(schema, group):
    n, at = group.rows, schema.kind_at
    kinds = group.stream(at, n)
    need(all(k == 0 or k - 1 in MARKERS for k in kinds), "kind of marker")
    marks = [MARKERS[k - 1] for k in kinds if k]
    prefixes = Items(group.stream(at + 1, len(marks)))
    closes = [Items(group.stream(at + 2 + i, sum(m[1] for m in marks))) for i in (0, 1)]
    opens = [Items(group.stream(at + 4 + i, sum(m[2] for m in marks))) for i in (0, 1)]
    rows = Items(read_rows(group, schema.rows_at, schema.role(REGULAR), n - len(marks)))
    out = []
    clustering = schema.role(CLUSTERING)
    for k in kinds:
        if k == 0:
            u = rows.next()
            u.prefix, u.weight = len(clustering), 0
        else:
            u = Row()
            u.kind, c, o, u.weight = MARKERS[k - 1]
            u.prefix = prefixes.next()
            need(0 <= u.prefix <= len(clustering), "prefix of a marker")
            u.close = tuple(x.next() for x in closes) if c else None
            u.open = tuple(x.next() for x in opens) if o else None
        u.clustering = []
        out.append(u)
    for i, col in enumerate(clustering):
        states = group.stream(schema.clustering_at + 2 * i, n)
        need(all(s in (0, 1, 0x20) for s in states), "clustering state")
        values = Items(group.stream(schema.clustering_at + 2 * i + 1, sum(s == 0 for s in states)))
        for u, s in zip(out, states):
            v = serialise(col.type, values.next()) if s == 0 else None if s == 1 else b""
            if i < u.prefix:
                u.clustering.append(v)
            else:
                need(s == 1, "a value beyond the prefix")
    return out


# --- The file --------------------------------------------------------------

FIELDS = {b"S": 0, b"T": 1, b"D": 5, b"I": 3, b"F": 2, b"Q": 2}


class Item:
    def __init__(self, stream, off, crc):
        """Reads the item at an offset of the stream; Corrupt if none begins there."""
        c = Cursor(stream[off:off + 64], "item header")
        need(c.u8() == 0xC5, "no item begins at %d", off)
        self.off, self.kind = off, c.bytes(1)
        need(self.kind in FIELDS, "kind of item %r", self.kind)
        body = c.uvarint()
        self.fields = [c.uvarint() for _ in range(FIELDS[self.kind])]
        check = crc32c(c.data[:c.at]) & 0xFFFF
        need(c.int(2) == check, "check of the header at %d", off)
        end = off + c.at + body
        self.len = c.at + body + crc
        need(body <= 1 << 30 and off + self.len <= len(stream), "length of the item at %d", off)
        self.body = stream[off + c.at:end]
        need(crc == 0 or crc32c(stream[off:end]) == int.from_bytes(stream[end:end + 4], "little"),
             "checksum of the item at %d", off)


class Table:
    """A file, read as a whole."""

    def __init__(self, data, walk):
        self.data = data
        c = Cursor(data, "file header")
        need(c.bytes(8) == b"COLSST\r\n", "not a columnar SSTable")
        version, kib = c.int(2), c.int(2)
        need(c.int(4) == crc32c(data[:12]), "checksum of the file header")
        need(version == 1, "version %d", version)
        need(kib <= 16 << 10, "outer chunks of %d KiB", kib)
        self.chunk = kib << 10
        self.crc = 0 if kib else 4
        self.footer = None
        if walk:
            self.stream = self.walk_chunks() if kib else data[16:]
        else:
            self.read_footer()
        self.templates, self.partitions, self.items, self.blocks = [], [], {}, []
        self.schema = None
        self.read_items(walk)

    def read_footer(self):
        data = self.data
        t = Cursor(data[-32:], "trailer")
        length, crc, version, zero, features = t.int(8), t.int(4), t.int(2), t.int(2), t.int(4)
        need(t.int(4) == crc32c(data[-32:-12]) and t.bytes(8) == b"\r\nCOLSST", "trailer")
        need(version == 1 and zero == 0 and features & ~1 == 0, "version %d, features %#x", version, features)
        need(features == (1 if self.chunk else 0), "feature bit of outer chunks")
        need(length <= len(data) - 48, "length of the footer")
        foot = data[len(data) - 32 - length:-32]
        need(crc32c(foot) == crc, "checksum of the footer")
        c, f = Cursor(foot, "footer"), {}
        while c.left():
            tag = c.u8()
            section = c.string()
            if not 1 <= tag & 127 <= 9:
                need(tag < 128, "required section %d", tag & 127)
                continue
            need(tag & 127 not in f, "section twice")
            f[tag & 127] = section
        need(all(i in f for i in (1, 3, 4, 5, 7)), "a section is missing")
        self.footer = f
        physical = data[16:len(data) - 32 - length]
        c = Cursor(f[4], "stream section")
        size = c.uvarint()
        if not self.chunk:
            need(size == len(physical), "length of the stream")
            self.stream = physical
        else:
            need(c.uvarint() << 10 == self.chunk, "length of chunks")
            stored = ints(c, -(-size // self.chunk))
            out, at = [], 0
            for i, n in enumerate(stored):
                want = min(self.chunk, size - i * self.chunk)
                need(0 < n <= want and at + n + 8 <= len(physical), "stored length")
                piece, k = self.one_chunk(physical, at, want)
                need(k == n, "a chunk stores %d bytes, the footer says %d", k, n)
                out.append(piece)
                at += n + 8
            need(at == len(physical), "chunks")
            self.stream = b"".join(out)
        c.end()

    def one_chunk(self, data, at, want):
        head = int.from_bytes(data[at:at + 4], "little")
        n = head & 0x7FFFFFFF
        need(at + n + 8 <= len(data), "chunk")
        need(crc32c(data[at:at + 4 + n]) == int.from_bytes(data[at + 4 + n:at + 8 + n], "little"), "checksum of a chunk")
        piece = data[at + 4:at + 4 + n]
        met("outer chunk, zstd" if head >> 31 else "outer chunk, raw")
        if head >> 31:
            if want is None:
                import zstandard

                want = zstandard.get_frame_parameters(piece).content_size
                need(0 < want <= self.chunk, "size of a chunk")
            need(n < want, "a chunk that does not become smaller")
            piece = inflate(piece, want)
        need(want is None or len(piece) == want, "size of a chunk")
        return piece, n

    def walk_chunks(self):
        out, at = [], 16
        while True:
            try:
                piece, n = self.one_chunk(self.data, at, None)
            except Corrupt:
                break
            out.append(piece)
            at += n + 8
            if len(piece) < self.chunk:
                break
        return b"".join(out)

    def read_items(self, walk):
        off, ordinal = 0, 0
        while off < len(self.stream):
            try:
                it = Item(self.stream, off, self.crc)
            except Corrupt:
                if walk and self.schema:
                    return
                raise
            need((it.kind == b"S") == (off == 0), "the schema is not the first item")
            if it.kind == b"S":
                self.schema = Schema(it.body)
            elif it.kind == b"T":
                need(it.fields[0] == len(self.templates), "number of a template")
                self.templates.append(Template(it.body, len(self.schema.streams)))
                self.templates[-1].bytes = it.body
            elif it.kind == b"D":
                self.read_block(it)
            self.items[off] = it
            met("item " + it.kind.decode())
            off += it.len

    def read_block(self, it):
        template, ordinal, groups, rows, parts = it.fields
        need(template < len(self.templates) and 1 <= groups <= 64, "block")
        before = len(self.partitions)
        if parts == 0:
            need(ordinal == before - 1, "ordinal %d of %d", ordinal, before)
        else:
            need(ordinal == before, "ordinal %d of %d", ordinal, before)
        from_ = len(self.partitions[-1].rows) if before else 0
        it.groups = read_block(self.schema, self.templates[template], groups, rows, parts, it.body)
        for g in it.groups:
            read_group(self.schema, g, self.partitions)
        it.ordinal, it.parts, it.rows = ordinal, parts, rows
        if parts == 0 or len(self.partitions) == ordinal + 1:
            p = self.partitions[ordinal]
            it.of_one = p.rows[0 if parts else from_:]
            open_ = None
            for u in p.rows[:0 if parts else from_]:
                if u.kind != "row":
                    open_ = u.open
            it.open = open_
        self.blocks.append(it)


# --- Checks ----------------------------------------------------------------


def refs(c, n):
    if n == 0:
        return []
    off, out = c.uvarint(), []
    gaps, lengths = ints(c, n), ints(c, n)
    need(gaps[0] == 0, "the first gap")
    for g, l in zip(gaps, lengths):
        need(g >= 0 and l > 0, "reference")
        out.append((off + g, l))
        off += g + l
    return out


def deletions(c, entries):
    out, last = {}, -1
    for _ in range(c.uvarint()):
        e, marked, local = c.uvarint(), c.varint(), c.varint()
        need(last < e < entries, "deletions of entries")
        out[e] = marked, local
        last = e
    return out


def position(u):
    out = bytearray(uvarint(3 * u.prefix + u.weight + 1))
    for v in u.clustering:
        out += uvarint(0) if v is None else uvarint(1 + len(v)) + v
    return bytes(out)


def uvarint(x):
    out = bytearray()
    while x >= 128:
        out.append(x & 127 | 128)
        x >>= 7
    out.append(x)
    return bytes(out)


class Check:
    def __init__(self, table, hashes):
        self.t = table
        f = table.footer
        need(f[1] == table.items[0].body, "schema of the footer")
        c = Cursor(f[3], "templates")
        need([c.string() for _ in range(c.uvarint())] == [t.bytes for t in table.templates], "templates of the footer")
        c.end()
        blocks = table.blocks
        c = Cursor(f[7], "totals")
        group_rows, group_bytes, rows, parts, groups, nblocks, segments = [c.uvarint() for _ in range(7)]
        need(1 <= group_rows <= 65536 and 1 <= group_bytes <= 256 << 20, "limits of row groups")
        need(all(g.rows <= group_rows and g.parts <= group_rows for b in blocks for g in b.groups), "row groups beyond the limit")
        need((rows, parts, groups, nblocks) == (sum(b.rows for b in blocks), len(table.partitions),
                                                sum(len(b.groups) for b in blocks), len(blocks)), "totals")
        total = record(table.schema, c)
        c.end()
        markers = sum(u.kind != "row" for p in table.partitions for u in p.rows)
        need(total[:2] == (rows - markers, parts) and total[2].get(0, 0) == markers, "record of the file")
        self.used = set()
        self.statistics(f.get(8), segments)
        self.index(f[5])
        self.filter(f.get(6), hashes)
        for s in (2, 9):
            if s in f:
                pairs(f[s])
        rest = [o for o, it in table.items.items() if it.kind in b"IFQ" and o not in self.used]
        need(not rest, "items that nothing refers to: %s", rest)

    def item(self, r, kind):
        it = self.t.items.get(r[0])
        need(it is not None and it.kind == kind and it.len == r[1], "reference to %r at %s", kind, r)
        need(r[0] not in self.used, "two references")
        self.used.add(r[0])
        return it

    def statistics(self, section, segments):
        if section is None:
            return
        c = Cursor(section, "statistics")
        list_ = refs(c, c.uvarint())
        c.end()
        starts = [b.off for b in self.t.blocks]
        at = seen = 0
        for r in list_:
            it = self.item(r, b"Q")
            need(it.fields[0] == seen, "number of a segment")
            c, off = Cursor(it.body, "segment statistics"), 0
            for _ in range(it.fields[1]):
                off += c.uvarint()
                blocks, groups = c.uvarint(), c.uvarint()
                mine = self.t.blocks[at:at + blocks]
                need(starts[at] == off and sum(len(b.groups) for b in mine) == groups <= 64, "segment")
                rec = record(self.t.schema, c)
                need(rec[0] + rec[2].get(0, 0) == sum(b.rows for b in mine) and rec[1] == sum(b.parts for b in mine), "record")
                at += blocks
                seen += 1
            c.end()
        need(at == len(starts) and seen == segments, "segments")

    def index(self, section):
        c = Cursor(section, "index section")
        if not c.left():
            need(not self.t.partitions, "no index")
            return
        root, level = (c.uvarint(), c.uvarint()), c.uvarint()
        c.end()
        self.next_block = 0
        ordinal = self.partition_page(root, level, 0, None)
        need(ordinal == len(self.t.partitions), "the index has %d partitions", ordinal)
        need(self.next_block == len(self.t.blocks), "blocks of the index")

    def page(self, r, which, level):
        it = self.item(r, b"I")
        met("%s page of level %d" % (("partition", "time")[which], level))
        need(it.fields[:2] == [which, level] and 1 <= it.fields[2] <= 1024, "page %s", it.fields)
        return it, Cursor(it.body, "index page"), it.fields[2]

    def partition_page(self, r, level, want, key):
        it, c, n = self.page(r, 0, level)
        list_ = refs(c, n)
        ordinal = c.uvarint()
        need(ordinal == want, "ordinal")
        counts, keys = ints(c, n), strings(c, n)
        need(key is None or keys[0] == key, "key of a page")
        own = [i for i in range(n) if counts[i] == 0] if level == 0 else []
        if own:
            flags, distance, length, rows, blocks = [ints(c, len(own)) for _ in range(5)]
            deleted = deletions(c, n)
        c.end()
        for i in range(n):
            need(self.t.partitions[ordinal].key == keys[i], "key of an entry")
            if level > 0:
                end = self.partition_page(list_[i], level - 1, ordinal, keys[i])
                need(end == ordinal + counts[i], "partitions of an entry")
                ordinal = end
                continue
            b = self.t.blocks[self.next_block]
            need((b.off, b.len) == list_[i] and b.ordinal == ordinal, "block of an entry")
            if counts[i]:
                need(b.parts == counts[i], "partitions of a block")
                self.next_block += 1
                ordinal += counts[i]
                continue
            k = own.index(i)
            p = self.t.partitions[ordinal]
            need(flags[k] & 1 == (p.static_state != 0), "static flag")
            need(flags[k] >> 1 & 1 == any(u.kind != "row" for u in p.rows), "marker flag")
            need(rows[k] == len(p.rows) and blocks[k] >= 2, "rows of a partition")
            need(deleted.get(i) == p.deletion, "deletion of a partition")
            from_ = self.next_block
            n_rows = self.time_page((list_[i][0] + distance[k], length[k]), flags[k] >> 2, ordinal, None)
            need(n_rows == rows[k] and self.next_block - from_ == blocks[k], "time index")
            ordinal += 1
        return ordinal

    def time_page(self, r, level, ordinal, outer):
        it, c, n = self.page(r, 1, level)
        list_, rows, first, last = refs(c, n), ints(c, n), strings(c, n), strings(c, n)
        opens = deletions(c, n) if level == 0 else {}
        c.end()
        need(outer is None or outer == (first[0], last[-1]), "positions of a page")
        for i in range(n):
            if level > 0:
                need(self.time_page(list_[i], level - 1, ordinal, (first[i], last[i])) == rows[i], "rows of a page")
                continue
            b = self.t.blocks[self.next_block]
            self.next_block += 1
            need((b.off, b.len) == list_[i] and b.ordinal == ordinal and b.rows == rows[i], "block of a time entry")
            need((position(b.of_one[0]), position(b.of_one[-1])) == (first[i], last[i]), "positions of a block")
            need(opens.get(i) == b.open, "open deletion %s %s", opens.get(i), b.open)
        return sum(rows)

    def filter(self, section, hashes):
        if section is None:
            return
        c = Cursor(section, "filter section")
        n = c.uvarint()
        list_ = refs(c, n)
        c.end()
        need(n & n - 1 == 0, "shards")
        shards = []
        for i, r in enumerate(list_):
            it = self.item(r, b"F")
            need(it.fields[0] == i and (it.fields[1] == 0) == (not it.body), "shard")
            shards.append(it.body)
        for line in open(hashes) if hashes else ():
            key, h = line.split(" ")
            h = int(h, 16)
            need(may_hold(shards[h >> 65 - n.bit_length() if n > 1 else 0], h), "the filter lacks a key")
        if hashes and len(self.t.partitions) > 100:
            wrong = sum(may_hold(shards[0], int.from_bytes(hashlib.sha256(b"%d" % i).digest()[:8], "big"))
                        for i in range(1000)) if n == 1 else 0
            need(wrong < 30, "%d of 1,000 random hashes are in the filter", wrong)


def may_hold(shard, h):
    if not shard:
        return False
    c = Cursor(shard, "shard")
    seed, log, segments = c.int(8), c.u8(), c.int(4)
    prints = c.bytes(c.left())
    need(log <= 18 and segments >= 1 and len(prints) == segments + 2 << log, "shard")
    length, n = 1 << log, segments << log
    m = h + seed & U64
    m ^= m >> 33
    m = m * 0xFF51AFD7ED558CCD & U64
    m ^= m >> 33
    m = m * 0xC4CEB9FE1A85EC53 & U64
    m ^= m >> 33
    s0 = m * n >> 64
    s1 = s0 + length ^ m >> 18 & length - 1
    s2 = s0 + 2 * length ^ m & length - 1
    return (m ^ m >> 32) & 255 == prints[s0] ^ prints[s1] ^ prints[s2]


def pairs(data):
    c = Cursor(data, "pairs")
    out = [(c.string(), c.string()) for _ in range(c.uvarint())]
    c.end()
    need(out == sorted(out), "names of pairs")
    return out


BOUNDS = "none exact cut dropped".split()


def record(schema, c):
    """The record of statistics that c stands at: rows, partitions, fields."""
    rows, parts, flags, fields = c.uvarint(), c.uvarint(), c.u8(), {}
    for i in range(8):
        if flags >> i & 1:
            fields[i] = c.uvarint() if i < 5 else (c.varint(), c.uvarint())
    for col in schema.columns:
        if col.role == KEY:
            continue
        flags = c.u8()
        counts = [c.uvarint() if flags >> i & 1 else 0 for i in range(4)]
        least, most = flags >> 4 & 3, flags >> 6
        met("least %s" % BOUNDS[least])
        met("greatest %s" % BOUNDS[most])
        values = (parts if col.role == STATIC else rows) - sum(counts)
        need(values >= 0, "counts of a column")
        bounded = values > 0 and col.type.ordered() and not col.multi()
        need((least > 0) == (most > 0) == bounded, "bounds of column %s", col.name)
        cls = col.type.cls()
        if not bounded:
            continue
        if cls in INTS:
            need(least == most == 1, "integer bounds")
            c.varint()
            c.uvarint()
        elif cls in FLOATS:
            need(least == most == 1, "float bounds")
            size = WIDTH[cls] // 8
            need(signed(c.int(size), 8 * size) <= signed(c.int(size), 8 * size), "float bounds")
        else:
            low = c.string() if least in (1, 2) else b""
            if most in (1, 2):
                shared = c.uvarint()
                need(shared <= len(low), "shared bytes of bounds")
                high = low[:shared] + c.string()
                need(len(high) <= 64, "bounds of more than 64 bytes")
                need(col.type.bare().kind not in ("text", "ascii", "blob", "fixed") or low <= high, "bounds")
            need(len(low) <= 64, "bounds of more than 64 bytes")
    return rows, parts, fields


# --- Text ------------------------------------------------------------------


def quote(text, q):
    return q + text.replace(q, q + q) + q


def json_string(text):
    out = ['"']
    for ch in text:
        if ch in '"\\':
            out.append("\\" + ch)
        elif ch in "\n\r\t":
            out.append({"\n": "\\n", "\r": "\\r", "\t": "\\t"}[ch])
        elif ch < " ":
            out.append("\\u%04x" % ord(ch))
        else:
            out.append(ch)
    return "".join(out) + '"'


def vint(c):
    first = c.u8()
    more = 0
    while more < 8 and first << more & 0x80:
        more += 1
    x = first & 0xFF >> more
    for b in c.bytes(more):
        x = x << 8 | b
    return x


def elements(t, b):
    """The elements of a value, None for null; Corrupt if it is malformed."""
    c, out = Cursor(b, "elements"), []
    if t.kind in ("list", "set", "map"):
        n = int.from_bytes(c.bytes(4), "big", signed=True)
        need(n >= 0, "count")
        for _ in range(n * (2 if t.kind == "map" else 1)):
            n = int.from_bytes(c.bytes(4), "big", signed=True)
            need(n >= 0, "null element")
            out.append(c.bytes(n))
    elif t.kind in ("tuple", "udt"):
        for _ in t.args:
            if not c.left():
                break
            n = int.from_bytes(c.bytes(4), "big", signed=True)
            out.append(c.bytes(n) if n >= 0 else None)
    elif t.kind == "composite":
        for _ in t.args:
            if not c.left():
                break
            out.append(c.bytes(int.from_bytes(c.bytes(2), "big")))
            mark = c.u8()
            need(mark == 0 or not c.left(), "mark")
    else:
        w = t.args[0].fixed()
        for _ in range(t.length):
            out.append(c.bytes(w if w >= 0 else vint(c)))
    c.end()
    return out


def element_type(t, i):
    return t.args[i & 1] if t.kind == "map" else t.args[i] if t.kind in ("tuple", "udt", "composite") else t.args[0]


LENGTHS = {"boolean": 1, "tinyint": 1, "uint8": 1, "smallint": 2, "uint16": 2, "int": 4, "float": 4, "date": 4,
           "uint32": 4, "bigint": 8, "double": 8, "timestamp": 8, "old_date": 8, "time": 8, "uint64": 8,
           "uuid": 16, "timeuuid": 16, "lexical_uuid": 16, "empty": 0}


def valid(t, b):
    t = t.bare()
    k = t.kind
    if not b and k not in ("tinyint", "smallint", "date", "time", "duration", "list", "set", "map", "vector"):
        return True
    if k in LENGTHS and len(b) != LENGTHS[k]:
        return False
    if k in ("fixed", "numeric") and len(b) != t.fixed():
        return False
    if k == "numeric":
        return abs(int.from_bytes(b, "big", signed=True)) < 10 ** t.precision
    if k == "text":
        try:
            b.decode()
        except UnicodeDecodeError:
            return False
    if k == "ascii":
        return all(x < 128 for x in b)
    if k == "decimal":
        return len(b) >= 5
    if k == "timeuuid":
        return b[6] >> 4 == 1
    if k == "inet":
        return len(b) in (4, 16)
    if k == "duration":
        return duration(b) is not None
    if k == "counter":
        n = int.from_bytes(b[:2], "big", signed=True)
        return len(b) >= 2 and n >= 0 and len(b) >= 2 + 2 * n and (len(b) - 2 - 2 * n) % 32 == 0
    if k in ("list", "set", "map", "tuple", "udt", "vector", "composite"):
        try:
            return all(v is None or valid(element_type(t, i), v) for i, v in enumerate(elements(t, b)))
        except Corrupt:
            return False
    return True


def duration(b):
    c = Cursor(b, "duration")
    try:
        v = [vint(c) for _ in range(3)]
        c.end()
    except Corrupt:
        return None
    v = [x >> 1 ^ -(x & 1) for x in v]
    if not fits(v[0], 32) or not fits(v[1], 32) or min(v) < 0 < max(v):
        return None
    return v


def civil(days):
    """Year, month and day of a day since 1970, in the proleptic Gregorian calendar."""
    z = days + 719468
    era = z // 146097
    doe = z - era * 146097
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    month = mp + 3 if mp < 10 else mp - 9
    return yoe + era * 400 + (month <= 2), month, doy - (153 * mp + 2) // 5 + 1


def calendar(days):
    y, m, d = civil(days)
    return "%s%04d-%02d-%02d" % ("-" if y < 0 else "", abs(y), m, d)


def clock(s):
    return "%02d:%02d:%02d" % (s // 3600, s // 60 % 60, s % 60)


def float_text(b):
    y = struct.unpack(">d" if len(b) == 8 else ">f", b)[0]
    if math.isnan(y):
        return "NaN"
    if math.isinf(y):
        return "+Inf" if y > 0 else "-Inf"
    for digits in range(17):
        text = "%.*e" % (digits, y)
        if float_bits(float(text), 8 * len(b)) == int.from_bytes(b, "big"):
            break
    mantissa, exponent = text.split("e")
    sign = "-" if mantissa[0] == "-" else ""
    digits, e = mantissa.lstrip("-").replace(".", ""), int(exponent)
    if y and not 1e-6 <= abs(y) < 1e21:
        return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + "e%s%02d" % ("-" if e < 0 else "+", abs(e))
    digits = digits.rstrip("0") or "0"
    if e < 0:
        return sign + "0." + "0" * (-e - 1) + digits
    digits = digits.ljust(e + 1, "0")
    return sign + digits[:e + 1] + ("." + digits[e + 1:] if len(digits) > e + 1 else "")


def decimal_text(b):
    scale, x = int.from_bytes(b[:4], "big", signed=True), int.from_bytes(b[4:], "big", signed=True)
    sign, digits = "-" if x < 0 else "", str(abs(x))
    if scale == 0:
        return sign + digits
    e = len(digits) - 1 - scale
    if scale > 0 and e >= -6:
        digits = digits.rjust(scale + 1, "0")
        return sign + digits[:-scale] + "." + digits[-scale:]
    return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + "E%s%d" % ("+" if e >= 0 else "", e)


def text(t, b):
    """The text of a valid value of at least one byte."""
    t = t.bare()
    k = t.kind
    number = int.from_bytes(b, "big", signed=not k.startswith("uint"))
    if k == "boolean":
        return "true" if b[0] else "false"
    if k in ("float", "double"):
        return float_text(b)
    if k in ("timestamp", "old_date"):
        digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[t.unit or "ms"]
        s, frac = divmod(number, 10 ** digits)
        if not -62135596800 <= s < 253402300800:
            return str(number)
        days, s = divmod(s, 86400)
        return calendar(days) + "T" + clock(s) + (".%0*d" % (digits, frac) if digits else "") + "Z"
    if k == "date":
        return calendar((number & 0xFFFFFFFF) - (1 << 31))
    if k == "time":
        if not 0 <= number < 86400 * 10 ** 9:
            return str(number)
        return clock(number // 10 ** 9) + ".%09d" % (number % 10 ** 9)
    if k in INT32 or k in INT64 or k == "varint":
        return str(number)
    if k == "decimal":
        return decimal_text(b)
    if k == "numeric":
        digits = str(abs(number)).rjust(t.scale + 1, "0")
        at = len(digits) - t.scale
        return ("-" if number < 0 else "") + digits[:at] + ("." + digits[at:] if t.scale else "")
    if k in ("text", "ascii"):
        return b.decode()
    if k in ("uuid", "timeuuid", "lexical_uuid"):
        h = b.hex()
        return "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))
    if k == "inet":
        if len(b) == 16 and b[:12] == b"\0" * 10 + b"\xff\xff":
            return "::ffff:" + str(ipaddress.ip_address(b[12:]))
        return str(ipaddress.ip_address(b))
    if k == "duration":
        v = duration(b)
        sign, v = "-" if min(v) < 0 else "", [abs(x) for x in v]
        out = ""
        for part, size, name in ((0, 12, "y"), (0, 1, "mo"), (1, 1, "d"), (2, 3600 * 10 ** 9, "h"), (2, 60 * 10 ** 9, "m"),
                                 (2, 10 ** 9, "s"), (2, 10 ** 6, "ms"), (2, 1000, "us"), (2, 1, "ns")):
            n, v[part] = divmod(v[part], size)
            out += "%d%s" % (n, name) if n else ""
        return sign + (out or "0ns")
    if k == "counter":
        n = 2 + 2 * int.from_bytes(b[:2], "big")
        return str(signed(sum(int.from_bytes(b[i + 24:i + 32], "big") for i in range(n, len(b), 32))))
    if k in ("blob", "fixed", "opaque", "empty"):
        return "0x" + b.hex()
    out = []
    for i, v in enumerate(elements(t, b)):
        s = "null" if v is None else nested(element_type(t, i).bare(), v)
        if k == "map" and i & 1:
            out[-1] += ": " + s
        elif k == "udt":
            out.append(name_text(t.fields[i]) + ": " + s)
        else:
            out.append(s)
    open_, close = {"list": "[]", "vector": "[]", "tuple": "()", "composite": "()"}.get(k, "{}")
    return open_ + ", ".join(out) + close


def name_text(name):
    plain = name and not name[0].isdigit() and all(c in "_abcdefghijklmnopqrstuvwxyz0123456789" for c in name)
    return name if plain else quote(name, '"')


def nested(t, b):
    if t.kind in ("text", "ascii"):
        return quote(b.decode(), "'")
    if not b:
        return "0x"
    s = text(t, b)
    return "'" + s + "'" if t.kind in ("timestamp", "old_date", "date", "time", "inet") else s


NUMBERS = ("float double boolean tinyint smallint int bigint uint8 uint16 uint32 uint64 varint decimal numeric counter").split()


def json_value(t, b):
    if b is None:
        return "null"
    k = t.bare().kind
    is_text = k in ("text", "ascii")
    if not b and not is_text or not valid(t, b) or t.bare().kind == "boolean" and len(b) == 1 and b[0] > 1:
        return '{"hex":"%s"}' % b.hex()
    if is_text:
        return json_string(b.decode())
    s = text(t, b)
    if s == "NaN" and b not in (b"\x7f\xf8\0\0\0\0\0\0", b"\x7f\xc0\0\0"):
        return '{"nan":"%s"}' % b.hex()
    if k in NUMBERS and s not in ("NaN", "+Inf", "-Inf"):
        return s
    return json_string(s)


def deletion_json(d):
    return '"marked_for_delete_at":%d,"local_deletion_time":%d' % d[:2]


def liveness_json(r):
    if r.liveness == 1:
        return []
    s = '"liveness":{"write_time":%d' % r.write_time
    if r.liveness == 2:
        s += ',"ttl":%d,"expiry":%d' % (r.ttl, r.expiry)
    if r.liveness == 3:
        s += ',"expired":true,"expiry":%d' % r.expiry
    return [s + "}"]


def meta_json(c):
    kind, s = c.state & 7, ""
    if c.write_time is not None:
        s += ',"write_time":%d' % c.write_time
    if kind == 2:
        s += ',"live":true'
    if kind == 3:
        s += ',"expiring":true'
    if kind == 4:
        s += ',"local_deletion_time":%d' % c.expiry
    elif c.state & 16:
        s += ',"ttl":%d,"expiry":%d' % (c.ttl or 0, c.expiry)
    return s + "}"


def multi_json(col, c):
    s = ""
    if c.state & 7 == 4:
        s = ',"deleted":true'
    elif c.value or col.type.kind != "set":
        s = ',"value":' + json_value(col.value_type(c.path), c.value)
    return s + meta_json(c)


def cells_json(columns, r):
    out = []
    for col, c in zip(columns, r.cells):
        name = json_string(col.name) + ":{"
        if col.multi():
            if c:
                deleted = '"deletion":{%s},' % deletion_json(c.deletion) if c.deletion else ""
                cells = ",".join('{"path":' + json_value(col.path_type(), x.path) + multi_json(col, x) for x in c.cells)
                out.append(name + deleted + '"cells":[' + cells + "]}")
        elif c.state & 7 != 1:
            value = '"deleted":true' if c.state & 7 == 4 else '"value":' + json_value(col.type, c.value)
            out.append(name + value + meta_json(c))
    return ['"cells":{' + ",".join(out) + "}"]


def split_key(schema, key):
    columns = schema.role(KEY)
    if len(columns) < 2:
        return [key] * len(columns)
    c, out = Cursor(key, "key"), []
    for _ in columns:
        out.append(c.bytes(int.from_bytes(c.bytes(2), "big")))
        need(c.u8() == 0, "key")
    c.end()
    return out


def dump(table, out):
    s = table.schema
    for p in table.partitions:
        key = ",".join(json_string(c.name) + ":" + json_value(c.type, v) for c, v in zip(s.role(KEY), split_key(s, p.key)))
        line = ['"type":"partition","key":{%s},"key_hex":"%s"' % (key, p.key.hex())]
        if p.deletion:
            line.append('"deletion":{%s}' % deletion_json(p.deletion))
        if p.static_state == 1:
            line.append('"static":{}')
        if p.static_state == 2:
            r = p.static
            deleted = ['"deletion":{%s}' % deletion_json(r.deletion)] if r.deletion else []
            line.append('"static":{%s}' % ",".join(liveness_json(r) + deleted + cells_json(s.role(STATIC), r)))
        out.write("{" + ",".join(line) + "}\n")
        for u in p.rows:
            clustering = ",".join(json_string(c.name) + ":" + json_value(c.type, v)
                                  for c, v in zip(s.role(CLUSTERING), u.clustering))
            if u.kind == "row":
                line = ['"type":"row","clustering":{%s}' % clustering] + liveness_json(u)
                if u.deletion:
                    line.append('"deletion":{%s%s}' % (deletion_json(u.deletion), ',"shadowable":true' if u.deletion[2] else ""))
                line += cells_json(s.role(REGULAR), u)
            else:
                line = ['"type":"marker","kind":"%s","clustering":{%s}' % (u.kind, clustering)]
                if u.close:
                    line.append('"close":{%s}' % deletion_json(u.close))
                if u.open:
                    line.append('"open":{%s}' % deletion_json(u.open))
            out.write("{" + ",".join(line) + "}\n")


def main(args):
    walk = check = False
    hashes = name = None
    while args:
        a = args.pop(0)
        if a == "--walk":
            walk = True
        elif a == "--check":
            check = True
        elif a == "--hashes":
            hashes = args.pop(0)
        else:
            name = a
    if name is None or walk and check:
        sys.exit(__doc__)
    try:
        with open(name, "rb") as f:
            table = Table(f.read(), walk)
        if check:
            Check(table, hashes)
            for what in sorted(MET):
                print(what, MET[what])
        else:
            with open(1, "w", encoding="utf-8", newline="", closefd=False) as out:
                dump(table, out)
    except Corrupt as e:
        sys.exit("%s: %s" % (name, e))


if __name__ == "__main__":
    main(sys.argv[1:])
