package textfmt

import "bytes"

// appendField appends one field of CSV, in quotes if it needs them or force
// asks for them: it holds the separator, a quote or a line end, begins or ends
// with a space, or could be taken for a byte order mark.
func appendField(dst, text []byte, separator byte, force bool) []byte {
	if !force && !needsQuotes(text, separator) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	for {
		k := bytes.IndexByte(text, '"')
		if k < 0 {
			break
		}
		dst = append(dst, text[:k+1]...)
		dst = append(dst, '"')
		text = text[k+1:]
	}
	dst = append(dst, text...)
	return append(dst, '"')
}

func needsQuotes(text []byte, separator byte) bool {
	if len(text) == 0 {
		return false
	}
	for _, c := range text {
		if c == separator || c == '"' || c == '\n' || c == '\r' {
			return true
		}
	}
	return isSpace(text[0]) || isSpace(text[len(text)-1]) || bytes.HasPrefix(text, []byte(byteOrderMark)) ||
		bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }
