package codecs

import (
	"path"

	"github.com/colsst/colsst/bench/result"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
	"github.com/colsst/colsst/simd"
)

// notDecimal are the samples for which the authors of ALP take ALP-RD or state
// no parameters.
var notDecimal = map[string]bool{"poi_lat.csv": true, "poi_lon.csv": true, "air_sensor_f.csv": true}

const samplesData = "samples of ALP's authors"

// samples measures the samples of ALP's authors one by one, each a vector in
// L1: bits a value, and times through the encoder and decoder with history,
// whose parameters are known then.
func (x *run) samples(all []column[float64]) error {
	var bits, modes, splitDecode, splitEncode []float64
	dst := make([]float64, sampleValues)
	return x.each(func(l simd.Level) error {
		bits, modes, splitDecode, splitEncode = bits[:0], modes[:0], splitDecode[:0], splitEncode[:0]
		var decode, encode []float64
		for _, s := range all {
			var e alp.Encoder
			var d alp.Decoder
			var p encoding.Params
			body := e.AppendFloat64(nil, s.values, &p)
			mode := alp.Mode(p[0])
			if err := d.Float64(dst, &p, body); err != nil {
				return err
			}
			toEncode := x.plan.Time(func() { body = e.AppendFloat64(body[:0], s.values, &p) }).Per(sampleValues).Least
			toDecode := x.plan.Time(func() { _ = d.Float64(dst, &p, body) }).Per(sampleValues).Least
			switch mode {
			case alp.Decimal:
				decode, encode = append(decode, toDecode), append(encode, toEncode)
			case alp.Split:
				splitDecode, splitEncode = append(splitDecode, toDecode), append(splitEncode, toEncode)
			}
			if !notDecimal[path.Base(s.name)] {
				bits = append(bits, float64(8*len(alp.AppendFloat64(nil, s.values)))/sampleValues)
			}
			if l == x.top() {
				x.results = append(x.results, result.Result{Suite: suite, Data: samplesData, Subject: decimal,
					Params: result.Params{"sample": path.Base(s.name), "mode": int(mode)}, Metric: "bits_per_value", Unit: "bits",
					Value: float64(8*len(alp.AppendFloat64(nil, s.values))) / sampleValues})
			}
		}
		for _, v := range []struct {
			metric string
			times  []float64
		}{
			{alp64Decode, decode}, {alp64Encode, encode}, {split64Decode, splitDecode}, {split64Encode, splitEncode},
		} {
			x.medianLine(samplesData, v.metric, l, v.times)
		}
		if l == x.top() && len(bits) > 0 {
			sum := 0.0
			for _, b := range bits {
				sum += b
			}
			x.results = append(x.results, result.Result{Suite: suite, Data: samplesData, Subject: decimal,
				Params: result.Params{"samples": len(bits)}, Metric: "mean_bits_per_value", Unit: "bits", Value: sum / float64(len(bits))})
		}
		return nil
	})
}
