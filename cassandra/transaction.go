package cassandra

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/colsst/colsst/encoding"
)

// Transaction is a transaction log: which SSTables a compaction, flush or
// stream made and which it replaces. It lies in the folder of the SSTables, the
// same in every data directory that has some of them. Text, one record a line:
//
//	TYPE:[path,time,files][checksum]
//
//	TYPE      ADD, REMOVE, COMMIT or ABORT
//	path      of the SSTable's files, up to the component; else empty
//	time      REMOVE: when its files were last changed, ms; else 0
//	files     how many there were
//	checksum  CRC-32 of path, TYPE, u32 low and u32 high half of time, u32 files
//
// A log whose last record is COMMIT means the new files count and the old do
// not; with ABORT, or without either, it is the reverse.
type Transaction struct {
	Records []TransactionRecord // those of files
	State   TransactionState
	// CutShort says that the last line is damaged, as by a crash while it was
	// written. It does not count, but then all old files must be there.
	CutShort bool
}

// TransactionRecord is a record of a log about one SSTable.
type TransactionRecord struct {
	Added   bool   // by the transaction; else the SSTable is replaced by it
	Dir     string // where the SSTable was when the log was written
	SSTable Descriptor
	Changed int64 // ms since 1970, of one that is replaced
	Files   int   // of one that is replaced: as many there were; else about as many
}

// TransactionState says how a transaction ended.
type TransactionState uint8

// The states.
const (
	TransactionInProgress TransactionState = iota // or interrupted: as if aborted
	TransactionCommitted
	TransactionAborted
)

var (
	transactionName   = regexp.MustCompile(`^(?:(?:[a-z]+-)?.{2}_)?txn_[^_]+_.+\.log$`)
	transactionRecord = regexp.MustCompile(`(?i)^(add|remove|commit|abort):\[([^,]*),?([^,]*),?([^,]*)\]\[([0-9]+)\]$`)
)

// IsTransactionName reports whether a file's name is that of a log.
func IsTransactionName(name string) bool { return transactionName.MatchString(name) }

// ParseTransaction reads a log. A damaged record other than the last, or one
// behind the end of the transaction, is an encoding.CorruptError; one about an
// SSTable that is not read here an encoding.ErrUnsupported.
func ParseTransaction(text []byte) (*Transaction, error) {
	lines := strings.Split(strings.TrimRight(string(text), "\r\n"), "\n")
	t := &Transaction{}
	for i, line := range lines {
		if line == "" && len(lines) == 1 {
			break
		}
		if t.State != TransactionInProgress {
			return nil, encoding.Corruptf("transaction log", "line %d behind the end of the transaction", i+1)
		}
		if err := t.record(strings.TrimRight(line, "\r")); err != nil {
			if i == len(lines)-1 && !errors.Is(err, encoding.ErrUnsupported) {
				t.CutShort = true
				break
			}
			return nil, fmt.Errorf("transaction log, line %d: %w", i+1, err)
		}
	}
	return t, nil
}

func (t *Transaction) record(line string) error {
	m := transactionRecord.FindStringSubmatch(line)
	if m == nil {
		return encoding.Corruptf("record", "%s is none", quote(line))
	}
	kind := strings.ToUpper(m[1])
	at, err1 := strconv.ParseInt(m[3], 10, 64)
	files, err2 := strconv.ParseInt(m[4], 10, 32)
	sum, err3 := strconv.ParseUint(m[5], 10, 63)
	if err1 != nil || err2 != nil || err3 != nil || files < 0 {
		return encoding.Corruptf("record", "numbers of %s", quote(line))
	}
	ofFile := kind == "ADD" || kind == "REMOVE"
	if kind != "REMOVE" {
		at = 0
	}
	if !ofFile {
		files, m[2] = 0, ""
	}
	if want := transactionChecksum(kind, m[2], at, int32(files)); uint64(want) != sum {
		return encoding.Corruptf("record", "checksum of %s: %d expected", quote(line), want)
	}
	switch kind {
	case "COMMIT":
		t.State = TransactionCommitted
		return nil
	case "ABORT":
		t.State = TransactionAborted
		return nil
	}
	dir, base := path.Split(strings.ReplaceAll(m[2], `\`, "/"))
	d, _, err := ParseName(base + "-" + string(ComponentData))
	switch {
	case errors.Is(err, encoding.ErrUnsupported):
		return err
	case err != nil:
		return &encoding.CorruptError{Part: "record", Offset: -1, Err: err}
	}
	t.Records = append(t.Records, TransactionRecord{kind == "ADD", path.Clean(dir), d, at, int(files)})
	return nil
}

func transactionChecksum(kind, path string, at int64, files int32) uint32 {
	b := append([]byte(path), kind...)
	for _, v := range []uint32{uint32(at), uint32(uint64(at) >> 32), uint32(files)} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return crc32.ChecksumIEEE(b)
}

// Live reports whether the files of a record count.
func (t *Transaction) Live(r *TransactionRecord) bool {
	return r.Added == (t.State == TransactionCommitted)
}

// CheckFiles makes sure of the old files, where the transaction has not ended:
// there must be no fewer than when the log was written. present says how many
// files of the SSTable there are.
func (t *Transaction) CheckFiles(present func(*TransactionRecord) int) error {
	if t.State != TransactionInProgress {
		return nil
	}
	for i := range t.Records {
		r := &t.Records[i]
		if n := present(r); !r.Added && n < r.Files {
			return encoding.Corruptf("transaction log", "has no end, and %d of %d files of %s in %s are left",
				n, r.Files, r.SSTable.FileName("*"), r.Dir)
		}
	}
	return nil
}
