package rowgroup

// Clear empties the batch and keeps its memory. Unlike Reset it begins no
// partition, even where the table has only one: it prepares a batch for
// groups or ranges that bring the beginning of their partition along.
func (b *Batch) Clear() { b.clear() }
