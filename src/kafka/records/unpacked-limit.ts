/** Batches usually have a few megabytes. A decompressed size above this limit indicates corruption or an attack. */
const MIN_LIMIT = 64 * 1024 * 1024;
const MAX_GROWTH = 16;

/**
 * Size limit of a decompressed batch in bytes. It grows with `max.partition.fetch.bytes`, which must be raised for larger
 * batches.
 */
export function unpackedLimit(maxPartitionBytes: number): number {
  return Math.max(MIN_LIMIT, MAX_GROWTH * maxPartitionBytes);
}

export function tooLarge(maxBytes: number): Error {
  return new Error(
    `the decompressed size exceeds ${String(maxBytes)} bytes; if the topic has such batches, raise max.partition.fetch.bytes`,
  );
}
