/**
 * MurmurHash2 with Java's seed (org.apache.kafka.common.utils.Utils.murmur2), as a signed 32-bit number.
 * @internal
 */
export function murmur2(data: Uint8Array): number {
  const { length } = data;
  const seed = 0x9747b28c;
  const m = 0x5bd1e995;
  let hash = seed ^ length;
  const aligned = length & ~3;
  for (let at = 0; at < aligned; at += 4) {
    let k =
      byteAt(data, at) | (byteAt(data, at + 1) << 8) | (byteAt(data, at + 2) << 16) | (byteAt(data, at + 3) << 24);
    k = Math.imul(k, m);
    k ^= k >>> 24;
    hash = Math.imul(hash, m) ^ Math.imul(k, m);
  }
  const rest = length & 3;
  if (rest >= 3) hash ^= byteAt(data, aligned + 2) << 16;
  if (rest >= 2) hash ^= byteAt(data, aligned + 1) << 8;
  if (rest >= 1) hash = Math.imul(hash ^ byteAt(data, aligned), m);
  hash = Math.imul(hash ^ (hash >>> 13), m);
  return hash ^ (hash >>> 15);
}

function byteAt(data: Uint8Array, at: number): number {
  return data[at] ?? 0;
}

/** The partition that Java's default partitioner chooses for a key. */
export function partitionOfKey(key: Uint8Array, partitionCount: number): number {
  return (murmur2(key) & 0x7fffffff) % partitionCount;
}
