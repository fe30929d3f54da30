import Glibc

/// Robertson and Spärck Jones' weight of a word that `count` of `total` texts have, in Lucene's form, which is above 0.
func inverseDocumentFrequency(_ count: Double, of total: Double) -> Double {
  log(1 + (total - count + 0.5) / (count + 0.5))
}
