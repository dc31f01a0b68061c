/** A batch is a few megabytes at most; what becomes more than this is damage or malice. */
const LEAST_LIMIT = 64 * 1024 * 1024;
const MOST_GROWTH = 16;

/** What a compressed batch may become, in bytes, for a `max.partition.fetch.bytes`; whoever has larger ones raises that. */
export function unpackedLimit(maxPartitionBytes: number): number {
  return Math.max(LEAST_LIMIT, MOST_GROWTH * maxPartitionBytes);
}

export function tooLarge(maxBytes: number): Error {
  return new Error(
    `more than ${String(maxBytes)} bytes would come of it; where a topic has such batches, raise max.partition.fetch.bytes`,
  );
}
